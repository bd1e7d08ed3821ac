"""What verdicts with probabilities come to: the expected share with its interval, the mean, the least."""

import json

import numpy as np
import pytest

from ragmetrics_core import recompute
from ragmetrics_core.metrics import ContextRecall, Faithfulness
from ragmetrics_core.protocol import Completion

THREE = {
    "question": "Which tea?",
    "contexts": ["Sencha is green. Assam is black."],
    "answer": "One. Two. Three.",
    "reference": "One. Two. Three.",
}
SPLIT = {"statements": ["One.", "Two.", "Three."], "declined": False}


def graded(*probabilities):
    """A reply of a judge that gives probabilities; None leaves a verdict out."""
    rows = [
        {"number": n, "reason": "", "evidence": "", "probability": p, "verdict": "yes" if p >= 0.5 else "no"}
        for n, p in enumerate(probabilities, start=1)
        if p is not None
    ]
    return Completion(json.dumps({"verdicts": rows}), "graded", finish_reason="stop", held_to="graded")


def scored(measure, aggregate, *probabilities, metric=Faithfulness):
    split = {"statements": SPLIT, "reference_statements": {"statements": SPLIT["statements"]}}
    replies = split | {"verdicts": graded(*probabilities)}
    return measure(metric(aggregate=aggregate), replies, **THREE).score


# 0.9 + 0.6 + 0.2 = 1.7 of 3; two verdicts of three are at least 0.5
@pytest.mark.parametrize(
    ("aggregate", "value", "formula"),
    [
        ("share", 2 / 3, "2 / 3 = 0.667"),
        ("expected", 1.7 / 3, "1.7 / 3 (90 % from 0.333 to 1) = 0.567"),
        ("mean", 1.7 / 3, "1.7 / 3 = 0.567"),
        ("least", 0.2, "the least of 3 probabilities = 0.2"),
    ],
)
def test_three_verdicts_with_probabilities(measure, aggregate, value, formula):
    score = scored(measure, aggregate, 0.9, 0.6, 0.2)
    assert score.value == pytest.approx(value, abs=1e-15)
    assert score.formula == formula
    assert recompute(score).value == score.value


def test_the_interval_is_that_of_the_convolution(measure):
    # P(0..3) of 0.9, 0.6, 0.2: 0.032, 0.344, 0.516, 0.108; 0.032 is below 5 %, and 0.892 below 95 %
    counts = np.convolve(np.convolve([0.1, 0.9], [0.4, 0.6]), [0.8, 0.2])
    assert counts == pytest.approx([0.032, 0.344, 0.516, 0.108])
    score = scored(measure, "expected", 0.9, 0.6, 0.2)
    assert (score.counts["low"], score.counts["high"]) == (1 / 3, 1.0)
    # all but sure: 0.99 ** 3 = 0.970
    sure = scored(measure, "expected", 0.99, 0.99, 0.99)
    assert (sure.counts["low"], sure.counts["high"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("aggregate", "bounds"),
    [("expected", (1.5 / 3, 2.5 / 3)), ("mean", (0.5, 2.5 / 3)), ("least", (0.0, 0.6))],
)
def test_a_missing_verdict_may_have_any_probability(measure, aggregate, bounds):
    score = scored(measure, aggregate, 0.9, 0.6, None)
    assert (score.status, score.value) == ("incomplete", None)
    assert score.bounds == pytest.approx(bounds)


@pytest.mark.parametrize("aggregate", ["expected", "mean", "least"])
def test_verdicts_without_probabilities_fail_and_say_what_is_needed(measure, verdicts, aggregate):
    replies = {"statements": SPLIT, "verdicts": verdicts("yes", "yes", "no")}
    score = measure(Faithfulness(aggregate=aggregate), replies, **THREE).score
    assert (score.status, score.value) == ("metric_error", None)
    assert f"aggregate={aggregate} needs a judge that gives one for each" in score.reason
    assert [verdict.supported for verdict in score.verdicts] == [True, True, False]


def test_recall_of_nothing_retrieved_is_0_whatever_the_aggregate(measure):
    split = {"reference_statements": {"statements": SPLIT["statements"]}}
    score = measure(ContextRecall(aggregate="least"), split, **THREE | {"contexts": []}).score
    assert (score.value, score.formula) == (0.0, "0 / 3 = 0")
    assert scored(measure, "least", 0.9, 0.6, 0.2, metric=ContextRecall).value == 0.2


def test_the_aggregate_is_in_the_signature_and_the_usual_one_is_not():
    assert Faithfulness().signature == "faithfulness/strict.1"
    assert Faithfulness(aggregate="least").signature == "faithfulness/strict.1(aggregate=least)"
