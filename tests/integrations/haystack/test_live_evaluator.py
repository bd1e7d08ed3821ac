"""The evaluator inside a live pipeline: both wirings, both modes, the gate, failures."""

import asyncio
import json
import threading
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.core.errors import PipelineConnectError, PipelineRuntimeError
from haystack.dataclasses import ChatMessage, GeneratedAnswer
from ragmetrics_core import Run, recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import note_contexts

from haystack_integrations.components.evaluators.ragmetrics import EvaluationFailed, RagMetricsLiveEvaluator
from tests.integrations.haystack.generators import (
    Asynchronous,
    Broken,
    Synchronous,
    judged,
    question_data,
    rag_pipeline,
    scripted,
)
from tests.integrations.haystack.mocks import MockChatGenerator

QUESTION = "What is the capital of France?"


def live(**options: Any) -> RagMetricsLiveEvaluator:
    return RagMetricsLiveEvaluator(**{"chat_generator": scripted()} | options)


def answer(text: str = "Paris is the capital of France.") -> GeneratedAnswer:
    documents = [Document(id="d1", content="Paris is the capital of France.")]
    return GeneratedAnswer(data=text, query=QUESTION, documents=documents, meta={"model": "m"})


def answered_pipeline(evaluator: RagMetricsLiveEvaluator, llm: Any = None) -> Pipeline:
    pipeline = rag_pipeline(llm, with_answers=True)
    pipeline.add_component("scores", evaluator)
    pipeline.connect("answer_builder.answers", "scores.answers")
    return pipeline


def test_it_takes_answers_from_the_answer_builder_of_the_documented_pipeline():
    pipeline = answered_pipeline(live(mode="inline"))

    result = pipeline.run(question_data(QUESTION, with_answers=True))

    (found,) = result["scores"]["answers"]
    assert found.data == "Paris is the capital of France."
    assert found.meta["evaluation"]["scores"] == {"faithfulness": 1.0}
    assert result["scores"]["scores"] == {"faithfulness": 1.0}


def test_it_takes_query_documents_and_replies_and_leaves_the_answer_builder_a_leaf():
    pipeline = rag_pipeline(with_answers=True)
    pipeline.add_component("scores", live(mode="inline"))
    pipeline.connect("retriever.documents", "scores.documents")
    pipeline.connect("llm.replies", "scores.replies")

    result = pipeline.run(question_data(QUESTION, with_answers=True) | {"scores": {"query": QUESTION}})

    assert set(result) == {"answer_builder", "scores"}
    (found,) = result["scores"]["answers"]
    assert (found.query, found.data) == (QUESTION, "Paris is the capital of France.")
    assert found.meta["evaluation"]["scores"] == {"faithfulness": 1.0}
    sample = result["scores"]["results"][0]["metrics"]["faithfulness"]["record"]["sample"]
    assert sample["question"] == QUESTION
    assert sample["labels"]["found_contexts"] == "documents"
    assert len(sample["contexts"]) == len(sample["context_ids"]) == 2


def test_replies_may_be_plain_texts():
    found = live(mode="inline").run(query=QUESTION, documents=answer().documents, replies=["In Paris."])

    assert found["answers"][0].data == "In Paris."
    assert found["scores"] == {"faithfulness": 1.0}


def test_documents_beside_answers_are_what_the_answer_is_judged_by():
    # the answer builder keeps only documents that the answer cites
    thinned = GeneratedAnswer(data="Paris.", query=QUESTION, documents=[], meta={})

    found = live(mode="inline").run(answers=[thinned], documents=answer().documents)

    record = found["results"][0]["metrics"]["faithfulness"]["record"]
    assert record["sample"]["contexts"] == ["Paris is the capital of France."]


def test_both_ways_to_run_give_equal_scores():
    evaluator = live(mode="inline", chat_generator=Asynchronous())
    pipeline = answered_pipeline(evaluator)
    data = question_data(QUESTION, with_answers=True)

    first = pipeline.run(data)["scores"]
    second = asyncio.run(pipeline.run_async(data))["scores"]

    assert first["scores"] == second["scores"] == {"faithfulness": 1.0}
    assert set(first) == set(second) == {"answers", "scores", "results"}


