"""Cases as pipelines and agents of Haystack."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx
from haystack import Document, Pipeline, component, tracing
from haystack.components.agents import Agent
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import PipelineTool, Tool, create_tool_from_function
from haystack.utils import Secret

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector, RagMetricsTracer
from ragmetrics_core import Sample
from tests.integrations.body_keeping import BodyKeeper
from tests.integrations.generated.material import (
    AGENTS,
    FILTERED,
    Case,
    plan,
    rendered,
    template,
    variables,
)


def adapted(case: Case) -> Case:
    """A pipeline without an agent calls no tools: its second source is a retriever."""
    return replace(case, source="retriever") if case.source == "tool" and case.step not in AGENTS else case


def run(case: Case, server: BodyKeeper) -> Sample | str:
    """The sample of a case; why there is none."""
    if case.step in AGENTS:
        pipeline = Pipeline()
        pipeline.add_component("agent", _agent(case, server))
        data: dict[str, Any] = {
            "agent": {"messages": [*_history(case), ChatMessage.from_user(case.question)]}
        }
    else:
        pipeline, data = _pipeline(case, server)
    connector = RagMetricsConnector(chat_generator="embedded")
    pipeline.add_component("scores", connector)
    try:
        pipeline.run(data)
        assert connector.flush()
        assert connector.stats.errors == []
        results = connector.live.results
        return results[-1].sample if results else f"not scored: {dict(connector.stats.skipped)}"
    finally:
        connector.close()
        RagMetricsTracer.uninstall()
        tracing.disable_tracing()


@component
class Search:
    """Finds the same texts for every query."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": [Document(content=text, id=text) for text in self.texts]}


@component
class Select:
    """Keeps some of the documents."""

    def __init__(self, places: tuple[int, ...]) -> None:
        self.places = places

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": [documents[place] for place in self.places]}


@component
class Grade:
    """Asks a model of each document whether it is relevant."""

    def __init__(self, grader: Pipeline) -> None:
        self.grader = grader

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], question: str) -> dict[str, Any]:
        return {
            "documents": [
                each for each in documents if "yes" in _replied(self.grader, each, question=question)
            ]
        }


@component
class Summarise:
    """Has a model summarise each document."""

    def __init__(self, writer: Pipeline) -> None:
        self.writer = writer

    @component.output_types(text=str)
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"text": "\n".join(_replied(self.writer, each) for each in documents)}


@component
class Render:
    """The documents as they stand in the prompt."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @component.output_types(text=str)
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"text": rendered(self.case, [each.content or "" for each in documents])}


@component
class Write:
    """A text that no document holds."""

    def __init__(self, text: str) -> None:
        self.text = text

    @component.output_types(text=str)
    def run(self, question: str) -> dict[str, Any]:
        return {"text": self.text}


@component
class SearchTheWeb:
    """Results as the clients of search services give them."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    @component.output_types(results=list[dict[str, str]])
    def run(self, question: str) -> dict[str, Any]:
        return {"results": [{"title": "Found", "content": text} for text in self.texts]}


@component
class First:
    """The text of the first reply."""

    @component.output_types(text=str)
    def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
        return {"text": replies[0].text}


@component
class Finish:
    """Takes something out of the replies."""

    def __init__(self, out: str) -> None:
        self.out = out

    @component.output_types(replies=list[ChatMessage])
    def run(self, replies: list[ChatMessage]) -> dict[str, Any]:
        return {
            "replies": [
                ChatMessage.from_assistant((each.text or "").replace(self.out, "")) for each in replies
            ]
        }


@component
class Raw:
    """Asks a model without Haystack."""

    def __init__(self, case: Case, url: str) -> None:
        self.case, self.url = case, url

    @component.output_types(replies=list[str])
    def run(self, context: str, question: str, extra: str = "") -> dict[str, Any]:
        given = {"context": context, "question": question, "extra": extra}
        content = template(self.case, "answer").format(**variables(self.case, "answer", given))
        body = {"messages": [{"role": "user", "content": content}]}
        reply = httpx.post(f"{self.url}/chat/completions", json=body, verify=False).json()
        return {"replies": [reply["choices"][0]["message"]["content"].replace(self.case.finish or "\0", "")]}


def _llm(server: BodyKeeper) -> Any:
    # no certificates are read, which takes longer than all the rest
    options: Any = {
        "api_base_url": server.base_url,
        "max_retries": 0,
        "http_client_kwargs": {"verify": False},
    }
    return OpenAIChatGenerator(api_key=Secret.from_token("none"), model="served", **options)


def _prompt(case: Case, name: str, by_variable: Mapping[str, str] = {}) -> ChatPromptBuilder:
    """The prompt of a call; a variable is written as `by_variable` has it."""
    text = template(case, name)
    for variable in variables(case, name, dict.fromkeys(_VARIABLES, "")):
        text = text.replace(f"{{{variable}}}", by_variable.get(variable, f"{{{{ {variable} }}}}"))
    return ChatPromptBuilder(template=[*_history(case), ChatMessage.from_user(text)], required_variables=[])


_VARIABLES = ("context", "question", "extra", "rules", "draft", "document")


def _asking(case: Case, name: str, server: BodyKeeper) -> Pipeline:
    """A pipeline that asks a model one thing."""
    made = Pipeline()
    made.add_component("prompt", _prompt(case, name))
    made.add_component("llm", _llm(server))
    made.connect("prompt.prompt", "llm.messages")
    return made


def _replied(asking: Pipeline, document: Document, **values: str) -> str:
    found = asking.run({"prompt": {"document": document.content, **values}})
    return str(found["llm"]["replies"][0].text)


