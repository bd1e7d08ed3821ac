"""BERTScore: how well do the words of answer and reference match as vectors in their context?"""

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, valued
from ragmetrics_core.metrics._steps.learned import LearnedMetric
from ragmetrics_core.metrics._steps.shares import Mode
from ragmetrics_core.samples import Worded

__all__ = ["BertScore"]


@dataclass(frozen=True, kw_only=True)
class BertScore(LearnedMetric[Worded]):
    """F1 of two greedy matches between the token vectors of answer and reference; the best reference counts.

    Range [0, 1], higher is better; undefined for a blank answer and without a reference that says something.
    Precision is how well the answer's tokens are found in the reference, recall the other way round. Raw
    values lie close together near 1: a `baseline` (what unrelated texts have with this model and layer)
    spreads them; what lies below the baseline is 0. Pass the model as `scorer=TokenMatchScorer(...)`.

    It differs from the package bert_score in this: a value below the baseline is 0, where the package gives a
    negative one; a word is never matched with the tokens around a text ([CLS], [SEP]), which the package does
    not count but lets words match; the layer is the scorer's setting, the last one by default, where the
    package chooses one by the model's name; there are no idf weights.

    Attributes:
        mode: the whole score, or only its "precision" or "recall".
        baseline: precision, recall and F are rescaled to (x - baseline) / (1 - baseline), not below 0.

    Zhang et al. (2020), BERTScore: https://arxiv.org/abs/1904.09675. Oro et al. (2024) name it for answers.
    """

    name = "bert_score"
    inputs = Worded

    mode: Mode = "f"
    baseline: float = 0.0

    def check(self) -> None:
        """A baseline must leave room below 1."""
        if not 0 <= self.baseline < 1:
            raise ConfigError(f"bert_score: baseline must be from 0 to below 1, not {self.baseline}")

    def pairs(self, sample: Worded, reference: str) -> tuple[tuple[str, str], ...]:
        """Precision is that of the answer in the reference, recall the other way round."""
        return (sample.answer, reference), (reference, sample.answer)

    def value(self, ratings: Sequence[float]) -> float:
        """The F1 of both directions, or one of them, rescaled."""
        precision, recall = ratings
        value = {"f": scoring.f_measure(precision, recall) or 0.0, "precision": precision, "recall": recall}
        return max(0.0, (value[self.mode] - self.baseline) / (1 - self.baseline))

    def outcome(self, value: float, ratings: Sequence[float], reference: int) -> Measurement:
        """The value of the best reference."""
        precision, recall = ratings
        counts = {"precision": precision, "recall": recall, "reference": reference}
        spelled = "{precision:.3f}" if self.mode == "precision" else "{recall:.3f}"
        if self.mode == "f":
            spelled = "F1 of P {precision:.3f} and R {recall:.3f}"
        if self.baseline:
            counts["baseline"] = self.baseline
            spelled = f"({spelled} - {{baseline:g}}) / (1 - {{baseline:g}})"
        return valued(value, counts=counts, spelled=spelled)
