"""Citation recall: do the chunks that each sentence cites support it together?"""

from dataclasses import dataclass

from ragmetrics_core.measurement import Judged, Measurement, undefined
from ragmetrics_core.metrics._steps.citations import CitingMetric
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Citing

__all__ = ["CitationRecall"]


@dataclass(frozen=True, kw_only=True)
class CitationRecall(CitingMetric):
    """Share of the answer's sentences that are supported by all their cited chunks together.

    Range [0, 1], higher is better; undefined when the answer has no sentence. A sentence is not supported if
    it cites nothing or a chunk that is not among the contexts.

    If the sample has `citations`, these count. Otherwise citations are read from the answer: `[2]`, `[1, 3]`,
    `[1][3]`, `[1-3]`, `[doc 2]`, a footnote `[^2]` or `【2†source】` name chunks by rank; the id of a chunk
    in brackets names it too. Other brackets, such as `[2019]` or `[sic]`, are citations only if they name a
    chunk or have the form of a citation that does. A marker after a full stop belongs to the sentence before
    it; a marker at the start of a line belongs to the sentence after it. A list of sources at the end of the
    answer is not a claim.

    Attributes:
        first: number by which the answer cites the first chunk.
        verify: asks whether the chunks that a sentence cites support it.

    Gao et al. (2023), ALCE, section 3: https://arxiv.org/abs/2305.14627
    """

    name = "citation_recall"

    def measure(self, sample: Citing) -> Steps[Measurement]:
        """Find the citations of each sentence, judge it against its cited chunks, take the share."""
        sentences = yield from self.cited(sample)
        if not sentences:
            return undefined("no_sentences")
        supported = yield from self.supported(sentences, sample.contexts)
        judged = Judged(tuple(supported[sentence] for sentence in sentences))
        uncited = sum(not sentence.sources for sentence in sentences)
        return supported_share(judged, "supported", "sentences", uncited=uncited)
