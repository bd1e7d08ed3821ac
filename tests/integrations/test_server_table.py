"""Behaviours of servers with the OpenAI protocol, for our own judge and the frameworks' models."""

import gzip
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import cycle
from typing import Any, NamedTuple

import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core import Judge, Run, Traffic, evaluate
from ragmetrics_core.errors import RunStopped
from tests.judges import DOORS, FRAMEWORKS, Door
from tests.servers import Answer, OpenAIServer, Seen, chat

RATING = '{"reason": "It says so.", "rating": 9}'
RATED = chat(RATING)  # 9 of 10 is 0.9
LENGTH = chat('{"reason": "It', finish_reason="length")
CALL = {"id": "1", "type": "function", "function": {"name": "Rating", "arguments": RATING}}
NOTHING = chat(content=None)
# How a request holds the reply.
SCHEMA, PLAIN, OBJECT, NONE = "schema", "plain schema", "json_object", None
FORMS = (SCHEMA, PLAIN, OBJECT)
PAST = datetime(2015, 1, 1, tzinfo=UTC)
HTML = b"<html><h1>Bad Gateway</h1></html>"


def form(seen: Seen) -> str | None:
    """The constraint in a request: a schema without allowed numbers that is not strict is a plain one."""
    stated: dict[str, Any] = seen.body.get("response_format", {})
    kind: str | None = stated.get("type")
    if kind != "json_schema":
        return kind
    is_strict, has_numbers = stated["json_schema"].get("strict", False), "'enum': [0" in str(stated)
    assert is_strict == has_numbers
    return SCHEMA if is_strict else PLAIN


def refusal(status: int, message: str, **detail: str) -> Answer:
    return Answer(status=status, body={"error": {"message": message, **detail}})


Answers = Callable[[Seen], Answer]


class Server(NamedTuple):
    """A behaviour and what comes of it for two samples, one after the other.

    Attributes:
        name: the behaviour.
        answer: the answers in order, repeated; or a function from a request to its answer.
        forms: the constraints of all requests.
        held_to: the constraint in the records.
        status: of both scores; 0.9 is the value of those that are ok.
        reason: part of the reason of those that are not.
        settings: of the judge.
        attempts: calls for each request of the run.
        lacking: judges whose client makes something else of it, and why.
    """

    name: str
    answer: Answers | list[Answer]
    forms: list[str | None]
    held_to: str | None = "json_schema"
    status: str = "ok"
    reason: str = ""
    settings: dict[str, Any] = {}  # noqa: RUF012  read-only
    attempts: int = 1
    lacking: dict[str, str] = {}  # noqa: RUF012  read-only


def refusing(refused: tuple[str, ...], answer: Answer) -> Answers:
    return lambda seen: answer if form(seen) in refused else RATED


def no_forms(name: str, answer: Answer) -> Server:
    """A refusal of each form that names it is learned after one request of each."""
    return Server(name, refusing(FORMS, answer), [*FORMS, NONE, NONE], held_to=None)


def no_schemas(name: str, answer: Answer) -> Server:
    return Server(name, refusing((SCHEMA, PLAIN), answer), [*FORMS, OBJECT], held_to="json_object")


def plain_only(name: str, answer: Answer) -> Server:
    return Server(name, refusing((SCHEMA,), answer), [SCHEMA, PLAIN, PLAIN])


def failing(name: str, answer: Answer) -> Server:
    """A failure that does not name the form is not learned: each sample takes both requests."""
    return Server(name, refusing(FORMS, answer), [SCHEMA, NONE] * 2, held_to=None)


def without(name: str, setting: str, answer: Answer, value: float = 1, **lacking: str) -> Server:
    """A setting that is refused is changed with the first request, and for all later ones."""

    def answered(seen: Seen) -> Answer:
        return answer if setting in seen.body else RATED

    return Server(name, answered, [SCHEMA] * 3, settings={setting: value}, lacking=lacking)


