"""Cases as chains, graphs and agents of LangChain."""

from collections.abc import Callable
from functools import reduce
from typing import Any, TypedDict

import httpx
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, StateGraph

from ragmetrics_core import Sample
from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.body_keeping import BodyKeeper
from tests.integrations.generated.material import AGENTS, Case, plan, rendered, template, variables

State = dict[str, Any]
Work = Callable[[State], Any]
SCHEMA = TypedDict(
    "SCHEMA",
    dict.fromkeys(
        ("question", "query", "docs", "found", "extra", "context", "draft", "verdict", "answer"), Any
    ),
)  # type: ignore[misc]


class Finds(BaseRetriever):
    """Finds the same texts for every query."""

    texts: tuple[str, ...]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content=text, id=text) for text in self.texts]


def adapted(case: Case) -> Case:
    """All cases are possible."""
    return case


def run(case: Case, server: BodyKeeper) -> Sample | str:
    """The sample of a case; why there is none."""
    handler = RagMetricsCallbackHandler("faithfulness", judge="embedded", concurrency=1)
    config: Any = {"callbacks": [handler]}
    try:
        model = ChatOpenAI(model="served", base_url=server.base_url, api_key="none", max_retries=0)  # type: ignore[arg-type]
        if case.step in AGENTS:
            _agent(case, model).invoke({"messages": [*_history(case), HumanMessage(case.question)]}, config)
        else:
            build = _graph if case.shape % 2 else _chain
            build(_works(case, model, server)).invoke({"question": case.question}, config)
        assert handler.flush()
        assert handler.stats.errors == []
        return handler.results[-1].sample if handler.results else f"not scored: {dict(handler.stats.skipped)}"
    finally:
        handler.close()


def _chain(works: list[tuple[str, Work]]) -> Any:
    steps = (RunnablePassthrough.assign(**{key: RunnableLambda(work)}) for key, work in works[:-1])
    return reduce(lambda chain, step: chain | step, steps) | RunnableLambda(works[-1][1])  # type: ignore[operator]


def _graph(works: list[tuple[str, Work]]) -> Any:
    def node(key: str, work: Work) -> Work:
        return lambda state: {key: work(state)}

    built = StateGraph(SCHEMA)
    built.add_sequence([(f"{place}_{key}", node(key, work)) for place, (key, work) in enumerate(works)])
    built.add_edge(START, f"0_{works[0][0]}")
    return built.compile()


def _works(case: Case, model: Any, server: BodyKeeper) -> list[tuple[str, Work]]:
    """The steps of an application: what they write, and how."""
    retriever = Finds(texts=case.documents)

    def ask(name: str) -> Work:
        def text(state: State) -> Any:
            values = variables(case, name, state)
            if case.shape in (0, 1):
                messages = [*_history(case), HumanMessage(template(case, name).format(**values))]
                return model.invoke(messages).text
            prompt = ChatPromptTemplate.from_messages(
                [MessagesPlaceholder("history"), ("human", template(case, name))]
            )
            return (prompt | model | StrOutputParser()).invoke({**values, "history": _history(case)})

        return text

    def grade(state: State) -> list[Document]:
        return [
            each for each in state["docs"] if "yes" in ask("grade")(state | {"document": each.page_content})
        ]

    def summaries(state: State) -> str:
        return "\n".join(ask("summary")(state | {"document": each.page_content}) for each in state["docs"])

    def raw(state: State) -> str:
        content = template(case, "answer").format(**variables(case, "answer", state))
        body = {"messages": [{"role": "user", "content": content}]}
        reply = httpx.post(f"{server.base_url}/chat/completions", json=body, verify=False).json()
        return str(reply["choices"][0]["message"]["content"])

    by_name: dict[str, tuple[str, Work]] = {
        "rewrite": ("query", ask("rewrite")),
        "retrieve": ("docs", lambda state: retriever.invoke(state.get("query") or state["question"])),
        "select": ("docs", lambda state: [state["docs"][place] for place in case.kept]),
        "grade": ("docs", grade),
        "render": ("context", lambda state: rendered(case, [each.page_content for each in state["docs"]])),
        "summaries": ("context", summaries),
        "draft": ("draft", ask("draft")),
        "check": ("verdict", ask("check")),
        "give": ("answer", lambda state: state["draft"]),
        "raw": ("answer", raw),
    }
    works = [
        each
        for name in plan(case)
        for each in (_sourced(case) if name == "source" else [by_name.get(name, ("answer", ask(name)))])
    ]
    if case.finish:
        works.append(("answer", lambda state: state["answer"].replace(case.finish, "")))
    return works


def _other(case: Case) -> Any:
    @tool
    def other(query: str) -> str:
        """Looks elsewhere."""
        return "\n\n".join(case.extra)

    return other


def _sourced(case: Case) -> list[tuple[str, Work]]:
    """The second source."""
    joined = "\n\n".join(case.extra)
    if case.source == "tool":
        return [("extra", lambda state: _other(case).invoke({"query": state["question"]}))]
    if case.source == "retriever":
        second = Finds(texts=case.extra)
        return [
            ("found", lambda state: second.invoke(state["question"])),
            ("extra", lambda state: "\n\n".join(each.page_content for each in state["found"])),
        ]
    if case.source == "web dicts":
        return [
            ("found", lambda state: [{"title": "Found", "content": text} for text in case.extra]),
            ("extra", lambda state: "\n".join(each["content"] for each in state["found"])),
        ]
    return [("extra", lambda state: "" if case.source == "history" else joined)]


def _history(case: Case) -> list[Any]:
    if case.source != "history":
        return []
    asked, replied = case.extra
    return [HumanMessage(asked), AIMessage(replied)]


def _agent(case: Case, model: Any) -> Any:
    retriever = Finds(texts=case.documents)

    def found(query: str) -> tuple[str, list[Document]]:
        traced = case.shape % 2 or case.step == "supervisor"
        documents = (
            retriever.invoke(query) if traced else retriever._get_relevant_documents(query, run_manager=None)
        )
        documents = [documents[place] for place in case.kept]
        return rendered(case, [each.page_content for each in documents]), documents

    @tool("search", response_format="content_and_artifact")
    def with_artifact(query: str) -> Any:
        """Searches the handbook."""
        return found(query)

    @tool("search")
    def as_text(query: str) -> str:
        """Searches the handbook."""
        return found(query)[0]

    @tool("search")
    def sub_agent(query: str) -> str:
        """Asks somebody who knows the handbook."""
        content = template(case, "draft").format(context=found(query)[0], extra="", question=query)
        return str(model.invoke([HumanMessage(content)]).text)

    search = sub_agent if case.step == "supervisor" else as_text if case.shape > 2 else with_artifact
    tools = [search, _other(case)] if case.source == "tool" else [search]
    return create_agent(model, tools, system_prompt=case.rules or None)