def test_scores_in_the_meta_and_in_the_results_are_json():
    found = live(mode="inline").run(answers=[answer()])

    assert json.loads(json.dumps(found["answers"][0].meta))["evaluation"]["status"] == "scored"
    json.dumps(found["results"])


def test_the_answer_that_was_given_is_not_changed():
    given = answer()

    found = live(mode="inline").run(answers=[given])

    assert "evaluation" not in given.meta
    assert found["answers"][0].meta["model"] == "m"


def test_in_background_mode_answers_go_on_before_the_judge_replies_and_scores_are_found_by_their_id(
    tmp_path: Any,
):
    release = threading.Event()

    def waits(messages: list[ChatMessage]) -> str:
        release.wait(30)
        return judged(messages)

    evaluator = live(chat_generator=MockChatGenerator(response_fn=waits), out=str(tmp_path / "run"))
    result = answered_pipeline(evaluator).run(question_data(QUESTION, with_answers=True))

    (found,) = result["scores"]["answers"]
    assert found.meta["evaluation"]["status"] == "pending"
    assert evaluator.live.stats.scored == 0
    release.set()
    assert evaluator.flush()
    evaluator.close()
    run = Run.load(tmp_path / "run")
    score = run.score(found.meta["evaluation"]["id"], "faithfulness")
    assert score.value == 1.0
    assert recompute(score).value == 1.0


def test_in_background_mode_scores_cannot_be_connected_because_there_are_none():
    @component
    class Reads:
        @component.output_types(done=bool)
        def run(self, scores: dict[str, float | None]) -> dict[str, Any]:
            return {"done": True}

    pipeline = Pipeline()
    pipeline.add_component("scores", live())
    pipeline.add_component("reads", Reads())

    with pytest.raises(PipelineConnectError):
        pipeline.connect("scores.scores", "reads.scores")


@pytest.mark.parametrize(
    ("text", "way", "score"),
    [("Paris is the capital of France.", "scores", 1.0), ("Madrid is the capital of France.", "fallback", 0.0)],
)
def test_an_answer_below_the_threshold_goes_another_way_through_the_pipeline(text: str, way: str, score: float):
    @component
    class Fallback:
        @component.output_types(answers=list[GeneratedAnswer])
        def run(self, answers: list[GeneratedAnswer]) -> dict[str, Any]:
            return {"answers": answers}

    evaluator = live(mode="inline", gate={"faithfulness": 0.7})
    pipeline = answered_pipeline(evaluator, MockChatGenerator(responses=text))
    pipeline.add_component("fallback", Fallback())
    pipeline.connect("scores.rejected_answers", "fallback.answers")
    result = pipeline.run(question_data(QUESTION, with_answers=True))

    assert {name: each["answers"][0].data for name, each in result.items() if "answers" in each}[way] == text
    assert ("fallback" in result) == (way == "fallback") != ("answers" in result["scores"])
    assert result["scores"]["scores"] == {"faithfulness": score}


@pytest.mark.parametrize(("unscored", "output"), [("reject", "rejected_answers"), ("pass", "answers")])
def test_where_an_answer_without_a_score_goes_is_the_users_choice(unscored: Any, output: str):
    evaluator = live(mode="inline", gate={"faithfulness": 0.7}, unscored=unscored, chat_generator=Broken(), attempts=1)

    found = evaluator.run(answers=[answer()])

    assert {name for name in found if name.endswith("answers")} == {output}


def test_several_answers_are_sorted_by_the_gate_one_by_one():
    evaluator = live(mode="inline", gate={"faithfulness": 0.5})

    found = evaluator.run(answers=[answer("Madrid."), answer("Paris."), answer("Madrid!")])

    assert [each.data for each in found["answers"]] == ["Paris."]
    assert [each.data for each in found["rejected_answers"]] == ["Madrid.", "Madrid!"]
    assert found["scores"]["faithfulness"] == pytest.approx(1 / 3)


