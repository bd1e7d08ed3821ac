"""Graphs of the applications' parts, as LangGraph's guides build them."""

from collections.abc import Callable
from typing import Any, TypedDict

import pytest
from langchain_core.documents import Document

from tests.integrations.langchain.apps import PROMPT, Echo, Shelf, join

langgraph = pytest.importorskip("langgraph.graph")
types = pytest.importorskip("langgraph.types")


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: str
    approved: bool


def retrieve(state: State) -> State:
    return {"context": Shelf().invoke(state["question"])}


def approve(state: State) -> State:
    return {"approved": types.interrupt("May I answer?")}


def generate(state: State) -> State:
    given = {"context": join(state["context"]), "question": state["question"]}
    return {"answer": str((PROMPT | Echo()).invoke(given).text)}


def graph(*nodes: Callable[..., Any], schema: Any = State, **settings: Any) -> Any:
    """A graph of nodes in a row."""
    built = langgraph.StateGraph(schema)
    built.add_sequence([(getattr(node, "__name__", "inner"), node) for node in nodes])
    built.add_edge(langgraph.START, getattr(nodes[0], "__name__", "inner"))
    return built.compile(**settings)


def in_thread(config: Any, thread: str = "1") -> Any:
    """The conversation of a thread."""
    return config | {"configurable": {"thread_id": thread}}
