"""BERTScore: how well do the contextual token vectors of answer and reference match?"""

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
    """F1 of greedy matches between the token vectors of answer and reference; the best reference counts.

    Range [0, 1], higher is better; undefined when the answer or all references are blank. Precision is how
    well the answer's tokens match the reference, recall the reverse. Raw values are close together near 1. A
    `baseline`, the value of unrelated texts with this model and layer, spreads them; values below the
    baseline become 0. Pass the model as `scorer=TokenMatchScorer(...)`.

    It differs from the package bert_score: a value below the baseline is 0, not negative; words never match
    the tokens around a text ([CLS], [SEP]), which the package allows; the layer is a setting of the scorer
    (default: the last one), not chosen by the model's name; there are no idf weights.

    Attributes:
        mode: the whole score, or only its "precision" or "recall".
        baseline: rescale precision, recall and F1 to (x - baseline) / (1 - baseline), at least 0.

    Zhang et al. (2020), BERTScore: https://arxiv.org/abs/1904.09675. Oro et al. (2024) list it for answers.
    """

    name = "bert_score"
    inputs = Worded

    mode: Mode = "f"
    baseline: float = 0.0

    def check(self) -> None:
        """Reject a baseline outside [0, 1)."""
        if not 0 <= self.baseline < 1:
            raise ConfigError(f"bert_score: baseline must be at least 0 and below 1, not {self.baseline}")

    def pairs(self, sample: Worded, reference: str) -> tuple[tuple[str, str], ...]:
        """Pairs for precision (answer in reference) and recall (reference in answer)."""
        return (sample.answer, reference), (reference, sample.answer)

    def value(self, ratings: Sequence[float]) -> float:
        """Rescaled F1, precision or recall."""
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
