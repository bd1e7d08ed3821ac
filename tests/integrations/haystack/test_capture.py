"""docs/capture.md: each line of Haystack's table, tried on an application."""

from collections.abc import Callable
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import BranchJoiner, DocumentJoiner
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage
from ragmetrics_core import Sample

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsAgentHook, RagMetricsConnector
from tests.integrations.capture_page import rows
from tests.integrations.haystack import test_agent_tools as tools
from tests.integrations.haystack.connected import QUESTION, connected, found
from tests.integrations.haystack.generators import TEXTS, question_data, rag_pipeline, retriever
from tests.integrations.haystack.test_connector import looping
from tests.integrations.haystack.test_places import branching, wrapped

ROWS = rows("Haystack")
ASKED = [ChatMessage.from_user(QUESTION)]
APPLICATIONS: dict[str, Callable[[], Any]] = {}


def application(name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def register(run: Callable[[], Any]) -> Callable[[], Any]:
        APPLICATIONS[name] = run
        return run

    return register


def piped(pipeline: Pipeline, data: dict[str, Any], **options: Any) -> RagMetricsConnector:
    connector = connected(pipeline, **options)
    pipeline.run(data)
    return connector


def agent_piped(made: Any, messages: list[ChatMessage] = ASKED) -> RagMetricsConnector:
    pipeline = Pipeline()
    pipeline.add_component("agent", tools.agent(made))
    return piped(pipeline, {"agent": {"messages": messages}})


@application("pipeline: retriever, prompt builder, generator")
def _plain() -> Any:
    return piped(rag_pipeline(), question_data(QUESTION))


@application("pipeline with an `AnswerBuilder`")
def _answers() -> Any:
    return piped(rag_pipeline(with_answers=True), question_data(QUESTION, with_answers=True))


@application('pipeline, `extract={"contexts": "retriever.documents"}`')
def _placed() -> Any:
    return piped(rag_pipeline(), question_data(QUESTION), extract={"contexts": "retriever.documents"})


@application("pipeline with two retrievers and a `DocumentJoiner`")
def _joined() -> Any:
    pipeline = rag_pipeline()
    pipeline.remove_component("prompt_builder")
    other = rag_pipeline()
    builder = other.get_component("prompt_builder")
    other.remove_component("prompt_builder")
    pipeline.add_component("second", retriever())
    pipeline.add_component("joiner", DocumentJoiner())
    pipeline.add_component("prompt_builder", builder)
    for sender, receiver in (
        ("retriever", "joiner"),
        ("second", "joiner"),
        ("joiner.documents", "prompt_builder.documents"),
        ("prompt_builder.prompt", "llm.messages"),
    ):
        pipeline.connect(sender, receiver)
    return piped(pipeline, question_data(QUESTION) | {"second": {"query": QUESTION}})


@application("pipeline with several generators: one of the branches answers")
def _branches() -> Any:
    return piped(branching(), {"router": {"query": QUESTION, "messages": ASKED}})


@application('pipeline with a loop that asks the generator again, `extract={"question": "start.value"}`')
def _asking_again() -> Any:
    return piped(looping(), {"start": {"value": ASKED}}, extract={"question": "start.value"})


@application("pipeline with a loop that retrieves again")
def _retrieving_again() -> Any:
    pipeline = rag_pipeline(MockChatGenerator(responses=["I need more.", "Paris."]))
    again = {"condition": "{{ 'more' in replies[0].text }}", "output": QUESTION, "output_name": "again"}
    done = {"condition": "{{ True }}", "output": "{{ replies[0].text }}", "output_name": "replies"}
    pipeline.add_component("start", BranchJoiner(str))
    pipeline.add_component("router", ConditionalRouter([each | {"output_type": str} for each in (again, done)]))
    for sender, receiver in (
        ("start", "retriever.query"),
        ("llm.replies", "router.replies"),
        ("router.again", "start"),
    ):
        pipeline.connect(sender, receiver)
    return piped(pipeline, {"start": {"value": QUESTION}, "prompt_builder": {"question": QUESTION}})


@application("pipeline that answers without retrieval")
def _generator() -> Any:
    pipeline = Pipeline()
    pipeline.add_component("llm", MockChatGenerator(responses="Paris."))
    return piped(pipeline, {"llm": {"messages": ASKED}})


@application("pipeline that retrieves and does not answer")
def _retrieval() -> Any:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever())
    return piped(pipeline, {"retriever": {"query": QUESTION}})


@application("super component in a super component")
def _super() -> Any:
    pipeline = Pipeline()
    pipeline.add_component(
        "rag",
        SuperComponent(
            wrapped(rag_pipeline()), input_mapping={"query": ["rag.query"]}, output_mapping={"rag.replies": "replies"}
        ),
    )
    return piped(pipeline, {"rag": {"query": QUESTION}})


@application("generator of one's own after a retriever, no prompt builder")
def _own() -> Any:
    @component
    class Answering:
        @component.output_types(replies=list[str])
        def run(self, documents: list[Document], query: str) -> dict[str, Any]:
            return {"replies": [documents[0].content]}

    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever())
    pipeline.add_component("llm", Answering())
    pipeline.connect("retriever.documents", "llm.documents")
    return piped(pipeline, {"retriever": {"query": QUESTION}, "llm": {"query": QUESTION}})


@application("agent with a `ComponentTool` of a retriever")
def _component_tool() -> Any:
    return agent_piped(tools.component_tool())


@application("agent with a `PipelineTool` of a retriever")
def _pipeline_tool() -> Any:
    return agent_piped(tools.pipeline_tool())


@application("agent with a tool that gives text")
def _text_tool() -> Any:
    return agent_piped(tools.text_tool())


@application("agent in a conversation, second turn")
def _second_turn() -> Any:
    return agent_piped(tools.text_tool(), [*tools.EARLIER, *ASKED])


@application("agent whose tool fails")
def _failing() -> Any:
    return agent_piped(tools.failing_tool())


@application("agent with an `AgentTool`")
def _agent_tool() -> Any:
    return agent_piped(tools.agent_tool())


@application("agent with a hook, `ComponentTool` of a retriever")
def _hook() -> Any:
    hook = RagMetricsAgentHook(chat_generator="embedded")
    tools.agent(tools.component_tool(), hooks={"after_run": [hook]}).run(ASKED)
    return hook


def test_the_page_has_each_application():
    assert list(ROWS) == list(APPLICATIONS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", APPLICATIONS)
def test_a_line_of_the_page_holds(name: str):
    row = ROWS[name]
    live = APPLICATIONS[name]()
    assert live.flush()
    samples: list[Sample] = [result.sample for result in live.live.results]
    live.close()

    if row.skipped:
        assert (samples, live.stats.skipped) == ([], {row.skipped: 1})
        return
    (sample,) = samples
    assert found(sample) == row.labels
    assert sample.question == QUESTION
    assert row.contexts is None or set(sample.contexts or ()) <= set(TEXTS)
