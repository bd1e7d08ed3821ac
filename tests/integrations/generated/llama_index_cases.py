"""Cases as query engines, workflows and agents of LlamaIndex."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
from llama_index.core import PromptTemplate
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step

from ragmetrics_core import Sample
from ragmetrics_llama_index import instrument
from tests.integrations.body_keeping import BodyKeeper
from tests.integrations.generated.material import AGENTS, Case, plan, rendered, template, variables
from tests.integrations.llama_index.agents import ran
from tests.integrations.llama_index.fakes import FunctionRetriever
from tests.integrations.llama_index.scored import settled
from tests.integrations.llama_index.shown.served import ServedLLM

State = dict[str, Any]
Work = Callable[[State], Any]


def adapted(case: Case) -> Case:
    """An engine without an agent calls no tools: its second source is a retriever."""
    return replace(case, source="retriever") if case.source == "tool" and case.step not in AGENTS else case


def run(case: Case, server: BodyKeeper) -> Sample | str:
    """The sample of a case; why there is none."""
    llm = ServedLLM(url=f"{server.base_url}/chat/completions")
    if case.step in AGENTS:
        watched: Any = _agent(case, llm)
        history = [ChatMessage(role=role, content=text) for role, text in _history(case)]
        ask: Callable[[], Any] = lambda: ran(watched, user_msg=case.question, chat_history=history)  # noqa: E731
    elif case.step == "none" and case.source == "none" and not case.finish:
        watched = None
        ask = lambda: str(_engine(case, llm, "answer").query(case.question))  # noqa: E731
    elif case.shape % 2:
        watched = Flow(_works(case, llm))
        ask = lambda: ran(watched, question=case.question)  # noqa: E731
    else:
        watched = None
        ask = lambda: str(Engine(works=_works(case, llm), sources=case.shape > 2).query(case.question))  # noqa: E731
    hooks = instrument("faithfulness", "embedded", watch=[watched] if watched else None)
    try:
        ask()
        assert settled(hooks)
        assert (hooks.stats.errors, hooks.open_spans) == ([], 0)
        return hooks.results[-1].sample if hooks.results else f"not scored: {dict(hooks.stats.skipped)}"
    finally:
        hooks.close()


class Keep(BaseNodePostprocessor):
    """Keeps some of the nodes."""

    places: tuple[int, ...]

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return [nodes[place] for place in self.places]


class Rewrite(BaseNodePostprocessor):
    """Writes the nodes as they stand in the prompt."""

    write: Callable[[str], str]

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=self.write(each.text)), score=each.score) for each in nodes]


class Engine(CustomQueryEngine):
    """Does its works one after the other."""

    works: list[Any]
    sources: bool

    def custom_query(self, query_str: str) -> Any:
        state = {"question": query_str}
        for key, work in self.works:
            state[key] = work(state)
        return Response(state["answer"], source_nodes=state["docs"]) if self.sources else state["answer"]


class Gathered(Event):
    state: dict[str, Any]


class Flow(Workflow):
    """Does the last of its works in a step of its own."""

    def __init__(self, works: list[tuple[str, Work]]) -> None:
        super().__init__()
        self.works = works

    @step
    async def gather(self, ctx: Context, event: StartEvent) -> Gathered:
        state = {"question": event.question}
        for key, work in self.works[:-1]:
            state[key] = work(state)
        return Gathered(state=state)

    @step
    async def write(self, ctx: Context, event: Gathered) -> StopEvent:
        return StopEvent(result=self.works[-1][1](event.state))


def _retriever(texts: tuple[str, ...]) -> FunctionRetriever:
    return FunctionRetriever(lambda _: texts)


def _engine(case: Case, llm: ServedLLM, name: str) -> RetrieverQueryEngine:
    """A query engine whose prompt is that of a call, with the parts that each of its nodes is written in."""
    text = template(case, name).replace("{context}", "{context_str}").replace("{question}", "{query_str}")
    steps = [Keep(places=case.kept), Rewrite(write=lambda text: rendered(case, [text]))]
    return RetrieverQueryEngine.from_args(
        _retriever(case.documents),
        llm=llm,
        node_postprocessors=steps,
        text_qa_template=PromptTemplate(text.replace("\n{extra}", "")),
    )


def _works(case: Case, llm: ServedLLM) -> list[tuple[str, Work]]:
    """The steps of an application: what they write, and how."""
    retriever = _retriever(case.documents)
    history = [ChatMessage(role=role, content=text) for role, text in _history(case)]

    def ask(name: str) -> Work:
        def text(state: State) -> str:
            values = variables(case, name, state)
            if case.shape in (0, 1) and not history:
                return str(llm.predict(PromptTemplate(template(case, name)), **values))
            content = template(case, name).format(**values)
            if case.shape in (2, 3) and not history:
                return str(llm.complete(content))
            return llm.chat([*history, ChatMessage(role="user", content=content)]).message.content or ""

        return text

    def grade(state: State) -> list[NodeWithScore]:
        return [each for each in state["docs"] if "yes" in ask("grade")(state | {"document": each.text})]

    def summaries(state: State) -> str:
        return "\n".join(ask("summary")(state | {"document": each.text}) for each in state["docs"])

    def raw(state: State) -> str:
        content = template(case, "answer").format(**variables(case, "answer", state))
        body = {"messages": [{"role": "user", "content": content}]}
        reply = httpx.post(llm.url, json=body, verify=False).json()
        return str(reply["choices"][0]["message"]["content"])

    def extra(state: State) -> str:
        if case.source == "retriever":
            return "\n\n".join(each.text for each in _retriever(case.extra).retrieve("More"))
        return "" if case.source == "history" else "\n\n".join(case.extra)

    by_name: dict[str, tuple[str, Work]] = {
        "rewrite": ("query", ask("rewrite")),
        "retrieve": ("docs", lambda state: retriever.retrieve(state.get("query") or state["question"])),
        "select": (
            "docs",
            lambda state: Keep(places=case.kept).postprocess_nodes(state["docs"], query_str=""),
        ),
        "grade": ("docs", grade),
        "source": ("extra", extra),
        "render": ("context", lambda state: rendered(case, [each.text for each in state["docs"]])),
        "summaries": ("context", summaries),
        "draft": ("draft", ask("draft")),
        "check": ("verdict", ask("check")),
        "give": ("answer", lambda state: state["draft"]),
        "raw": ("answer", raw),
    }
    works = [by_name.get(name, ("answer", ask(name))) for name in plan(case)]
    if case.finish:
        works.append(("answer", lambda state: state["answer"].replace(case.finish, "")))
    return works


def _history(case: Case) -> list[tuple[str, str]]:
    return list(zip(("user", "assistant"), case.extra, strict=True)) if case.source == "history" else []


def _agent(case: Case, llm: ServedLLM) -> FunctionAgent:
    retriever = _retriever(case.documents)
    keep = Keep(places=case.kept)

    def as_text(query: str) -> str:
        nodes = retriever.retrieve(query) if case.shape == 4 else retriever._retrieve(QueryBundle(query))
        return rendered(case, [each.text for each in keep.postprocess_nodes(nodes, query_str=query)])

    def other(query: str) -> str:
        return "\n\n".join(case.extra)

    described = {"name": "search", "description": "Searches the handbook."}
    search: Any
    if case.step == "supervisor":
        search = QueryEngineTool.from_defaults(_engine(case, llm, "draft"), **described)
    elif case.shape > 2:
        search = FunctionTool.from_defaults(as_text, **described)
    else:
        search = RetrieverTool.from_defaults(retriever, node_postprocessors=[keep], **described)
    tools = [search]
    if case.source == "tool":
        tools.append(FunctionTool.from_defaults(other, name="other", description="Looks elsewhere."))
    return FunctionAgent(
        name="guide", description="knows the handbook", tools=tools, llm=llm, system_prompt=case.rules or None
    )
