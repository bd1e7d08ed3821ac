"""What an evaluation gives: a score that its record proves, or a stated reason why there is none."""

import asyncio
import logging
from typing import Any

import pytest
from llama_index.core.evaluation import EvaluationResult
from llama_index.core.settings import Settings

from ragmetrics_core import recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import (
    AnswerCorrectness,
    ContextPrecision,
    Faithfulness,
)
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, ScriptedJudge
from ragmetrics_llama_index import (
    AnswerRelevancyEvaluator,
    ContextEntityRecallEvaluator,
    ContextPrecisionEvaluator,
    ContextRecallEvaluator,
    CorrectnessEvaluator,
    EvaluationFailed,
    FactualCorrectnessEvaluator,
    FaithfulnessEvaluator,
    RagMetricsEvaluator,
    SemanticSimilarityEvaluator,
    TracedEvaluationResult,
)
from tests.integrations.llama_index.fakes import CONTEXTS, FAITHFUL, HALF, QUERY, FunctionLLM, judge_llm

GIVEN = {"query": QUERY, "response": HALF, "contexts": CONTEXTS}

EVERY = [
    FaithfulnessEvaluator,
    AnswerRelevancyEvaluator,
    CorrectnessEvaluator,
    FactualCorrectnessEvaluator,
    ContextPrecisionEvaluator,
    ContextRecallEvaluator,
    ContextEntityRecallEvaluator,
]


def embedded(kind: Any, **options: Any) -> RagMetricsEvaluator:
    """An evaluator on the models that need nothing."""
    model = {"embed_model": HashEmbedder()} if kind in (AnswerRelevancyEvaluator,) else {}
    made: RagMetricsEvaluator = kind("embedded", **model, **options)
    return made


# Scores and their proof


def test_a_score_is_the_supported_share_and_its_feedback_lists_the_verdicts():
    # two statements, one of them in the contexts: 1/2
    result = FaithfulnessEvaluator(judge_llm()).evaluate(**GIVEN)
    assert (result.score, result.passing) == (0.5, False)
    assert "1. supported: The tower is 300 m high." in result.feedback
    assert "2. not supported: It is green." in result.feedback
    assert "1 / 2 = 0.5" in result.feedback


@pytest.mark.parametrize("kind", EVERY)
def test_every_score_can_be_computed_again_from_its_record(kind):
    result = embedded(kind).evaluate(**GIVEN, reference=FAITHFUL)
    assert not result.invalid_result, result.invalid_reason
    assert result.record is not None
    again = recompute(result.record)
    assert (again.status, again.value) == ("ok", result.record.value)


def test_a_result_as_json_can_be_read_again_and_proves_its_score():
    result = FaithfulnessEvaluator(judge_llm()).evaluate(**GIVEN)

    read = TracedEvaluationResult.model_validate_json(result.model_dump_json())

    assert (read.score, read.feedback) == (result.score, result.feedback)
    (record,) = read.records
    assert [step.reply for step in record.generate_steps] == [
        step.reply for step in result.records[0].generate_steps
    ]
    assert recompute(record).value == 0.5


def test_a_plain_evaluation_result_of_llama_index_takes_all_but_the_records():
    result = FaithfulnessEvaluator(judge_llm()).evaluate(**GIVEN)
    plain = EvaluationResult(**result.model_dump())
    assert (plain.score, plain.feedback) == (0.5, result.feedback)


@pytest.mark.parametrize(("threshold", "passing"), [(0.5, True), (0.51, False), (None, None)])
def test_passing_follows_the_threshold(threshold, passing):
    made = FaithfulnessEvaluator(judge_llm(), threshold=threshold)
    assert made.evaluate(**GIVEN).passing is passing


@pytest.mark.parametrize(
    ("answer", "score", "passing"), [("It is made of cheese.", 1.0, False), (FAITHFUL, 0.0, True)]
)
def test_a_threshold_is_the_greatest_score_that_passes_where_lower_is_better(answer, score, passing):
    made = RagMetricsEvaluator("hallucination", judge_llm(), threshold=0.1)
    result = made.evaluate(query=QUERY, response=answer, contexts=CONTEXTS, reference=FAITHFUL)

    # one statement: what neither the reference nor a context says is 1 of 1
    assert (result.score, result.passing) == (score, passing)


def test_metrics_of_both_directions_have_no_mean_and_scores_of_their_own():
    made = RagMetricsEvaluator(["faithfulness", "hallucination"], judge_llm())
    result = made.evaluate(**GIVEN, reference=FAITHFUL)

    # one of two statements is supported; the other one is neither in the reference nor in a context
    assert result.scores == {"faithfulness": 0.5, "hallucination": 0.5}
    assert (result.score, result.passing, result.invalid_result) == (None, None, False)


def test_one_threshold_for_metrics_of_both_directions_is_refused():
    with pytest.raises(ConfigError, match="one threshold cannot be"):
        RagMetricsEvaluator(["faithfulness", "hallucination"], judge_llm(), threshold=0.5)


