"""LangGraph: graphs, agents with a retriever tool, conversations, interrupts, fan-out and subgraphs."""

import asyncio
import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import create_retriever_tool
from pydantic import BaseModel

from ragmetrics_core import Sample
from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.langchain.apps import PROMPT, Echo, Shelf, answer, assert_about, join, question, texts

langgraph = pytest.importorskip("langgraph.graph")
InMemorySaver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver
types = pytest.importorskip("langgraph.types")

OnlySample = Callable[[RagMetricsCallbackHandler], Sample]
Turns = list[tuple[str, str]]


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: str
    approved: bool


def retrieve(state: State) -> State:
    return {"context": Shelf().invoke(state["question"])}


def generate(state: State) -> State:
    given = {"context": join(state["context"]), "question": state["question"]}
    return {"answer": str((PROMPT | Echo()).invoke(given).text)}


def ask_a_person(state: State) -> State:
    return {"approved": types.interrupt("May I answer?")}


def graph(*nodes: Callable[..., Any], schema: Any = State, **settings: Any) -> Any:
    built = langgraph.StateGraph(schema)
    last = langgraph.START
    for node in nodes:
        built.add_node(node.__name__, node)
        built.add_edge(last, node.__name__)
        last = node.__name__
    built.add_edge(last, langgraph.END)
    return built.compile(**settings)


def in_thread(handler: RagMetricsCallbackHandler, thread: str) -> dict[str, Any]:
    return {"callbacks": [handler], "configurable": {"thread_id": thread}}


def samples(handler: RagMetricsCallbackHandler) -> list[Sample]:
    assert handler.flush()
    assert handler.stats.errors == []
    assert handler.open_runs == 0
    return [result.sample for result in handler.results]


async def _ainvoke(app: Any, given: Any, config: Any) -> None:
    await app.ainvoke(given, config)


async def _astream_events(app: Any, given: Any, config: Any) -> None:
    async for _ in app.astream_events(given, config, version="v2"):
        pass


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "invoke": lambda app, given, config: app.invoke(given, config),
    "stream": lambda app, given, config: list(app.stream(given, config)),
    "batch": lambda app, given, config: app.batch([given], config),
    "ainvoke": lambda app, given, config: asyncio.run(_ainvoke(app, given, config)),
    "astream_events": lambda app, given, config: asyncio.run(_astream_events(app, given, config)),
}


@pytest.mark.parametrize("way", CALLS)
def test_a_graph_is_scored_however_it_is_called(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample, way: str
):
    CALLS[way](graph(retrieve, generate), {"question": question("tea")}, {"callbacks": [handler]})

    assert_about(only_sample(handler), "tea")


