"""Workflows and agents as users build them."""

from types import SimpleNamespace
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step

from tests.integrations.body_keeping import Call
from tests.integrations.llama_index.agents import ran, search, tool_of
from tests.integrations.llama_index.shown.applications import TOP_TWO, Application, Applications, query_engine
from tests.integrations.llama_index.shown.served import ANSWER, HIGH, QUESTION, ServedLLM, index

AGENTS = Applications()
IN_SHORT = "In short, it is a high tower."
LOOK = "tower, how high"
RAIN = "It rains in the whole city until the evening."
BELOW = "It says what the texts of the tower say."


# Workflows


class Looked(Event):
    nodes: list[Any]


class Rag(Workflow):
    """Retrieval and synthesis in two steps."""

    def __init__(self, llm: ServedLLM) -> None:
        super().__init__()
        self.llm = llm

    @step
    async def look(self, ctx: Context, event: StartEvent) -> Looked:
        return Looked(nodes=await index().as_retriever(similarity_top_k=2).aretrieve(event.query))

    @step
    async def write(self, ctx: Context, event: Looked) -> StopEvent:
        return StopEvent(result=await self.written(event.nodes))

    async def written(self, nodes: list[Any]) -> Any:
        return await get_response_synthesizer(llm=self.llm).asynthesize(QUESTION, nodes=nodes)


class Shortening(Rag):
    """Has a model shorten what was retrieved, and writes the answer of that."""

    async def written(self, nodes: list[Any]) -> Any:
        shorter = await self.llm.acomplete("Shorten: " + " ".join(node.text for node in nodes))
        made = [NodeWithScore(node=TextNode(text=str(shorter)))]
        return str(await super().written(made))


def watched(workflow: Workflow, **expected: Any) -> Application:
    return Application(ask=lambda: ran(workflow, query=QUESTION), options={"watch": [workflow]}, **expected)


@AGENTS("workflow that returns a response, `watch=[workflow]`")
def _(llm: ServedLLM) -> Application:
    return watched(Rag(llm))


@AGENTS(
    "workflow in which a model shortens what was retrieved, `watch=[workflow]`",
    ("Shorten: ", IN_SHORT),
    written=(IN_SHORT, ANSWER),
)
def _(llm: ServedLLM) -> Application:
    return watched(Shortening(llm))


# Agents: they call each tool once, then answer


def calls(*names: str) -> tuple[Any, Any]:
    """The model calls tools first."""
    return None, [Call(name, {"input": LOOK}) for name in names]


def agent(llm: ServedLLM, *given: Any) -> FunctionAgent:
    return FunctionAgent(name="guide", description="knows towers", tools=list(given), llm=llm)


def asking(asked: Any, *, context_tools: tuple[str, ...] = (), **expected: Any) -> Application:
    options = {"watch": [asked], "context_tools": context_tools}
    return Application(ask=lambda: ran(asked, user_msg=QUESTION), options=options, **expected)


def engine_tool(llm: ServedLLM, **options: Any) -> QueryEngineTool:
    return tool_of(query_engine(llm, **options))


def retriever_tool(retriever: Any) -> RetrieverTool:
    return RetrieverTool.from_defaults(retriever, name="towers", description="finds texts about towers")


ENGINE = (f"Query: {LOOK}", BELOW)


@AGENTS("agent with a query engine as its tool, bare `instrument`", calls("towers"), ENGINE, written=(BELOW,))
def _(llm: ServedLLM) -> Application:
    asked = agent(llm, engine_tool(llm))
    return Application(ask=lambda: ran(asked, user_msg=QUESTION), question=LOOK, answer=BELOW)


@AGENTS(
    "agent with a query engine as its tool, `watch=[agent]`", calls("towers"), ENGINE, written=(BELOW, ANSWER)
)
def _(llm: ServedLLM) -> Application:
    return asking(agent(llm, engine_tool(llm)))


@AGENTS("agent with a retriever as its tool, `watch=[agent]`", calls("towers"))
def _(llm: ServedLLM) -> Application:
    return asking(agent(llm, retriever_tool(index().as_retriever(similarity_top_k=2))))


REACT = f'Thought: I look it up.\nAction: towers\nAction Input: {{"input": "{LOOK}"}}'
REACTED = f"Thought: I can answer.\nAnswer: {ANSWER}"


@AGENTS(
    "`ReActAgent` with a retriever as its tool, `watch=[agent]`",
    ("Observation: The tower", REACTED),
    (QUESTION, REACT),
    written=(REACTED,),
)
def _(llm: ServedLLM) -> Application:
    tool = retriever_tool(index().as_retriever(similarity_top_k=2))
    return asking(ReActAgent(name="guide", description="knows towers", tools=[tool], llm=llm))


@AGENTS("several agents, `watch=[AgentWorkflow]`", calls("towers"))
def _(llm: ServedLLM) -> Application:
    guide = agent(llm, retriever_tool(index().as_retriever(similarity_top_k=2)))
    return asking(AgentWorkflow([guide], root_agent="guide"))


@AGENTS("agent with instructions that does not look, `watch=[agent]`")
def _(llm: ServedLLM) -> Application:
    instructions = "You guide people through the city. Be polite, be brief, and never speak about bread."
    guide = FunctionAgent(name="guide", description="knows towers", system_prompt=instructions, llm=llm)
    return asking(guide, contexts=(), unaccounted=())


@AGENTS("agent with a function as its tool, `watch=[agent]`", calls("search"))
def _(llm: ServedLLM) -> Application:
    return asking(agent(llm, search(lambda _: HIGH)), contexts=(HIGH,))


@AGENTS('agent with two functions as its tools, `context_tools=["search"]`', calls("search", "weather"))
def _(llm: ServedLLM) -> Application:
    weather = FunctionTool.from_defaults(lambda input: RAIN, name="weather", description="tells the weather")
    return asking(agent(llm, search(lambda _: HIGH), weather), contexts=(HIGH,), context_tools=("search",))


@AGENTS("agent with a function that finds nothing, `watch=[agent]`", calls("search"))
def _(llm: ServedLLM) -> Application:
    return asking(agent(llm, search(lambda _: [])), contexts=())


@AGENTS("agent with a tool behind the Model Context Protocol, `watch=[agent]`", calls("search"))
def _(llm: ServedLLM) -> Application:
    def call(_: str) -> Any:
        return SimpleNamespace(content=[SimpleNamespace(type="text", text=text) for text in TOP_TWO])

    return asking(agent(llm, search(call)))


MADE_UP = "It is 400 m high, says a model."


@AGENTS(
    "agent with a tool in which a model writes, `watch=[agent]`",
    ("Make it up", MADE_UP),
    calls("search"),
)
def _(llm: ServedLLM) -> Application:
    made_up = search(lambda _: str(llm.complete("Make it up.")))
    return asking(agent(llm, made_up), contexts=())