def _pipeline(case: Case, server: BodyKeeper) -> tuple[Pipeline, dict[str, Any]]:
    """The pipeline and its data."""
    made, data = Pipeline(), {}
    native = (
        case.shape % 2 == 0 and not any(each in case.part for each in FILTERED) and "render" in plan(case)
    )
    loop = "{% for document in documents %}{% set d = document.content %}" + case.part + "{% endfor %}"
    by_variable = ({"context": loop} if native and not case.step.endswith("raw") else {}) | {
        "extra": {
            "retriever": "{% for each in more %}{{ each.content }}\n{% endfor %}",
            "web dicts": "{% for each in results %}- {{ each.content }}\n{% endfor %}",
        }.get(case.source, "{{ extra }}")
    }
    # where the value of a variable comes from
    outputs: dict[str, str] = {}

    def add(name: str, each: Any, *inputs: str) -> None:
        made.add_component(name, each)
        for variable in inputs:
            if variable == "question":
                data.setdefault(name, {})["question"] = case.question
            elif variable in outputs:
                made.connect(outputs[variable], f"{name}.{variable}")

    def ask(name: str) -> None:
        prompt = _prompt(case, name, by_variable)
        add(f"{name}_prompt", prompt, *prompt.variables)
        made.add_component(f"{name}_llm", _llm(server))
        made.connect(f"{name}_prompt.prompt", f"{name}_llm.messages")
        outputs["replies"] = f"{name}_llm.replies"
        if name in ("rewrite", "draft"):
            made.add_component(f"{name}_text", First())
            made.connect(outputs["replies"], f"{name}_text.replies")
            outputs[{"rewrite": "query"}.get(name, name)] = f"{name}_text.text"

    for name in plan(case):
        if name == "retrieve":
            add("search", Search(case.documents), "query")
            if "query" not in outputs:
                data["search"] = {"query": case.question}
            outputs["documents"] = "search.documents"
        elif name in ("select", "grade"):
            each = Select(case.kept) if name == "select" else Grade(_asking(case, "grade", server))
            add(name, each, "documents", *(["question"] if name == "grade" else []))
            outputs["documents"] = f"{name}.documents"
        elif name in ("render", "summaries"):
            if "context" not in by_variable:
                add(
                    name,
                    Render(case) if name == "render" else Summarise(_asking(case, "summary", server)),
                    "documents",
                )
                outputs["context"] = f"{name}.text"
        elif name == "source":
            outputs |= _sourced(case, add, data)
        elif name == "raw":
            add("raw", Raw(case, server.base_url), "context", "question", "extra")
            outputs["replies"] = "raw.replies"
        elif name == "give":
            outputs["replies"] = "draft_llm.replies"
        else:
            ask(name)
    if case.finish and not case.step.endswith("raw"):
        add("finish", Finish(case.finish), "replies")
        outputs["replies"] = "finish.replies"
    made.add_component("answers", AnswerBuilder())
    made.connect(outputs["replies"], "answers.replies")
    data["answers"] = {"query": case.question}
    return made, data


def _sourced(case: Case, add: Any, data: dict[str, Any]) -> dict[str, str]:
    """The outputs of the second source."""
    if case.source in ("none", "history"):
        return {}
    if case.source == "retriever":
        add("second", Search(case.extra))
        data["second"] = {"query": case.question}
        return {"more": "second.documents"}
    if case.source == "web dicts":
        add("web", SearchTheWeb(case.extra), "question")
        return {"results": "web.results"}
    add("written", Write("\n\n".join(case.extra)), "question")
    by_rules = case.source == "style rules" and case.step in ("polish", "translate", "refine")
    return {"rules" if by_rules else "extra": "written.text"}


def _history(case: Case) -> list[ChatMessage]:
    if case.source != "history":
        return []
    asked, replied = case.extra
    return [ChatMessage.from_user(asked), ChatMessage.from_assistant(replied)]


def _agent(case: Case, server: BodyKeeper) -> Agent:
    def found() -> list[Document]:
        return Select(case.kept).run(Search(case.documents).run("")["documents"])["documents"]

    def as_documents(query: str) -> list[Document]:
        """Searches the handbook."""
        return found()

    def as_text(query: str) -> str:
        """Searches the handbook."""
        return rendered(case, [each.content or "" for each in found()])

    def other(query: str) -> str:
        """Looks elsewhere."""
        return "\n\n".join(case.extra)

    search: Tool
    if case.step == "supervisor":
        search = _sub_agent(case, server)
    else:
        search = create_tool_from_function(as_text if case.shape > 2 else as_documents, name="search")
    tools = [search, create_tool_from_function(other)] if case.source == "tool" else [search]
    return Agent(chat_generator=_llm(server), tools=tools, system_prompt=case.rules or None)


def _sub_agent(case: Case, server: BodyKeeper) -> Tool:
    made = _asking(case, "draft", server)
    components: dict[str, Any] = {
        "search": Search(case.documents),
        "select": Select(case.kept),
        "render": Render(case),
        "text": First(),
    }
    for name, each in components.items():
        made.add_component(name, each)
    for start, end in (
        ("search.documents", "select.documents"),
        ("select.documents", "render.documents"),
        ("render.text", "prompt.context"),
        ("llm.replies", "text.replies"),
    ):
        made.connect(start, end)
    return PipelineTool(
        made,
        name="search",
        description="Asks somebody who knows the handbook.",
        input_mapping={"query": ["search.query", "prompt.question"]},
        output_mapping={"text.text": "text"},
    )
