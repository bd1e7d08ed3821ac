"""Agents as tutorials build them: what the answering request held are the contexts, also nothing."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import create_retriever_tool, tool

from tests.integrations.body_keeping import Call
from tests.integrations.langchain.shown.trial import (
    ABOUT_TEA,
    COFFEE,
    CORPUS,
    GREEN,
    TEA,
    Trial,
    join,
    retriever,
    store,
)

agents = pytest.importorskip("langchain.agents")
middlewares = pytest.importorskip("langchain.agents.middleware")
prebuilt = pytest.importorskip("langgraph.prebuilt")
graphs = pytest.importorskip("langgraph.graph")
InMemorySaver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver

DESCRIPTION = "Searches the handbook."
ASK = Call("search", {"query": ABOUT_TEA})
GOLD = "Tea is made of gold, as the old kings of the east have always known."
IRON = "Tea is made of iron, which the smiths of the north beat with hammers."
WEB = "A web page of today says that most tea in shops comes from large fields in the hills."


@tool(response_format="content_and_artifact")
def search(query: str) -> Any:
    """Searches the handbook."""
    found = store().similarity_search(query, k=2)
    return "\n\n".join(f"Source: {each.id}\nContent: {each.page_content}" for each in found), found


@tool("search", response_format="content_and_artifact")
def search_in_vain(query: str) -> Any:
    """Searches the handbook."""
    return "nothing found", []


@tool("search")
def search_with_retriever(query: str) -> str:
    """Searches the handbook."""
    return join(retriever().invoke(query))


@tool("search")
def search_in_list(query: str) -> list[str]:
    """Searches the handbook."""
    return [each.page_content for each in store().similarity_search(query, k=2)]


def asked(question: str = ABOUT_TEA) -> dict[str, Any]:
    return {"messages": [HumanMessage(question)]}


def run(app: Trial, *tools: Any, **settings: Any) -> None:
    agents.create_agent(app.model, tools=list(tools), **settings).invoke(asked(), app.config)


def looking(app_replies: Any = ASK, answer: str = "Green tea is dried.") -> dict[str, Any]:
    """The model looks first, then it answers."""
    return {ABOUT_TEA: [app_replies, answer]}


RETRIEVING = create_retriever_tool(retriever(), "search", DESCRIPTION)
# The agent's tool, what the model is shown of it, and the handler's options.
TOOLS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "retriever tool": (RETRIEVING, TEA, {}),
    # what a tool says is evidence, whatever it says
    "tool whose search finds nothing": (search_in_vain, ("nothing found",), {}),
    "tool that returns a list of texts": (search_in_list, TEA, {}),
    "tool with a retriever inside": (search_with_retriever, TEA, {}),
}


@pytest.mark.parametrize("name", TOOLS)
def test_an_agent(start, name):
    made, contexts, options = TOOLS[name]
    app = start({} if name == "agent that does not look" else looking(), **options)
    run(app, made)
    assert app.sample().contexts == contexts
    if not options:
        app.expect(*contexts)


def test_retriever_tool_that_is_asynchronous(start):
    app = start(looking())
    agent = agents.create_agent(app.model, [RETRIEVING])
    asyncio.run(agent.ainvoke(asked(), app.config))
    app.expect(*TEA)


def test_a_search_in_vain_and_another(start):
    app = start({ABOUT_TEA: [Call("look", {"query": "tea"}), ASK, "Green tea is dried."]})

    @tool("look", response_format="content_and_artifact")
    def look(query: str) -> Any:
        """Looks elsewhere."""
        return "nothing found", []

    run(app, look, RETRIEVING)
    app.expect("nothing found", *TEA)


def test_two_steps_by_a_middleware_that_retrieves(start):
    app = start()

    @middlewares.dynamic_prompt
    def contexts(request: Any) -> str:
        return "Use only:\n" + join(retriever().invoke(request.state["messages"][-1].text))

    run(app, middleware=[contexts])
    app.expect(*TEA)


def test_two_steps_by_a_middleware_that_puts_documents_into_the_state(start):
    class Found(middlewares.AgentState):
        context: list[Document]

    class Retrieve(middlewares.AgentMiddleware[Any, Any]):
        state_schema = Found

        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            last = state["messages"][-1]
            found = store().similarity_search(last.text, k=2)
            return {"messages": [HumanMessage(f"{last.text}\n\n{join(found)}", id=last.id)], "context": found}

    app = start()
    run(app, middleware=[Retrieve()])
    app.expect(*TEA)


def test_a_middleware_clears_what_a_tool_found(start):
    # the second call of the model shows no result of the search
    app = start(looking())

    class Forget(middlewares.AgentMiddleware[Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            kept = [each for each in request.messages if each.type == "human"]
            return handler(request.override(messages=kept))

    run(app, RETRIEVING, middleware=[Forget()])
    app.expect()


def test_agentic_rag_of_langgraph_with_a_tool_node(start):
    app = start(looking())
    model = app.model.bind_tools([RETRIEVING])

    def respond(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    def generate(state: Any) -> Any:
        asked, found = state["messages"][0].content, state["messages"][-1].content
        return {"messages": [app.model.invoke([SystemMessage(found), HumanMessage(asked)])]}

    built = graphs.StateGraph(graphs.MessagesState)
    built.add_node("respond", respond)
    built.add_node("tools", prebuilt.ToolNode([RETRIEVING]))
    built.add_node("generate", generate)
    built.add_edge(graphs.START, "respond")
    built.add_conditional_edges("respond", prebuilt.tools_condition)
    built.add_edge("tools", "generate")
    built.add_edge("generate", graphs.END)
    built.compile().invoke(asked(), app.config)
    app.expect(*TEA)


def test_an_agent_as_the_tool_of_another(start):
    inner_question = "Tell me of green tea dried in a pan."
    app = start(
        {
            ABOUT_TEA: [Call("ask", {"query": inner_question}), "It is dried in a pan, says the other."],
            inner_question: [Call("search", {"query": inner_question}), "Green: dried in a pan."],
        }
    )
    inner = agents.create_agent(app.model, [create_retriever_tool(retriever(1), "search", DESCRIPTION)])

    @tool("ask")
    def ask(query: str) -> str:
        """Asks another agent."""
        return str(inner.invoke({"messages": [HumanMessage(query)]})["messages"][-1].text)

    run(app, ask)
    app.expect(GREEN)


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


def test_a_tool_that_adds_a_web_page_to_what_its_retriever_finds(start):
    @tool("search")
    def search(query: str) -> str:
        """Searches."""
        return f"{join(retriever().invoke(query))}\n\n{WEB}"

    app = start({ABOUT_TEA: [Call("search", {"query": ABOUT_TEA}), "Dried."]})
    agents.create_agent(app.model, [search]).invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)
    app.expect(*TEA, WEB.rstrip("."))


def test_a_tool_that_returns_what_the_model_wrote(begin):
    @tool("note")
    def note(text: str) -> str:
        """Keeps a note."""
        return f"Noted: {text}"

    app = begin({ABOUT_TEA: [Call("note", {"text": GOLD}), "Gold."]})
    agents.create_agent(app.model, [note]).invoke({"messages": [HumanMessage(ABOUT_TEA)]}, app.config)
    assert not any("gold" in context for context in app.sample().contexts or ())
