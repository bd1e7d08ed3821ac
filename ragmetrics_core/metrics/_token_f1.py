"""Token F1: how many words do answer and reference share?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.shares import Mode, f1_of, f1_spelled
from ragmetrics_core.metrics._steps.texts import best_of, references_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["TokenF1"]


@dataclass(frozen=True, kw_only=True)
class TokenF1(Metric[Worded]):
    """F1 of the words that answer and reference share; the best of several references counts.

    Range [0, 1], higher is better; undefined when neither side has a word; 0 when one of them has none. Case,
    punctuation and English articles are ignored; in scripts without spaces each character is a word.

    Attributes:
        mode: the whole score, or only its "precision" or "recall".
        rules: "unicode" for every language, or "squad" like the evaluation script of SQuAD.
        without_words: score if neither side has a word; None for undefined.

    Rajpurkar et al. (2016), SQuAD, section 6.1: https://arxiv.org/abs/1606.05250. Oro et al. (2024) list
    token precision, recall and F1 for answers.
    """

    name = "token_f1"
    inputs = Worded
    needs = frozenset()
    variants = {"strict.1": {}, "squad.1": {"rules": "squad", "without_words": 1.0}}

    variant: Literal["strict", "strict.1", "squad", "squad.1"] = "strict.1"
    mode: Mode = "f"
    rules: Literal["unicode", "squad"] = "unicode"
    without_words: float | None = None

    def check(self) -> None:
        """Reject a `without_words` outside the range."""
        self.check_score("without_words")

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Count the words shared with each reference, take the best F1."""
        yield from ()
        answer = scoring.words_of(sample.answer, language=sample.language, rules=self.rules)
        references = [
            scoring.words_of(text, language=sample.language, rules=self.rules)
            for text in references_of(sample)
        ]
        best = best_of([self._value(answer, words) for words in references])
        if best is None:
            return undefined("no_words")
        words = references[best.number]
        if not answer and not words:
            return valued(best.value, counts={"words": 0}, spelled="no word on either side")
        counts = {
            "shared": scoring.shared_words(answer, words),
            "answer_words": len(answer),
            "reference_words": len(words),
            "reference": best.number + 1,
        }
        spelled = f1_spelled("shared", "answer_words", "reference_words", self.mode)
        return valued(best.value, counts=counts, spelled=spelled)

    def _value(self, answer: Sequence[str], reference: Sequence[str]) -> float | None:
        if not answer and not reference:
            return self.without_words
        shared = scoring.shared_words(answer, reference)
        return f1_of(shared, len(answer), len(reference), self.mode)