def test_a_state_that_is_a_model_is_read_like_a_mapping(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
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


def agent(*topics: str | None, checkpointer: Any = None) -> Any:
    """An agent that looks each topic up before it answers; None answers without looking."""
    agents = pytest.importorskip("langchain.agents")
    replies: list[AIMessage] = []
    for topic in topics:
        if topic is not None:
            call = {"name": "search", "args": {"query": question(topic)}, "id": topic}
            replies.append(AIMessage("", tool_calls=[call]))
        replies.append(AIMessage("I know that." if topic is None else answer(topic)))
    tool = create_retriever_tool(Shelf(), "search", "Finds books.")
    return agents.create_agent(Echo(replies=replies), [tool], checkpointer=checkpointer)


def test_an_agent_with_a_retriever_tool_is_scored_with_the_tools_documents(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    agent("tea").invoke({"messages": [("human", question("tea"))]}, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert sample.labels["found_question"] == "last human message of the inputs"
    assert sample.labels["found_answer"] == "last message of the model, by Echo"


def test_an_agent_that_looks_twice_has_the_documents_of_both(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    replies = [
        AIMessage("", tool_calls=[{"name": "search", "args": {"query": question("tea")}, "id": "1"}]),
        AIMessage("", tool_calls=[{"name": "search", "args": {"query": question("milk")}, "id": "2"}]),
        AIMessage(answer("tea")),
    ]
    agents = pytest.importorskip("langchain.agents")
    tool = create_retriever_tool(Shelf(), "search", "Finds books.")
    app = agents.create_agent(Echo(replies=replies), [tool])
    app.invoke({"messages": [("human", question("tea"))]}, {"callbacks": [handler]})

    assert only_sample(handler).contexts == (*texts("tea"), *texts("milk"))


def test_a_turn_of_a_conversation_has_what_was_found_in_it_and_what_is_still_in_the_thread(
    handler: RagMetricsCallbackHandler,
):
    app = agent("tea", "milk", None, checkpointer=InMemorySaver())
    for topic in ("tea", "milk", "salt"):
        app.invoke({"messages": [HumanMessage(question(topic))]}, in_thread(handler, "1"))

    tea, milk, salt = samples(handler)
    assert_about(tea, "tea")
    # what the first search found is still in the thread, in one piece
    assert milk.contexts == ("\n\n".join(texts("tea")), *texts("milk"))
    assert tea.history is None
    assert [(turn.role, turn.content) for turn in milk.history or ()] == [
        ("user", question("tea")),
        ("assistant", answer("tea")),
    ]
    assert milk.labels["session"] == "1"
    # the third turn looked nothing up, and was shown what the others had found
    assert salt.contexts == ("\n\n".join(texts("tea")), "\n\n".join(texts("milk")))


# Interrupts


def test_an_interrupted_turn_is_scored_when_it_is_resumed(handler: RagMetricsCallbackHandler):
    app = graph(retrieve, ask_a_person, generate, checkpointer=InMemorySaver())
    for topic in ("tea", "milk"):
        app.invoke({"question": question(topic)}, in_thread(handler, "1"))
        assert len(samples(handler)) == (topic == "milk")
        app.invoke(types.Command(resume=True), in_thread(handler, "1"))

    tea, milk = samples(handler)
    assert_about(tea, "tea")
    assert_about(milk, "milk")
    assert handler.stats.skipped == {"interrupted": 2}


def test_a_turn_that_stops_before_a_node_is_scored_when_it_goes_on(handler: RagMetricsCallbackHandler):
    app = graph(retrieve, generate, checkpointer=InMemorySaver(), interrupt_before=["generate"])
    for topic in ("tea", "milk"):
        # the second time the state still holds the first answer
        app.invoke({"question": question(topic)}, in_thread(handler, "1"))
        app.invoke(None, in_thread(handler, "1"))

    tea, milk = samples(handler)
    assert_about(tea, "tea")
    assert_about(milk, "milk")
    assert handler.stats.skipped == {"no_answer": 2}


def test_interrupted_conversations_are_told_apart(handler: RagMetricsCallbackHandler):
    app = graph(retrieve, ask_a_person, generate, checkpointer=InMemorySaver())
    for topic in ("tea", "milk"):
        app.invoke({"question": question(topic)}, in_thread(handler, topic))
    for topic in ("tea", "milk"):
        app.invoke(types.Command(resume=True), in_thread(handler, topic))

    tea, milk = samples(handler)
    assert_about(tea, "tea")
    assert_about(milk, "milk")


def test_a_question_that_was_asked_instead_of_resuming_has_nothing_of_the_interrupted_one(
    handler: RagMetricsCallbackHandler,
):
    waiting = graph(retrieve, ask_a_person, generate, checkpointer=InMemorySaver())
    waiting.invoke({"question": question("tea")}, in_thread(handler, "1"))
    other = graph(retrieve, generate, checkpointer=InMemorySaver())
    other.invoke({"question": question("milk")}, in_thread(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "milk")


def test_an_agent_whose_tool_waits_for_approval_is_scored_after_it(handler: RagMetricsCallbackHandler):
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
    app.invoke({"messages": [("human", question("tea"))]}, in_thread(handler, "1"))
    decision = {"decisions": [{"type": "approve"}]}
    app.invoke(types.Command(resume=decision), in_thread(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "tea")
    assert handler.stats.skipped == {"interrupted": 1}


def test_another_handler_resumes_a_turn_from_the_state(make_handler: Callable[..., Any]):
    # a server that makes a handler for each request
    first, second = make_handler(), make_handler()
    app = graph(retrieve, ask_a_person, generate, checkpointer=InMemorySaver())
    app.invoke({"question": question("tea")}, in_thread(first, "1"))
    app.invoke(types.Command(resume=True), in_thread(second, "1"))

    assert samples(first) == []
    (sample,) = samples(second)
    assert_about(sample, "tea")


# Inside


def test_a_fan_out_of_sends_is_one_sample_with_all_documents(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    class Gathered(TypedDict, total=False):
        question: str
        found: Annotated[list[str], operator.add]
        answer: str

    def plan(state: Gathered) -> Any:
        return [types.Send("search", {"question": question(topic)}) for topic in ("tea", "milk")]

    def search(state: Gathered) -> Gathered:
        return {"found": [join(Shelf().invoke(state["question"]))]}

    def write(state: Gathered) -> Gathered:
        return {"answer": answer("tea")}

    built = langgraph.StateGraph(Gathered)
    built.add_node("search", search)
    built.add_node("write", write)
    built.add_conditional_edges(langgraph.START, plan, ["search"])
    built.add_edge("search", "write")
    built.compile().invoke({"question": "Tea or milk?"}, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.question == "Tea or milk?"
    assert sorted(sample.contexts or ()) == sorted((*texts("tea"), *texts("milk")))
    assert sample.answer == answer("tea")


def test_a_subgraph_belongs_to_the_graph_around_it(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    inner = graph(retrieve)
    built = langgraph.StateGraph(State)
    built.add_node("inner", inner)
    built.add_node("generate", generate)
    built.add_edge(langgraph.START, "inner")
    built.add_edge("inner", "generate")
    built.compile().invoke({"question": question("tea")}, {"callbacks": [handler]})

    assert_about(only_sample(handler), "tea")


def test_an_interrupt_in_a_subgraph_keeps_the_turn(handler: RagMetricsCallbackHandler):
    built = langgraph.StateGraph(State)
    built.add_node("inner", graph(retrieve, ask_a_person))
    built.add_node("generate", generate)
    built.add_edge(langgraph.START, "inner")
    built.add_edge("inner", "generate")
    app = built.compile(checkpointer=InMemorySaver())

    app.invoke({"question": question("tea")}, in_thread(handler, "1"))
    assert samples(handler) == []
    app.invoke(types.Command(resume=True), in_thread(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "tea")


def test_a_failed_node_is_counted_and_the_turn_scored_when_it_is_tried_again(
    handler: RagMetricsCallbackHandler,
):
    tries = iter([ConnectionError("the model is down"), None])

    def fragile(state: State) -> State:
        if (error := next(tries)) is not None:
            raise error
        return generate(state)

    app = graph(retrieve, fragile, checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        app.invoke({"question": question("tea")}, in_thread(handler, "1"))
    app.invoke(None, in_thread(handler, "1"))

    (sample,) = samples(handler)
    assert_about(sample, "tea")
    assert handler.stats.skipped == {"run_failed": 1}


def lambda_named(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    function.__name__ = name
    return function
