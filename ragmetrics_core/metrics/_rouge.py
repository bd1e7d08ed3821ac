"""ROUGE: how many words or phrases do answer and reference share?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core.asking import count
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.shares import Mode, f1_of, f1_spelled
from ragmetrics_core.metrics._steps.texts import best_of, references_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["Rouge"]


@dataclass(frozen=True, kw_only=True)
class Rouge(Metric[Worded]):
    """ROUGE-1, ROUGE-2 or ROUGE-L, as in rouge-score; the best of several references counts.

    Range [0, 1], higher is better; undefined when neither side has an n-gram of this length. The tokeniser of
    rouge-score keeps only the letters a to z and digits; use `words="unicode"` for other scripts.

    Attributes:
        kind: n-grams of 1 or 2 words, or the longest common subsequence "L".
        mode: the whole score, or only its "precision" or "recall".
        words: the tokeniser of "rouge_score", or words in every script ("unicode").
        stemmer: compare Porter stems of English words.

    Lin (2004): https://aclanthology.org/W04-1013. Oro et al. (2024) list ROUGE for answers.
    """

    name = "rouge"
    inputs = Worded
    needs = frozenset()
    packages = (("rouge_score", "text"),)

    kind: Literal["1", "2", "L"] = "L"
    mode: Mode = "f"
    words: Literal["rouge_score", "unicode"] = "rouge_score"
    stemmer: bool = False

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Count shared n-grams or the common subsequence, take the F-measure of the best reference."""
        settings = {"kind": self.kind, "words": self.words, "stemmer": self.stemmer}
        found = yield from count("rouge", sample.answer, references_of(sample), **settings)
        (answer,) = found["answer"]
        pairs = list(zip(found["matches"], found["reference"], strict=True))
        best = best_of([self._value(matched, answer, reference) for matched, reference in pairs])
        if best is None:
            return undefined("no_words")
        matched, reference = pairs[best.number]
        counts = {"shared": matched, "answer": answer, "reference": reference, "best": best.number + 1}
        spelled = f1_spelled("shared", "answer", "reference", self.mode)
        return valued(best.value, counts=counts, spelled=spelled)

    def _value(self, matched: int, answer: int, reference: int) -> float | None:
        return f1_of(matched, answer, reference, self.mode) if answer or reference else None
