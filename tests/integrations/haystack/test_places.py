"""`extract`: the places that the user names are there, hold what they should, and alone count."""

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.agents import Agent
from haystack.components.routers import ConditionalRouter
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import ComponentTool, PipelineTool, create_tool_from_function
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveScorer

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector, RagMetricsTracer
from tests.integrations.haystack.connected import QUESTION, connected, found, samples
from tests.integrations.haystack.generators import TEXTS, question_data, rag_pipeline, retriever
from tests.integrations.haystack.mocks import MockChatGenerator


@pytest.mark.parametrize(
    ("extract", "told"),
    [
        ({"answer": "lllm.replies"}, "no component 'lllm', only .*llm, prompt_builder, retriever"),
        ({"answer": "llm.reply"}, "'llm' has no 'reply', only .*replies"),
        ({"contexts": "ranker.documents"}, "no component 'ranker'"),
        ({"contexts": ["retriever.documents", "web.documents"]}, "no component 'web'"),
        ({"answer": "retriever.documents"}, "answer is at 'retriever.documents', but that is of type .*Document"),
        ({"contexts": "retriever.top_k"}, "of type .*int"),
        ({"question": "prompt_builder.template_variables"}, "of type .*dict"),
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_place_that_the_pipeline_has_not_is_an_error_when_it_warms_up(
    extract: dict[str, Any], told: str, *, is_async: bool
):
    pipeline = rag_pipeline()
    connected(pipeline, extract=extract)

    warm_up = (lambda: asyncio.run(pipeline.warm_up_async())) if is_async else pipeline.warm_up
    with pytest.raises(ConfigError, match=told):
        warm_up()
    with pytest.raises(ConfigError, match=told):
        pipeline.run(question_data(QUESTION))


@pytest.mark.parametrize(
    "extract",
    [
        {"contexts": "ranker"},
        {"context": "ranker.documents"},
        {"Answer": "llm.replies"},
        {"answer": "llm."},
        {"answer": ".replies"},
        {"answer": "llm.replies.text"},
        {"answer": ["llm.replies", "llm"]},
        {"answer": []},
        {"answer": None},
        {"answer": 5},
        "llm.replies",
        ["llm.replies"],
    ],
)
def test_what_cannot_be_a_place_is_told_at_once(extract: Any):
    with pytest.raises(ConfigError, match=r"component\.socket"):
        RagMetricsConnector(chat_generator="embedded", extract=extract)
    with pytest.raises(ConfigError, match=r"component\.socket"):
        RagMetricsTracer().watch(LiveScorer("faithfulness", judge="embedded"), extract=extract)


def test_components_may_be_added_after_the_connector():
    @component
    class Ranker:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": documents[:1]}

    pipeline = rag_pipeline()
    connector = connected(pipeline, extract={"contexts": "ranker.documents"})
    pipeline.add_component("ranker", Ranker())
    pipeline.connect("retriever.documents", "ranker.documents")

    pipeline.run(question_data(QUESTION))

    assert len(samples(connector)[0].contexts or ()) == 1


def test_a_component_that_is_taken_away_later_is_missed_at_the_next_run():
    pipeline = rag_pipeline()
    connector = connected(pipeline, extract={"contexts": "retriever.documents"})
    pipeline.run(question_data(QUESTION))
    pipeline.remove_component("retriever")

    with pytest.raises(ConfigError, match="no component 'retriever'"):
        pipeline.warm_up()
    assert len(samples(connector)) == 1


def test_places_inside_of_super_components_are_found():
    inner = rag_pipeline()
    outer = Pipeline()
    outer.add_component(
        "rag",
        SuperComponent(
            wrapped(inner),
            input_mapping={"query": ["rag.query"]},
            output_mapping={"rag.replies": "replies"},
        ),
    )
    connector = connected(outer, extract={"contexts": "retriever.documents", "answer": "llm.replies"})

    outer.run({"rag": {"query": QUESTION}})

    (sample,) = samples(connector)
    assert found(sample)["found_contexts"] == "extract:retriever.documents"
    assert found(sample)["found_answer"] == "extract:llm.replies, by llm"


def wrapped(inner: Pipeline) -> Pipeline:
    """A pipeline of one super component."""
    pipeline = Pipeline()
    pipeline.add_component(
        "rag",
        SuperComponent(
            inner,
            input_mapping={"query": ["retriever.query", "prompt_builder.question"]},
            output_mapping={"llm.replies": "replies"},
        ),
    )
    return pipeline


def agent(tool: Any) -> Agent:
    """One that calls its tool and then answers."""
    replies = [
        ChatMessage.from_assistant(tool_calls=[ToolCall(tool.name, {"query": QUESTION})]),
        ChatMessage.from_assistant("Paris."),
    ]
    return Agent(chat_generator=MockChatGenerator(responses=replies), tools=[tool])


def retrieval() -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever())
    return pipeline


def made_of_pipeline() -> Any:
    return PipelineTool(
        retrieval(),
        name="search",
        description="Search.",
        input_mapping={"query": ["retriever.query"]},
        output_mapping={"retriever.documents": "documents"},
    )


def made_of_function() -> Any:
    def search(query: str) -> dict[str, Any]:
        """Search."""
        return {"passages": [Document(content=each) for each in TEXTS]}

    return create_tool_from_function(search)


@pytest.mark.parametrize(
    ("made", "place"),
    [
        (made_of_pipeline, "search.documents"),
        (made_of_pipeline, "retriever.documents"),
        (made_of_function, "search.passages"),
    ],
)
def test_places_in_the_tools_of_an_agent_are_found(made: Any, place: str):
    pipeline = Pipeline()
    pipeline.add_component("agent", agent(made()))
    connector = connected(pipeline, extract={"contexts": place})

    pipeline.run({"agent": {"messages": [ChatMessage.from_user(QUESTION)]}})

    (sample,) = samples(connector)
    assert found(sample)["found_contexts"] == f"extract:{place}"
    assert TEXTS[0] in (sample.contexts or ())


def test_a_tool_of_a_component_has_its_sockets_only():
    tool = ComponentTool(component=retriever(), name="search", description="Search.")
    pipeline = Pipeline()
    pipeline.add_component("agent", agent(tool))
    connected(pipeline, extract={"contexts": "search.passages"})

    with pytest.raises(ConfigError, match=r"'search' has no 'passages', only .*documents"):
        pipeline.warm_up()


def branching() -> Pipeline:
    """A question with "capital" is answered by one generator, the others by another."""
    pipeline = Pipeline()
    pipeline.add_component(
        "router",
        ConditionalRouter(
            [
                {
                    "condition": "{{ 'capital' in query }}",
                    "output": "{{ messages }}",
                    "output_name": "known",
                    "output_type": list[ChatMessage],
                },
                {
                    "condition": "{{ True }}",
                    "output": "{{ messages }}",
                    "output_name": "other",
                    "output_type": list[ChatMessage],
                },
            ],
            unsafe=True,
        ),
    )
    pipeline.add_component("sure", MockChatGenerator(responses="Paris."))
    pipeline.add_component("unsure", MockChatGenerator(responses="I cannot tell."))
    pipeline.connect("router.known", "sure.messages")
    pipeline.connect("router.other", "unsure.messages")
    return pipeline


@pytest.mark.parametrize(
    ("answer", "answers"),
    [
        ("sure.replies", {"Paris."}),
        (["sure.replies", "unsure.replies"], {"Paris.", "I cannot tell."}),
    ],
)
def test_of_a_branch_that_was_not_taken_nothing_else_is_scored(answer: Any, answers: set[str]):
    pipeline = branching()
    connector = connected(pipeline, extract={"answer": answer, "question": "router.query"})

    for question in (QUESTION, "Why?"):
        pipeline.run({"router": {"query": question, "messages": [ChatMessage.from_user(question)]}})

    assert {each.answer for each in samples(connector)} == answers
    assert connector.stats.skipped == ({"no_answer": 1} if len(answers) == 1 else {})


def test_contexts_of_several_places_come_together_each_passage_once():
    pipeline = rag_pipeline()
    connector = connected(pipeline, extract={"contexts": ["prompt_builder.documents", "retriever.documents"]})

    pipeline.run(question_data(QUESTION))

    (sample,) = samples(connector)
    assert len(set(sample.contexts or ())) == len(sample.contexts or ()) == len(sample.context_ids or ())
    assert found(sample)["found_contexts"] == "extract:prompt_builder.documents, retriever.documents"