def without_system(name: str, answer: Answer) -> Server:
    def answered(seen: Seen) -> Answer:
        roles = [message["role"] for message in seen.body["messages"]]
        return answer if "system" in roles else RATED

    return Server(name, answered, [SCHEMA] * 3)


def passing(name: str, answer: Answer, **lacking: str) -> Server:
    """A failure that passes costs one attempt and is not about the form."""
    return Server(name, [answer, RATED], [SCHEMA] * 4, attempts=2, lacking=lacking)


def saying(name: str, answer: Answer, **expected: Any) -> Server:
    return Server(name, [answer], [SCHEMA] * 2, **expected)


BY_CLIENT = "the client cannot read it"
SERVERS = [
    no_schemas(
        "OpenAI, an older model",
        refusal(400, "'response_format' of type json_schema is not supported", param="response_format"),
    ),
    no_schemas("DeepSeek", refusal(400, "This response_format type is unavailable now")),
    no_schemas(
        "Mistral, an older version",
        Answer(status=422, body={"detail": [{"loc": ["body", "response_format"], "msg": "invalid"}]}),
    ),
    no_forms(
        "LiteLLM",
        refusal(400, "litellm.UnsupportedParamsError: m does not support parameters: ['response_format']"),
    ),
    no_forms(
        "Bedrock",
        refusal(400, "ValidationException: output_config: Extra inputs are not permitted"),
    ),
    no_forms("Anthropic", refusal(400, "response_format: Extra inputs are not permitted")),
    no_forms(
        "TGI",
        Answer(status=422, body={"error": "Input validation error: `grammar` is not supported"}),
    ),
    no_forms(
        "vLLM without guided decoding",
        Answer(status=400, body={"object": "error", "message": "guided_json is not available", "code": 400}),
    ),
    plain_only("Azure, sizes", refusal(400, "Invalid schema: In context=(), 'minItems' is not permitted")),
    plain_only(
        "Gemini, numbers",
        refusal(400, "Invalid value at 'generation_config.response_schema.properties[1].value.enum[0]'"),
    ),
    plain_only("Groq, strict", refusal(400, "Unknown parameter: 'response_format.json_schema.strict'")),
    plain_only("Ollama", Answer(status=400, body={"error": "invalid JSON schema in format"})),
    Server(
        "llama.cpp, a grammar that it cannot parse",
        refusing(FORMS, refusal(500, "Failed to initialize samplers: failed to parse grammar")),
        [SCHEMA, NONE, NONE],
        held_to=None,
    ),
    Server(
        "a refusal without words",
        refusing(FORMS, refusal(400, "bad request")),
        [*FORMS, NONE] * 2,
        held_to=None,
    ),
    Server(
        "LM Studio, no json_object",
        refusing((OBJECT,), Answer(status=400, body={"error": "'response_format.type' is invalid"})),
        [OBJECT, NONE, NONE],
        held_to=None,
        settings={"response_format": "json_object"},
        lacking=dict.fromkeys(FRAMEWORKS, "a form of the user's own is left as it is"),
    ),
    Server(
        "Groq, a reply that is not JSON",
        refusing(
            FORMS, refusal(400, "Failed to generate JSON.", failed_generation="The schema of temperature is")
        ),
        [*FORMS, NONE] * 2,
        held_to=None,
    ),
    Server(
        "Azure, a prompt that is filtered",
        [refusal(400, "The prompt triggered our content management policy", code="content_filter")],
        [*FORMS, NONE] * 2,
        status="model_error",
        reason="content management policy",
    ),
    failing("500", refusal(500, "internal error")),
    failing("501", refusal(501, "not implemented")),
    failing("404", refusal(404, "no endpoint found that can handle the parameters")),
    failing("an error under 200", Answer(body={"error": {"message": "provider returned an error"}})),
    without(
        "OpenAI, temperature",
        "temperature",
        refusal(400, "Unsupported value: 'temperature' does not support 0 with this model."),
    ),
    without(
        "Bedrock, temperature",
        "temperature",
        refusal(400, "ValidationException: `temperature` is deprecated for this model."),
    ),
    without("Mistral, seed", "seed", Answer(status=422, body={"detail": [{"loc": ["body", "seed"]}]})),
    without(
        "OpenAI, max_tokens",
        "max_tokens",
        refusal(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        500,
        langchain="sends max_completion_tokens from the start",
    ),
    without(
        "Mistral, max_completion_tokens",
        "max_completion_tokens",
        Answer(status=422, body={"detail": [{"loc": ["body", "max_completion_tokens"]}]}),
        500,
        openai="has no such setting",
    ),
    without_system("Gemma's template", refusal(400, "System role not supported")),
    without_system(
        "Mistral's template", refusal(400, "Conversation roles must alternate user/assistant/user/...")
    ),
    without_system(
        "OpenAI, system", refusal(400, "'messages[0].role' does not support 'system' with this model")
    ),
    without_system("Gemini, system", refusal(400, "Developer instruction is not enabled for models/gemma")),
    without_system(
        "llama.cpp, system", refusal(500, "Jinja exception: Only user and assistant roles are supported!")
    ),
    Server(
        "max_tokens that is too large",
        [refusal(400, "max_tokens is too large: 500. This model supports at most 100 completion tokens")],
        [SCHEMA] * 4,
        held_to=None,
        status="model_error",
        reason="max_tokens is too large: 500",
        settings={"max_tokens": 500},
    ),
    saying(
        "content in parts",
        chat(content=[{"type": "text", "text": RATING}]),
        lacking={"llama_index": BY_CLIENT},
    ),
    saying("a tool call", chat(content=None, tool_calls=[CALL], finish_reason="tool_calls")),
    saying(
        "a tool call with words", chat(content="Now.", tool_calls=[CALL], finish_reason="tool_calls")
    ),
    saying(
        "vLLM, JSON in the reasoning",
        chat(content=None, reasoning_content=RATING),
        lacking={"langchain": "drops the reasoning", "haystack": "drops the reasoning"},
    ),
    saying(
        "a refusal",
        chat(content=None, refusal="I cannot rate this text."),
        status="parse_error",
        reason="the judge refused to answer: I cannot rate this text.",
        lacking={"haystack": "drops the refusal"},
    ),
    saying(
        "a refusal in a block",
        chat(content=[{"type": "refusal", "refusal": "I cannot rate this text."}]),
        status="parse_error",
        reason="the judge refused to answer: I cannot rate this text.",
        lacking={"haystack": BY_CLIENT, "llama_index": BY_CLIENT},
    ),
    saying("a reply that was cut", LENGTH, status="parse_error", reason="cut"),
    saying(
        "DeepSeek, a reply that was cut",
        chat('{"reason": "It', finish_reason="insufficient_system_resource"),
        status="parse_error",
        reason="cut",
    ),
    saying(
        "a reply that was filtered",
        chat(content="", finish_reason="content_filter"),
        status="parse_error",
        reason="filter",
    ),
    saying("no content", NOTHING, status="parse_error"),
    saying("a schema that is ignored", chat("Nine, I think."), held_to=None, status="parse_error"),
    passing("no choices once", Answer(body={"choices": []}), langchain=BY_CLIENT, llama_index=BY_CLIENT),
    passing("429 with seconds", Answer(status=429, body={}, headers={"retry-after": "0.01"})),
    passing("429 with a date", Answer(status=429, body={}, headers={"retry-after": format_datetime(PAST)})),
    passing("502 of a proxy", Answer(status=502, body=HTML, content_type="text/html")),
    passing("503", refusal(503, "the schema service is busy")),
    passing("504", refusal(504, "upstream timed out")),
    passing("529", refusal(529, "Overloaded")),
    passing("a connection that breaks in the body", Answer(body=RATED.body, cut=50)),
    passing("a connection that breaks at once", Answer(cut=0)),
    saying("a body that comes slowly", Answer(body=RATED.body, trickle=0.0001)),
    saying("a byte order mark", Answer(body=b"\xef\xbb\xbf" + json.dumps(RATED.body).encode())),
    saying(
        "a redirect",
        Answer(status=307, headers={"location": "http://127.0.0.1:9/v1"}),
        status="model_error",
        reason="redirects elsewhere (307)",
        lacking=dict.fromkeys(FRAMEWORKS, "the client follows it"),
    ),
    Server(
        "an answer that is compressed, which the library's own judge refuses",
        [Answer(body=gzip.compress(json.dumps(RATED.body).encode()), headers={"content-encoding": "gzip"})],
        [SCHEMA, NONE] * 2,
        status="model_error",
        reason="sent a compressed answer",
        lacking=dict.fromkeys(FRAMEWORKS, "the client reads it"),
    ),
    Server(
        "a page",
        [Answer(body=HTML, content_type="text/html")],
        [SCHEMA, NONE] * 2,
        status="model_error",
        reason="(the same without response_format; to send none, ",
    ),
    saying(
        "a wrong content type",
        Answer(body=RATED.body, content_type="text/plain"),
        lacking=dict.fromkeys(FRAMEWORKS, BY_CLIENT),
    ),
]  # fmt: skip


def run_on(judge: Judge, samples: int = 2, *, attempts: int = 1) -> Run:
    rows = [{"id": f"q{n}", "question": f"How high, {n}?", "answer": "300 m."} for n in range(samples)]
    traffic = Traffic(attempts=attempts, concurrency=1, form_attempts=1, first_delay=0.0)
    return evaluate(rows, metrics="answer_relevance_rating", judge=judge, traffic=traffic)


def in_turn(answers: list[Answer]) -> Answers:
    turns = cycle(answers)
    return lambda _: next(turns)


TABLE = [
    pytest.param(server, door, id=f"{server.name}-{door}")
    for server in SERVERS
    for door in DOORS
    if door not in server.lacking
]


@pytest.mark.parametrize(("server", "door"), TABLE)
def test_no_score_is_lost_for_what_a_server_refuses_or_how_it_replies(server: Server, door: str):
    answer = server.answer if callable(server.answer) else in_turn(server.answer)

    with OpenAIServer(answer) as running:
        run = run_on(DOORS[door](running.base_url, **server.settings), attempts=server.attempts)

    assert [form(seen) for seen in running.seen] == server.forms
    assert not any(None in seen.body.values() for seen in running.seen)
    for record in run.records():
        assert (record.status, record.value) == (server.status, 0.9 if server.status == "ok" else None)
        assert server.reason in str(record.reason)
        assert [step.held_to for step in record.generate_steps] in ([], [server.held_to])


EACH = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "ragmetrics.models"]


