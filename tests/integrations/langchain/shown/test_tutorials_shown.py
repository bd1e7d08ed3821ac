"""Further chains, graphs and agents of the tutorials: what the answering request held are the contexts."""

import re
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, chain
from langchain_core.tools import create_retriever_tool, tool
from pydantic import BaseModel

from tests.integrations.body_keeping import Call
from tests.integrations.langchain.shown.conftest import OUTCOMES
from tests.integrations.langchain.shown.test_agents_shown import TOOLS
from tests.integrations.langchain.shown.test_chains_shown import CHAINS, two_step
from tests.integrations.langchain.shown.test_graphs_shown import GRAPHS
from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    BLACK,
    CORPUS,
    GREEN,
    PROMPT,
    TEA,
    Trial,
    join,
    retriever,
    store,
)

agents = pytest.importorskip("langchain.agents")
classic = pytest.importorskip("langchain_classic.chains")
functional = pytest.importorskip("langgraph.func")
graphs = pytest.importorskip("langgraph.graph")
middlewares = pytest.importorskip("langchain.agents.middleware")
structured = pytest.importorskip("langchain.agents.structured_output")
tools = pytest.importorskip("langchain.tools")
types = pytest.importorskip("langgraph.types")
ToolRuntime = tools.ToolRuntime
TWO_QUESTIONS = "Is green tea dried in a pan?\nDoes black tea wither and turn dark?"
ASK = Call("search", {"query": ABOUT_TEA})


def asking(app: Trial, instruction: str) -> Runnable[Any, str]:
    """The model with one instruction."""
    return ChatPromptTemplate.from_template(instruction + " {question}") | app.model | StrOutputParser()


def test_refining_an_answer_with_each_document(start):
    # the last call is shown the second document, and the answer that was made from the first
    app = start({BLACK: "Both are dried.", GREEN: "Pans are used to dry the green one."})
    chains = classic.RetrievalQA.from_chain_type(app.model, chain_type="refine", retriever=retriever())
    chains.invoke({"query": ABOUT_TEA}, app.config)
    app.expect(BLACK, GREEN)


def test_conversational_retrieval_chain(start):
    app = start({"standalone": "Does black tea wither and turn dark?"})
    made = classic.ConversationalRetrievalChain.from_llm(
        app.model, retriever=retriever(1), return_source_documents=True
    )
    made.invoke({"question": "And black?", "chat_history": [("Green tea?", "A drink.")]}, app.config)
    assert app.expect(BLACK).question == "And black?"


def test_rag_fusion(start):
    app = start({"Several": TWO_QUESTIONS})

    def fused(lists: list[list[Document]]) -> list[tuple[Document, float]]:
        scores: dict[str, float] = {}
        found = {document.page_content: document for documents in lists for document in documents}
        for documents in lists:
            for rank, document in enumerate(documents):
                scores[document.page_content] = scores.get(document.page_content, 0) + 1 / (60 + rank)
        return [(found[text], score) for text, score in sorted(scores.items(), key=lambda pair: -pair[1])]

    search = asking(app, "Several:") | str.splitlines | retriever().map() | fused
    given = {"context": search, "question": itemgetter("question")}
    (given | PROMPT | app.model | StrOutputParser()).invoke({"question": ABOUT_TEA}, app.config)
    app.expect(*TEA)


def test_two_attempts_reply_the_same_and_the_second_is_given_out(start):
    app = start({"tea": "no_answer"})

    @chain
    def careful(question: str) -> Any:
        return two_step(app, retriever(4)).invoke(question) if two_step(app).invoke(question) else None

    careful.invoke(ABOUT_TEA, app.config)
    assert set(app.sample().contexts or ()) == set(CORPUS)


def test_functions_as_a_graph(start):
    app = start({"A title": "Tea"})

    @functional.task
    def look(question: str) -> list[Document]:
        return retriever().invoke(question)

    @functional.task
    def generate(question: str, documents: list[Document]) -> str:
        return str(app.model.invoke([SystemMessage(join(documents)), HumanMessage(question)]).content)

    @functional.entrypoint()
    def flow(given: Any) -> Any:
        answer = generate(given["question"], look(given["question"]).result()).result()
        return {"answer": answer, "title": asking(app, "A title:").invoke({"question": answer})}

    flow.invoke({"question": ABOUT_TEA}, app.config)
    app.expect(*TEA)


class WithDocuments(middlewares.AgentState):  # type: ignore[misc, name-defined]
    """The state of an agent whose tool writes into it."""

    docs: list[Document]


def run_with_a_tool_that_writes(app: Trial, documents: list[Document]) -> None:
    """An agent whose tool gives these documents to the state, and a text to the model."""

    @tool("search")
    def search(query: str, runtime: ToolRuntime) -> Any:
        """Searches the handbook."""
        message = ToolMessage(join(documents) or "nothing found", tool_call_id=runtime.tool_call_id)
        return types.Command(update={"docs": documents, "messages": [message]})

    agent = agents.create_agent(app.model, [search], state_schema=WithDocuments)
    agent.invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)


def test_a_tool_that_writes_documents_into_the_state(start):
    app = start({ABOUT_TEA: [ASK, "Green tea is dried."]})
    run_with_a_tool_that_writes(app, store().similarity_search(ABOUT_TEA, k=2))
    app.expect(*TEA)


def test_a_tool_that_writes_no_documents_into_the_state(start):
    app = start({ABOUT_TEA: [ASK, "Green tea is dried."]})
    run_with_a_tool_that_writes(app, [])
    app.expect("nothing found")


class Form(BaseModel):
    """The answer."""

    text: str
    sources: list[str]


def test_an_agent_that_fills_in_a_form(start):
    app = start({ABOUT_TEA: [ASK, Call("Form", {"text": "Green tea is dried.", "sources": ["1"]})]})
    made = create_retriever_tool(retriever(), "search", "Searches the handbook.")
    agent = agents.create_agent(app.model, [made], response_format=structured.ToolStrategy(Form))
    agent.invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)
    sample = app.sample()
    assert (sample.answer, sample.contexts) == ("Green tea is dried.", TEA)
    assert set(sample.shown) == {"verified"}


def test_a_question_with_an_image_is_a_reason(start):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    app = start()
    agent = agents.create_agent(app.model, [create_retriever_tool(retriever(), "search", "Searches.")])
    agent.invoke({"messages": [HumanMessage([{"type": "text", "text": ABOUT_TEA}, picture])]}, app.config)
    assert app.samples() == []
    assert app.handler.stats.skipped == {"media_in_question": 1}


def test_every_line_of_the_page_is_an_application():
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    names = [name for text in texts for name in re.findall(r"^def test_(\w+)\(start\)", text, re.MULTILINE)]
    assert sorted([*(name.replace("_", " ") for name in names), *CHAINS, *GRAPHS, *TOOLS]) == sorted(OUTCOMES)
