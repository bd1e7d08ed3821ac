"""docs/capture.md: each line of LangChain's table, tried on an application."""

import operator
import warnings
from collections.abc import Callable
from operator import itemgetter
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableParallel, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import create_retriever_tool, tool
from pydantic import BaseModel

from ragmetrics_core import Sample
from ragmetrics_core.live import note_contexts
from tests.integrations.capture_page import rows
from tests.integrations.langchain.apps import (
    PROMPT,
    Echo,
    Shelf,
    answer,
    join,
    question,
    rag_chain,
    retrieval_chain,
    texts,
)
from tests.integrations.langchain.graphs import State, approve, generate, graph, in_thread, retrieve

langgraph = pytest.importorskip("langgraph.graph")
agents = pytest.importorskip("langchain.agents")
middlewares = pytest.importorskip("langchain.agents.middleware")
classic = pytest.importorskip("langchain_classic.chains")
InMemorySaver = pytest.importorskip("langgraph.checkpoint.memory").InMemorySaver
types = pytest.importorskip("langgraph.types")
add_messages = pytest.importorskip("langgraph.graph.message").add_messages
structured = pytest.importorskip("langchain.agents.structured_output")
ProviderStrategy, ToolStrategy = structured.ProviderStrategy, structured.ToolStrategy

ROWS = rows("LangChain")
Handler = Any


PROMPT_OF_TEA = ChatPromptTemplate.from_messages([("human", "{context}")])


class Found(NamedTuple):
    """What a sample holds; by default what everybody says about tea."""

    question: str = question("tea")
    contexts: tuple[str, ...] | None = texts("tea")
    answer: str = answer("tea")
    history: tuple[str, ...] | None = None


Application = Callable[[Any], Any]
APPLICATIONS: dict[str, tuple[Application, dict[str, Any]]] = {}


def application(name: str, **options: Any) -> Callable[[Application], Application]:
    """An application that runs with a handler, under its name on the page; and the handler's options."""

    def register(run: Application) -> Application:
        APPLICATIONS[name] = (run, options)
        return run

    return register


@pytest.mark.parametrize("name", ROWS)
def test_a_line_of_the_page_is_what_is_captured(make_handler, name):
    run, options = APPLICATIONS[name]
    handler = make_handler(concurrency=1, **options)
    found = run({"callbacks": [handler]}) or Found()
    assert handler.flush()
    assert handler.stats.errors == []
    assert handler.open_runs == 0

    if ROWS[name].skipped is not None:
        assert handler.results == []
        assert handler.stats.skipped == {ROWS[name].skipped: 1}
        return
    sample: Sample = handler.results[-1].sample
    history = None if sample.history is None else tuple(turn.content for turn in sample.history)
    assert Found(sample.question or "", sample.contexts, sample.answer or "", history) == found
    labels = {
        name: rule
        for name, rule in sample.labels.items()
        if name.startswith("found_") and name != "found_standalone"
    }
    assert labels == ROWS[name].labels


def test_every_application_is_on_the_page():
    assert set(APPLICATIONS) == set(ROWS)


# Chains


@application("LCEL chain: retriever, prompt, model, parser")
def tutorial(config: Any) -> Any:
    rag_chain().invoke(question("tea"), config)


@application("LCEL chain that returns its sources, with `assign`")
def with_sources(config: Any) -> Any:
    generate = RunnablePassthrough.assign(context=lambda given: join(given["context"])) | PROMPT | Echo()
    chain = RunnablePassthrough.assign(context=itemgetter("question") | Shelf()).assign(
        answer=generate | StrOutputParser()
    )
    chain.invoke({"question": question("tea")}, config)


@application("`create_retrieval_chain`")
def classic_retrieval(config: Any) -> Any:
    retrieval_chain().invoke({"input": question("tea")}, config)


