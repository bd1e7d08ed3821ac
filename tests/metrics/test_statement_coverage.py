"""A judge that leaves out whole sentences, or invents statements, gets bounds in place of a value."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit, rescore
from ragmetrics_core.metrics import (
    ChunkFaithfulness,
    ClaimRecall,
    ContextRecall,
    ContextUtilization,
    FactualCorrectness,
    Faithfulness,
    Hallucination,
    NoiseSensitivity,
    SelfKnowledge,
    UsefulChunks,
)
from ragmetrics_core.protocol import Generate
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {
    "id": "q1",
    "question": "Where is the tower?",
    "answer": "# Tower\nThe tower is in Paris. It is 330 metres high. It opened in 1889. I hope this helps!",
    "reference": "The tower is in Paris. Gustave Eiffel built it.",
    "contexts": ["The tower stands in Paris.", "It is 330 metres high."],
}
Split = Callable[[int, str], dict[str, Any] | None]


def honest(number: int, sentence: str) -> dict[str, Any]:
    is_greeting = "hope" in sentence
    kind, said = ("greeting", []) if is_greeting else ("claim", [sentence])
    return {"sentence": number, "kind": kind, "statements": said}


def lazy(number: int, sentence: str) -> dict[str, Any] | None:
    return honest(number, sentence) if number == 1 else None


def inventing(number: int, sentence: str) -> dict[str, Any]:
    said = honest(number, sentence)
    return said | {"statements": ["Lyon has two rivers."]} if number == 3 else said


def judged_by(split: Split, *, yes: int = 2) -> ScriptedJudge:
    """A judge that splits sentence by sentence and supports the first statements."""

    def reply(request: Generate[Any]) -> str:
        expected = request.expected
        if request.prompt.numbered is not None:
            pairs = zip(expected.numbers, expected.items, strict=True)
            return json.dumps({"sentences": [entry for pair in pairs if (entry := split(*pair))]})
        verdicts = [{"number": n, "verdict": "yes" if n <= yes else "no"} for n in expected.numbers]
        return json.dumps({"verdicts": verdicts})

    return ScriptedJudge(reply)


def measured(split: Split, metric: Any = None) -> Any:
    metric = metric or Faithfulness()
    return evaluate([SAMPLE], metrics=[metric], judge=judged_by(split)).score("q1", metric.name)


def test_an_honest_judge_gives_a_value_and_the_sentences_are_counted():
    record = measured(honest)
    assert (record.value, record.formula) == (2 / 3, "2 / 3 = 0.667")
    assert record.counts == {
        "supported": 2, "statements": 3, "sentences": 4, "without_claim": 1, "uncovered": 0,
    }  # fmt: skip
    assert record.coverage == ["statements of 3 of 4 sentences of the answer; 1 without a claim"]
    assert record.coverage[0] in record.explain()


def test_a_lazy_judge_gives_bounds_and_the_missing_sentences_are_named():
    record = measured(lazy)
    # one statement is supported, and each of the three other sentences has at least one statement
    assert (record.status, record.value, record.bounds) == ("incomplete", None, (1 / 4, 1.0))
    assert record.reason == "uncovered_sentences"
    assert [verdict.text for verdict in record.verdicts if verdict.supported is None] == [
        "It is 330 metres high.",
        "It opened in 1889.",
        "I hope this helps!",
    ]
    assert "statements.v5: your last reply lacks sentences 2, 3, 4" in record.remarks
    assert record.coverage == ["statements of 1 of 4 sentences of the answer; the judge gave none of 3"]


def test_an_invented_statement_does_not_count():
    record = measured(inventing)
    assert (record.status, record.bounds) == ("incomplete", (2 / 3, 1.0))
    assert "Lyon has two rivers." not in [verdict.text for verdict in record.verdicts]
    assert any('shares no word with the statement "Lyon' in remark for remark in record.remarks)


def test_a_judge_that_completes_its_list_when_asked_again_gives_the_value_of_an_honest_one():
    asked: list[tuple[int, ...]] = []

    def late(request: Generate[Any]) -> str:
        numbers = request.expected.numbers
        asked.append(numbers)
        split = lazy if len(asked) == 1 else honest
        pairs = zip(numbers, request.expected.items, strict=True)
        return json.dumps({"sentences": [entry for pair in pairs if (entry := split(*pair))]})

    whole = judged_by(honest)
    judge = ScriptedJudge(
        lambda request: late(request) if request.prompt.name == "statements" else whole.replies(request)
    )
    record = evaluate([SAMPLE], metrics="faithfulness", judge=judge).score("q1", "faithfulness")
    assert asked == [(1, 2, 3, 4), (2, 3, 4)]
    assert (record.value, record.counts["uncovered"]) == (2 / 3, 0)


METRICS = [
    ChunkFaithfulness(), ClaimRecall(), ContextRecall(), ContextUtilization(), FactualCorrectness(),
    Faithfulness(), Hallucination(), NoiseSensitivity(), SelfKnowledge(), UsefulChunks(),
]  # fmt: skip


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_in_every_metric_of_statements_the_honest_value_is_within_the_bounds_of_the_lazy_judge(metric):
    full, partial = measured(honest, metric), measured(lazy, metric)
    low, high = partial.bounds or (partial.value, partial.value)
    assert full.status == "ok"
    assert low <= full.value <= high
    counts = {name: number for name, number in partial.counts.items() if name.endswith("uncovered")}
    assert sum(counts.values()) > 0


@pytest.mark.parametrize("split", [honest, lazy, inventing])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_record_proves_its_coverage(split, metric):
    record = measured(split, metric)
    assert audit(record) == []
    assert rescore(record).counts == record.counts
