"""Applications of LangChain and LangGraph, as their tutorials build them."""

import asyncio
from types import SimpleNamespace
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, AgentState, dynamic_prompt
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from openinference.instrumentation import using_session

from tests.integrations.body_keeping import BodyKeeper, Call
from tests.integrations.langchain.shown.test_agents_shown import search
from tests.integrations.langchain.shown.test_chains_shown import two_step
from tests.integrations.langchain.shown.test_retrievers_shown import Reranker
from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    BLACK,
    COFFEE,
    PROMPT,
    join,
    retriever,
    store,
)
from tests.traces.applications.served import Application, replying

ANSWER = "Green tea is dried in a pan, and black tea is left to wither."
FOLLOW_UP = "And the dark one?"


def model_of(server: BodyKeeper) -> ChatOpenAI:
    return ChatOpenAI(model="served-model", base_url=server.base_url, api_key="none", max_retries=0)


def found(question: str) -> list[Document]:
    return store().similarity_search(question, k=2)


def chain(server: BodyKeeper) -> None:
    """Two steps: a store that is asked in a function, and a prompt."""
    app: Any = SimpleNamespace(model=model_of(server))
    two_step(app, search=RunnableLambda(found)).invoke(ABOUT_TEA)


@tool
def manual(topic: str) -> str:
    """Reads the manual."""
    return store().similarity_search(topic, k=1)[0].page_content


TOOLS = [Call("search", {"query": ABOUT_TEA}), Call("manual", {"topic": "How is coffee roasted?"})]


def agent(server: BodyKeeper) -> None:
    """An agent with a tool that returns documents beside its text, and a tool that returns a text."""
    create_agent(model_of(server), [search, manual]).invoke({"messages": [HumanMessage(ABOUT_TEA)]})


def reranker(server: BodyKeeper) -> None:
    """A chain that is streamed, with a reranker that drops what was found first."""
    kept = ContextualCompressionRetriever(base_compressor=Reranker(), base_retriever=retriever())
    given = {"context": kept | RunnableLambda(join), "question": RunnablePassthrough()}
    list((given | PROMPT | model_of(server) | StrOutputParser()).stream(ABOUT_TEA))


class Talk(MessagesState):
    """A conversation, and what was found for its last question."""

    documents: list[Document]


def conversation(server: BodyKeeper) -> None:
    """A graph with a memory that rewrites a follow-up question; two turns, one after the other."""
    model = model_of(server)

    async def look(state: Talk) -> dict[str, Any]:
        *earlier, question = [each.text for each in state["messages"]]
        if earlier:
            asked = f"Rewrite the question to stand alone.\n{earlier}\n{question}"
            question = (await model.ainvoke(asked)).text
        return {"documents": await retriever(1).ainvoke(question)}

    async def answer(state: Talk) -> dict[str, Any]:
        told = SystemMessage(f"Answer from this.\n\n{join(state['documents'])}")
        return {"messages": [await model.ainvoke([told, *state["messages"]])]}

    built = StateGraph(Talk)
    built.add_node("look", look)
    built.add_node("answer", answer)
    built.add_edge(START, "look")
    built.add_edge("look", "answer")
    built.add_edge("answer", END)
    graph = built.compile(checkpointer=InMemorySaver())

    async def talk() -> None:
        for question in ("How is green tea dried?", FOLLOW_UP):
            asked: Any = {"messages": [HumanMessage(question)]}
            await graph.ainvoke(asked, {"configurable": {"thread_id": "tea"}})

    with using_session("tea"):
        asyncio.run(talk())


class Found(AgentState):
    """The state of an agent, with what was found before its model was called."""

    context: list[Document]


class Retrieve(AgentMiddleware[Any, Any]):
    """Puts documents before the question, and into the state."""

    state_schema = Found

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        last = state["messages"][-1]
        documents = found(last.text)
        return {
            "messages": [HumanMessage(f"{last.text}\n\n{join(documents)}", id=last.id)],
            "context": documents,
        }


@dynamic_prompt
def instructed(request: Any) -> str:
    return f"Use only:\n{join(found(request.state['messages'][-1].text))}"


def middleware(server: BodyKeeper) -> None:
    """Two steps by a middleware that keeps the documents in the state."""
    made = create_agent(model_of(server), [], middleware=[Retrieve()])
    made.invoke({"messages": [HumanMessage(ABOUT_TEA)]})


def system_prompt(server: BodyKeeper) -> None:
    """Two steps by a middleware that writes documents into the instructions, and keeps them nowhere."""
    made = create_agent(model_of(server), [], middleware=[instructed])
    made.invoke({"messages": [HumanMessage(ABOUT_TEA)]})


APPLICATIONS = {
    "langchain_chain": Application(chain, replying(otherwise=ANSWER)),
    "langchain_agent": Application(agent, replying((COFFEE, ANSWER), otherwise=TOOLS)),
    "langchain_reranker": Application(reranker, replying(otherwise="Black tea is left to wither.")),
    "langchain_conversation": Application(
        conversation,
        replying(
            ("Rewrite", "Is black tea left to wither, and does it turn dark?"),
            (BLACK, "Black tea is steamed for an hour before it is sold."),
            otherwise="Green tea is dried in a pan.",
        ),
    ),
    "langchain_middleware": Application(middleware, replying(otherwise=ANSWER)),
    "langchain_system_prompt": Application(system_prompt, replying(otherwise=ANSWER)),
}