@EACH
@pytest.mark.parametrize("status", [404, 500, 501, 200])
def test_a_server_that_fails_with_and_without_a_schema_is_asked_twice_and_the_setting_is_named(
    door: Door, status: int
):
    with OpenAIServer(refusal(status, "it said so")) as server:
        try:
            (record,) = run_on(door(server.base_url), samples=1).records()
            reason = str(record.reason)
        except RunStopped as error:  # with 404 every call is refused
            reason = str(error)

    assert "(the same without response_format; to send none, " in reason
    assert [form(seen) for seen in server.seen] == [SCHEMA, NONE]


@EACH
def test_the_try_without_a_schema_is_one_of_the_attempts(door: Door):
    with OpenAIServer(refusal(500, "it said so")) as server:
        (record,) = run_on(door(server.base_url), samples=1, attempts=3).records()

    assert [form(seen) for seen in server.seen] == [SCHEMA, NONE, SCHEMA]
    assert "(after 3 attempts)" in str(record.reason)


@EACH
def test_a_server_that_has_replied_to_a_prompt_under_its_schema_fails_for_another_reason(door: Door):
    answers = iter([RATED, refusal(500, "it said so")])
    with OpenAIServer(lambda _: next(answers)) as server:
        run = run_on(door(server.base_url))

    assert [form(seen) for seen in server.seen] == [SCHEMA, SCHEMA]
    assert [record.status for record in run.records()] == ["ok", "model_error"]


