"""METEOR: how well do the words of answer and reference align?"""

from dataclasses import dataclass

from ragmetrics_core import scoring
from ragmetrics_core.asking import count
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.metrics._steps.texts import best_of, references_of
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Worded

__all__ = ["Meteor"]


@dataclass(frozen=True, kw_only=True)
class Meteor(Metric[Worded]):
    """METEOR: equal words, then equal Porter stems, and on request then synonyms of WordNet.

    Range [0, 1], higher is better; undefined when no reference has a word; the best of several references
    counts. By default the synonym stage is left out because it needs WordNet, a download, so values are at or
    below those of METEOR with WordNet. With `wordnet=true` NLTK reads it from the folder that the environment
    variable NLTK_DATA names; the record has the version of WordNet and not the path. A text compared with
    itself scores just below 1, because its single run is penalized too.

    Attributes:
        stemmer: also match words with the same Porter stem (English).
        wordnet: also match synonyms of WordNet (English), from the data of NLTK.
        alpha: weight of recall in the harmonic mean; precision gets the rest.
        beta: how sharply the penalty rises with the number of runs.
        gamma: maximum penalty.

    Banerjee and Lavie (2005): https://aclanthology.org/W05-0909; aligned by NLTK.
    """

    name = "meteor"
    inputs = Worded
    needs = frozenset()
    packages = (("nltk", "text"),)

    stemmer: bool = True
    wordnet: bool = False
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    def check(self) -> None:
        """Reject parameters that would take the score out of its range."""
        if not (0 < self.alpha < 1 and self.beta > 0 and 0 <= self.gamma <= 1):
            raise ConfigError(
                "meteor: alpha must be between 0 and 1, beta above 0 and gamma from 0 to 1, "
                f"not {self.alpha}, {self.beta} and {self.gamma}"
            )

    def measure(self, sample: Worded) -> Steps[Measurement]:
        """Align words, take the mean of precision and recall, subtract the penalty for broken runs."""
        stages = {"stemmer": self.stemmer, **({"wordnet": True} if self.wordnet else {})}
        found = yield from count("meteor", sample.answer, references_of(sample), **stages)
        (answer,) = found["answer"]
        rows = list(zip(found["matches"], found["chunks"], found["reference"], strict=True))
        settings = {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma}
        best = best_of(
            [scoring.meteor(matched, runs, answer, words, **settings) for matched, runs, words in rows]
        )
        if best is None:
            return undefined("no_reference_words")
        matched, runs, words = rows[best.number]
        counts = {
            "matched": matched,
            "runs": runs,
            "answer_words": answer,
            "reference_words": words,
            "reference": best.number + 1,
        }
        shares = "P {matched} / {answer_words} and R {matched} / {reference_words}"
        return valued(best.value, counts=counts, spelled=f"METEOR of {shares}, matched in {{runs}} runs")
