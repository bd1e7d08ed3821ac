"""How the tests of the metrics measure: one sample, one metric, a judge that follows a script."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from ragmetrics_core import Metric, Record, evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.protocol import Generate
from ragmetrics_core.samples import Sample
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge


class Measured(NamedTuple):
    """A score, and the judge that was asked for it."""

    score: Record
    judge: ScriptedJudge

    @property
    def shown(self) -> str:
        """All that the judge was shown."""
        return "\n".join(message.content for request in self.judge.asked for message in request.messages)


Measure = Callable[..., Measured]
Verdicts = Callable[..., dict[str, Any]]


@pytest.fixture
def measure() -> Measure:
    """Measure a metric on the sample given by keywords; every score must prove itself from its record."""

    def measured(
        metric: Metric[Any],
        replies: Mapping[str, Any] | Callable[[Generate[Any]], Any],
        *,
        vectors: Mapping[str, Sequence[float]] | None = None,
        **sample: Any,
    ) -> Measured:
        judge = ScriptedJudge(replies)
        embedder = HashEmbedder(vectors=vectors or {})
        run = evaluate(
            [Sample(**{"id": "q1", **sample})], metrics=[metric], judge=judge, embedder=embedder, attempts=1
        )
        score = run.score("q1", metric)
        assert audit(score) == []
        return Measured(score, judge)

    return measured


@pytest.fixture
def verdicts() -> Verdicts:
    """The judge's reply with a verdict for each number from 1: "yes", "no" or whatever else it may say."""

    def reply(*decisions: object, first: int = 1) -> dict[str, Any]:
        return {
            "verdicts": [{"number": number, "verdict": each} for number, each in enumerate(decisions, first)]
        }

    return reply


@pytest.fixture
def cut_off() -> Callable[[Mapping[str, Any], int], str]:
    """The first characters of a reply in JSON, as a model leaves it that ran into its length limit."""
    return lambda reply, length: json.dumps(reply)[:length]


@pytest.fixture
def sides(verdicts: Verdicts) -> Callable[[Sequence[object], Sequence[object]], dict[str, Any]]:
    """Replies for an answer and a reference with these verdicts on their statements."""

    def replies(answer: Sequence[object], reference: Sequence[object]) -> dict[str, Any]:
        return {
            "statements": {
                "statements": [f"Answer says {n}." for n in range(1, len(answer) + 1)],
                "declined": False,
            },
            "reference_statements": {
                "statements": [f"Fact {n} holds." for n in range(1, len(reference) + 1)]
            },
            "reference_verdicts": verdicts(*answer),
            "answer_verdicts": verdicts(*reference),
        }

    return replies
