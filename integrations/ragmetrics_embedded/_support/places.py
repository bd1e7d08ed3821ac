"""Positions of a statement's words in its evidence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragmetrics_embedded._support.evidence import IndexedTexts
from ragmetrics_embedded._support.words import Sentence, Token

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
        most_absent: the maximum weight of an absent key.
        best: the sentence with most of the statement, or None.
        others: up to two more sentences that add most to the earlier ones.
        gains: what the two add.
        two, three: the maximum weight in two or three neighbouring sentences.
        near: the keys in the best three.
    """

    def __init__(self, said: Sentence, evidence: IndexedTexts, rarity: Rarity) -> None:
        # of words with one key the first
        distinct = {token.key: token for token in reversed(said.content)}
        self.content = list(reversed(distinct.values()))
        self.weights = {token.key: weight_of(token, rarity) for token in self.content}
        self.evidence = evidence
        self.total = sum(self.weights.values()) or 1
        self.places = {token.key: self._places_of(token) for token in self.content}
        self.known = frozenset(key for key, places in self.places.items() if places)
        self.absent = self.weights.keys() - self.known
        self.most_absent = max((self.weights[key] for key in self.absent), default=0)
        self._keys_of: dict[int, set[str]] = {}
        for key in self.known:
            for place in self.places[key]:
                self._keys_of.setdefault(place, set()).add(key)
        self.by_sentence = {place: self.weigh(keys) for place, keys in self._keys_of.items()}
        self.best = self._best()
        self.best_sentence = None if self.best is None else evidence.sentences[self.best]
        self.best_keys = self._keys_at(() if self.best is None else (self.best,))
        self.others, self.gains = self._others()
        self.two, self.three, self.near = self._windows()

    def _places_of(self, token: Token) -> Sequence[int]:
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

    def _keys_at(self, places: Iterable[int]) -> frozenset[str]:
        """The statement's keys in some sentences."""
        return frozenset(key for place in places for key in self._keys_of.get(place, ()))

    @property
    def window(self) -> range:
        """The best sentence and its neighbours."""
        return range(0) if self.best is None else self.evidence.around(self.best, 1, 1)

    def weigh(self, keys: Iterable[str]) -> int:
        """Total significance of some keys; those that are not the statement's have none."""
        return sum(self.weights.get(key, 0) for key in keys)

    def _others(self) -> tuple[list[int], list[int]]:
        """Two more sentences that add most to the earlier ones, and the added weights."""
        chosen: list[int] = []
        gains: list[int] = []
        best = self.best or 0
        rest = self.known - self.best_keys
        while rest and len(chosen) < 2:
            added: dict[int, int] = {}
            for key in rest:
                for place in self.places[key]:
                    added[place] = added.get(place, 0) + self.weights[key]
            place = max(added, key=lambda place: (added[place], -abs(place - best), -place))
            chosen.append(place)
            gains.append(added[place])
            rest -= self._keys_of[place]
        return chosen, [*gains, 0, 0][:2]

    def _windows(self) -> tuple[int, int, frozenset[str]]:
        """Maximum weight in two and three neighbouring sentences, and the keys of the best three."""
        candidates = sorted(self.by_sentence, key=lambda place: (-self.by_sentence[place], place))[:_CLOSEST]
        around = self.evidence.around
        sides = [around(place, *side) for place in candidates for side in ((1, 0), (0, 1))]
        two = max((self.weigh(self._keys_at(places)) for places in sides), default=0)
        windows = [self._keys_at(around(place, 1, 1)) for place in candidates]
        near = max(windows, key=self.weigh, default=frozenset[str]())
        return two, self.weigh(near), near