def test_inline_answers_are_scored_side_by_side():
    # a call returns when four are there: one after another, the first would wait in vain
    generator = Synchronous(together=4)
    evaluator = live(mode="inline", chat_generator=generator, concurrency=4)

    found = evaluator.run(answers=[answer(f"Paris, {number}.") for number in range(4)])

    assert found["scores"] == {"faithfulness": 1.0}
    assert [each.data for each in found["answers"]] == [f"Paris, {number}." for number in range(4)]
    assert generator.most == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gate": {"faithfulness": 0.7}}, "a gate must wait for the scores: pass mode='inline'"),
        ({"on_error": "raise"}, "on_error='raise' must wait for the scores"),
        ({"mode": "inline", "gate": {"relevance": 0.7}}, "the gate's 'relevance' is not measured"),
        ({"mode": "sometimes"}, "mode must be 'background' or 'inline'"),
        ({"metrics": "faithfullness"}, "did you mean 'faithfulness'"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
    ],
)
def test_options_that_cannot_be_are_told_when_the_evaluator_is_made(options: Any, message: str):
    with pytest.raises(ConfigError, match=message):
        live(**options)


@pytest.mark.parametrize(
    ("generator", "status"),
    [(Broken(), "model_error"), (MockChatGenerator(responses="no JSON at all"), "parse_error")],
)
@pytest.mark.parametrize("mode", ["inline", "background"])
def test_a_judge_that_fails_does_not_stop_the_pipeline(generator: Any, status: str, mode: Any):
    evaluator = live(chat_generator=generator, mode=mode, attempts=1)

    result = answered_pipeline(evaluator).run(question_data(QUESTION, with_answers=True))

    assert [each.data for each in result["scores"]["answers"]] == ["Paris is the capital of France."]
    assert evaluator.flush()
    (found,) = evaluator.live.results
    assert [record.status for record in found.records] == [status]


def test_a_judge_that_hangs_holds_the_pipeline_no_longer_than_the_timeout():
    release = threading.Event()

    def waits(messages: list[ChatMessage]) -> str:
        release.wait(30)
        return "{}"

    evaluator = live(chat_generator=MockChatGenerator(response_fn=waits), mode="inline", timeout=0.05, attempts=1)
    try:
        found = evaluator.run(answers=[answer()])
    finally:
        release.set()

    assert found["scores"] == {"faithfulness": None}
    assert "timeout" not in found["answers"][0].meta["evaluation"]["scores"]
    assert found["results"][0]["metrics"]["faithfulness"]["ragmetrics_status"] == "timeout"


def test_with_an_error_that_raises_the_pipeline_stops_with_the_cause():
    pipeline = answered_pipeline(live(chat_generator=Broken(), mode="inline", on_error="raise", attempts=1))

    with pytest.raises(PipelineRuntimeError, match="the provider is down") as raised:
        pipeline.run(question_data(QUESTION, with_answers=True))

    assert isinstance(raised.value.__cause__, EvaluationFailed)
    assert isinstance(raised.value.__cause__, ValueError)


def test_an_answer_that_says_nothing_has_no_score_and_says_why():
    found = live(mode="inline").run(answers=[answer("")])

    evaluation = found["answers"][0].meta["evaluation"]
    assert evaluation["scores"] == {"faithfulness": None}
    assert evaluation["reasons"] == {"faithfulness": "no_answer"}


def test_nothing_to_score_gives_nothing():
    assert live(mode="inline").run(answers=[]) == {
        "answers": [],
        "scores": {"faithfulness": None},
        "results": [],
    }


def test_answers_that_are_not_drawn_are_told_from_pending_ones():
    found = live(sample_rate=0.0).run(answers=[answer()])

    assert found["answers"][0].meta["evaluation"]["status"] == "not_scored"


@pytest.mark.parametrize("mode", ["inline", "background"])
def test_what_the_application_notes_are_the_contexts(mode: str):
    @component
    class Searching:
        @component.output_types(replies=list[str])
        def run(self, query: str) -> dict[str, Any]:
            note_contexts(["Paris is the capital of France."])
            return {"replies": ["Paris."]}

    evaluator = live(mode=mode)
    pipeline = Pipeline()
    pipeline.add_component("llm", Searching())
    pipeline.add_component("scores", evaluator)
    pipeline.connect("llm.replies", "scores.replies")
    pipeline.run({"llm": {"query": QUESTION}, "scores": {"query": QUESTION}})

    evaluator.flush()
    (result,) = evaluator.results
    evaluator.close()
    assert result.sample.contexts == ("Paris is the capital of France.",)
    assert result.sample.labels["found_contexts"] == "note_contexts"
