"""LangGraph graphs as tutorials build them: what the answering request held are the contexts."""

import asyncio
import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate

from tests.integrations.langchain.shown.test_chains_shown import two_step
from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    BLACK,
    GREEN,
    PROMPT,
    TEA,
    Trial,
    join,
    retriever,
    store,
)

graphs = pytest.importorskip("langgraph.graph")
types = pytest.importorskip("langgraph.types")
InMemorySaver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver
END, START = graphs.END, graphs.START
GRADE = ChatPromptTemplate.from_template("Is it relevant, yes or no? {document}")
REWRITE = ChatPromptTemplate.from_template("Rewrite: {question}")


class State(TypedDict, total=False):
    question: str
    docs: list[Document]
    answer: str
    title: str
    tries: int


class Nodes:
    """The nodes of corrective RAG, as its tutorial has them."""

    def __init__(self, app: Trial, k: int = 2) -> None:
        self.app, self.k = app, k

    def retrieve(self, state: State) -> State:
        return {"docs": retriever(self.k).invoke(state["question"])}

    def search(self, state: State) -> State:
        return {"docs": store().similarity_search(state["question"], k=self.k)}

    def grade(self, state: State) -> State:
        grader = GRADE | self.app.model | StrOutputParser()
        return {
            "docs": [
                each for each in state["docs"] if "yes" in grader.invoke({"document": each.page_content})
            ]
        }

    def rewrite(self, state: State) -> State:
        reply = (REWRITE | self.app.model).invoke({"question": state["question"]})
        return {"question": str(reply.text), "tries": state.get("tries", 0) + 1}

    def generate(self, state: State) -> State:
        reply = (PROMPT | self.app.model).invoke(
            {"question": state["question"], "context": join(state["docs"])}
        )
        return {"answer": str(reply.text)}

    def generate_directly(self, state: State) -> State:
        messages = [SystemMessage(join(state["docs"])), HumanMessage(state["question"])]
        return {"answer": str(self.app.model.invoke(messages).content)}

    async def agenerate(self, state: State) -> State:
        given = {"question": state["question"], "context": join(state["docs"])}
        reply = await (PROMPT | self.app.model).ainvoke(given)
        return {"answer": str(reply.text)}

    def generate_unseeing(self, state: State) -> State:
        return {"answer": str(self.app.model.invoke([HumanMessage(state["question"])]).content)}

    def entitle(self, state: State) -> State:
        return {"title": str(self.app.model.invoke(f"A title for: {state['answer']}").content)}

    def answer_and_entitle(self, state: State) -> State:
        messages = [SystemMessage(join(state["docs"])), HumanMessage(state["question"])]
        answer = self.app.model.invoke(messages)
        title = self.app.model.invoke(f"A title for: {answer.content}")
        return {"answer": str(answer.content), "title": str(title.content)}


def row(*nodes: Any, schema: Any = State, **settings: Any) -> Any:
    """Nodes one after the other."""
    built = graphs.StateGraph(schema)
    built.add_sequence([(node.__name__, node) for node in nodes])
    built.add_edge(START, nodes[0].__name__)
    return built.compile(**settings)


def corrective(nodes: Nodes) -> Any:
    """Rewrites the question when nothing that was found is relevant, twice at most."""
    built = graphs.StateGraph(State)
    for node in (nodes.retrieve, nodes.grade, nodes.rewrite, nodes.generate):
        built.add_node(node.__name__, node)
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "grade")
    built.add_conditional_edges(
        "grade", lambda state: "generate" if state["docs"] or state.get("tries", 0) > 1 else "rewrite"
    )
    built.add_edge("rewrite", "retrieve")
    built.add_edge("generate", END)
    return built.compile()