def test_forms_are_learned_for_each_prompt_apart():
    rows = [{"id": "q", "question": "How high?", "answer": "It is 300 m.", "contexts": ["It is 300 m high."]}]
    replies = [
        '{"statements": ["It is 300 m."], "declined": false}',
        '{"verdicts": [{"number": 1, "reason": "r", "evidence": "It is 300 m high.", "verdict": "yes"}]}',
    ]

    def answer(seen: Seen) -> Answer:
        if "response_format" in seen.body:
            return refusal(400, "response_format is not supported")
        return chat(replies['"verdict"' in seen.body["messages"][-1]["content"]])

    with OpenAIServer(answer) as server:
        run = evaluate(rows, metrics="faithfulness", judge=DOORS["openai"](server.base_url), concurrency=1)

    sent = [seen.body.get("response_format", {}).get("type") for seen in server.seen]
    assert sent == ["json_schema", "json_schema", "json_object", None] * 2
    assert [record.value for record in run.records()] == [1.0]


@EACH
def test_the_system_text_moves_to_the_start_of_the_user_message(door: Door, caplog: pytest.LogCaptureFixture):
    def answer(seen: Seen) -> Answer:
        is_refused = seen.body["messages"][0]["role"] == "system"
        return refusal(400, "System role not supported") if is_refused else RATED

    with caplog.at_level(logging.WARNING, logger="ragmetrics.models"), OpenAIServer(answer) as server:
        run_on(door(server.base_url))

    first, second, _ = [seen.body["messages"] for seen in server.seen]
    assert [message["role"] for message in second] == ["user"]
    assert second[0]["content"] == "\n\n".join(message["content"] for message in first)
    (message,) = told(caplog)
    assert message.endswith("refuses system: calls go on with the system text in the user message")


