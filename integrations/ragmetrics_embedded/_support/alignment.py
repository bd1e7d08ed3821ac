"""Alignment of a statement's words with the evidence."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_embedded._support.evidence import Vectors, amount_of
from ragmetrics_embedded._support.places import WordPlaces
from ragmetrics_embedded._support.vocabulary import ANTONYMS, BY_CODE, Language, class_of
from ragmetrics_embedded._support.words import Sentence, Token

__all__ = ["CONFLICTS", "Alignment", "Rival", "clashes", "conflicts_of"]

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
# From this lead on the other word stands where the statement's own would.
_LEAD: Final = 0.15
_LEAST_KIN: Final = 0.01
_NEGATED_REACH: Final = 3

CONFLICTS: Final = (
    "number_lead", "number_clashes", "name_lead", "name_clashes", "class_lead", "word_lead", "word_kin",
    "negation_lost", "negation_added", "least_fit", "mean_fit", "rest",
)  # fmt: skip


class Rival(NamedTuple):
    """A word of the evidence at the position of a different word of the statement.

    Attributes:
        own: the word.
        other: the evidence's word.
        here: how well the word itself fits its position, from 0 to 1; 0 if the evidence lacks it.
        instead: how well the other word fits it.
        kin: similarity of the two by word vectors; 1 for numbers, names, opposites and small classes.
    """

    own: Token
    other: Token
    here: float
    instead: float
    kin: float

    @property
    def lead(self) -> float:
        """Difference by which the other word fits better."""
        return self.instead - self.here


class Alignment:
    """A statement aligned with the sentences that fit it best.

    A word is at its position if its neighbours in the statement are its neighbours there too, the nearer the
    better.

    Attributes:
        rows: the aligned tokens: content words, and words of small classes.
        tokens: all tokens of the evidence's sentences, in order.
    """

    def __init__(self, said: Sentence, found: WordPlaces, vectors: Vectors | None) -> None:
        evidence = found.evidence
        window = [*found.window, *(place for place in found.others if place not in found.window)]
        sentences = [evidence.sentences[place] for place in window]
        language = BY_CODE[evidence.language]
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
            (spot, token)
            for spot, token in enumerate(said.tokens)
            if token.is_content or class_of(token.folded)
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
        self._vectors = vectors

    @cached_property
    def _occurrences(self) -> list[list[int]]:
        """The evidence's positions of each row's word."""
        return [self._occurrences_of(token) for token in self.rows]

    def _occurrences_of(self, token: Token) -> list[int]:
        if token.kind == "number":
            keys = set(token.readings) or {token.key}
            places = sorted({place for key in keys for place in self._by_key.get(key, ())})
            return [place for place in places if not _other_amount(token, self.tokens[place])]
        if (klass := class_of(token.folded)) is not None:
            return [place for place, other in enumerate(self.tokens) if class_of(other.folded) == klass]
        return self._by_key.get(token.key, [])

    @cached_property
    def fit(self) -> NDArray[np.float64]:
        """Fit of each position of the evidence for each row: (rows, positions), from 0 to 1."""
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
        """The best-fitting position of each row's own word."""
        return [
            max((float(fit[place]), -place, place) for place in places)[2] if places else None
            for fit, places in zip(self.fit, self._occurrences, strict=True)
        ]

    @cached_property
    def rivals(self) -> list[Rival | None]:
        """The best-fitting rival of each row's word at its position, or None."""
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
        """Similarity of kind of each row and each position; 0 if they are not rivals."""
        kin = np.zeros((len(self.rows), len(self.tokens)))
        words: list[int] = []
        for row, token in enumerate(self.rows):
            klass = class_of(token.folded)
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
                    there = class_of(other.folded)
                    is_rival = there is not None and there[0] == klass[0] and there[1] != klass[1]
                elif token.kind == "number":
                    is_rival = other.kind == "number" and self._is_other_number(token, other)
                else:
                    is_rival = other.kind == "name" and other.key not in self._keys
                if is_rival:
                    kin[row, place] = 1.0
        if words:
            self._add_words(kin, words)
        return kin

    def _is_other_number(self, token: Token, other: Token) -> bool:
        if _other_amount(token, other):
            return True
        if token.is_number(other) or other.key in self._keys:
            return False
        one, two = token.unit, other.unit
        if one is not None and two is not None and one.dimension != two.dimension:
            return False
        return _is_year(token) == _is_year(other)

    def _add_words(self, kin: NDArray[np.float64], rows: list[int]) -> None:
        places = [
            place
            for place, token in enumerate(self.tokens)
            if token.kind == "word" and token.key not in self._keys and class_of(token.folded) is None
        ]
        if not places:
            return
        cosines = np.full((len(rows), len(places)), _LEAST_KIN)
        if self._vectors is not None:
            own = self._vectors.rows([self.rows[row].folded for row in rows])
            other = self._vectors.rows([self.tokens[place].folded for place in places])
            cosines = np.clip(np.round((own @ other.T).astype(np.float64), 4), _LEAST_KIN, 0.99)
        kin[np.ix_(rows, places)] = np.maximum(kin[np.ix_(rows, places)], cosines)

    def negations(self) -> tuple[float, float]:
        """Fit of the words that only the evidence negates, and of those that only the statement negates."""
        return (
            self._fit_of(self._negated, ~self._own_negated),
            self._fit_of(~self._negated, self._own_negated),
        )

    def _fit_of(self, there: NDArray[np.bool_], here: NDArray[np.bool_]) -> float:
        fits = [
            float(self.fit[row, place]) + 0.01
            for row, place in enumerate(self.own_places)
            if place is not None and here[row] and there[place]
        ]
        return max(fits, default=0.0)


