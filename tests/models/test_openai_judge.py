"""The judge behind an OpenAI-compatible server: what it sends and what comes back, over real HTTP."""

import asyncio
import threading
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core import prompts
from ragmetrics_core.errors import ModelError
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.parsers import Expected
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Completion, Generate, Usage
from tests.servers import Answer, OpenAIServer, chat

KEY = "sk-very-secret-4711"


def request(prompt: Prompt[Any] = prompts.STATEMENTS, *, draw: int = 0, draws: int = 1, **variables: object):
    variables = variables or {"question": "Where is Paris?", "answer": "In France."}
    items: Any = variables.get("items", ())
    expected = Expected(numbers=tuple(item.number for item in items), form=prompt.user)
    messages = prompt.render(variables)
    return Generate(prompt, variables, expected, messages=messages, draw=draw, draws=draws)


VERDICTS = request(prompts.VERDICTS, contexts=("One. Two.",), items=(Item(2, "A."), Item(5, "B.")))
DECLINING = (
    '{"sentences": [{"sentence": 1, "kind": "refusal", "statements": []}], "declined": true,'
    ' "reason": "it does not know"}'
)
CALL = {"id": "1", "type": "function", "function": {"name": "StatementList", "arguments": DECLINING}}
FREE_TEXT = request(prompts.PAPER_STATEMENTS)


def ask(judge: OpenAIJudge, asked: Generate[Any] | None = None) -> list[Completion]:
    return list(asyncio.run(judge.agenerate(asked or request())))


# What is sent


def test_the_prompt_goes_out_as_chat_messages_with_the_key_in_the_header():
    with OpenAIServer(chat("{}")) as server:
        ask(OpenAIJudge("m", base_url=server.base_url, api_key=KEY, response_format="text"))

    (seen,) = server.seen
    messages = [{"role": each.role, "content": each.content} for each in request().messages]
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {"model": "m", "messages": messages, "temperature": 0.0}


def test_settings_are_sent_and_the_seed_differs_from_draw_to_draw():
    with OpenAIServer(chat("{}")) as server:
        judge = OpenAIJudge(
            "m", base_url=server.base_url, temperature=0.5, max_tokens=9, seed=40, extra_body={"top_k": 3}
        )
        ask(judge, request(draw=2))

    sent = server.seen[0].body
    assert {name: sent[name] for name in ("temperature", "max_tokens", "seed", "top_k")} == {
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 42,
        "top_k": 3,
    }


def test_key_and_address_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    with OpenAIServer(chat("{}")) as server:
        monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        ask(OpenAIJudge("m"))

    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_text_that_utf8_cannot_carry_is_still_asked_about():
    with OpenAIServer(chat("{}")) as server:
        ask(OpenAIJudge("m", base_url=server.base_url), request(question="Zürich \ud800?", answer="Yes."))

    assert "Zürich ??" in server.seen[0].body["messages"][1]["content"]


def test_json_schema_holds_the_reply_to_the_form_of_the_prompt():
    with OpenAIServer(chat("{}")) as server:
        ask(OpenAIJudge("m", base_url=server.base_url), VERDICTS)

    form = server.seen[0].body["response_format"]
    verdict = form["json_schema"]["schema"]["properties"]["verdicts"]["items"]["properties"]
    assert (form["type"], form["json_schema"]["name"]) == ("json_schema", "VerdictList")
    assert list(verdict) == ["number", "reason", "evidence", "verdict"]
    assert verdict["number"]["enum"] == [2, 5]


@pytest.mark.parametrize("response_format", ["json_object", "json_schema"])
def test_a_prompt_for_free_text_is_not_held_to_json(response_format: Any):
    with OpenAIServer(chat("1. A.")) as server:
        ask(OpenAIJudge("m", base_url=server.base_url, response_format=response_format), FREE_TEXT)

    assert "response_format" not in server.seen[0].body


# What comes back


def test_a_reply_brings_its_text_model_usage_and_finish_reason():
    with OpenAIServer(chat(DECLINING, usage={"prompt_tokens": 7, "completion_tokens": 2})) as server:
        found = ask(OpenAIJudge("m", base_url=server.base_url))

    assert found == [Completion(DECLINING, "served-model", Usage(7, 2), "stop", held_to="json_schema")]


def test_several_draws_are_one_call_whose_usage_is_counted_once():
    with OpenAIServer(chat("a", "b", "c", usage={"prompt_tokens": 7, "completion_tokens": 6})) as server:
        found = ask(OpenAIJudge("m", base_url=server.base_url), request(draws=3))

    assert [seen.body["n"] for seen in server.seen] == [3]
    assert [each.text for each in found] == ["a", "b", "c"]
    assert [each.usage for each in found] == [Usage(7, 6), None, None]


def sent_form(seen: Any) -> str | None:
    """What a request that came in holds the reply to."""
    held_to: str | None = seen.body.get("response_format", {}).get("type")
    return held_to


