"""Answer correctness: factual correctness and answer similarity, weighted."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.metrics import AnswerCorrectness
from ragmetrics_core.protocol import Part
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {"question": "What is it a prerequisite for?", "answer": "the answer", "reference": "the reference"}
# the cosine of (1, 0) and (0.704, sqrt(1 - 0.704²)) is 0.704
VECTORS = {"the reference": [1.0, 0.0], "the answer": [0.704, (1 - 0.704**2) ** 0.5]}


def test_the_telecom_example_scores_0_926(measure, sides):
    # FacCor 1, AnsSim 0.704: 0.75 x 1 + 0.25 x 0.704 = 0.926
    score = measure(AnswerCorrectness(), sides(("yes",), ("yes",)), vectors=VECTORS, **SAMPLE).score

    assert score.value == pytest.approx(0.926, abs=1e-15)
    assert score.formula == "0.75 × 1 + 0.25 × 0.704 = 0.926"


def test_both_parts_are_in_the_record(measure, sides):
    score = measure(AnswerCorrectness(), sides(("yes", "no"), ("yes", "no")), vectors=VECTORS, **SAMPLE).score

    parts = {part.metric: part.value for part in score.parts}
    assert parts == {"factual_correctness": 0.5, "answer_similarity": pytest.approx(0.704)}
    assert [verdict.label for verdict in score.verdicts] == ["TP", "FP", "covered", "FN"]


def test_weights_one_and_zero_are_factual_correctness_alone(measure, sides):
    # Einstein in Spain: TP 1, FP 1, FN 1, so 1 / (1 + 0.5 x 2) = 0.5
    metric = AnswerCorrectness(weights=(1, 0))
    score = measure(metric, sides(("yes", "no"), ("yes", "no")), **SAMPLE).score

    assert score.value == 0.5
    assert [part.metric for part in score.parts] == ["factual_correctness"]


def test_weights_one_and_zero_need_no_embedder(sides):
    judge = ScriptedJudge(sides(("no",), ("no",)))
    run = evaluate([{"id": "q1", **SAMPLE}], metrics=[AnswerCorrectness(weights=(1, 0))], judge=judge)
    assert run.score("q1", "answer_correctness").value == 0.0


def test_weights_zero_and_one_ask_no_judge(measure):
    score, judge = measure(AnswerCorrectness(weights=(0, 1)), {}, vectors=VECTORS, **SAMPLE)

    assert score.value == pytest.approx(0.704, abs=1e-15)
    assert judge.asked == []


def test_weights_need_not_add_up_to_one(measure, sides):
    # (3 x 0.5 + 1 x 0.704) / 4
    metric = AnswerCorrectness(weights=(3, 1))
    score = measure(metric, sides(("yes", "no"), ("yes", "no")), vectors=VECTORS, **SAMPLE).score

    assert score.value == pytest.approx(2.204 / 4, abs=1e-15)
    assert score.formula == "(3 × 0.5 + 1 × 0.704) / 4 = 0.551"


def test_it_is_undefined_when_no_side_makes_a_statement(measure, sides):
    score = measure(AnswerCorrectness(), sides((), ()), vectors=VECTORS, **SAMPLE).score
    assert (score.status, score.reason) == ("undefined", "factual_correctness: no_statements")


def test_missing_verdicts_leave_the_same_share_of_it_open(measure, sides):
    # FacCor between 1/2 and 1: 0.75 x 0.5 + 0.176 = 0.551 and 0.75 + 0.176 = 0.926
    score = measure(AnswerCorrectness(), sides(("yes", None), ("yes", None)), vectors=VECTORS, **SAMPLE).score

    assert (score.status, score.reason) == ("incomplete", "factual_correctness: missing_verdicts")
    assert score.bounds == pytest.approx((0.551, 0.926), abs=1e-15)


def test_the_paper_variant_takes_the_facts_from_three_lists(measure):
    # FacCor 1 / (1 + 0.5 x 1) = 2/3: 0.75 x 2/3 + 0.25 x 0.704
    replies = {
        "paper_facts": {"TP": ["A pre-requisite for MSP Phase 2"], "FP": ["And for Phase 3"], "FN": []}
    }
    score = measure(AnswerCorrectness(variant="paper"), replies, vectors=VECTORS, **SAMPLE).score
    assert score.value == pytest.approx(0.5 + 0.176, abs=1e-15)


def test_a_part_can_have_settings_of_its_own(measure, sides):
    # precision alone: 1 / 1, with nothing of the similarity
    precise = Part("factual_correctness", "strict.1", {"mode": "precision"})
    metric = AnswerCorrectness(factual=precise, weights=(1, 0))
    assert measure(metric, sides(("yes",), ("no",)), **SAMPLE).score.value == 1.0