def clashes(alignment: Alignment) -> list[Rival]:
    """The words with a different word at their position, the clearest first."""
    rivals = [rival for rival in alignment.rivals if rival is not None and rival.lead > _LEAD]
    return sorted(rivals, key=lambda rival: -rival.lead * rival.kin)


def conflicts_of(found: WordPlaces, alignment: Alignment) -> tuple[float, ...]:
    """Evidence against the statement, in the order of `CONFLICTS`.

    Args:
        found: the positions of its words.
        alignment: the statement aligned with its evidence.
    """
    groups: dict[str, list[Rival]] = {"number": [], "name": [], "class": [], "word": []}
    for rival in filter(None, alignment.rivals):
        groups["class" if class_of(rival.own.folded) else rival.own.kind].append(rival)
    leads = {name: max((rival.lead for rival in rivals), default=-1.0) for name, rivals in groups.items()}
    clear = {name: sum(rival.lead > _LEAD for rival in rivals) for name, rivals in groups.items()}
    word = max(groups["word"], key=lambda rival: rival.lead * rival.kin, default=None)
    fits = [
        0.0 if place is None else float(fit[place])
        for token, place, fit in zip(alignment.rows, alignment.own_places, alignment.fit, strict=True)
        if token.is_content
    ]
    values = (
        *(leads["number"], clear["number"], leads["name"], clear["name"], leads["class"]),
        *((word.lead, word.kin) if word is not None else (-1.0, 0.0)),
        *alignment.negations(),
        min(fits, default=0.0),
        sum(fits) / len(fits) if fits else 0.0,
        _rest(found),
    )
    return tuple([round(float(value), 4) for value in values])


def _rest(found: WordPlaces) -> float:
    """Share of the statement in the best sentence, without the most significant absent word."""
    absent = max((found.weights[key] for key in found.absent), default=0)
    left = found.total - absent
    return found.weigh(found.best_keys) / left if left > 0 else 0.0


def _negated(tokens: Sequence[Token], language: Language) -> list[bool]:
    """Whether a negation comes shortly before each token."""
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
    if one is None or two is None or not token.is_number(other):
        return False
    return one.scale != two.scale or amount_of(token.key, one.factor) != amount_of(other.key, two.factor)


def _is_year(token: Token) -> bool:
    return (
        token.unit is None and len(token.key) == 4 and token.key.isdigit() and "1000" <= token.key <= "2100"
    )
