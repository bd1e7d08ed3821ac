"""Drafts, second sources and rewritten chunks: evidence is what was found, and not what was written."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough, chain
from langchain_core.tools import create_retriever_tool, tool

from tests.integrations.body_keeping import Call
from tests.integrations.langchain.apps import Shelf
from tests.integrations.langchain.shown.test_chains_shown import two_step, written
from tests.integrations.langchain.shown.test_graphs_shown import Nodes, State, row
from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    COFFEE,
    CORPUS,
    GREEN,
    PROMPT,
    TEA,
    Trial,
    join,
    retriever,
)

agents = pytest.importorskip("langchain.agents")
graphs = pytest.importorskip("langgraph.graph")

GOLD = "Tea is made of gold, as the old kings of the east have always known."
IRON = "Tea is made of iron, which the smiths of the north beat with hammers."
WEB = "A web page of today says that most tea in shops comes from large fields in the hills."
RULES = "Write short sentences, use no foreign words and end each answer with a friendly greeting."

# Drafts: the answering request holds what a model wrote, and the evidence is what that was made from


def polished(app: Trial) -> Any:
    return {"draft": two_step(app)} | written(app, "Polish: {draft}")


def merged(app: Trial) -> Any:
    drafts = RunnableParallel(one=two_step(app, retriever(1)), other=two_step(app, retriever(2)))
    return drafts | written(app, "Merge: {one}\n{other}")


def revised(app: Trial) -> Any:
    """Reflexion: a draft, a critique of it, and a revision that is shown both."""
    critique = written(app, "Critique: {draft}")
    return (
        RunnableLambda(lambda question: {"draft": two_step(app).invoke(question)})
        | RunnablePassthrough.assign(critique=critique)
        | written(app, "Revise: {draft}\n{critique}")
    )


def supervised(app: Trial) -> Any:
    """A graph whose node hands a draft on in a message."""

    class Talk(graphs.MessagesState):  # type: ignore[misc, name-defined]
        """Messages."""

    def research(state: Any) -> Any:
        return {"messages": [AIMessage(two_step(app).invoke(state["messages"][0].text), name="researcher")]}

    def supervise(state: Any) -> Any:
        return {"messages": [app.model.invoke([SystemMessage("Supervise."), *state["messages"]])]}

    graph = row(research, supervise, schema=Talk)
    return RunnableLambda(lambda question: graph.invoke({"messages": [HumanMessage(question)]}))


def from_nothing(app: Trial) -> Any:
    """A draft that no document is behind."""
    return {"draft": written(app, "From memory: {question}")} | written(app, "Polish: {draft}")


DRAFTS: dict[str, tuple[Callable[[Trial], Any], tuple[str, ...]]] = {
    "a polished draft": (polished, TEA),
    "two merged drafts": (merged, TEA),
    "a draft that is criticised and revised": (revised, TEA),
    "a supervisor that is handed a draft": (supervised, TEA),
    "a polished draft that was made from nothing": (from_nothing, ()),
}


@pytest.mark.parametrize("length", [2, 9, 14])
@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft(begin, name, length):
    make, contexts = DRAFTS[name]
    draft, other = (" ".join(text.split()[-length:]) for text in (GOLD, IRON))
    last = {
        "Polish": "Gold it is.",
        "Merge": "Gold or iron.",
        "Revise": "Not gold.",
        "Supervise": "So it is.",
    }
    critique = {"Critique": "This is not what the documents say."}
    app = begin(last | critique | {"Use only": [draft, other], "From": draft})
    question = {"question": ABOUT_TEA} if make is from_nothing else ABOUT_TEA
    make(app).invoke(question, app.config)
    sample = app.sample()
    assert set(sample.contexts) == set(contexts), sample.labels


def test_an_agent_writes_between_two_searches(start):
    first = Call("search", {"query": ABOUT_TEA}, f"{GOLD} I search for more.")
    second = Call("search", {"query": "How is coffee roasted?"}, f"{IRON} I search for more.")
    app = start({ABOUT_TEA: [first, second, "Gold or iron."]})
    made = create_retriever_tool(retriever(1), "search", "Searches.")
    agent = agents.create_agent(app.model, [made])
    agent.invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)
    contexts = app.sample().contexts
    assert COFFEE in contexts
    assert set(contexts) <= set(CORPUS)


# A second source


class Webbed(State, total=False):
    """The state of a graph that also searches the web."""

    web: Any


def web_of(value: Any) -> Any:
    def web(state: Webbed) -> Any:
        return {"web": value}

    return web


def generate(app: Trial) -> Any:
    def answer(state: Webbed) -> Any:
        messages = [SystemMessage(f"{join(state['docs'])}\n{state['web']}"), HumanMessage(state["question"])]
        return {"answer": str(app.model.invoke(messages).content)}

    return answer


SHAPES: dict[str, Any] = {
    "a text": WEB,
    "a list of texts": [WEB],
    "a mapping": {"url": "https://a.example", "content": WEB},
    "a list of mappings": [{"url": "https://a.example", "content": WEB}],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_web_search_in_a_node_next_to_a_retriever(begin, shape):
    app = begin()
    graph = row(Nodes(app).retrieve, web_of(SHAPES[shape]), generate(app), schema=Webbed)
    graph.invoke({"question": ABOUT_TEA}, app.config)
    sample = app.expect(*TEA)
    assert app.unaccounted(sample) == ["unaccounted, by web"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_web_search_in_a_node_that_is_named_as_evidence(begin, shape):
    app = begin(evidence=["web"])
    graph = row(Nodes(app).retrieve, web_of(SHAPES[shape]), generate(app), schema=Webbed)
    graph.invoke({"question": ABOUT_TEA}, app.config)
    sample = app.sample()
    assert {*TEA, WEB} <= set(sample.contexts)


def test_a_web_search_after_a_grader_that_keeps_nothing(start):
    app = start({"Is it relevant": "no"})
    nodes = Nodes(app)
    graph = row(nodes.retrieve, nodes.grade, web_of(WEB), generate(app), schema=Webbed)
    graph.invoke({"question": ABOUT_TEA}, app.config)
    assert app.unaccounted(app.expect_unknown()) == ["unaccounted, by web"]


def test_a_web_search_after_a_retriever_that_finds_nothing(begin):
    app = begin()
    searched = RunnableLambda(lambda question: join(Shelf().invoke(question)) or WEB)
    ({"context": searched, "question": RunnablePassthrough()} | PROMPT | app.model).invoke(
        ABOUT_TEA, app.config
    )
    assert app.unaccounted(app.expect_unknown()) == ["unaccounted, by RunnableLambda"]


def test_a_tool_that_adds_a_web_page_to_what_its_retriever_finds(start):
    @tool("search")
    def search(query: str) -> str:
        """Searches."""
        return f"{join(retriever().invoke(query))}\n\n{WEB}"

    app = start({ABOUT_TEA: [Call("search", {"query": ABOUT_TEA}), "Dried."]})
    agents.create_agent(app.model, [search]).invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)
    app.expect(*TEA, WEB.rstrip("."))


def test_two_tools_whose_results_have_one_form(begin):
    cities = {"Oslo": "Norway", "Rome": "Italy"}
    rows = [f"The name of the city is {city} and its country is {land}." for city, land in cities.items()]

    @tool("norway")
    def norway(query: str) -> str:
        """Knows Norway."""
        return rows[0]

    @tool("italy")
    def italy(query: str) -> str:
        """Knows Italy."""
        return rows[1]

    calls = [Call(name, {"query": "x"}) for name in ("norway", "italy")]
    app = begin({ABOUT_TEA: [calls, "Oslo."]})
    agents.create_agent(app.model, [norway, italy]).invoke(
        {"messages": [HumanMessage(ABOUT_TEA)]}, app.config
    )
    app.expect(*rows)


def test_a_tool_that_returns_what_the_model_wrote(begin):
    @tool("note")
    def note(text: str) -> str:
        """Keeps a note."""
        return f"Noted: {text}"

    app = begin({ABOUT_TEA: [Call("note", {"text": GOLD}), "Gold."]})
    agents.create_agent(app.model, [note]).invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)
    assert not any("gold" in context for context in app.sample().contexts or ())


def test_a_node_writes_style_rules(start):
    app = start()

    def style(state: Webbed) -> Any:
        return {"web": RULES}

    row(Nodes(app).retrieve, style, generate(app), schema=Webbed).invoke({"question": ABOUT_TEA}, app.config)
    assert app.unaccounted(app.expect(*TEA)) == ["unaccounted, by style"]


# Calls that nobody sees


def test_a_model_grades_and_a_raw_client_answers(start):
    app = start({"Is it relevant": "yes", "Use only": "Tea is dried in a wide pan over a small fire."})
    nodes = Nodes(app)

    def generate(state: State) -> Any:
        body = {"messages": [{"role": "user", "content": "Use only: " + join(state["docs"][:1])}]}
        reply = httpx.post(f"{app.server.base_url}/chat/completions", json=body).json()
        return {"answer": reply["choices"][0]["message"]["content"]}

    row(nodes.retrieve, nodes.grade, generate).invoke({"question": ABOUT_TEA}, app.config)
    sample = app.sample()
    assert (sample.contexts, set(sample.shown)) == (TEA, {"unseen"})


@pytest.mark.parametrize(
    "answer",
    ["Green tea is dried in a pan [1]. Black tea is left to wither [2].", "Dried [1]. Then rolled [2]."],
)
def test_the_answer_of_two_calls_is_cleaned(begin, answer):
    app = begin({"Rewrite": "Is green tea dried in a pan?", "Use only": answer})

    @chain
    def cleaned(question: str) -> Any:
        written(app, "Rewrite: {question}").invoke({"question": question})
        return re.sub(r" \[\d\]", "", two_step(app).invoke(question))

    cleaned.invoke(ABOUT_TEA, app.config)
    sample = app.sample()
    assert (sample.contexts, set(sample.shown)) == (TEA, {"verified"})


# Chunks in other forms

PASSAGES = tuple(
    " ".join(f"{topic} number {n} is kept in the {place} of house {n + 40}." for n in range(1, 6))
    for topic, place in (("Barrel", "cellar"), ("Basket", "attic"))
)
SENTENCE = re.compile(r"(?<=\.) ")


def bullets(text: str) -> str:
    return "\n".join(f"- {sentence}" for sentence in SENTENCE.split(text))


FORMS: dict[str, Callable[[str], str]] = {
    "bullets": bullets,
    "numbers": lambda text: "\n".join(f"{n}. {each}" for n, each in enumerate(SENTENCE.split(text), start=1)),
    "cells": lambda text: "| " + " | ".join(SENTENCE.split(text)) + " |",
    "breaks": lambda text: text.replace(". ", ".<br/>"),
    "upper case": str.upper,
    "tags": lambda text: f"<doc><p>{text.replace('cellar', '<b>cellar</b>')}</p></doc>",
    "a replaced mark": lambda text: text.replace(".", ";"),
    "wrapped lines": lambda text: text.replace(" is ", "\nis "),
}


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_chunks_in_another_form(begin, form, both):
    app = begin()
    first, second = PASSAGES

    def context(question: Any) -> list[Document]:
        return [Document(page_content=text) for text in PASSAGES]

    def formatted(documents: list[Document]) -> str:
        return f"{FORMS[form](first)}\n\n{FORMS[form](second) if both else second}"

    given = {"context": RunnableLambda(context) | formatted, "question": RunnablePassthrough()}
    (given | PROMPT | app.model | StrOutputParser()).invoke(ABOUT_TEA, app.config)
    sample = app.sample()
    assert (sample.contexts, set(sample.shown), app.unaccounted(sample)) == (PASSAGES, {"verified"}, [])


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


def test_two_drafts_that_are_the_same_were_made_from_different_documents(begin):
    app = begin({"Merge": "Merged it is.", "Use only": GOLD})
    about_coffee = RunnableLambda(lambda question: "Coffee is roasted until it cracks.")
    drafts = RunnableParallel(
        one=two_step(app, retriever(1)), other=two_step(app, about_coffee | retriever(1))
    )
    (drafts | written(app, "Merge: {one}\n{other}")).invoke(ABOUT_TEA, app.config)
    assert set(app.sample().contexts) == {GREEN, COFFEE}


def test_summaries_that_a_model_wrote_are_not_documents(begin):
    app = begin({"Summarise": GOLD})

    @chain
    def summarised(question: str) -> Any:
        found = retriever().invoke(question)
        texts = [str(app.model.invoke(f"Summarise: {each.page_content}").content) for each in found]
        documents = [Document(page_content=text) for text in texts]
        return two_step(app, RunnableLambda(lambda _: documents)).invoke(question)

    summarised.invoke(ABOUT_TEA, app.config)
    assert set(app.sample().contexts) == set(TEA)