@application("`create_retrieval_chain` with a history-aware retriever")
def history_aware(config: Any) -> Any:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history"), ("human", "{input}")])
    model = Echo(replies=[AIMessage("Books about tea")])
    rewriting = classic.create_history_aware_retriever(model, Shelf(), prompt)
    given = {"input": "And what of it?", "chat_history": [("human", "Is there tea?"), ("ai", "Yes.")]}
    retrieval_chain(rewriting, Echo(replies=[AIMessage(answer("tea"))])).invoke(given, config)
    return Found("And what of it?", history=("Is there tea?", "Yes."))


@application("`RetrievalQA`")
def retrieval_qa(config: Any) -> Any:
    chain = classic.RetrievalQA.from_chain_type(Echo(), retriever=Shelf())
    chain.invoke({"query": question("tea")}, config)


@application("two retrievers side by side")
def side_by_side(config: Any) -> Any:
    both = RunnableParallel(first=Shelf(), second=Shelf(shelf="board"))
    chain = {"context": both | (lambda found: join([*found["first"], *found["second"]]))} | PROMPT_OF_TEA
    (chain | Echo()).invoke(question("tea"), config)
    return Found(contexts=(*texts("tea"), *texts("tea", shelf="board")))


@application("LCEL chain whose formatting step drops documents, `docs[:1]`")
def dropping(config: Any) -> Any:
    chain = {"context": Shelf() | (lambda found: join(found[:1]))} | PROMPT_OF_TEA | Echo()
    chain.invoke(question("tea"), config)
    return Found(contexts=texts("tea")[:1])


@application("LCEL chain whose formatting step cuts documents off")
def cutting(config: Any) -> Any:
    chain = {"context": Shelf() | (lambda found: "\n".join(each.page_content[:25] for each in found))}
    model = Echo(replies=[AIMessage(answer("tea"))])
    (chain | PROMPT_OF_TEA | model).invoke(question("tea"), config)
    return Found(contexts=("The first book of the", "The second book of the"))


@application("chain with `with_fallbacks`")
def fallbacks(config: Any) -> Any:
    chain = rag_chain(model=Echo(error=ConnectionError())).with_fallbacks([rag_chain()])
    chain.invoke(question("tea"), config)


@application("`RunnableWithMessageHistory`, second turn")
def message_history(config: Any) -> Any:
    history = FakeHistory()
    chain = RunnablePassthrough.assign(context=lambda given: join(Shelf().invoke(given["question"])))
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        app = RunnableWithMessageHistory(
            chain | PROMPT | Echo(),
            lambda session_id: history,
            input_messages_key="question",
            history_messages_key="history",
        )
        for topic in ("milk", "tea"):
            app.invoke({"question": question(topic)}, config | {"configurable": {"session_id": "1"}})
    return Found(history=(question("milk"), answer("milk")))


class FakeHistory(BaseChatMessageHistory):
    """Messages in memory."""

    def __init__(self) -> None:
        self.messages: list[BaseMessage] = []

    def add_messages(self, messages: Any) -> None:
        self.messages = [*self.messages, *messages]

    def clear(self) -> None:
        self.messages = []


@application("chain that is streamed")
def streamed(config: Any) -> Any:
    list(rag_chain().stream(question("tea"), config))


# Graphs


def grade(state: State) -> State:
    return {"context": state["context"][1:]}


def search(state: State) -> State:
    return {"context": [Document(page_content=text) for text in texts("tea")]}


@application("graph: retrieve, generate")
def plain_graph(config: Any) -> Any:
    graph(retrieve, generate).invoke({"question": question("tea")}, config)


@application("graph with a node that grades documents")
def grading(config: Any) -> Any:
    graph(retrieve, grade, generate).invoke({"question": question("tea")}, config)
    return Found(contexts=texts("tea")[1:])


@application("graph that searches without a retriever")
def searching(config: Any) -> Any:
    graph(search, generate).invoke({"question": question("tea")}, config)


