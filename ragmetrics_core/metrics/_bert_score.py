"""BERTScore: how well do the words of answer and reference match as vectors in their context?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.asking import rate_shares
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._metric import Metric
from ragmetrics_core.metrics._steps.texts import best_of, references_of
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["BertScore"]


@dataclass(frozen=True, kw_only=True)
class BertScore(Metric[Worded]):
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
    needs = frozenset({"scorer"})

    mode: Literal["f", "precision", "recall"] = "f"
    baseline: float = 0.0

    def check(self) -> None:
        """A baseline must leave room below 1."""
        if not 0 <= self.baseline < 1:
            raise ConfigError(f"bert_score: baseline must be from 0 to below 1, not {self.baseline}")

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Have both directions rated for each reference, take the F1 of the best one."""
        references = [text for text in references_of(sample) if text.strip()]
        if not sample.answer.strip() or not references:
            return undefined("no_reference" if sample.answer.strip() else "no_answer")
        pairs = [pair for text in references for pair in ((sample.answer, text), (text, sample.answer))]
        ratings = yield from rate_shares(pairs)
        both = list(zip(ratings[::2], ratings[1::2], strict=True))
        best = best_of([self._value(precision, recall) for precision, recall in both])
        assert best is not None, "there is a reference"
        precision, recall = both[best.number]
        counts = {"precision": precision, "recall": recall, "reference": best.number + 1}
        spelled = {
            "f": "F1 of P {precision:.3f} and R {recall:.3f}",
            "precision": "{precision:.3f}",
            "recall": "{recall:.3f}",
        }[self.mode]
        if self.baseline:
            counts["baseline"] = self.baseline
            spelled = f"({spelled} - {{baseline:g}}) / (1 - {{baseline:g}})"
        return valued(best.value, counts=counts, spelled=spelled)

    def _value(self, precision: float, recall: float) -> float:
        value = {"f": scoring.f_measure(precision, recall) or 0.0, "precision": precision, "recall": recall}
        return max(0.0, (value[self.mode] - self.baseline) / (1 - self.baseline))
