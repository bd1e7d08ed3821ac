"""Where each word of a statement would stand in the evidence, and what stands there instead."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.models._support.evidence import Vectors, amount_of
from ragmetrics_core.models._support.places import WordPlaces
from ragmetrics_core.models._support.vocabulary import ANTONYMS, Language, language_of
from ragmetrics_core.models._support.words import Sentence, Token

__all__ = ["Alignment", "Rival", "klass_of"]

# Sentences stand this far apart in the row of tokens, so that nothing is near anything in another one.
_GAP: Final = 40
_FARTHEST: Final = 12
# A word on the wrong side of its neighbour is this much less in its place.
_WRONG_SIDE: Final = 0.6
# How near two tokens are, by how far they stand apart.
_NEARNESS: Final = np.array(
    [0.0, *(1.0 / (1.0 + 0.35 * (gap - 1)) for gap in range(1, _FARTHEST + 1)), 0.0], np.float64
)
_MOST_TOKENS: Final = 240
_MOST_ROWS: Final = 40
# From this cosine on two words may be of one kind: green and grey, east and west.
_KIN: Final = 0.2
_ALIKE: Final = 5
_NEGATED_REACH: Final = 3

_CLASSES: Final[Mapping[str, tuple[str, str]]] = {
    word: (klass, value)
    for klass, values in {
        "duty": {
            "must": "must shall required mandatory obligatory",
            "may": "may might could can optional possibly perhaps",
            "should": "should recommended",
            "cannot": "cannot can't",
        },
        "amount": {
            "all": "all every each entire any everyone",
            "most": "most majority mostly",
            "some": "some several few many",
            "no": "no none neither",
            "only": "only solely exclusively",
            "half": "half",
        },
        "often": {
            "always": "always constantly",
            "usually": "usually often frequently generally typically",
            "sometimes": "sometimes occasionally",
            "rarely": "rarely seldom hardly",
            "never": "never",
        },
        "when": {
            "before": "before until prior",
            "after": "after afterwards since",
            "during": "during",
        },
        "degree": {"more": "more", "less": "less fewer"},
        "likeness": {"same": "same identical", "like": "similar", "other": "different"},
    }.items()
    for value, words in values.items()
    for word in words.split()
}  # fmt: skip


def klass_of(token: Token) -> tuple[str, str] | None:
    """The small class that a word belongs to, and which of its values it is: "must" is ("duty", "must")."""
    return _CLASSES.get(token.folded)


class Rival(NamedTuple):
    """What stands in the evidence where a word of the statement would stand.

    Attributes:
        own: the word.
        other: the evidence's word.
        here: how well the word itself is in its place there, from 0 to 1; 0 when the evidence lacks it.
        instead: how well the other one is.
        kin: how alike the two are by word vectors; 1 for numbers, names, opposites and small classes.
    """

    own: Token
    other: Token
    here: float
    instead: float
    kin: float

    @property
    def lead(self) -> float:
        """By how much the other one is better in its place."""
        return self.instead - self.here


class Alignment:
    """A statement laid over the sentences that fit it best.

    A word is in its place when the statement's words around it stand around it there too, the nearer the
    better.

    Attributes:
        rows: the tokens that are laid over: the content, and words of small classes.
        tokens: those of the evidence's sentences, in a row.
        span: how many tokens the statement has.
    """

    def __init__(self, said: Sentence, found: WordPlaces, vectors: Vectors | None) -> None:
        evidence = found.evidence
        window = [*found.window, *(place for place in found.others if place not in found.window)]
        sentences = [evidence.sentences[place] for place in window]
        language = language_of([token.folded for token in said.tokens])
        self.tokens: list[Token] = []
        spots: list[int] = []
        negated: list[bool] = []
        for number, sentence in enumerate(sentences):
            if len(self.tokens) + len(sentence.tokens) > _MOST_TOKENS:
                break
            start = (spots[-1] if spots else 0) + _GAP if number else 0
            spots += range(start, start + len(sentence.tokens))
            self.tokens += sentence.tokens
            negated += _negated(sentence.tokens, language)
        self._spots = np.array(spots, np.int64)
        self._negated = np.array(negated, np.bool_)
        chosen = [
            (spot, token) for spot, token in enumerate(said.tokens) if token.is_content or klass_of(token)
        ][:_MOST_ROWS]
        self.rows = [token for _, token in chosen]
        self._own_spots = np.array([spot for spot, _ in chosen], np.int64)
        said_negated = _negated(said.tokens, language)
        self._own_negated = np.array([said_negated[spot] for spot, _ in chosen], np.bool_)
        self._keys = {token.key for token in said.tokens} | {token.folded for token in said.tokens}
        self._by_key: dict[str, list[int]] = {}
        for place, token in enumerate(self.tokens):
            for key in {token.key, *token.readings}:
                self._by_key.setdefault(key, []).append(place)
        self.span = len(said.tokens)
        self._vectors = vectors
        self._weights = np.array([found.weights.get(token.key, 0) for token in self.rows], np.float64)

    @cached_property
    def _occurrences(self) -> list[list[int]]:
        """For each row the places of the evidence that have it."""
        return [self._occurrences_of(token) for token in self.rows]

    def _occurrences_of(self, token: Token) -> list[int]:
        if token.kind == "number":
            keys = set(token.readings) or {token.key}
            places = sorted({place for key in keys for place in self._by_key.get(key, ())})
            return [place for place in places if not _other_amount(token, self.tokens[place])]
        if (klass := klass_of(token)) is not None:
            return [place for place, other in enumerate(self.tokens) if klass_of(other) == klass]
        return self._by_key.get(token.key, [])

    @cached_property
    def fit(self) -> NDArray[np.float64]:
        """How well each place of the evidence is each row's place: (rows, places), from 0 to 1."""
        count, places = len(self.rows), len(self.tokens)
        if not count or not places:
            return np.zeros((count, places))
        before, after = np.zeros((count, places)), np.zeros((count, places))
        anchors = np.zeros(count, np.bool_)
        gaps = self._spots[None, :] - self._spots[:, None]
        near = _NEARNESS[np.minimum(np.abs(gaps), _FARTHEST + 1)]
        right, left = near * np.where(gaps > 0, 1.0, _WRONG_SIDE), near * np.where(gaps < 0, 1.0, _WRONG_SIDE)
        for row, token in enumerate(self.rows):
            own = self._occurrences[row] if token.is_content else []
            if own:
                anchors[row] = True
                before[row] = right[own].max(axis=0)
                after[row] = left[own].max(axis=0)
        gaps = self._own_spots[:, None] - self._own_spots[None, :]
        pull = np.where(gaps == 0, 0.0, 1.0 / np.maximum(np.abs(gaps), 1)) * anchors[None, :]
        names = np.array([token.kind == "name" for token in self.rows])
        # the words of one name hold each other in no place
        pull[(np.abs(gaps) == 1) & names[:, None] & names[None, :]] = 0.0
        pull[np.abs(gaps) > _FARTHEST] = 0.0
        whole = pull.sum(axis=1, keepdims=True)
        pull = pull / np.where(whole > 0, whole, 1.0)
        fitting = np.where(gaps > 0, pull, 0.0) @ before + np.where(gaps < 0, pull, 0.0) @ after
        return np.asarray(fitting)

    @cached_property
    def own_places(self) -> list[int | None]:
        """For each row the place that has it and fits best."""
        return [
            max((float(fit[place]), -place, place) for place in places)[2] if places else None
            for fit, places in zip(self.fit, self._occurrences, strict=True)
        ]

    @cached_property
    def rivals(self) -> list[Rival | None]:
        """For each row what else of its kind is best in its place; None where nothing is."""
        kin = self._kinship()
        return [self._rival(row, kin) for row in range(len(self.rows))]

    def _rival(self, row: int, kin: NDArray[np.float64]) -> Rival | None:
        allowed = kin[row] > 0
        if not allowed.any():
            return None
        scores = np.where(allowed, self.fit[row], -1.0)
        place = int(scores.argmax())
        own = self.own_places[row]
        here = 0.0 if own is None else float(self.fit[row, own])
        return Rival(self.rows[row], self.tokens[place], here, float(scores[place]), float(kin[row, place]))

    def _kinship(self) -> NDArray[np.float64]:
        """How much of one kind each row and each place are; 0 where they are no rivals."""
        kin = np.zeros((len(self.rows), len(self.tokens)))
        words: list[int] = []
        for row, token in enumerate(self.rows):
            klass = klass_of(token)
            if klass is None and token.kind == "word":
                words.append(row)
                opposites = ANTONYMS.get(token.folded) or ANTONYMS.get(token.key)
                for opposite in opposites or ():
                    for place in self._by_key.get(opposite, ()):
                        if self.tokens[place].key not in self._keys:
                            kin[row, place] = 1.0
                continue
            for place, other in enumerate(self.tokens):
                if klass is not None:
                    there = klass_of(other)
                    is_rival = there is not None and there[0] == klass[0] and there[1] != klass[1]
                elif token.kind == "number":
                    is_rival = other.kind == "number" and self._is_other_number(token, other)
                else:
                    is_rival = other.kind == "name" and other.key not in self._keys
                if is_rival:
                    kin[row, place] = 1.0
        if self._vectors is not None and words:
            self._add_words(kin, words, self._vectors)
        return kin

    def _is_other_number(self, token: Token, other: Token) -> bool:
        if _other_amount(token, other):
            return True
        if set(token.readings) & set(other.readings) or other.key in self._keys:
            return False
        one, two = token.unit, other.unit
        if one is not None and two is not None and one.dimension != two.dimension:
            return False
        return _is_year(token) == _is_year(other)

    def _add_words(self, kin: NDArray[np.float64], rows: list[int], vectors: Vectors) -> None:
        places = [
            place
            for place, token in enumerate(self.tokens)
            if token.kind == "word" and token.key not in self._keys and klass_of(token) is None
        ]
        if not places:
            return
        own = vectors.rows([self.rows[row].folded for row in rows])
        other = vectors.rows([self.tokens[place].folded for place in places])
        cosines = np.round((own @ other.T).astype(np.float64), 4)
        for number, row in enumerate(rows):
            begin = self.rows[row].key[:_ALIKE]
            for at, place in enumerate(places):
                cosine = float(cosines[number, at])
                if cosine >= _KIN and not (len(begin) >= _ALIKE and self.tokens[place].key.startswith(begin)):
                    kin[row, place] = max(kin[row, place], min(cosine, 0.99))

    def negation_lost(self) -> float:
        """How well those words fit that the evidence negates and the statement does not."""
        return self._negations(self._negated, ~self._own_negated)

    def negation_added(self) -> float:
        """How well those words fit that the statement negates and the evidence does not."""
        return self._negations(~self._negated, self._own_negated)

    def _negations(self, there: NDArray[np.bool_], here: NDArray[np.bool_]) -> float:
        fits = [
            float(self.fit[row, place]) + 0.01
            for row, place in enumerate(self.own_places)
            if place is not None and here[row] and there[place]
        ]
        return max(fits, default=0.0)

    def within(self, width: int) -> float:
        """The most of the statement, by how telling its words are, that stands in so many tokens in a row."""
        total = float(self._weights.sum())
        if not total or not self.tokens:
            return 0.0
        has = np.zeros((len(self.rows), len(self.tokens)))
        for row, places in enumerate(self._occurrences):
            has[row, places] = 1.0
        sums = np.concatenate([np.zeros((len(self.rows), 1)), has.cumsum(axis=1)], axis=1)
        ends = np.searchsorted(self._spots, self._spots + width)
        inside = (sums[:, ends] - sums[:, : len(self.tokens)]) > 0
        return float((self._weights @ inside).max()) / total

    def reversed_triples(self, kinds: Sequence[str]) -> tuple[int, int]:
        """How many times three words of content stand the other way round there, and how many times as here.

        Only those count whose outer two are of these kinds.
        """
        rows = [row for row, token in enumerate(self.rows) if token.is_content and self._occurrences[row]]
        follows = self._follows
        turned = kept = 0
        for at, first in enumerate(rows[:-2]):
            if self.rows[first].kind not in kinds:
                continue
            for beyond, last in enumerate(rows[at + 2 : at + 6], start=at + 2):
                if self.rows[last].kind not in kinds:
                    continue
                for middle in rows[at + 1 : min(beyond, at + 4)]:
                    forwards = follows[first][middle] and follows[middle][last]
                    kept += forwards
                    turned += not forwards and follows[last][middle] and follows[middle][first]
        return turned, kept

    @cached_property
    def _follows(self) -> list[list[bool]]:
        """Whether the second row's word stands shortly behind the first one's, somewhere."""
        has = np.zeros((len(self.rows), len(self.tokens)))
        for row, places in enumerate(self._occurrences):
            has[row, places] = 1.0
        gaps = self._spots[None, :] - self._spots[:, None]
        within = ((gaps > 0) & (gaps <= _FARTHEST)).astype(np.float64)
        follows: list[list[bool]] = ((has @ within @ has.T) > 0).tolist()
        return follows


def _negated(tokens: Sequence[Token], language: Language) -> list[bool]:
    """Whether a negation stands shortly before each token."""
    reach = 0
    flags: list[bool] = []
    for token in tokens:
        flags.append(reach > 0)
        if token.folded in language.negations or token.folded.endswith("n't"):
            reach = _NEGATED_REACH
        elif reach:
            reach -= 1
    return flags


def _other_amount(token: Token, other: Token) -> bool:
    """Whether both are the same number with units that differ."""
    one, two = token.unit, other.unit
    if one is None or two is None or not set(token.readings) & set(other.readings):
        return False
    return one != two and amount_of(token.key, one.factor) != amount_of(other.key, two.factor)


def _is_year(token: Token) -> bool:
    return (
        token.unit is None and len(token.key) == 4 and token.key.isdigit() and "1000" <= token.key <= "2100"
    )
