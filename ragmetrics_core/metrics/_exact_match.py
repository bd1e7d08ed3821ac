"""Exact match: is the answer word for word one of the references?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.asking import review
from ragmetrics_core.measurement import Decision, Labels, Measurement, score
from ragmetrics_core.metrics._steps.texts import references_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["ExactMatch"]

EQUAL = Labels("equal", "different")


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Metric[Worded]):
    """1 when the answer has the same words as one of the references, in the same order, else 0.

    Range [0, 1], higher is better; never undefined: an empty answer equals an empty reference. Case,
    punctuation and English articles before a word are ignored; signs with a meaning are not (-5, $5, 50 %,
    3/4, C++, A-). In scripts without spaces each character is a word. A text without words, such as "+", is
    compared as it is.

    Attributes:
        rules: "unicode" for every language; "squad" like the evaluation script of SQuAD, which also removes
            the point from "3.5"; "none" to compare the texts character by character.

    Rajpurkar et al. (2016), SQuAD, section 6.1: https://arxiv.org/abs/1606.05250. Oro et al. (2024) list it
    for answers.
    """

    name = "exact_match"
    inputs = Worded
    needs = frozenset()
    variants = {"strict.1": {}, "squad.1": {"rules": "squad"}}

    variant: Literal["strict", "strict.1", "squad", "squad.1"] = "strict.1"
    rules: Literal["unicode", "squad", "none"] = "unicode"

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Compare the answer with each reference."""
        answer = self._spelled(sample.answer, sample.language)
        references = references_of(sample)
        judged = yield from review(
            [Decision(text, self._spelled(text, sample.language) == answer) for text in references],
            about="reference",
            labels=EQUAL,
        )
        counts = {"equal": judged.supported, "references": len(judged)}
        spelled = "equal to {equal} of {references}"
        return score(lambda equal: float(any(equal)), judged, counts=counts, spelled=spelled)

    def _spelled(self, text: str, language: str | None) -> list[str]:
        if self.rules == "none":
            return [text]
        words = scoring.words_of(text, language=language, rules=self.rules)
        return text.split() if not words and self.rules == "unicode" else words
