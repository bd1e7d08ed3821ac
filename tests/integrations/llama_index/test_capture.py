"""docs/capture.md: each line of LlamaIndex's table, tried on an application."""

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
)
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult
from llama_index.core.indices.query.query_transform import HyDEQueryTransform, StepDecomposeQueryTransform
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever, RecursiveRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.selectors import LLMMultiSelector, LLMSingleSelector
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step

from ragmetrics_core.live import note_contexts
from tests.integrations.capture_page import rows
from tests.integrations.llama_index.fakes import FunctionLLM, FunctionRetriever, qa_engine
from tests.integrations.llama_index.scored import ANSWER, CONTEXTS, QUESTION, engine, memory

ROWS = rows("LlamaIndex")
TEXTS = tuple(CONTEXTS)
SAYS = FunctionLLM(lambda prompt: ANSWER)


class Found(NamedTuple):
    """What a sample holds."""

    question: str = QUESTION
    contexts: tuple[str, ...] | None = TEXTS
    answer: str = ANSWER


class Application(NamedTuple):
    """What is watched, how it is asked, and what a sample must hold then."""

    ask: Callable[[], object]
    found: Found = Found()
    options: dict[str, Any] = {}  # noqa: RUF012  nobody writes into it


APPLICATIONS: dict[str, Callable[[], Application]] = {}
Maker = Callable[[], Application]


def application(name: str) -> Callable[[Maker], Maker]:
    """An application, under its name on the page."""

    def register(make: Maker) -> Maker:
        APPLICATIONS[name] = make
        return make

    return register


@pytest.mark.parametrize("name", ROWS)
def test_a_line_of_the_page_is_what_is_captured(live: Any, name: str):
    asked = APPLICATIONS[name]()
    hooks = live(**asked.options)
    asked.ask()

    assert hooks.flush(60)
    assert (hooks.stats.errors, hooks.stats.skipped, hooks.open_spans) == ([], {}, 0)
    (result,) = hooks.results
    sample = result.sample
    assert Found(sample.question or "", sample.contexts, sample.answer or "") == asked.found
    labels = {name: rule for name, rule in sample.labels.items() if name.startswith("found_")}
    assert {"found_contexts": "none"} | labels == {"found_contexts": "none"} | ROWS[name].labels


def test_every_application_is_on_the_page():
    assert list(ROWS) == list(APPLICATIONS)


def ran(workflow: Any, **start: Any) -> str:
    async def run() -> str:
        return str(await workflow.run(**start))

    return asyncio.run(run())


def tool_of(engine: Any, name: str = "towers") -> QueryEngineTool:
    return QueryEngineTool.from_defaults(engine, name=name, description=f"knows {name}")


@application("query engine")
def _() -> Application:
    return Application(lambda: engine().query(QUESTION))


@application("query engine that streams")
def _() -> Application:
    return Application(lambda: str(engine(streaming=True).query(QUESTION)))


def mode(mode: ResponseMode) -> Application:
    synthesizer = get_response_synthesizer(llm=SAYS, response_mode=mode)
    asked = RetrieverQueryEngine(FunctionRetriever(lambda _: CONTEXTS), response_synthesizer=synthesizer)
    return Application(lambda: asked.query(QUESTION))


@application("query engine with the mode `tree_summarize`")
def _() -> Application:
    return mode(ResponseMode.TREE_SUMMARIZE)


@application("query engine with the mode `refine`")
def _() -> Application:
    return mode(ResponseMode.REFINE)


@application("`CitationQueryEngine`")
def _() -> Application:
    asked = CitationQueryEngine(FunctionRetriever(lambda _: CONTEXTS), llm=SAYS)
    texts = tuple(f"Source {place}:\n{text}\n" for place, text in enumerate(TEXTS, 1))
    return Application(lambda: asked.query(QUESTION), Found(contexts=texts))


@application("HyDE")
def _() -> Application:
    transform = HyDEQueryTransform(llm=FunctionLLM(lambda prompt: "A tower may be 100 m high."))
    return Application(lambda: TransformQueryEngine(engine(), transform).query(QUESTION))


@application("`QueryFusionRetriever` with several questions")
def _() -> Application:
    writes = FunctionLLM(lambda prompt: "How tall is it?\nWhen did it open?")
    retriever = QueryFusionRetriever(
        [FunctionRetriever(lambda asked: [f"Text for {asked}"])],
        llm=writes,
        num_queries=3,
        similarity_top_k=3,
        use_async=False,
    )
    asked = RetrieverQueryEngine(retriever, response_synthesizer=get_response_synthesizer(llm=SAYS))
    texts = ("How high is the tower?", "How tall is it?", "When did it open?")
    return Application(
        lambda: asked.query(QUESTION), Found(contexts=tuple(f"Text for {text}" for text in texts))
    )


