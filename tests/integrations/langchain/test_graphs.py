"""LangGraph: graphs, agents with a retriever tool, conversations, interrupts, fan-out and subgraphs."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool
from pydantic import BaseModel

from ragmetrics_core import Sample
from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.langchain.apps import Echo, Shelf, answer, assert_about, question
from tests.integrations.langchain.graphs import approve, generate, graph, in_thread, retrieve

langgraph = pytest.importorskip("langgraph.graph")
InMemorySaver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver
types = pytest.importorskip("langgraph.types")


def in_thread_of(handler: Any, thread: str) -> Any:
    return in_thread({"callbacks": [handler]}, thread)


def samples(handler: RagMetricsCallbackHandler) -> list[Sample]:
    assert handler.flush()
    assert handler.stats.errors == []
    assert handler.open_runs == 0
    return [result.sample for result in handler.results]


def test_a_state_that_is_a_model_is_read_like_a_mapping(handler, only_sample):
    class ModelState(BaseModel):
        question: str
        context: list[Document] = []
        answer: str = ""

    app = graph(
        lambda_named("retrieve", lambda state: {"context": Shelf().invoke(state.question)}),
        lambda_named("generate", lambda state: {"answer": answer("tea")}),
        schema=ModelState,
    )
    app.invoke(ModelState(question=question("tea")), {"callbacks": [handler]})

    assert_about(only_sample(handler), "tea")


# Conversations


# Interrupts


def test_an_interrupted_turn_is_scored_when_it_is_resumed(handler):
    app = graph(retrieve, approve, generate, checkpointer=InMemorySaver())
    for topic in ("tea", "milk"):
        app.invoke({"question": question(topic)}, in_thread_of(handler, "1"))
        assert len(samples(handler)) == (topic == "milk")
        app.invoke(types.Command(resume=True), in_thread_of(handler, "1"))

    tea, milk = samples(handler)
    assert_about(tea, "tea")
    assert_about(milk, "milk")
    assert handler.stats.skipped == {"interrupted": 2}


def test_a_turn_that_stops_before_a_node_is_scored_when_it_goes_on(handler):
    app = graph(retrieve, generate, checkpointer=InMemorySaver(), interrupt_before=["generate"])
    for topic in ("tea", "milk"):
        # the second time the state still holds the first answer
        app.invoke({"question": question(topic)}, in_thread_of(handler, "1"))
        app.invoke(None, in_thread_of(handler, "1"))

    tea, milk = samples(handler)
    assert_about(tea, "tea")
    assert_about(milk, "milk")
    assert handler.stats.skipped == {"no_answer": 2}


def test_interrupted_conversations_are_told_apart(handler):
    app = graph(retrieve, approve, generate, checkpointer=InMemorySaver())
    for topic in ("tea", "milk"):
        app.invoke({"question": question(topic)}, in_thread_of(handler, topic))
    for topic in ("tea", "milk"):
        app.invoke(types.Command(resume=True), in_thread_of(handler, topic))

    tea, milk = samples(handler)
    assert_about(tea, "tea")
    assert_about(milk, "milk")


def test_a_question_that_was_asked_instead_of_resuming_has_nothing_of_the_interrupted_one(handler):
    waiting = graph(retrieve, approve, generate, checkpointer=InMemorySaver())
    waiting.invoke({"question": question("tea")}, in_thread_of(handler, "1"))
    other = graph(retrieve, generate, checkpointer=InMemorySaver())
    other.invoke({"question": question("milk")}, in_thread_of(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "milk")


def test_an_agent_whose_tool_waits_for_approval_is_scored_after_it(handler):
    agents = pytest.importorskip("langchain.agents")
    middleware = pytest.importorskip("langchain.agents.middleware")
    call = {"name": "search", "args": {"query": question("tea")}, "id": "1"}
    model = Echo(replies=[AIMessage("", tool_calls=[call])])
    app = agents.create_agent(
        model,
        [create_retriever_tool(Shelf(), "search", "Finds books.")],
        middleware=[middleware.HumanInTheLoopMiddleware(interrupt_on={"search": True})],
        checkpointer=InMemorySaver(),
    )
    app.invoke({"messages": [("human", question("tea"))]}, in_thread_of(handler, "1"))
    decision = {"decisions": [{"type": "approve"}]}
    app.invoke(types.Command(resume=decision), in_thread_of(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "tea")
    assert handler.stats.skipped == {"interrupted": 1}


def test_another_handler_resumes_a_turn_from_the_state(make_handler):
    # a server that makes a handler for each request
    first, second = make_handler(), make_handler()
    app = graph(retrieve, approve, generate, checkpointer=InMemorySaver())
    app.invoke({"question": question("tea")}, in_thread_of(first, "1"))
    app.invoke(types.Command(resume=True), in_thread_of(second, "1"))

    assert samples(first) == []
    (sample,) = samples(second)
    assert_about(sample, "tea")


# Inside


def test_an_interrupt_in_a_subgraph_keeps_the_turn(handler):
    app = graph(graph(retrieve, approve), generate, checkpointer=InMemorySaver())
    app.invoke({"question": question("tea")}, in_thread_of(handler, "1"))
    assert samples(handler) == []
    app.invoke(types.Command(resume=True), in_thread_of(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "tea")
    assert sample.session == "1"


def test_a_failed_node_is_counted_and_the_turn_scored_when_it_is_tried_again(handler):
    tries = iter([ConnectionError("the model is down"), None])

    def fragile(state: Any) -> Any:
        if (error := next(tries)) is not None:
            raise error
        return generate(state)

    app = graph(retrieve, fragile, checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        app.invoke({"question": question("tea")}, in_thread_of(handler, "1"))
    app.invoke(None, in_thread_of(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "tea")
    assert handler.stats.skipped == {"run_failed": 1}


def lambda_named(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    function.__name__ = name
    return function
