"""Ranking by shared words: BM25."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.scoring import words_of
from ragmetrics_core.texts.comparing import UNSPACED

__all__ = ["BM25", "terms_in"]

# Of its saturation and of its normalization by length: Lucene's, for every collection.
_K1: Final = 1.2
_B: Final = 0.75
_CHARACTER: Final = re.compile(f"[{UNSPACED}]")


class BM25:
    r"""An index of texts that ranks them by BM25, as Lucene does.

    .. math:: \sum_{t \in q} \ln\Big(1 + \frac{N - n_t + 0.5}{n_t + 0.5}\Big)
        \cdot \frac{f_{t,d}}{f_{t,d} + k_1 (1 - b + b \, |d| / \overline{|d|})}

    with :math:`k_1 = 1.2` and :math:`b = 0.75`, for a query of the terms :math:`t`, of which :math:`n_t` of
    :math:`N` texts have each. Terms are folded words without stemming. In scripts without spaces they are
    pairs of neighbouring characters.

    References:
        Robertson and Zaragoza (2009), "The Probabilistic Relevance Framework: BM25 and Beyond".
        Kamphuis et al. (2020), "Which BM25 Do You Mean?", for the variant of Lucene without its factor
        k1 + 1, which changes no ranking.

    Examples:
        >>> BM25(["a red fox", "a dog", "a red dog"]).rank("Red dog?", 2)
        [2, 1]
    """

    def __init__(self, texts: Iterable[str]) -> None:
        counts = [Counter(terms_in(text)) for text in texts]
        self._size = len(counts)
        lengths = [count.total() for count in counts]
        average = sum(lengths) / max(self._size, 1) or 1.0
        places: dict[str, list[int]] = {}
        saturated: dict[str, list[float]] = {}
        for number, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            damping = _K1 * (1 - _B + _B * length / average)
            for term, times in count.items():
                places.setdefault(term, []).append(number)
                saturated.setdefault(term, []).append(times / (times + damping))
        self._places = {term: np.array(numbers, dtype=np.int64) for term, numbers in places.items()}
        self._weights = {
            term: np.array(values) * self._rarity(len(values)) for term, values in saturated.items()
        }

    def scores(self, query: str) -> NDArray[np.float64]:
        """The score of each text; 0 if it shares no term with the query."""
        scores = np.zeros(self._size)
        for term, times in Counter(terms_in(query)).items():
            if term in self._places:
                scores[self._places[term]] += times * self._weights[term]
        return scores

    def rank(self, query: str, k: int) -> list[int]:
        """Numbers of the `k` best texts, best first; of equal ones the first in the index.

        Texts that share no term with the query come last.
        """
        order: Sequence[int] = np.argsort(-self.scores(query), kind="stable")[:k].tolist()
        return list(order)

    def _rarity(self, texts: int) -> float:
        return math.log(1 + (self._size - texts + 0.5) / (texts + 0.5))


def terms_in(text: str) -> list[str]:
    """The folded words of a text; pairs of neighbouring characters in scripts without spaces.

    >>> terms_in("Jean-Luc's 東京都 map")
    ['jean', 'luc', 's', '東京', '京都', 'map']
    """
    terms: list[str] = []
    words = words_of(text, rules="names")
    for is_character, group in groupby(words, key=_is_character):
        run = list(group)
        if is_character and len(run) > 1:
            terms += [one + other for one, other in pairwise(run)]
        else:
            terms += run
    return terms


def _is_character(word: str) -> bool:
    """Whether a word is a character of a script without spaces, with its marks."""
    return _CHARACTER.match(word) is not None
