"""Shared steps of metrics in which a trained model rates pairs of answer and reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ragmetrics_core.asking import rate_shares
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.texts import best_of, references_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Asked, Worded

__all__ = ["LearnedMetric", "check_threshold", "reached"]

W = TypeVar("W", Asked, Worded)


@dataclass(frozen=True, kw_only=True)
class LearnedMetric(Metric[W]):
    """A metric that rates the answer against each reference that is not blank; the best one counts."""

    needs = frozenset({"scorer"})

    def pairs(self, sample: W, reference: str) -> tuple[tuple[str, str], ...]:
        """Pairs to rate for the answer and a reference."""
        return ((sample.answer, reference),)

    def value(self, ratings: Sequence[float]) -> float:
        """Value for a reference, from the ratings of its pairs."""
        (rating,) = ratings
        return rating

    def outcome(self, value: float, ratings: Sequence[float], reference: int) -> Measurement:
        """Measurement from the best value, its ratings and the number of its reference."""
        raise NotImplementedError

    def measure(self, sample: W) -> Steps[Measurement]:
        """Rate the pairs of each reference, take the best value."""
        references = [text for text in references_of(sample) if text.strip()]
        if not sample.answer.strip() or not references:
            return undefined("no_reference" if sample.answer.strip() else "no_answer")
        pairs = [self.pairs(sample, text) for text in references]
        ratings = iter((yield from rate_shares([pair for group in pairs for pair in group])))
        rated = [[next(ratings) for _ in group] for group in pairs]
        best = best_of([self.value(group) for group in rated])
        assert best is not None, "there is a reference"
        return self.outcome(best.value, rated[best.number], best.number + 1)


def check_threshold(metric: str, threshold: float | None, lowest: int) -> None:
    """Raise `ConfigError` unless the metric can reach the threshold."""
    if threshold is not None and not lowest <= threshold <= 1:
        raise ConfigError(f"{metric}: threshold must be between {lowest} and 1, not {threshold}")


def reached(name: str, value: float, threshold: float | None, **counts: float) -> Measurement:
    """The value under its name; with a threshold, 1 if the value reaches it, else 0."""
    counts = {name: value, **counts}
    if threshold is None:
        return valued(value, counts=counts, spelled=name)
    sign = "≥" if value >= threshold else "<"
    spelled = f"{{{name}:.3f}} {sign} {{threshold:g}}"
    return valued(float(value >= threshold), counts={**counts, "threshold": threshold}, spelled=spelled)