def test_a_metric_that_rates_pairs_takes_its_scorer():
    made = RagMetricsEvaluator("answer_equivalence", scorer=OverlapScorer())
    result = made.evaluate(query=QUERY, response=FAITHFUL, reference=FAITHFUL)

    (record,) = result.records
    assert record.scorer == "overlap"
    assert result.score == record.value


def test_a_metric_without_its_scorer_is_refused_when_the_evaluator_is_made():
    for metric in ("bert_score", "answer_equivalence", "semantic_answer_similarity"):
        with pytest.raises(ConfigError, match=rf"{metric} needs a scorer, and none was given: scorer="):
            RagMetricsEvaluator(metric)


def test_several_metrics_share_their_statements_and_give_the_mean():
    judge = judge_llm()
    metrics = ["faithfulness", "factual_correctness"]

    result = RagMetricsEvaluator(metrics, judge, threshold=0.5).evaluate(**GIVEN, reference=FAITHFUL)

    # faithfulness 1/2; precision 1/2 and recall 1/1: F = 2/3; the mean is 7/12
    assert result.scores == {"faithfulness": 0.5, "factual_correctness": pytest.approx(2 / 3)}
    assert result.score == pytest.approx(7 / 12)
    assert result.passing is True
    assert result.record is None
    assert sum("Split the answer" in each and HALF.split(". ")[1] in each for each in judge.asked) == 1


def test_several_metrics_pass_only_if_each_of_them_does():
    # 0.5 and 2/3: the mean of 0.58 would reach 0.55
    made = RagMetricsEvaluator(["faithfulness", "factual_correctness"], judge_llm(), threshold=0.55)
    assert made.evaluate(**GIVEN, reference=FAITHFUL).passing is False


def test_one_missing_score_of_several_leaves_none_for_all():
    result = RagMetricsEvaluator(["faithfulness", "factual_correctness"], judge_llm()).evaluate(**GIVEN)
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert result.scores == {"faithfulness": 0.5, "factual_correctness": None}
    assert result.invalid_reason == "factual_correctness: it needs reference=, the expected answer"


# Correctness on the scale from 1 to 5


@pytest.mark.parametrize(
    ("response", "score", "passing"),
    [
        (FAITHFUL, 5.0, True),  # everything agrees: 1 + 4 · 1
        (HALF, 1 + 4 * 2 / 3, False),  # precision 1/2, recall 1: F = 2/3
        ("It is green.", 1.0, False),  # nothing agrees
    ],
)
def test_correctness_is_one_plus_four_times_the_value_and_passes_from_four(response, score, passing):
    result = CorrectnessEvaluator(judge_llm()).evaluate(query=QUERY, response=response, reference=FAITHFUL)
    assert result.score == pytest.approx(score)
    assert result.passing is passing
    assert "1 + 4 × value" in result.feedback


@pytest.mark.parametrize(
    ("response", "options", "score"),
    [(HALF, {}, 2 / 3), (FAITHFUL, {"embed_model": HashEmbedder(), "metric": AnswerCorrectness()}, 1.0)],
)
def test_correctness_from_zero_to_one_is_an_option(response, options, score):
    made = CorrectnessEvaluator(judge_llm(), scale="0-1", **options)
    result = made.evaluate(query=QUERY, response=response, reference=FAITHFUL)
    assert (result.score, result.passing) == (pytest.approx(score), score == 1.0)


def test_a_named_evaluator_takes_its_metric_with_other_settings():
    made = FaithfulnessEvaluator(judge_llm(), metric=Faithfulness(granularity="sentence"))
    result = made.evaluate(**GIVEN)
    assert result.score == 0.5
    assert result.records[0].signature == "faithfulness/strict.1(granularity=sentence)"


def test_a_named_evaluator_refuses_another_metric():
    with pytest.raises(ConfigError, match="ContextRecall"):
        ContextRecallEvaluator(metric=ContextPrecision())


# Nothing there


@pytest.mark.parametrize(
    ("kind", "given", "reason"),
    [
        (FaithfulnessEvaluator, {"response": FAITHFUL, "contexts": []}, "no_contexts"),
        (FaithfulnessEvaluator, {"response": FAITHFUL}, "needs contexts="),
        (FaithfulnessEvaluator, {"response": "", "contexts": CONTEXTS}, "no_answer"),
        (ContextPrecisionEvaluator, {"query": QUERY, "contexts": [], "reference": "x"}, "no_contexts"),
        (CorrectnessEvaluator, {"query": QUERY, "response": FAITHFUL}, "needs reference="),
        (CorrectnessEvaluator, {"response": FAITHFUL, "reference": "x"}, "needs query="),
        (FactualCorrectnessEvaluator, {"query": QUERY, "response": "", "reference": "x"}, "no_answer"),
    ],
)
def test_where_there_is_nothing_to_judge_the_result_says_so(kind, given, reason):
    result = embedded(kind).evaluate(**given)
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert reason in (result.invalid_reason or "")