def router(selector: Any, choices: Any) -> Application:
    other = qa_engine(lambda question: "It opened in 1889.", lambda question: ["It opened in 1889."])
    tower = qa_engine(lambda question: ANSWER, lambda question: ["The tower is 300 m high."])
    chosen = selector.from_defaults(FunctionLLM(lambda prompt: json.dumps(choices)))
    summarizer = get_response_synthesizer(SAYS, response_mode=ResponseMode.TREE_SUMMARIZE)
    tools = [tool_of(tower, "towers"), tool_of(other, "openings")]
    asked = RouterQueryEngine(chosen, tools, llm=SAYS, summarizer=summarizer)
    contexts = TEXTS[: len(choices)]
    return Application(lambda: asked.query(QUESTION), Found(contexts=contexts))


@application("`RouterQueryEngine` that chooses one engine")
def _() -> Application:
    return router(LLMSingleSelector, [{"choice": 1, "reason": "towers"}])


@application("`RouterQueryEngine` that chooses several engines")
def _() -> Application:
    return router(LLMMultiSelector, [{"choice": 1, "reason": "one"}, {"choice": 2, "reason": "two"}])


@application("`SubQuestionQueryEngine`")
def _() -> Application:
    questions = [{"sub_question": text, "tool_name": "towers"} for text in ("How high?", "How old?")]
    inner = qa_engine(lambda question: f"Reply to {question}", lambda question: [f"Text for {question}"])
    asked = SubQuestionQueryEngine.from_defaults(
        [tool_of(inner)],
        llm=SAYS,
        question_gen=LLMQuestionGenerator.from_defaults(FunctionLLM(lambda prompt: json.dumps(questions))),
        response_synthesizer=get_response_synthesizer(SAYS),
        verbose=False,
        use_async=False,
    )
    return Application(
        lambda: asked.query(QUESTION), Found(contexts=("Text for How high?", "Text for How old?"))
    )


@application("`MultiStepQueryEngine`")
def _() -> Application:
    inner = qa_engine(lambda question: f"Reply to {question}", lambda question: [f"Text for {question}"])
    asked = MultiStepQueryEngine(
        inner,
        StepDecomposeQueryTransform(FunctionLLM(lambda prompt: "How high?")),
        response_synthesizer=get_response_synthesizer(SAYS),
        num_steps=1,
    )
    return Application(lambda: asked.query(QUESTION), Found(contexts=("Text for How high?",)))


