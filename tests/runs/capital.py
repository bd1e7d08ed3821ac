"""A sample whose replies are known, and the judge that gives them."""

from typing import Any

from ragmetrics_core.testing import ScriptedJudge

__all__ = ["NO", "ONE", "REFERENCED", "REPLIES", "SAMPLE", "YES", "many", "scripted"]

SAMPLE = {
    "id": "q1",
    "question": "Capital of France?",
    "answer": "Paris.",
    "contexts": ["Paris is the capital."],
}
REFERENCED = {**SAMPLE, "reference": "Paris"}
YES = {"verdicts": [{"number": 1, "verdict": "yes"}]}
NO = {"verdicts": [{"number": 1, "verdict": "no"}]}
ONE = {"statements": ["The capital is Paris."], "declined": False}
OF_REFERENCE = {"statements": ["The capital is Paris."]}
REPLIES = {
    "statements": ONE,
    "reference_statements": OF_REFERENCE,
    "verdicts": YES,
    "reference_verdicts": YES,
    "answer_verdicts": NO,
}


def scripted(**replies: Any) -> ScriptedJudge:
    return ScriptedJudge({**REPLIES, **replies})


def many(count: int) -> list[dict[str, Any]]:
    return [{**SAMPLE, "id": f"q{number}"} for number in range(count)]
