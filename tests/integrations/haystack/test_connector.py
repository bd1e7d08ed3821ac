"""The connector: what it finds in a pipeline's runs."""

import asyncio
import threading
from contextvars import copy_context
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.dataclasses import ChatMessage
from ragmetrics_core.live import LiveScorer

from haystack_integrations.components.evaluators.ragmetrics import (
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
    RagMetricsTracer,
)
from tests.integrations.haystack.connected import QUESTION, connected, found, samples
from tests.integrations.haystack.generators import TEXTS, question_data, rag_pipeline
from tests.integrations.haystack.mocks import MockChatGenerator


def test_a_connector_that_is_connected_to_nothing_scores_the_pipeline_and_changes_no_result():
    data = question_data(QUESTION)
    expected = rag_pipeline().run(data)
    pipeline = rag_pipeline()
    connector = connected(pipeline, name="docs")

    result = pipeline.run(data)

    assert result == expected
    (sample,) = samples(connector)
    assert (sample.question, sample.answer) == (QUESTION, "Paris is the capital of France.")
    assert set(sample.contexts or ()) < set(TEXTS)
    assert len(sample.context_ids or ()) == 2
    assert sample.labels["app"] == "docs"
    assert found(sample) == {
        "found_question": "inputs['question']",
        "found_contexts": "retriever, shown to llm",
        "found_answer": "llm.replies, by llm",
    }
    assert connector.live.results[0].scores == {"faithfulness": 1.0}


def test_a_pipeline_that_runs_while_another_ones_parts_are_read_is_a_run_of_its_own():
    outer, inner = rag_pipeline(), rag_pipeline()
    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer)

    async def run() -> int:
        parts = 0
        async for _ in outer.run_async_generator(question_data(QUESTION), include_outputs_from={"retriever"}):
            await inner.run_async(question_data("What is the capital of Italy?"))
            parts += 1
        return parts

    parts = asyncio.run(run())

    assert scorer.close()
    questions = [result.sample.question for result in scorer.results]
    assert questions.count(QUESTION) == 1
    assert questions.count("What is the capital of Italy?") == parts > 1


def test_a_connector_inside_of_an_inner_pipeline_scores_that_pipeline():
    inner = rag_pipeline()
    connector = connected(inner)

    @component
    class Calls:
        @component.output_types(replies=list[str])
        def run(self, query: str) -> dict[str, Any]:
            inner.run(question_data(query))
            return {"replies": ["something else"]}

    outer = Pipeline()
    outer.add_component("calls", Calls())
    outer.run({"calls": {"query": QUESTION}})

    (sample,) = samples(connector)
    assert sample.answer == "Paris is the capital of France."


def test_what_a_component_leaves_running_asks_questions_of_its_own():
    inner = rag_pipeline()
    released = threading.Event()
    started: list[threading.Thread] = []

    @component
    class LeavesAThread:
        @component.output_types(replies=list[str])
        def run(self, query: str) -> dict[str, Any]:
            context = copy_context()

            def later() -> None:
                released.wait(30)
                inner.run(question_data("What is the capital of Italy?"))

            started.append(threading.Thread(target=context.run, args=(later,)))
            started[0].start()
            return {"replies": ["Paris."]}

    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer)
    outer = Pipeline()
    outer.add_component("leaves", LeavesAThread())
    outer.run({"leaves": {"query": QUESTION}})
    released.set()
    started[0].join()

    scorer.close()
    questions = sorted(str(result.sample.question) for result in scorer.results)
    assert questions == [QUESTION, "What is the capital of Italy?"]


def test_a_conversation_is_the_samples_history():
    pipeline = Pipeline()
    pipeline.add_component("llm", MockChatGenerator(responses="In Paris."))
    connector = connected(pipeline)
    messages = [
        ChatMessage.from_system("Be brief."),
        ChatMessage.from_user("Hello"),
        ChatMessage.from_assistant("Hello!"),
        ChatMessage.from_user("Where is the tower?"),
    ]

    pipeline.run({"llm": {"messages": messages}})

    (sample,) = samples(connector)
    assert sample.question == "Where is the tower?"
    assert [(turn.role, turn.content) for turn in sample.history or ()] == [
        ("system", "Be brief."),
        ("user", "Hello"),
        ("assistant", "Hello!"),
    ]