@application("graph that fans out with `Send`")
def fan_out(config: Any) -> Any:
    class Gathered(TypedDict, total=False):
        question: str
        found: Annotated[list[str], operator.add]
        answer: str

    def plan(state: Gathered) -> Any:
        return [types.Send("look", {"question": question("tea")})]

    def look(state: Gathered) -> Gathered:
        return {"found": [join(Shelf().invoke(state["question"]))]}

    def write(state: Gathered) -> Gathered:
        return {"answer": answer("tea")}

    built = langgraph.StateGraph(Gathered)
    built.add_node("look", look)
    built.add_node("write", write)
    built.add_conditional_edges(langgraph.START, plan, ["look"])
    built.add_edge("look", "write")
    built.compile().invoke({"question": question("tea")}, config)


@application("graph with a subgraph")
def subgraph(config: Any) -> Any:
    built = langgraph.StateGraph(State)
    built.add_sequence([("inner", graph(retrieve)), ("generate", generate)])
    built.add_edge(langgraph.START, "inner")
    built.compile().invoke({"question": question("tea")}, config)


@application("graph that waits for approval")
def approved(config: Any) -> Any:
    app = graph(retrieve, approve, generate, checkpointer=InMemorySaver())
    config = in_thread(config)
    app.invoke({"question": question("tea")}, config)
    app.invoke(types.Command(resume=True), config)


class Talk(TypedDict, total=False):
    messages: Annotated[list[BaseMessage], add_messages]
    context: list[Document]


def clarify(state: Talk) -> Talk:
    return {"messages": [AIMessage("Which one?"), HumanMessage(types.interrupt("Which one?"))]}


def look_up(state: Talk) -> Talk:
    return {"context": Shelf().invoke(str(state["messages"][-1].text))}


def reply(state: Talk) -> Talk:
    return {"messages": [AIMessage(answer("tea"))]}


@application("graph that asks back and waits for the reply")
def asking_back(config: Any) -> Any:
    app = graph(clarify, look_up, reply, schema=Talk, checkpointer=InMemorySaver())
    app.invoke({"messages": [("human", "Tell me!")]}, in_thread(config))
    app.invoke(types.Command(resume="The one about tea."), in_thread(config))
    return Found("Tell me!", history=("Which one?", "The one about tea."))


# Agents


def looking(topic: str) -> AIMessage:
    """A model's message that looks a topic up."""
    return AIMessage("", tool_calls=[{"name": "search", "args": {"query": question(topic)}, "id": topic}])


def agent(tools: Any, *replies: AIMessage, **settings: Any) -> Any:
    """An agent whose model replies so, then about the topic that was named last."""
    return agents.create_agent(Echo(replies=list(replies)), tools, **settings)


def asked(*messages: BaseMessage) -> dict[str, Any]:
    """What an agent gets."""
    return {"messages": list(messages or [HumanMessage(question("tea"))])}


RETRIEVER_TOOL = create_retriever_tool(Shelf(), "search", "Finds books.")


@application("agent with `create_retriever_tool`")
def retriever_tool(config: Any) -> Any:
    agent([RETRIEVER_TOOL], looking("tea")).invoke(asked(), config)


@application("agent with a tool of `content_and_artifact`")
def artifact(config: Any) -> Any:
    @tool("search", response_format="content_and_artifact")
    def find(query: str) -> tuple[str, list[Document]]:
        """Finds books."""
        documents = [Document(page_content=text) for text in texts("tea")]
        return join(documents), documents

    agent([find], looking("tea")).invoke(asked(), config)


@application("agent with a tool that gives text")
def text_tool(config: Any) -> Any:
    @tool("search")
    def find(query: str) -> str:
        """Finds books."""
        return "\n".join(texts("tea"))

    agent([find], looking("tea")).invoke(asked(), config)
    return Found(contexts=("\n".join(texts("tea")),))


@middlewares.dynamic_prompt
def prompt_with_context(request: Any) -> str:
    """As the tutorial writes it, with a search that no callback tells; and the one line more."""
    note_contexts(list(texts("tea")))
    return silent(request)


