"""BLEU: how many of the answer's n-grams are in a reference?"""

from dataclasses import dataclass
from typing import Literal

from ragmetrics_core import scoring
from ragmetrics_core.asking import count
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.texts import references_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["Bleu"]


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric[Worded]):
    """Sentence BLEU against all references together, by sacreBLEU; the record keeps its signature.

    Range [0, 1] (sacreBLEU's, divided by 100), higher is better; undefined when no reference has a word. The
    mean over samples is not corpus BLEU, which sums the counts before it divides; the records keep the
    counts.

    Attributes:
        tokenize: sacreBLEU's tokeniser: "13a" for languages with spaces, "zh" for Chinese, "char" for any.
        lowercase: ignore case.

    Papineni et al. (2002): https://aclanthology.org/P02-1040; Post (2018), sacreBLEU:
    https://arxiv.org/abs/1804.08771
    """

    name = "bleu"
    inputs = Worded
    needs = frozenset()
    packages = (("sacrebleu", "text"),)

    tokenize: Literal["13a", "intl", "zh", "char", "none"] = "13a"
    lowercase: bool = False

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Count n-grams; multiply their smoothed geometric mean by the brevity penalty."""
        references = references_of(sample)
        found = yield from count(
            "bleu", sample.answer, references, tokenize=self.tokenize, lowercase=self.lowercase
        )
        (answer,), (reference,) = found["answer_length"], found["reference_length"]
        counts = {"answer_words": answer, "reference_words": reference}
        for n, (matched, total) in enumerate(zip(found["matches"], found["ngrams"], strict=True), start=1):
            counts |= {f"matches_{n}": matched, f"ngrams_{n}": total}
        value = scoring.bleu(found["matches"], found["ngrams"], answer, reference)
        if value is None:
            return undefined("no_reference_words", **counts)
        shares = ", ".join(f"{{matches_{n}}}/{{ngrams_{n}}}" for n in range(1, len(found["ngrams"]) + 1))
        spelled = f"BLEU of {shares}, {{answer_words}} words to {{reference_words}}"
        return valued(value, counts=counts, spelled=spelled)