def test_a_pipeline_that_answers_nothing_is_skipped_and_counted():
    @component
    class Indexes:
        @component.output_types(written=int)
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"written": len(documents)}

    pipeline = Pipeline()
    pipeline.add_component("writer", Indexes())
    connector = connected(pipeline)

    pipeline.run({"writer": {"documents": [Document(content="a")]}})

    assert not samples(connector)
    assert connector.live.stats.skipped == {"no_answer": 1}


def test_an_answer_to_no_question_is_skipped_and_counted():
    pipeline = Pipeline()
    pipeline.add_component("llm", MockChatGenerator(responses="Good morning."))
    connector = connected(pipeline)

    pipeline.run({"llm": {"messages": [ChatMessage.from_system("Greet.")]}})

    assert not samples(connector)
    assert connector.live.stats.skipped == {"no_question": 1}


@pytest.mark.parametrize("needs_contexts", [False, True])
def test_an_answer_without_contexts_has_records_that_say_so_or_is_left_out(*, needs_contexts: bool):
    pipeline = Pipeline()
    pipeline.add_component("llm", MockChatGenerator(responses="Paris."))
    connector = connected(pipeline, needs_contexts=needs_contexts)
    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer, needs_contexts=needs_contexts)

    pipeline.run({"llm": {"messages": [ChatMessage.from_user(QUESTION)]}})

    for live in (connector.live, scorer):
        assert live.flush()
        records = [record for result in live.results for record in result.records]
        said = [(record.status, record.reason) for record in records]
        assert said == ([] if needs_contexts else [("undefined", "no_contexts")])
        assert live.stats.skipped == ({"no_contexts": 1} if needs_contexts else {})
    scorer.close()


def test_a_pipeline_that_is_cancelled_is_counted_as_that():
    begun = asyncio.Event()

    @component
    class Waits:
        @component.output_types(replies=list[str])
        def run(self) -> dict[str, Any]:
            return {"replies": []}

        @component.output_types(replies=list[str])
        async def run_async(self) -> dict[str, Any]:
            begun.set()
            await asyncio.get_running_loop().create_future()
            return {"replies": []}

    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer)
    pipeline = Pipeline()
    pipeline.add_component("llm", Waits())

    async def cancelled() -> None:
        running = asyncio.create_task(pipeline.run_async({}))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancelled())

    assert scorer.close()
    assert scorer.stats.skipped == {"cancelled": 1}


def test_only_pipelines_that_the_user_wants_are_watched():
    scorer = LiveScorer("faithfulness", judge="embedded")
    RagMetricsTracer.install().watch(scorer, only=lambda metadata: metadata.get("app") == "support")
    wanted, other = rag_pipeline(), rag_pipeline()
    wanted.metadata["app"] = "support"

    wanted.run(question_data(QUESTION))
    other.run(question_data("What is the capital of Italy?"))

    scorer.close()
    assert [result.sample.question for result in scorer.results] == [QUESTION]


def test_calls_of_our_own_judges_are_no_samples():
    pipeline = rag_pipeline(with_answers=True)
    pipeline.add_component("live", RagMetricsLiveEvaluator(chat_generator="embedded", mode="inline"))
    pipeline.add_component("batch", RagMetricsEvaluator(chat_generator="embedded", progress_bar=False))
    pipeline.connect("answer_builder.answers", "live.answers")
    connector = connected(pipeline)
    batch = {
        "questions": ["a"],
        "contexts": [["a."]],
        "predicted_answers": ["a."],
        "ground_truth_answers": ["a."],
    }

    pipeline.run(question_data(QUESTION, with_answers=True) | {"batch": batch})

    assert [sample.question for sample in samples(connector)] == [QUESTION]