def silent(request: Any) -> str:
    return "Use only:\n" + "\n".join(texts("tea"))


def two_steps(prompt: Any, config: Any) -> None:
    agents.create_agent(Echo(), [], middleware=[prompt]).invoke(asked(), config)


@application("two-step chain, `create_agent` with `@dynamic_prompt`, that calls `note_contexts`")
def noted(config: Any) -> Any:
    two_steps(prompt_with_context, config)


@application("the same without the note, `system_message=True`", system_message=True)
def system_message(config: Any) -> Any:
    two_steps(middlewares.dynamic_prompt(silent), config)
    return Found(contexts=("Use only:\n" + "\n".join(texts("tea")),))


@application("the same without both")
def unseen(config: Any) -> Any:
    two_steps(middlewares.dynamic_prompt(silent), config)
    return Found(contexts=None)


@application("agent that does not look")
def idle(config: Any) -> Any:
    agent([RETRIEVER_TOOL]).invoke(asked(), config)
    return Found(contexts=())


@application("agent in a conversation, second turn")
def second_turn(config: Any) -> Any:
    app = agent(
        [RETRIEVER_TOOL],
        looking("milk"),
        AIMessage(answer("milk")),
        looking("tea"),
        checkpointer=InMemorySaver(),
    )
    for topic in ("milk", "tea"):
        app.invoke(asked(HumanMessage(question(topic))), in_thread(config))
    # the first search is still in the thread, in one piece
    return Found(
        contexts=("\n\n".join(texts("milk")), *texts("tea")),
        history=(question("milk"), "", "\n\n".join(texts("milk")), answer("milk")),
    )


class Reply(BaseModel):
    """A form with one text."""

    said: str
    confidence: float = 1.0


class Note(BaseModel):
    """A form with two texts."""

    title: str
    body: str


@application("agent with `ToolStrategy`, a form with one text")
def tool_strategy(config: Any) -> Any:
    form = AIMessage("", tool_calls=[{"name": "Reply", "args": {"said": answer("tea")}, "id": "form"}])
    app = agent([RETRIEVER_TOOL], looking("tea"), form, response_format=ToolStrategy(Reply))
    app.invoke(asked(), config)


@application("agent with `ProviderStrategy`, a form with one text")
def provider_strategy(config: Any) -> Any:
    form = AIMessage(Reply(said=answer("tea")).model_dump_json())
    app = agent([RETRIEVER_TOOL], looking("tea"), form, response_format=ProviderStrategy(Reply))
    app.invoke(asked(), config)


@application(
    'the same with two texts, `answer_key="structured_response.body"`', answer_key="structured_response.body"
)
def two_texts_named(config: Any) -> Any:
    two_texts(config)


@application("the same with two texts, unnamed")
def two_texts(config: Any) -> Any:
    form = AIMessage(Note(title="Tea", body=answer("tea")).model_dump_json())
    app = agent([RETRIEVER_TOOL], looking("tea"), form, response_format=ProviderStrategy(Note))
    app.invoke(asked(), config)


@application("agent with a tool of `return_direct`")
def return_direct(config: Any) -> Any:
    @tool("search", return_direct=True)
    def find(query: str) -> str:
        """Finds books."""
        return Shelf().invoke(query)[0].page_content

    agent([find], looking("tea")).invoke(asked(), config)


@application("agent that is asked with an image alone")
def image(config: Any) -> Any:
    picture = HumanMessage([{"type": "image", "url": "https://books.example/cover.png"}])
    agent([RETRIEVER_TOOL], AIMessage("A cover.")).invoke(asked(picture), config)


@application("agent that is asked nothing")
def nothing_asked(config: Any) -> Any:
    agent([RETRIEVER_TOOL], AIMessage("Good morning.")).invoke(asked(HumanMessage(" ")), config)
