"""What an application says itself about its samples, what a model wrote, and two instruments at once."""

from collections.abc import Mapping
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.schema import NodeWithScore, TextNode

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Skip
from ragmetrics_llama_index import RootSpan, instrument
from tests.integrations.llama_index.agents import agent, ran, search, tool_of
from tests.integrations.llama_index.scored import ANSWER, CONTEXTS, QUESTION, engine, only


@pytest.mark.parametrize("team", [False, True])
def test_a_tool_that_no_watched_agent_has_is_an_error_with_the_names_there_are(team):
    asked = agent(search(str), tool_of(engine()))
    watched = AgentWorkflow([asked], root_agent="guide") if team else asked

    with pytest.raises(ConfigError) as raised:
        instrument("faithfulness", "embedded", watch=[watched], context_tools=["serch"])

    said = "context_tools names 'serch', but the watched agents only have the tools search, towers"
    assert str(raised.value) == said


@pytest.mark.parametrize("watch", [None, [engine()]])
def test_tools_without_an_agent_are_an_error(watch):
    with pytest.raises(ConfigError, match=r"^context_tools names tools of agents: pass the agents as watch="):
        instrument("faithfulness", "embedded", watch=watch, context_tools=["search"])


def test_tools_of_a_class_of_agents_are_not_known_before_they_run(live):
    hooks = live([FunctionAgent], context_tools=["search"])
    ran(agent(search(lambda _: CONTEXTS)), user_msg=QUESTION)
    # a tool that gives a list of texts gives so many contexts
    assert only(hooks).sample.contexts == tuple(CONTEXTS)


def test_the_error_of_a_tool_is_not_a_context(live):
    def fails(_: str) -> str:
        raise RuntimeError("The tower is 300 m high.")

    asked = agent(search(fails))
    hooks = live([asked], context_tools=["search"])
    ran(asked, user_msg=QUESTION)
    assert only(hooks).sample.contexts == ()


def test_extract_looks_first_and_the_rules_find_the_rest(live):
    seen: list[RootSpan] = []

    def extract(span: RootSpan) -> Mapping[str, Any]:
        seen.append(span)
        nodes = [NodeWithScore(node=TextNode(text="Of its own.", id_="own"))]
        return {"contexts": nodes, "reference": "300 m", "labels": {"tenant": "north"}}

    hooks = live(extract=extract)
    engine().query(QUESTION)

    sample = only(hooks).sample
    assert (sample.question, sample.answer, sample.contexts) == (QUESTION, ANSWER, ("Of its own.",))
    assert (sample.context_ids, sample.reference, sample.labels["tenant"]) == (("own",), "300 m", "north")
    assert sample.labels["found_contexts"] == "extract"
    (span,) = seen
    assert (span.name, str(span.result)) == ("RetrieverQueryEngine", ANSWER)
    assert [node.get_content() for each in span.retrievals for node in each.nodes] == CONTEXTS
    assert [node.get_content() for node in span.nodes or ()] == CONTEXTS


def test_extract_may_leave_it_to_the_rules_or_leave_the_answer_out(live):
    def extract(span: RootSpan) -> None:
        if "small talk" in str(span.arguments):
            raise Skip("no_question")

    hooks = live(extract=extract)
    engine().query(QUESTION)
    engine().query("small talk")
    assert only(hooks).sample.contexts == tuple(CONTEXTS)
    assert hooks.stats.skipped == {"no_question": 1}


def test_a_second_instrument_with_other_metrics_runs_beside_the_first(live):
    first = live()
    second = instrument("context_relevance", "embedded")
    str(engine(streaming=True).query(QUESTION))
    engine().query(QUESTION)

    for hooks in (first, second):
        assert hooks.flush(60)
        assert [result.sample.answer for result in hooks.results] == [ANSWER, ANSWER]
    assert {tuple(result.scores) for result in (*first.results, *second.results)} == {
        ("faithfulness",),
        ("context_relevance",),
    }
    second.close()
    assert first.is_installed