def test_an_answer_that_only_declines_has_no_score_and_is_marked():
    declines = "I could not find the height of the tower."
    result = embedded(FaithfulnessEvaluator).evaluate(query=QUERY, response=declines, contexts=CONTEXTS)
    # a refusal is no statement, and of no statements there is no share
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert "no_statements" in (result.invalid_reason or "")
    record = result.records[0]
    assert record.abstained is not None
    assert record.abstained.declined


def test_a_text_with_half_a_character_is_a_reason_and_no_exception():
    result = embedded(FaithfulnessEvaluator).evaluate(query=QUERY, response="\ud800", contexts=CONTEXTS)
    assert result.invalid_result
    assert "SampleError" in (result.invalid_reason or "")


# Failures


def down(prompt: str) -> str:
    raise RuntimeError("the judge is down")


@pytest.mark.parametrize(
    ("judge", "status"),
    [(down, "model_error (the judge is down"), (lambda prompt: "\x00[[[", "parse_error")],
)
def test_a_judge_that_fails_is_a_reason_and_no_exception(judge, status):
    result = FaithfulnessEvaluator(FunctionLLM(judge)).evaluate(**GIVEN)
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert all(word in (result.invalid_reason or "") for word in status.split(" (", 1))


def test_missing_verdicts_leave_bounds_and_no_score():
    # the second statement never gets a verdict: 1/2 or 2/2
    judge = ScriptedJudge(
        {
            "statements": {"statements": ["The tower is 300 m high.", "It is green."], "declined": False},
            "verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]},
        }
    )
    result = FaithfulnessEvaluator(judge).evaluate(**GIVEN)
    assert (result.score, result.invalid_result) == (None, True)
    assert "between 0.5 and 1" in (result.invalid_reason or "")


@pytest.mark.parametrize(
    "wrong", [{"query": ["Q?"]}, {"response": ["300 m."]}, {"contexts": [["C."]]}, {"contexts": 5}]
)
def test_what_is_no_text_is_told_and_stops_no_batch(wrong):
    result = RagMetricsEvaluator("faithfulness", judge_llm()).evaluate(**{**GIVEN, **wrong})

    assert result.invalid_result
    assert result.score is None
    (name,) = wrong
    assert getattr(result, name) is None


def test_with_redact_the_failure_that_is_raised_has_no_other_error_behind_it():
    made = RagMetricsEvaluator(
        "faithfulness", judge_llm(), on_error="raise", redact=lambda text: text.replace("Ann", "[name]")
    )

    with pytest.raises(EvaluationFailed) as raised:
        made.evaluate(query=["Ann"], response=HALF, contexts=CONTEXTS)  # type: ignore[arg-type]

    assert "[name]" in str(raised.value)
    assert raised.value.__context__ is raised.value.__cause__ is None


def test_an_error_that_is_to_raise_raises_and_carries_the_result():
    made = RagMetricsEvaluator("faithfulness", FunctionLLM(down), on_error="raise")
    with pytest.raises(EvaluationFailed, match="the judge is down") as failed:
        made.evaluate(**GIVEN)
    assert failed.value.result.records[0].status == "model_error"


def test_models_that_cannot_be_made_are_a_reason_and_are_logged(monkeypatch, caplog):
    def no_key(settings: Any) -> Any:
        raise ValueError("no key")

    monkeypatch.setattr(Settings, "_llm", "set")
    monkeypatch.setattr("llama_index.core.settings._Settings.llm", property(no_key))
    with caplog.at_level(logging.WARNING, logger="ragmetrics.llama_index"):
        result = FaithfulnessEvaluator().evaluate(**GIVEN)
    assert result.invalid_reason == "ValueError: no key"
    assert caplog.records[0].exc_info


def test_transient_failures_are_tried_again_as_often_as_the_caller_says():
    tried: list[str] = []

    def lost(prompt: str) -> str:
        tried.append(prompt)
        raise ConnectionError("lost")

    result = FaithfulnessEvaluator(FunctionLLM(lost), attempts=1).evaluate(**GIVEN)
    assert result.invalid_result
    assert len(tried) == 1


# Models are looked up late


def test_no_model_of_the_settings_is_looked_up_where_none_is_needed():
    # the fixture of this folder fails the test if a default model was made
    similarity = SemanticSimilarityEvaluator(HashEmbedder())
    assert similarity.evaluate(response="green tower", reference="green tower").score == pytest.approx(1.0)
    correctness = CorrectnessEvaluator(judge_llm())
    assert correctness.evaluate(query=QUERY, response=FAITHFUL, reference=FAITHFUL).score == 5.0
    for kind in EVERY:
        kind()


def test_an_evaluator_keeps_nothing_of_an_evaluation_and_serves_many_loops_at_a_time():
    made = FaithfulnessEvaluator(judge_llm())

    async def many() -> list[float | None]:
        answers = [FAITHFUL, HALF] * 20
        results = await asyncio.gather(*(made.aevaluate(QUERY, each, CONTEXTS) for each in answers))
        return [result.score for result in results]

    assert asyncio.run(many()) == [1.0, 0.5] * 20
    assert asyncio.run(many()) == [1.0, 0.5] * 20
