"""Citation precision: which of the answer's citations do its sentences need?"""

from dataclasses import dataclass

from ragmetrics_core.measurement import Judged, Measurement, undefined
from ragmetrics_core.metrics._steps.citations import Cited, CitingMetric
from ragmetrics_core.metrics._steps.shares import supported_share
from ragmetrics_core.protocol import Steps
from ragmetrics_core.samples import Citing

__all__ = ["CitationPrecision"]


@dataclass(frozen=True, kw_only=True)
class CitationPrecision(CitingMetric):
    """Share of the answer's citations that support their sentences and that the sentences need.

    Range [0, 1], higher is better; undefined when the answer cites nothing. If the cited chunks together do
    not support a sentence, all its citations are wrong. A citation is superfluous when its chunk alone does
    not support the sentence and the other cited chunks do. A citation of a chunk that was not retrieved is
    wrong; ALCE's own program leaves such sentences out.

    Attributes:
        first: number by which the answer cites the first chunk.
        verify: asks whether the chunks that a sentence cites support it.

    Gao et al. (2023), ALCE, section 3: https://arxiv.org/abs/2305.14627
    """

    name = "citation_precision"

    def measure(self, sample: Citing) -> Steps[Measurement]:
        """Judge each sentence against all its cited chunks, then against each one alone, then without it."""
        sentences = [sentence for sentence in (yield from self.cited(sample)) if sentence.sources]
        if not sentences:
            return undefined("no_citations")
        whole = yield from self.supported(sentences, sample.contexts)
        several = [each for each in sentences if whole[each] and len(each.sources) > 1]
        single = [Cited(text, (rank,)) for text, ranks, _ in several for rank in ranks]
        alone = yield from self.supported(single, sample.contexts)
        doubtful = [
            (sentence, rank)
            for sentence in several
            for rank in sentence.sources
            if not alone[Cited(sentence.text, (rank,))]
        ]
        rest = yield from self.supported(
            (_without(sentence, rank) for sentence, rank in doubtful), sample.contexts, "sentence beside"
        )

        def is_needed(sentence: Cited, rank: int | str) -> bool | None:
            together = whole[sentence]
            if not together or len(sentence.sources) == 1:
                return together
            by_itself, others = alone[Cited(sentence.text, (rank,))], rest.get(_without(sentence, rank))
            if by_itself or others is False:
                return True
            return False if by_itself is False and others else None

        judged = Judged(
            tuple(is_needed(sentence, rank) for sentence in sentences for rank in sentence.sources)
        )
        return supported_share(judged, "needed", "citations")


def _without(sentence: Cited, source: int | str) -> Cited:
    return Cited(sentence.text, tuple(other for other in sentence.sources if other != source))
