"""Behaviours of OpenAI-compatible servers: what each refuses, what is sent instead, what is learned."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core import Run, Traffic, evaluate
from ragmetrics_core.errors import RunStopped
from ragmetrics_core.models import OpenAIJudge
from tests.servers import Answer, OpenAIServer, Seen, chat

DECLINING = (
    '{"sentences": [{"sentence": 1, "kind": "refusal", "statements": []}], "declined": true,'
    ' "reason": "it does not know"}'
)
STATEMENTS = (
    '{"sentences": [{"sentence": 1, "kind": "claim", "statements": ["Paris is in France."]}],'
    ' "declined": false, "reason": ""}'
)
VERDICTS = '{"verdicts": [{"number": 1, "reason": "r", "evidence": "Paris is in France.", "verdict": "yes"}]}'
ONCE = Traffic(attempts=1, concurrency=1, form_attempts=1)
LIMIT = "max_tokens"


def refusal(status: int, message: str, **detail: str) -> Answer:
    return Answer(status=status, body={"error": {"message": message, **detail}})


def form(seen: Seen) -> str | None:
    """The constraint in a request: a schema without sizes and numbers is a plain one."""
    stated: dict[str, Any] = seen.body.get("response_format", {})
    kind: str | None = stated.get("type")
    if kind != "json_schema":
        return kind
    is_full = any(word in str(stated) for word in ("minItems", "'enum': [1"))
    return "schema" if is_full else "plain schema"


def has_system(seen: Seen) -> bool:
    return any(message["role"] == "system" for message in seen.body["messages"])


def reply_to(seen: Seen) -> Answer:
    """Statements for the first question about an answer, verdicts for the second."""
    text = seen.body["messages"][-1]["content"]
    return chat(VERDICTS if '"verdict"' in text else STATEMENTS)


def run_on(server: OpenAIServer, samples: int = 2, *, traffic: Traffic = ONCE, **settings: Any) -> Run:
    rows = [
        {
            "id": f"q{n}",
            "question": f"Where is Paris, {n}?",
            "answer": "Paris is in France.",
            "contexts": [f"Paris is in France. It has {n + 2} rivers."],
        }
        for n in range(samples)
    ]
    judge = OpenAIJudge("m", base_url=server.base_url, **settings)
    return evaluate(rows, metrics="faithfulness", judge=judge, traffic=traffic)


def values(run: Run) -> list[float | None]:
    return [record.value for record in run.records()]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "ragmetrics.models"]


Refuses = Callable[[Seen], bool]

# what the server refuses, its answer, and whether the answer names the setting
SERVERS: dict[str, tuple[Refuses, Answer, bool]] = {
    "no schemas": (
        lambda seen: "schema" in (form(seen) or ""),
        refusal(400, "'response_format' of type json_schema is not supported", param="response_format"),
        True,
    ),
    "no schemas, with 422": (
        lambda seen: "schema" in (form(seen) or ""),
        Answer(status=422, body={"detail": [{"loc": ["body", "response_format"], "msg": "invalid"}]}),
        True,
    ),
    "no schemas, in LiteLLM's words": (
        lambda seen: "schema" in (form(seen) or ""),
        refusal(400, "litellm.UnsupportedParamsError: m does not support parameters: ['response_format']"),
        True,
    ),
    "no sizes": (
        lambda seen: form(seen) == "schema",
        refusal(400, "Invalid schema: In context=(), 'minItems' is not permitted"),
        True,
    ),
    "no forms at all": (
        lambda seen: form(seen) is not None,
        refusal(400, "response_format is not supported"),
        True,
    ),
    "a refusal without words": (lambda seen: form(seen) is not None, refusal(400, "bad request"), False),
    "500 on a schema": (lambda seen: form(seen) is not None, refusal(500, "internal error"), False),
    "500 on a grammar": (
        lambda seen: form(seen) is not None,
        refusal(500, "failed to parse grammar"),
        True,
    ),
    "501 on a schema": (lambda seen: form(seen) is not None, refusal(501, "not implemented"), False),
    "404 on a schema": (lambda seen: form(seen) is not None, refusal(404, "no endpoint"), False),
    "an error under 200": (
        lambda seen: form(seen) is not None,
        Answer(body={"error": {"message": "provider returned an error"}}),
        False,
    ),
    "no temperature": (
        lambda seen: "temperature" in seen.body,
        refusal(400, "Unsupported value: 'temperature' does not support 0 with this model."),
        True,
    ),
    "no temperature, in Bedrock's words": (
        lambda seen: "temperature" in seen.body,
        refusal(400, "ValidationException: `temperature` is deprecated for this model."),
        True,
    ),
    "another name of the limit": (
        lambda seen: LIMIT in seen.body,
        refusal(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        True,
    ),
    "no system role": (has_system, refusal(400, "System role not supported"), True),
    "no system role, in Mistral's words": (
        has_system,
        refusal(400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        True,
    ),
    "no system role, in OpenAI's words": (
        has_system,
        refusal(
            400, "'messages[0].role' does not support 'system' with this model", param="messages[0].role"
        ),
        True,
    ),
    "no developer instruction": (
        has_system,
        refusal(400, "Developer instruction is not enabled for models/gemma"),
        True,
    ),
    "a template that fails on a system role": (
        has_system,
        refusal(500, "Jinja exception: Only user and assistant roles are supported!"),
        True,
    ),
    "neither a temperature nor a system role": (
        lambda seen: has_system(seen) or "temperature" in seen.body,
        refusal(400, "temperature and the system role are not supported"),
        True,
    ),
}


@pytest.mark.parametrize("name", SERVERS)
def test_what_a_server_refuses_is_changed_and_no_score_is_lost(name: str):
    refuses, answer, is_named = SERVERS[name]

    with OpenAIServer(lambda seen: answer if refuses(seen) else reply_to(seen)) as server:
        run = run_on(server, max_tokens=500)

    assert values(run) == [1.0, 1.0]
    # Two prompts, two samples. What is named is refused at most once per prompt; otherwise each time.
    refused = [refuses(seen) for seen in server.seen]
    second = refused[len(refused) // 2 :]
    assert any(refused)
    if is_named:
        assert sum(not each for each in refused) == 4
        assert not any(refused[-2:])
    else:
        assert any(second)


def test_a_refused_schema_is_followed_by_a_plain_one_then_by_json_then_by_none():
    answer = refusal(400, "response_format is not supported")

    with OpenAIServer(lambda seen: answer if form(seen) else reply_to(seen)) as server:
        run = run_on(server, samples=1)

    # the schema of statements has no sizes, so it is plain
    statements = ["plain schema", "json_object", None]
    assert [form(seen) for seen in server.seen] == [*statements, "schema", *statements]
    assert {step.held_to for record in run.records() for step in record.generate_steps} == {None}


def test_a_plain_schema_is_recorded_as_a_schema():
    answer = refusal(400, "minItems is not permitted in a schema")

    with OpenAIServer(lambda seen: answer if form(seen) == "schema" else reply_to(seen)) as server:
        run = run_on(server)

    assert {step.held_to for record in run.records() for step in record.generate_steps} == {"json_schema"}
    assert [form(seen) for seen in server.seen].count("schema") == 1


def test_the_system_text_moves_to_the_start_of_the_user_message():
    answer = refusal(400, "System role not supported")

    with OpenAIServer(lambda seen: answer if has_system(seen) else reply_to(seen)) as server:
        run_on(server)

    first, second, *_ = [seen.body["messages"] for seen in server.seen]
    assert [message["role"] for message in second] == ["user"]
    assert second[0]["content"] == "\n\n".join(message["content"] for message in first)
    assert [has_system(seen) for seen in server.seen] == [True, False, False, False, False]


def test_the_limit_keeps_its_number_under_its_other_name():
    answer = refusal(400, "Unsupported parameter: 'max_tokens'")

    with OpenAIServer(lambda seen: answer if LIMIT in seen.body else reply_to(seen)) as server:
        run_on(server, max_tokens=500)

    assert [seen.body.get("max_completion_tokens") for seen in server.seen] == [None, *[500] * 4]


@pytest.mark.parametrize("status", [404, 500, 501, 200])
def test_a_server_that_fails_with_and_without_a_schema_is_asked_twice_and_the_setting_is_named(status: int):
    with OpenAIServer(refusal(status, "it said so")) as server:
        try:
            (record,) = run_on(server, samples=1).records()
            reason = record.reason
        except RunStopped as error:  # with 404 every call is refused
            reason = str(error)

    assert "it said so (the same without response_format" in str(reason)
    assert "--judge-option response_format=text" in str(reason)

    assert [form(seen) for seen in server.seen] == ["plain schema", None]


def test_a_request_that_is_asked_again_is_tried_without_a_schema_once():
    with OpenAIServer(refusal(500, "it said so")) as server:
        (record,) = run_on(server, samples=1, traffic=Traffic(attempts=3, first_delay=0.0)).records()

    assert [form(seen) for seen in server.seen] == ["plain schema", None, "plain schema", "plain schema"]
    assert "the same without response_format" in str(record.reason)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_an_overload_or_a_gateway_is_not_about_the_schema(status: int):
    with OpenAIServer(refusal(status, "the schema service is busy")) as server:
        run_on(server, samples=1)

    assert [form(seen) for seen in server.seen] == ["plain schema"]


def test_a_server_that_ignores_the_schema_is_told_once_and_recorded(caplog: pytest.LogCaptureFixture):
    with (
        caplog.at_level(logging.WARNING, logger="ragmetrics.models"),
        OpenAIServer(chat("Certainly! Here are the statements.")) as server,
    ):
        run = run_on(server, samples=3)

    assert {step.held_to for record in run.records() for step in record.generate_steps} == {None}
    (message,) = told(caplog)
    assert "ignores the schema" in message
    assert "response_format=text" in message


def test_a_truncated_reply_does_not_show_that_the_schema_was_ignored(caplog: pytest.LogCaptureFixture):
    with OpenAIServer(chat('{"statements": ["Pa', finish_reason="length")) as server:
        run = run_on(server, samples=1)

    assert {step.held_to for record in run.records() for step in record.generate_steps} == {"json_schema"}
    assert told(caplog) == []


def test_a_judge_that_refuses_is_reported_in_its_words():
    with OpenAIServer(chat(content=None, refusal="I cannot rate this text.")) as server:
        (record,) = run_on(server, samples=1).records()

    assert record.status == "parse_error"
    assert "the judge refused to answer: I cannot rate this text." in str(record.reason)
