"""ChrF: how many character n-grams do answer and reference share?"""

from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.asking import count
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.texts import references_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["Chrf"]


@dataclass(frozen=True, kw_only=True)
class Chrf(Metric[Worded]):
    """Character n-gram F-score with the best reference, by sacreBLEU; the record keeps its signature.

    Range [0, 1] (sacreBLEU's, divided by 100), higher is better; undefined when the reference has no
    character. It needs no tokeniser and suits languages with rich inflection or without spaces.

    Attributes:
        char_order: maximum length of character n-grams.
        word_order: maximum length of word n-grams; 2 makes it chrF++.
        beta: how much more recall weighs than precision.

    Popović (2015): https://aclanthology.org/W15-3049; Post (2018), sacreBLEU:
    https://arxiv.org/abs/1804.08771
    """

    name = "chrf"
    inputs = Worded
    needs = frozenset()
    packages = (("sacrebleu", "text"),)

    char_order: int = 6
    word_order: int = 0
    beta: int = 2

    def check(self) -> None:
        """Reject orders and beta that are too small."""
        if self.char_order < 1 or self.word_order < 0 or self.beta < 1:
            raise ConfigError(
                "chrf: char_order and beta must be at least 1 and word_order at least 0, "
                f"not {self.char_order}, {self.beta} and {self.word_order}"
            )

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Count n-grams, take the F-measure of mean precision and mean recall."""
        settings = {"char_order": self.char_order, "word_order": self.word_order, "beta": self.beta}
        found = yield from count("chrf", sample.answer, references_of(sample), **settings)
        shares = list(zip(found["matches"], found["answer_ngrams"], found["reference_ngrams"], strict=True))
        counts: dict[str, int] = {}
        for n, (matched, answer, reference) in enumerate(shares, start=1):
            counts |= {f"matches_{n}": matched, f"answer_{n}": answer, f"reference_{n}": reference}
        value = scoring.chrf(found["matches"], found["answer_ngrams"], found["reference_ngrams"], self.beta)
        if value is None:
            return undefined("no_reference_text", **counts)
        orders = range(1, len(shares) + 1)
        told = ", ".join(f"{{matches_{n}}}/({{answer_{n}}}, {{reference_{n}}})" for n in orders)
        return valued(value, counts=counts, spelled=f"F{self.beta} of {told}")
