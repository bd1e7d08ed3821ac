"""A scorer without weights."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragmetrics_core import scoring

__all__ = ["OverlapScorer"]


@dataclass(frozen=True)
class OverlapScorer:
    """F1 of the words that two texts share; 0 for two texts without words."""

    identity: str = "overlap"

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One number from 0 to 1 for each pair."""
        return [self._share(*(scoring.words_of(text) for text in pair)) for pair in pairs]

    def _share(self, one: Sequence[str], other: Sequence[str]) -> float:
        shared = scoring.shared_words(one, other)
        return scoring.f_beta(shared, len(one) - shared, len(other) - shared) or 0.0
