"""The six scores of TREC's AutoNuggetizer and the grades of UMBRELA, on cases derived by hand."""

import math

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.testing import ScriptedJudge

# Nuggets: vital with full support, vital in part, okay with full support, okay without support.
NUGGETS = ["Ulm lies on the Danube.", "Ulm has a minster.", "Einstein was born there.", "It has trams."]
SAMPLE = {
    "id": "q1",
    "question": "What is Ulm?",
    "answer": "A town on the Danube with a church, where Einstein was born.",
    "reference": " ".join(NUGGETS),
}


def verdicts(decisions: str) -> dict[str, object]:
    said = enumerate(decisions.split(), start=1)
    return {"verdicts": [{"number": number, "verdict": each} for number, each in said]}


JUDGE = {
    "reference_statements": {"statements": NUGGETS},
    "nugget_importance": verdicts("yes yes no no"),
    "answer_verdicts": verdicts("yes no yes no"),
    "nugget_parts": verdicts("yes yes yes no"),
}


@pytest.mark.parametrize(
    ("variant", "value"),
    [
        ("all", 2.5 / 4),  # (1 + 0.5 + 1 + 0) / 4
        ("all-strict", 2 / 4),  # (1 + 0 + 1 + 0) / 4
        ("vital", 1.5 / 2),  # (1 + 0.5) / 2
        ("strict", 1 / 2),  # (1 + 0) / 2, "vital strict"
        ("weighted", 2 / 3),  # (1 + 0.5 + 0.5 × 1) / (2 + 0.5 × 2)
        ("weighted-strict", 1.5 / 3),  # (1 + 0.5 × 1) / (2 + 0.5 × 2)
    ],
)
@pytest.mark.parametrize("granularity", ["statement", "sentence"])
def test_the_six_scores_of_the_rag_track_are_as_defined(variant, value, granularity):
    name = f"nugget_recall/{variant}(granularity={granularity})"
    score = evaluate([SAMPLE], metrics=name, judge=ScriptedJudge(JUDGE)).score("q1", name)

    assert score.value == pytest.approx(value, abs=1e-15)
    assert audit(score) == []


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("relevance_grade", 4 / 9),  # (1 + 3 + 0) / (3 × 3)
        # gains 1, 3, 0 against 3, 1, 0: (1 + 3 / log2 3) / (3 + 1 / log2 3)
        ("relevance_grade/ndcg", (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))),
        # 2^grade - 1: 1, 7, 0 against 7, 1, 0
        ("relevance_grade/ndcg(gain=exponential)", (1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3))),
        ("relevance_grade/ndcg(k=1)", 1 / 3),
    ],
)
def test_the_grades_of_the_chunks_are_averaged_or_serve_as_gains(metric, value):
    sample = {"id": "q1", "question": "What is Ulm?", "contexts": ["a", "b", "c"]}
    grades = [{"reason": "because", "rating": grade} for grade in (1, 3, 0)]
    judge = ScriptedJudge({"relevance_grade": grades})

    score = evaluate([sample], metrics=metric, judge=judge).score("q1", metric)
    assert score.value == pytest.approx(value, abs=1e-12)
    assert audit(score) == []