def test_a_server_may_refuse_a_schema_and_several_draws():
    def answer(seen: Any) -> Answer:
        if (refused := "n" in seen.body and "n") or (refused := sent_form(seen)):
            return Answer(status=400, body={"error": {"message": f"unknown: {refused}"}})
        return chat("{}")

    with OpenAIServer(answer) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        replies = [*ask(judge, request(draws=2)), *ask(judge, request(draws=2))]

    sent = [(sent_form(seen), "n" in seen.body) for seen in server.seen]
    # several draws are given up first; what was taken is sent at once from then on
    assert sent == [
        ("json_schema", True),
        ("json_schema", False),
        ("json_schema", False),  # a plainer one
        ("json_object", False),
        (None, False),
        (None, False),
    ]
    assert [reply.held_to for reply in replies] == [None, None]


@pytest.mark.parametrize("status", [401, 403])
def test_who_may_not_ask_at_all_asks_once(status: int):
    with OpenAIServer(Answer(status=status, body={"error": {"message": "no"}})) as server:
        with pytest.raises(ModelError):
            ask(OpenAIJudge("m", base_url=server.base_url), request(draws=2))

        assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("answer", "text", "finish_reason"),
    [
        (chat(content=None, refusal="I will not."), "I will not.", "refusal"),
        (chat(content=[{"type": "refusal", "refusal": "I will not."}]), "I will not.", "refusal"),
        (chat(content=DECLINING, refusal=None), DECLINING, "stop"),
        (chat(content=None, reasoning_content=DECLINING), DECLINING, "stop"),
        (chat(content="", reasoning=f" {DECLINING} "), f" {DECLINING} ", "stop"),
        (chat(content=None, reasoning_content=f"Hm, {DECLINING}"), "", "stop"),
        (chat(content="No.", reasoning_content=DECLINING), "No.", "stop"),
        (chat(content=None, finish_reason="content_filter"), "", "content_filter"),
        (chat(content="", reasoning_content="Hm", finish_reason="length"), "", "length"),
        (chat(content=[{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]), "Yes.", "stop"),
        (chat("Yes.", finish_reason=None), "Yes.", None),
        (chat(content=None, finish_reason="tool_calls", tool_calls=[CALL]), DECLINING, "tool_calls"),
        (chat(content=None, finish_reason="tool_calls", tool_calls=[CALL, CALL]), "", "tool_calls"),
        (chat("Z\ud800rich"), "Z?rich", "stop"),
    ],
)
def test_a_message_without_plain_content_is_read_as_what_it_is(
    answer: Answer, text: str, finish_reason: str | None
):
    with OpenAIServer(answer) as server:
        (found,) = ask(OpenAIJudge("m", base_url=server.base_url))

    assert (found.text, found.finish_reason) == (text, finish_reason)


# Identity


def test_the_identity_names_every_setting_that_changes_replies():
    plain = OpenAIJudge("m", api_key=KEY)
    others = [
        OpenAIJudge("m", api_key=KEY, temperature=0.7),
        OpenAIJudge("m", api_key=KEY, max_tokens=5),
        OpenAIJudge("m", api_key=KEY, seed=1),
        OpenAIJudge("m", api_key=KEY, response_format="json_object"),
        OpenAIJudge("m", api_key=KEY, extra_body={"top_p": 0.1}),
        OpenAIJudge("m", api_key=KEY, base_url="http://localhost/v1"),
        OpenAIJudge("n", api_key=KEY),
    ]

    assert plain.identity == "openai:https://api.openai.com/v1/m?temperature=0"
    assert len({plain.identity, *(each.identity for each in others)}) == 8


def test_representation_and_identity_hold_neither_key_nor_password():
    judge = OpenAIJudge("m", base_url="https://user:pa55word@host:81/v1?api-version=1", api_key=KEY)

    assert judge.identity == "openai:https://host:81/v1/m?temperature=0"
    assert repr(judge) == "OpenAIJudge('openai:https://host:81/v1/m?temperature=0')"


# Event loops


def test_one_judge_serves_one_event_loop_after_the_other_and_its_connections_end_with_the_loop():
    with OpenAIServer(chat("a")) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        for _ in range(2):
            ask(judge)
            assert server.all_connections_end()

        assert server.connections == 2


def test_one_judge_serves_two_event_loops_at_once():
    both = threading.Barrier(2)

    def answer(_: Any) -> Answer:
        return chat("a")

    async def twice(judge: OpenAIJudge) -> None:
        both.wait(timeout=60)
        for _ in range(5):
            await judge.agenerate(request())

    with OpenAIServer(answer) as server:
        judge = OpenAIJudge("m", base_url=server.base_url)
        threads = [threading.Thread(target=asyncio.run, args=(twice(judge),)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(server.seen) == 10
        assert server.connections == 2


def test_a_closed_judge_has_no_connections_and_can_be_used_again():
    async def use(judge: OpenAIJudge, server: OpenAIServer) -> list[bool]:
        ended = []
        for _ in range(2):
            await judge.agenerate(request())
            await judge.aclose()
            ended.append(await asyncio.to_thread(server.all_connections_end))
        return ended

    with OpenAIServer(chat("a")) as server:
        assert asyncio.run(use(OpenAIJudge("m", base_url=server.base_url), server)) == [True, True]


def test_calls_of_one_loop_share_its_connections():
    async def use(judge: OpenAIJudge) -> None:
        for _ in range(5):
            await judge.agenerate(request())

    with OpenAIServer(chat("a")) as server:
        asyncio.run(use(OpenAIJudge("m", base_url=server.base_url)))

    assert server.connections == 1
