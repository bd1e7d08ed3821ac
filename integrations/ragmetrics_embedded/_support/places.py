"""Positions of a statement's words in its evidence."""

from collections.abc import Mapping, Sequence
from typing import Final

from ragmetrics_embedded._support.evidence import IndexedTexts
from ragmetrics_embedded._support.words import Token

__all__ = ["UNSEEN", "Rarity", "WordPlaces", "weight_of"]

Rarity = Mapping[str, int]
"""Significance of a word: a hundred times the negative logarithm of its frequency in texts."""

UNSEEN: Final = 935
_LEAST_NUMBER: Final = 500
_CLOSEST = 6


def weight_of(token: Token, rarity: Rarity) -> int:
    """Significance of a word; a number is never common."""
    weight = rarity.get(token.key, UNSEEN)
    return max(weight, _LEAST_NUMBER) if token.kind == "number" else weight


class WordPlaces:
    """Positions of a statement's words.

    Attributes:
        content: the statement's words of content.
        weights: significance by key.
        total: sum of the weights; 1 if there are none.
        places: the sentences with each key.
        known: the keys found in a sentence.
        absent: the others.
        best: the sentence with most of the statement, or None.
        others: up to two more sentences that add most to the earlier ones.
        gains: what the two add.
        two, three: the maximum weight in two or three neighbouring sentences.
        near: the keys in the best three.
    """

    def __init__(self, content: tuple[Token, ...], weights: dict[str, int], evidence: IndexedTexts) -> None:
        self.content = content
        self.weights = weights
        self.evidence = evidence
        self.total = sum(weights.values()) or 1
        self.places = {token.key: self.places_of(token) for token in content}
        self.known = [key for key, places in self.places.items() if places]
        self.absent = [key for key, places in self.places.items() if not places]
        self.by_sentence: dict[int, int] = {}
        self._keys_of: dict[int, list[str]] = {}
        for key in self.known:
            for place in self.places[key]:
                self.by_sentence[place] = self.by_sentence.get(place, 0) + weights[key]
                self._keys_of.setdefault(place, []).append(key)
        self.best = self._best()
        self.best_sentence = None if self.best is None else evidence.sentences[self.best]
        self.best_keys = self._keys_at(self.best, 0, 0)
        self.others, self.gains = self._others()
        self.two, self.three, self.near = self._windows()

    def places_of(self, token: Token) -> Sequence[int]:
        """The sentences that have a token, a number in any of its readings."""
        places = self.evidence.places
        if len(token.readings) < 2:
            return places.get(token.key, ())
        return sorted({place for reading in token.readings for place in places.get(reading, ())})

    def _best(self) -> int | None:
        """The sentence with most of the statement; of nearly equal ones the shorter, then the first."""
        sentences, total = self.evidence.sentences, self.total
        return max(
            self.by_sentence,
            key=lambda place: (2000 * self.by_sentence[place] - total * len(sentences[place].tokens), -place),
            default=None,
        )

    def _keys_at(self, place: int | None, before: int, after: int) -> frozenset[str]:
        """The statement's keys in a sentence and those around it."""
        if place is None:
            return frozenset()
        around = self.evidence.around(place, before, after)
        return frozenset[str]().union(*(self._keys_of.get(at, ()) for at in around))

    @property
    def window(self) -> range:
        """The best sentence and its neighbours."""
        if self.best is None:
            return range(0)
        return self.evidence.around(self.best, 1, 1)

    def weigh(self, keys: frozenset[str]) -> int:
        """Total significance of some keys."""
        return sum(self.weights[key] for key in keys)

    def _others(self) -> tuple[list[int], list[int]]:
        """Two more sentences that add most to the earlier ones, and the added weights."""
        chosen: list[int] = []
        gains: list[int] = []
        if self.best is None:
            return chosen, [0, 0]
        rest = [key for key in self.known if key not in self.best_keys]
        for _ in range(2):
            added: dict[int, int] = {}
            for key in rest:
                for place in self.places[key]:
                    added[place] = added.get(place, 0) + self.weights[key]
            if not added:
                break
            best = self.best
            place = max(added, key=lambda place: (added[place], -abs(place - best), -place))
            chosen.append(place)
            gains.append(added[place])
            rest = [key for key in rest if place not in self.places[key]]
        return chosen, [*gains, 0, 0][:2]

    def _windows(self) -> tuple[int, int, frozenset[str]]:
        """Maximum weight in two and three neighbouring sentences, and the keys of the best three."""
        candidates = sorted(self.by_sentence, key=lambda place: (-self.by_sentence[place], place))[:_CLOSEST]
        two = three = 0
        near: frozenset[str] = frozenset()
        for place in candidates:
            for before, after in ((1, 0), (0, 1)):
                two = max(two, self.weigh(self._keys_at(place, before, after)))
            keys = self._keys_at(place, 1, 1)
            if (weight := self.weigh(keys)) > three:
                three, near = weight, keys
        return two, three, near