@EACH
def test_the_limit_keeps_its_number_under_its_other_name(door: Door):
    limits = {"max_tokens", "max_completion_tokens"}

    def answer(seen: Seen) -> Answer:
        (first,) = limits & server.seen[0].body.keys()
        return refusal(400, f"Unsupported parameter: {first!r}") if first in seen.body else RATED

    with OpenAIServer(answer) as server:
        run_on(door(server.base_url, max_tokens=500))

    first, second, third = [limits & seen.body.keys() for seen in server.seen]
    assert (second, third) == (limits - first, limits - first)
    assert [seen.body[name] for seen in server.seen for name in limits & seen.body.keys()] == [500] * 3


@EACH
def test_several_settings_are_changed_one_after_the_other(door: Door):
    def answer(seen: Seen) -> Answer:
        is_refused = "temperature" in seen.body or seen.body["messages"][0]["role"] == "system"
        return refusal(400, "temperature and the system role are not supported") if is_refused else RATED

    with OpenAIServer(answer) as server:
        run = run_on(door(server.base_url, temperature=0.5))

    assert [record.value for record in run.records()] == [0.9, 0.9]
    assert len(server.seen) == 4


@EACH
def test_a_server_that_ignores_the_schema_is_told_once(door: Door, caplog: pytest.LogCaptureFixture):
    with (
        caplog.at_level(logging.WARNING, logger="ragmetrics.models"),
        OpenAIServer(chat("Certainly! It is relevant.")) as server,
    ):
        run_on(door(server.base_url), samples=3)

    (message,) = told(caplog)
    assert "ignores the schema of replies: " in message
    assert "response_format" in message
