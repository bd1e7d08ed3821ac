"""The agent's hook as a gate: an answer that is rejected does not leave."""

import asyncio
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import create_tool_from_function
from ragmetrics_core.errors import ConfigError

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsAgentHook
from tests.integrations.haystack.connected import QUESTION
from tests.integrations.haystack.generators import Broken, scripted
from tests.integrations.haystack.mocks import MockChatGenerator

REFUSAL = "Ask somebody else."


def agent(answer: str, point: str, **options: Any) -> Agent:
    def search(query: str) -> str:
        """Search."""
        return "Paris is the capital of France."

    replies = [
        ChatMessage.from_assistant(tool_calls=[ToolCall("search", {"query": QUESTION})]),
        ChatMessage.from_assistant(answer),
    ]
    hook = RagMetricsAgentHook(
        **{"gate": {"faithfulness": 0.7}, "chat_generator": scripted(), "rejected_answer": REFUSAL} | options
    )
    return Agent(
        chat_generator=MockChatGenerator(responses=replies),
        tools=[create_tool_from_function(search)],
        hooks={point: [hook]},
    )


def asked(made: Agent, *, is_async: bool = False) -> dict[str, Any]:
    messages = [ChatMessage.from_user(QUESTION)]
    return asyncio.run(made.run_async(messages)) if is_async else made.run(messages)


BOTH_POINTS = pytest.mark.parametrize("point", ["on_exit", "after_run"])


@BOTH_POINTS
@pytest.mark.parametrize("is_async", [False, True])
def test_an_answer_below_the_threshold_is_replaced_and_stops_the_run(point: str, *, is_async: bool):
    result = asked(agent("Madrid is.", point), is_async=is_async)

    assert result["last_message"].text == result["messages"][-1].text == REFUSAL
    assert result["exit_reason"] == "rejected_by_gate"
    assert not [each for each in result["messages"] if each.text == "Madrid is."]
    evaluation = result["last_message"].meta["evaluation"]
    assert evaluation["status"] == "rejected"
    assert "faithfulness is 0" in evaluation["reasons"][0]


@BOTH_POINTS
def test_an_answer_that_reaches_the_threshold_leaves_as_it_is(point: str):
    result = asked(agent("Paris is.", point))

    assert (result["last_message"].text, result["exit_reason"]) == ("Paris is.", "text")


@pytest.mark.parametrize(("unscored", "text"), [("reject", REFUSAL), ("pass", "Paris is.")])
def test_where_the_judge_fails_the_user_has_chosen(unscored: Any, text: str):
    made = agent("Paris is.", "on_exit", chat_generator=Broken(), attempts=1, unscored=unscored)

    assert asked(made)["last_message"].text == text


def test_what_says_nothing_passes():
    # a reply without a statement has no faithfulness, as a greeting has none
    generator = MockChatGenerator(responses='{"statements": [], "declined": true}')
    result = asked(agent("Paris is.", "on_exit", chat_generator=generator))

    assert result["last_message"].text == "Paris is."


@pytest.mark.parametrize("gate", [{"relevance": 0.5}, {"faithfulness": 7}, {"faithfulness": "high"}])
def test_a_gate_that_cannot_be_is_told_when_the_hook_is_made(gate: Any):
    with pytest.raises(ConfigError, match="the gate"):
        RagMetricsAgentHook(chat_generator="embedded", gate=gate)


def test_the_gate_survives_yaml():
    pipeline = Pipeline()
    made = Agent(
        chat_generator=MockChatGenerator(responses="Paris."),
        hooks={
            "on_exit": [RagMetricsAgentHook(chat_generator="embedded", gate={"faithfulness": 0.7}, unscored="pass")]
        },
    )
    pipeline.add_component("agent", made)

    again = Pipeline.loads(pipeline.dumps())

    assert again.to_dict()["components"] == pipeline.to_dict()["components"]