@application("`RecursiveRetriever` over engines")
def _() -> Application:
    inner = qa_engine(lambda question: "A reply of the engine below.", lambda question: CONTEXTS)

    class Links(FunctionRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [NodeWithScore(node=IndexNode(text="towers", index_id="towers"), score=1.0)]

    retriever = RecursiveRetriever(
        "links", retriever_dict={"links": Links(lambda _: [])}, query_engine_dict={"towers": inner}
    )
    asked = RetrieverQueryEngine(retriever, response_synthesizer=get_response_synthesizer(llm=SAYS))
    return Application(lambda: asked.query(QUESTION))


class Passes(BaseEvaluator):
    """Finds fault with nothing."""

    def _get_prompts(self) -> Any:
        return {}

    def _update_prompts(self, prompts_dict: Any) -> None: ...

    async def aevaluate(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        return EvaluationResult(passing=True)


@application("`RetryQueryEngine`")
def _() -> Application:
    return Application(lambda: RetryQueryEngine(engine(), Passes()).query(QUESTION))


class Searching(CustomQueryEngine):
    """Looks things up by itself, without a retriever."""

    def custom_query(self, query_str: str) -> Response:
        nodes = [NodeWithScore(node=TextNode(text=text)) for text in CONTEXTS]
        return Response(str(SAYS.complete(query_str)), source_nodes=nodes)


@application("`CustomQueryEngine` that returns its nodes")
def _() -> Application:
    return Application(lambda: Searching().query(QUESTION))


class Noting(CustomQueryEngine):
    """Looks things up by itself, and says so in one line."""

    def custom_query(self, query_str: str) -> str:
        note_contexts(CONTEXTS)
        return str(SAYS.complete(query_str))


@application("`CustomQueryEngine` that returns a text, with `note_contexts`")
def _() -> Application:
    return Application(lambda: Noting().query(QUESTION))


@application("`ContextChatEngine`")
def _() -> Application:
    chat = ContextChatEngine.from_defaults(FunctionRetriever(lambda _: CONTEXTS), llm=SAYS)
    return Application(lambda: chat.chat(QUESTION))


@application("`CondenseQuestionChatEngine`")
def _() -> Application:
    chat = CondenseQuestionChatEngine.from_defaults(
        engine(), llm=FunctionLLM(lambda prompt: "What is its height?"), memory=memory(("user", "Hello."))
    )
    return Application(lambda: chat.chat(QUESTION))


@application("`CondensePlusContextChatEngine`")
def _() -> Application:
    chat = CondensePlusContextChatEngine.from_defaults(FunctionRetriever(lambda _: CONTEXTS), llm=SAYS)
    return Application(lambda: chat.chat(QUESTION))


class Looked(Event):
    nodes: list[Any]


class Rag(Workflow):
    """Retrieval and synthesis in two steps."""

    @step
    async def look(self, ctx: Context, event: StartEvent) -> Looked:
        return Looked(nodes=await FunctionRetriever(lambda _: CONTEXTS).aretrieve(event.query))

    @step
    async def write(self, ctx: Context, event: Looked) -> StopEvent:
        return StopEvent(
            result=await get_response_synthesizer(llm=SAYS).asynthesize(QUESTION, nodes=event.nodes)
        )


class Shortening(Rag):
    """Has a model shorten what was retrieved, and writes the answer of that; gives a text."""

    @step
    async def write(self, ctx: Context, event: Looked) -> StopEvent:
        shorter = await FunctionLLM(lambda prompt: "In short: it is a high tower.").acomplete("Shorten this.")
        nodes = [NodeWithScore(node=TextNode(text=str(shorter)))]
        return StopEvent(
            result=str(await get_response_synthesizer(llm=SAYS).asynthesize(QUESTION, nodes=nodes))
        )


@application("workflow that returns a response, `watch=[workflow]`")
def _() -> Application:
    workflow = Rag()
    return Application(lambda: ran(workflow, query=QUESTION), options={"watch": [workflow]})


@application("workflow in which a model shortens what was retrieved, `watch=[workflow]`")
def _() -> Application:
    workflow = Shortening()
    return Application(lambda: ran(workflow, query=QUESTION), options={"watch": [workflow]})


def agent(*tools: Any, answer: str = ANSWER) -> FunctionAgent:
    """Calls each tool once with a question of its own, then answers."""

    def reply(messages: Any, **_: Any) -> ChatMessage:
        if messages[-1].role == MessageRole.TOOL:
            return ChatMessage(role="assistant", content=answer)
        calls = [
            ToolCallBlock(tool_call_id=tool.metadata.name, tool_name=tool.metadata.name, tool_kwargs=given)
            for tool in tools
            for given in [{"input": "tower height"}]
        ]
        return ChatMessage(role="assistant", blocks=calls)

    return FunctionAgent(
        name="guide",
        description="knows towers",
        tools=list(tools),
        llm=MockFunctionCallingLLM(response_generator=reply),
        streaming=False,
    )


def watched(*tools: Any, found: Found = Found(), **options: Any) -> Application:  # noqa: B008  a constant
    asked = agent(*tools)
    return Application(lambda: ran(asked, user_msg=QUESTION), found, {"watch": [asked]} | options)


@application("agent with a query engine as its tool, bare `instrument`")
def _() -> Application:
    asked = agent(tool_of(engine()))
    return Application(lambda: ran(asked, user_msg=QUESTION), Found(question="tower height"))


@application("agent with a query engine as its tool, `watch=[agent]`")
def _() -> Application:
    return watched(tool_of(engine()))


@application("several agents, `watch=[AgentWorkflow]`")
def _() -> Application:
    team = AgentWorkflow([agent(tool_of(engine()))], root_agent="guide")
    return Application(lambda: ran(team, user_msg=QUESTION), options={"watch": [team]})


def search(function: Callable[[str], Any], name: str = "search") -> FunctionTool:
    def run(input: str) -> Any:
        return function(input)

    return FunctionTool.from_defaults(run, name=name, description="looks things up")


@application("agent with a function as its tool, `watch=[agent]`")
def _() -> Application:
    return watched(search(lambda _: "The tower is 300 m high."), found=Found(contexts=None))


@application('agent with a function as its tool, `context_tools=["search"]`')
def _() -> Application:
    return watched(
        search(lambda _: "The tower is 300 m high."),
        found=Found(contexts=TEXTS[:1]),
        context_tools=["search"],
    )


@application('agent with a tool behind the Model Context Protocol, `context_tools=["search"]`')
def _() -> Application:
    def call(_: str) -> Any:
        return SimpleNamespace(content=[SimpleNamespace(type="text", text=text) for text in TEXTS])

    return watched(search(call), context_tools=["search"])


@application('agent with a tool that asks an engine and gives its text, `context_tools=["search"]`')
def _() -> Application:
    return watched(search(lambda question: str(engine().query(question))), context_tools=["search"])


@application('agent with a tool in which a model writes, `context_tools=["search"]`')
def _() -> Application:
    writes = FunctionLLM(lambda prompt: "A model says that it is 400 m high.")
    return watched(
        search(lambda question: str(writes.complete(question))),
        found=Found(contexts=None),
        context_tools=["search"],
    )


@application('agent with a query engine and a function, `context_tools=["search"]`')
def _() -> Application:
    return watched(
        tool_of(engine()),
        search(lambda _: "It is green."),
        found=Found(contexts=(*TEXTS, "It is green.")),
        context_tools=["search"],
    )
