"""Conversations of LangChain and LangGraph: session, turn, history and the question as it was rewritten."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from tests.integrations.langchain.apps import Echo, Shelf, answer, question
from tests.integrations.running_examples import EXAMPLES, assert_repeated, run_example

langgraph = pytest.importorskip("langgraph.graph")
memory = pytest.importorskip("langgraph.checkpoint.memory")

IN_SESSION = """
import json, pickle, sys, warnings
from collections import defaultdict
from pathlib import Path
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import messages_from_dict, messages_to_dict
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables.history import RunnableWithMessageHistory
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.langchain.apps import Echo, question

way, store, *topics = sys.argv[1:]
store = Path(store)
handler = RagMetricsCallbackHandler("faithfulness", judge="embedded", concurrency=1)
if way == "checkpointer":
    saver = InMemorySaver()
    if store.exists():
        for place, rows in pickle.loads(store.read_bytes()).items():
            getattr(saver, place).update(rows)
    graph = StateGraph(MessagesState)
    graph.add_node("llm", lambda state: {"messages": [Echo().invoke(state["messages"])]})
    app = graph.set_entry_point("llm").compile(checkpointer=saver)
    for topic in topics:
        app.invoke({"messages": [("human", question(topic))]},
                   {"callbacks": [handler], "configurable": {"thread_id": "s"}})
    kept = {place: dict(getattr(saver, place)) for place in ("storage", "writes", "blobs")}
    store.write_bytes(pickle.dumps(kept))
else:
    warnings.simplefilter("ignore")
    history = InMemoryChatMessageHistory()
    if store.exists():
        history.add_messages(messages_from_dict(json.loads(store.read_text())))
    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{question}")])
    app = RunnableWithMessageHistory(
        prompt | Echo(),
        lambda session_id: history,
        input_messages_key="question",
        history_messages_key="history",
    )
    for topic in topics:
        config = {"callbacks": [handler], "configurable": {"session_id": "s"}}
        app.invoke({"question": question(topic)}, config)
    store.write_text(json.dumps(messages_to_dict(history.messages)))
handler.flush()
print(json.dumps([[r.sample.session, r.sample.turn, len(r.sample.history or ())] for r in handler.results]))
handler.close()
"""


def samples(handler: Any) -> list[Any]:
    assert handler.flush()
    assert handler.stats.errors == []
    return [result.sample for result in handler.results]


@pytest.mark.parametrize("way", ["checkpointer", "message history"])
def test_a_session_continues_in_a_new_process(tmp_path: Path, way: str):
    def asked(*topics: str) -> Any:
        command = [sys.executable, "-c", IN_SESSION, way, str(tmp_path / "store"), *topics]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=EXAMPLES.parent)
        return json.loads(done.stdout)

    assert asked("milk", "tea") == [["s", 1, 0], ["s", 2, 2]]
    assert asked("rice") == [["s", 3, 4]]


@pytest.mark.parametrize("name", ["thread_id", "session_id", "conversation_id"])
@pytest.mark.parametrize("place", ["metadata", "configurable"])
def test_a_conversation_is_named_in_metadata_or_configuration(handler: Any, name: str, place: str):
    chain = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{question}")]) | Echo()
    given = {"question": question("tea"), "history": []}
    chain.invoke(given, {"callbacks": [handler], place: {name: 7}})

    (sample,) = samples(handler)
    assert (sample.session, sample.turn, sample.history) == ("7", 1, None)
    assert "session" not in sample.labels


def test_another_key_names_the_conversation(make_handler: Any):
    handler = make_handler(session_key="chat")
    chain = ChatPromptTemplate([("human", "{question}")]) | Echo()
    chain.invoke(question("tea"), {"callbacks": [handler], "metadata": {"chat": "a", "thread_id": "b"}})
    (sample,) = samples(handler)
    assert (sample.session, sample.turn) == ("a", None)  # a chain without a place for a history


def rewriting(*replies: str, searches: int = 1) -> Any:
    """A chain that rewrites the question by the history, and searches."""
    model = Echo(replies=[*map(AIMessage, replies), AIMessage(answer("tea"))])
    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{question}")])
    rewritten = prompt | model | StrOutputParser()
    if searches > 1:
        found = (
            rewritten
            | (lambda text: text.splitlines())
            | Shelf().map()
            | (lambda lists: [each for found in lists for each in found])
        )
    else:
        found = rewritten | Shelf()
    context = found | (lambda documents: "\n".join(each.page_content for each in documents))
    return (
        RunnablePassthrough.assign(context=context)
        | ChatPromptTemplate([("human", "{context}\n{question}")])
        | model
    )


HISTORY = [("human", "Is there a book about tea?"), ("ai", "Yes.")]


@pytest.mark.parametrize(
    ("replies", "searches", "standalone"),
    [
        (["What is the book about tea?"], 1, "What is the book about tea?"),
        (["What is it about?"], 1, None),  # the typed question
        (["a book about tea\nthe book about tea"], 2, None),  # several queries
        (["The book is about tea. It has two parts."], 1, None),  # an answer in place of the question
    ],
)
def test_the_stand_alone_question_is_the_query_that_the_chain_wrote(
    handler: Any, replies: list[str], searches: int, standalone: str | None
):
    given = {"question": "What is it about?", "history": HISTORY}
    rewriting(*replies, searches=searches).invoke(given, {"callbacks": [handler]})

    (sample,) = samples(handler)
    assert (sample.question, sample.standalone, sample.turn) == ("What is it about?", standalone, 2)


def test_an_agents_search_is_not_the_stand_alone_question(handler: Any):
    agents = pytest.importorskip("langchain.agents")
    tools = pytest.importorskip("langchain_core.tools")
    call = {"name": "search", "args": {"query": "a book about tea"}, "id": "1"}
    app = agents.create_agent(
        Echo(replies=[AIMessage("Yes."), AIMessage("", tool_calls=[call]), AIMessage(answer("tea"))]),
        [tools.create_retriever_tool(Shelf(), "search", "Finds books.")],
        checkpointer=memory.InMemorySaver(),
    )
    for text in ("Is there a book about tea?", "What is it about?"):
        app.invoke(
            {"messages": [("human", text)]}, {"callbacks": [handler], "configurable": {"thread_id": "1"}}
        )

    first, second = samples(handler)
    assert (first.turn, second.turn, second.standalone) == (1, 2, None)


def test_an_interrupted_turn_keeps_its_number(handler: Any):
    types = pytest.importorskip("langgraph.types")

    def ask(state: Any) -> Any:
        types.interrupt("May I?")
        return {"messages": [Echo().invoke(state["messages"])]}

    graph = langgraph.StateGraph(langgraph.MessagesState).add_node("llm", RunnableLambda(ask))
    app = graph.set_entry_point("llm").compile(checkpointer=memory.InMemorySaver())
    config = {"callbacks": [handler], "configurable": {"thread_id": "1"}}
    for topic in ("milk", "tea"):
        app.invoke({"messages": [("human", question(topic))]}, config)
        app.invoke(types.Command(resume=True), config)

    assert [(sample.session, sample.turn) for sample in samples(handler)] == [("1", 1), ("1", 2)]


def test_the_example_prints_what_the_second_answer_repeats(capsys: Any, monkeypatch: pytest.MonkeyPatch):
    run_example(monkeypatch, "conversation_langchain", instead={})
    assert_repeated(capsys.readouterr().out)