ONLY_BLACK = {f"yes or no? {GREEN}": "no", "Is it relevant": "yes", "Rewrite": "Does black tea wither?"}
# What is built of the nodes, and what the model is shown of it.
GRAPHS: dict[str, tuple[Callable[[Nodes], Any], tuple[str, ...]]] = {
    "two nodes": (lambda of: row(of.retrieve, of.generate), TEA),
    # the first search found nothing that was relevant
    "corrective rag rewrites and retrieves again": (corrective, (BLACK,)),
    "answer and title in one node": (lambda of: row(of.retrieve, of.answer_and_entitle), TEA),
}
REPLIES = {
    "corrective rag rewrites and retrieves again": ONLY_BLACK,
    "answer and title in one node": {"A title": "Tea"},
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph(start, name):
    make, contexts = GRAPHS[name]
    app = start(REPLIES.get(name))
    is_again = name == "corrective rag rewrites and retrieves again"
    question = "Is green tea dried in a pan?" if is_again else ABOUT_TEA
    make(Nodes(app, k=1 if is_again else 2)).invoke({"question": question}, app.config)
    assert app.expect(*contexts).question == question


def test_a_graph_that_is_streamed(start):
    app = start()
    nodes = Nodes(app)
    graph = row(nodes.retrieve, nodes.generate_directly)
    list(graph.stream({"question": ABOUT_TEA}, app.config, stream_mode="messages"))
    app.expect(*TEA)


def test_an_asynchronous_graph(start):
    app = start()
    nodes = Nodes(app)
    asyncio.run(row(nodes.retrieve, nodes.agenerate).ainvoke({"question": ABOUT_TEA}, app.config))
    app.expect(*TEA)


def test_self_rag_answers_again_when_the_first_answer_is_not_grounded(start):
    app = start({"Grounded": ["no", "yes"], "tea": ["Hm.", "Green tea is dried."]})
    nodes = Nodes(app)
    built = graphs.StateGraph(State)

    def check(state: State) -> str:
        reply = app.model.invoke(f"Grounded? {state['answer']}").content
        return END if reply == "yes" else "generate"

    built.add_sequence([("retrieve", nodes.retrieve), ("generate", nodes.generate)])
    built.add_edge(START, "retrieve")
    built.add_conditional_edges("generate", check)
    built.compile().invoke({"question": ABOUT_TEA}, app.config)
    sample = app.expect(*TEA)
    assert sample.answer == "Green tea is dried."


def test_map_reduce_with_send(start):
    app = start(
        {
            f"Summarise: {GREEN}": "Pans are used to dry the green one.",
            f"Summarise: {BLACK}": "The black one withers before all.",
            "Combine": "Both.",
        }
    )

    class Parts(TypedDict, total=False):
        question: str
        docs: list[Document]
        summaries: Annotated[list[str], operator.add]
        answer: str

    def spread(state: Parts) -> Any:
        return [types.Send("summarise", {"docs": [each]}) for each in state["docs"]]

    def summarise(state: Parts) -> Parts:
        return {"summaries": [str(app.model.invoke(f"Summarise: {state['docs'][0].page_content}").content)]}

    def combine(state: Parts) -> Parts:
        return {"answer": str(app.model.invoke("Combine: " + "\n".join(state["summaries"])).content)}

    built = graphs.StateGraph(Parts)
    for node in (Nodes(app).retrieve, summarise, combine):
        built.add_node(node.__name__, node)
    built.add_edge(START, "retrieve")
    built.add_conditional_edges("retrieve", spread, ["summarise"])
    built.add_edge("summarise", "combine")
    built.compile().invoke({"question": ABOUT_TEA}, app.config)
    sample = app.sample()
    assert set(sample.contexts or ()) == set(TEA)


def test_two_nodes_answer_and_nothing_says_which(start):
    class Two(TypedDict, total=False):
        question: str
        docs: list[Document]
        long: str
        short: str

    app = start({"Shortly": "Dried."})

    def long(state: Two) -> Two:
        return {"long": str(app.model.invoke(join(state["docs"])).content)}

    def short(state: Two) -> Two:
        return {"short": str(app.model.invoke("Shortly: " + join(state["docs"])).content)}

    row(Nodes(app).retrieve, long, short, schema=Two).invoke({"question": ABOUT_TEA}, app.config)
    assert app.handler.flush()
    assert app.handler.results == []
    assert app.handler.stats.skipped == {"several_answers": 1}


def test_a_follow_up_question_is_sent_as_a_second_message(begin):
    class Talk(graphs.MessagesState):  # type: ignore[misc, name-defined]
        """Messages."""

    app = begin({"Use only": "Green tea is dried in a pan before all."})

    def answer(state: Any) -> Any:
        return {"messages": [AIMessage(two_step(app).invoke(state["messages"][0].text))]}

    def ask(state: Any) -> Any:
        return {"messages": [AIMessage("Would you like to know more about coffee?")]}

    row(answer, ask, schema=Talk).invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)
    assert app.sample().answer == "Green tea is dried in a pan before all."
