"""Answer similarity: the cosine between answer and reference."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.metrics import AnswerSimilarity
from ragmetrics_core.testing import HashEmbedder

TEXTS = {"answer": "the answer", "reference": "the reference"}


def vectors(answer, reference=(3, 4)):
    return {"the answer": list(answer), "the reference": list(reference)}


def test_it_is_the_cosine_of_the_two_vectors(measure):
    # (4, 3) and (3, 4): (12 + 12) / (5 x 5) = 0.96
    score = measure(AnswerSimilarity(), {}, vectors=vectors((4, 3)), **TEXTS).score

    assert score.value == pytest.approx(0.96, abs=1e-15)
    assert score.formula == "cosine = 0.96"


def test_it_needs_no_judge():
    sample = {"id": "q1", **TEXTS}
    run = evaluate([sample], metrics=[AnswerSimilarity()], embedder=HashEmbedder(vectors=vectors((3, 4))))
    assert run.score("q1", "answer_similarity").value == 1.0
    assert run.score("q1", "answer_similarity").judge is None


@pytest.mark.parametrize(("threshold", "value"), [(0.95, 1.0), (0.97, 0.0), (0.0, 1.0)])
def test_with_a_threshold_it_is_one_or_zero(measure, threshold, value):
    # the cosine is 0.96
    score = measure(AnswerSimilarity(threshold=threshold), {}, vectors=vectors((4, 3)), **TEXTS).score

    assert score.value == value
    assert score.counts["cosine"] == pytest.approx(0.96, abs=1e-15)


@pytest.mark.parametrize("side", ["the answer", "the reference"])
def test_a_zero_vector_makes_it_undefined(measure, side):
    score = measure(AnswerSimilarity(), {}, vectors=vectors((4, 3)) | {side: [0, 0]}, **TEXTS).score
    assert (score.status, score.reason, score.value) == ("undefined", "zero_vector", None)
