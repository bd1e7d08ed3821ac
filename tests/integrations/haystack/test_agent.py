"""Agents: by the hook, by the connector of their pipeline, and by the tracer alone."""

import asyncio
from typing import Any

import pytest
from haystack import Document
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool
from ragmetrics_core import Sample
from ragmetrics_core.live import LiveScorer

from haystack_integrations.components.evaluators.ragmetrics import (
    RagMetricsAgentHook,
    RagMetricsTracer,
)
from tests.integrations.haystack.mocks import MockChatGenerator

QUESTION = "What is the capital of France?"
TEXT = "Paris is the capital of France."
MESSAGES = [
    ChatMessage.from_user("Hello"),
    ChatMessage.from_assistant("Hello!"),
    ChatMessage.from_user(QUESTION),
]


def search(query: str) -> Any:
    return {"documents": [Document(id="d1", content=TEXT)]}


def search_text(query: str) -> str:
    return TEXT


def tool(function: Any = search_text, **options: Any) -> Tool:
    return Tool(
        name="search",
        description="Searches the documents",
        parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        function=function,
        **options,
    )


def agent(*, hook: RagMetricsAgentHook | None = None, tools: list[Tool] | None = None, **options: Any) -> Agent:
    """Searches once, then answers."""
    call = ChatMessage.from_assistant(tool_calls=[ToolCall("search", {"query": "France"}, id="1")])
    return Agent(
        chat_generator=MockChatGenerator(responses=[call, TEXT]),
        tools=tools or [tool()],
        hooks={"after_run": [hook]} if hook else None,
        **options,
    )


def only_sample(scorer: LiveScorer) -> Sample:
    assert scorer.flush()
    (result,) = scorer.results
    assert result.scores == {"faithfulness": 1.0}
    return result.sample


@pytest.mark.parametrize("is_async", [False, True])
def test_the_hook_has_question_history_answer_and_what_the_tools_returned(*, is_async: bool):
    hook = RagMetricsAgentHook(chat_generator="embedded", name="agent")
    made = agent(hook=hook)

    result = asyncio.run(made.run_async(MESSAGES)) if is_async else made.run(MESSAGES)

    assert result["last_message"].text == TEXT
    sample = only_sample(hook.live)
    assert (sample.question, sample.answer, sample.contexts) == (QUESTION, TEXT, (TEXT,))
    assert [turn.content for turn in sample.history or ()] == ["Hello", "Hello!"]
    assert sample.labels == {
        "app": "agent",
        "found_question": "last human message of the inputs",
        "found_contexts": "search, shown to agent",
        "found_answer": "last message of the model, by agent",
    }
    hook.close()


@pytest.mark.parametrize("needs_contexts", [False, True])
def test_an_answer_without_contexts_has_records_that_say_so_or_is_left_out(*, needs_contexts: bool):
    hook = RagMetricsAgentHook(chat_generator="embedded", needs_contexts=needs_contexts)

    Agent(chat_generator=MockChatGenerator(responses=TEXT), hooks={"after_run": [hook]}).run(MESSAGES)

    assert hook.flush()
    said = [(record.status, record.reason) for result in hook.results for record in result.records]
    assert said == ([] if needs_contexts else [("undefined", "no_contexts")])
    assert hook.stats.skipped == ({"no_contexts": 1} if needs_contexts else {})
    hook.close()


def test_documents_that_go_to_the_state_are_contexts_where_the_model_saw_them():
    hook = RagMetricsAgentHook(chat_generator="embedded")
    made = agent(
        hook=hook,
        tools=[tool(search, outputs_to_state={"documents": {"source": "documents"}})],
        state_schema={"documents": {"type": list[Document]}},
    )

    made.run(MESSAGES)

    sample = only_sample(hook.live)
    assert (sample.contexts, sample.context_ids) == ((TEXT,), ("d1",))
    assert sample.labels["found_contexts"] == "search, shown to agent"
    hook.close()


def test_the_hook_changes_nothing_and_its_failures_do_not_reach_the_agent():
    expected = agent().run(MESSAGES)
    hook = RagMetricsAgentHook(chat_generator="embedded")

    class Odd:
        data = None

    hook.run(Odd())  # type: ignore[arg-type]

    assert agent(hook=hook).run(MESSAGES) == expected
    assert hook.flush()
    assert hook.live.stats.skipped["hook_failed"] == 1
    hook.close()


def test_the_hook_belongs_to_the_end_of_a_run():
    hook = RagMetricsAgentHook(chat_generator="embedded")

    with pytest.raises(ValueError, match="after_run"):
        Agent(chat_generator=MockChatGenerator(), hooks={"before_llm": [hook]})


def test_the_agent_warms_the_hook_up_and_closes_it():
    hook = RagMetricsAgentHook(chat_generator="embedded")
    made = agent(hook=hook)

    made.run(MESSAGES)
    made.close()

    # what was pending was finished, and can still be read
    assert [result.scores for result in hook.live.results] == [{"faithfulness": 1.0}]


@pytest.mark.parametrize("is_async", [False, True])
def test_an_agent_by_itself_is_a_run_of_its_own(*, is_async: bool):
    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer)
    made = agent()

    if is_async:
        asyncio.run(made.run_async(MESSAGES))
    else:
        made.run(MESSAGES)

    sample = only_sample(scorer)
    assert (sample.question, sample.answer, sample.contexts) == (QUESTION, TEXT, (TEXT,))
    assert [turn.content for turn in sample.history or ()] == ["Hello", "Hello!"]
    scorer.close()
