"""Alignment of a statement's words with the evidence."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_embedded._support.evidence import Vectors, amount_of
from ragmetrics_embedded._support.places import WordPlaces
from ragmetrics_embedded._support.vocabulary import BY_CODE, Language
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
        lead: how much better the other word fits the position, from -1 to 1.
        kin: similarity of the two by word vectors; 1 for numbers, names, opposites and small classes.
        place: the sentence of the other word.
    """

    own: Token
    other: Token
    lead: float
    kin: float
    place: int

    @property
    def kind(self) -> str:
        """The kind of the word; "class" if it is in a small class."""
        return "class" if self.own.small_class else self.own.kind


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
        language = BY_CODE[evidence.language]
        self.tokens: list[Token] = []
        self._sentences: list[int] = []
        spots: list[int] = []
        negated: list[bool] = []
        for place in dict.fromkeys([*found.window, *found.others]):
            tokens = evidence.sentences[place].tokens
            if len(self.tokens) + len(tokens) > _MOST_TOKENS:
                break
            start = spots[-1] + _GAP if spots else 0
            spots += range(start, start + len(tokens))
            self.tokens += tokens
            self._sentences += [place] * len(tokens)
            negated += _negated(tokens, language)
        self._spots = np.array(spots, np.int64)
        self._negated = np.array(negated, np.bool_)
        chosen = [spot for spot, token in enumerate(said.tokens) if token.is_content or token.small_class]
        chosen = chosen[:_MOST_ROWS]
        self.rows = [said.tokens[spot] for spot in chosen]
        self._own_spots = np.array(chosen, np.int64)
        self._own_negated = np.array(_negated(said.tokens, language), np.bool_)[self._own_spots]
        self._forms = said.forms
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
            places = {place for reading in token.readings for place in self._by_key.get(reading, ())}
            return [place for place in sorted(places) if not _other_amount(token, self.tokens[place])]
        if token.small_class:
            return [
                place for place, other in enumerate(self.tokens) if other.small_class == token.small_class
            ]
        return self._by_key.get(token.key, [])

    @cached_property
    def fit(self) -> NDArray[np.float64]:
        """Fit of each position of the evidence for each row: (rows, positions), from 0 to 1."""
        before = np.zeros((len(self.rows), len(self.tokens)))
        after, anchors = np.zeros_like(before), np.zeros(len(self.rows), np.bool_)
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
        pull = 1.0 / np.maximum(np.abs(gaps), 1) * anchors
        names = np.array([token.kind == "name" for token in self.rows], np.bool_)
        # the words of one name hold each other in no place
        pull[(np.abs(gaps) == 1) & names[:, None] & names[None, :]] = 0.0
        pull[(gaps == 0) | (np.abs(gaps) > _FARTHEST)] = 0.0
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
    def own_fits(self) -> list[float]:
        """The fit of each row's own word at its best position; 0 if the evidence lacks it."""
        return [
            0.0 if place is None else float(fit[place])
            for fit, place in zip(self.fit, self.own_places, strict=True)
        ]

    @cached_property
    def rivals(self) -> list[Rival]:
        """The best-fitting rival of each row's word at its position, if there is one; the clearest first."""
        rivals: list[Rival] = []
        for token, own, fit, kin in zip(self.rows, self.own_fits, self.fit, self._kinship(), strict=True):
            if kin.any():
                place = int(np.where(kin > 0, fit, -1.0).argmax())
                lead, closeness = float(fit[place]) - own, float(kin[place])
                rivals.append(Rival(token, self.tokens[place], lead, closeness, self._sentences[place]))
        return sorted(rivals, key=lambda rival: -rival.lead * rival.kin)

    def _kinship(self) -> NDArray[np.float64]:
        """Similarity of kind of each row and each position; 0 if they are not rivals."""
        kin = np.zeros((len(self.rows), len(self.tokens)))
        for row, token in enumerate(self.rows):
            if _is_plain_word(token):
                for opposite in token.opposites:
                    for place in self._by_key.get(opposite, ()):
                        kin[row, place] = self.tokens[place].key not in self._forms
            else:
                kin[row] = [self._is_rival(token, other) for other in self.tokens]
        rows = [row for row, token in enumerate(self.rows) if _is_plain_word(token)]
        places = [
            place
            for place, token in enumerate(self.tokens)
            if _is_plain_word(token) and token.key not in self._forms
        ]
        if rows and places:
            cosines = np.full((len(rows), len(places)), _LEAST_KIN)
            if self._vectors is not None:
                own = self._vectors.rows([self.rows[row].folded for row in rows])
                other = self._vectors.rows([self.tokens[place].folded for place in places])
                cosines = np.clip(np.round((own @ other.T).astype(np.float64), 4), _LEAST_KIN, 0.99)
            kin[np.ix_(rows, places)] = np.maximum(kin[np.ix_(rows, places)], cosines)
        return kin

    def _is_rival(self, token: Token, other: Token) -> bool:
        """Whether the other word can stand in place of a name, a number or a word of a small class."""
        one, two = token.small_class, other.small_class
        if one:
            return two is not None and one[0] == two[0] and one != two
        if token.kind != other.kind or other.key in self._forms or token.is_number(other):
            return _other_amount(token, other)
        if token.unit and other.unit and token.unit.dimension != other.unit.dimension:
            return False
        return _is_year(token) == _is_year(other)

    def negations(self) -> tuple[float, float]:
        """Fit of the words that only the evidence negates, and of those that only the statement negates."""
        return (
            self._fit_of(self._negated, ~self._own_negated),
            self._fit_of(~self._negated, self._own_negated),
        )

    def _fit_of(self, there: NDArray[np.bool_], here: NDArray[np.bool_]) -> float:
        fits = [
            fit + 0.01
            for fit, place, is_here in zip(self.own_fits, self.own_places, here, strict=True)
            if place is not None and is_here and there[place]
        ]
        return max(fits, default=0.0)


def clashes(alignment: Alignment) -> list[Rival]:
    """The words with a different word at their position, the clearest first."""
    return [rival for rival in alignment.rivals if rival.lead > _LEAD]


def conflicts_of(found: WordPlaces, alignment: Alignment) -> tuple[float, ...]:
    """Evidence against the statement, in the order of `CONFLICTS`.

    Args:
        found: the positions of its words.
        alignment: the statement aligned with its evidence.
    """
    clearest = {rival.kind: rival for rival in reversed(alignment.rivals)}
    leads = {kind: rival.lead for kind, rival in clearest.items()}
    clear = Counter(rival.kind for rival in clashes(alignment))
    fits = [fit for token, fit in zip(alignment.rows, alignment.own_fits, strict=True) if token.is_content]
    return (
        leads.get("number", -1.0),
        clear["number"],
        leads.get("name", -1.0),
        clear["name"],
        leads.get("class", -1.0),
        leads.get("word", -1.0),
        clearest["word"].kin if "word" in clearest else 0.0,
        *alignment.negations(),
        min(fits, default=0.0),
        sum(fits) / (len(fits) or 1),
        # the share of the statement in the best sentence, without the most significant absent word
        found.weigh(found.best_keys) / (found.total - found.most_absent or 1),
    )


def _negated(tokens: Sequence[Token], language: Language) -> list[bool]:
    """Whether a negation comes shortly before each token."""
    reach = 0
    flags: list[bool] = []
    for token in tokens:
        flags.append(reach > 0)
        if language.negates(token.folded):
            reach = _NEGATED_REACH
        elif reach:
            reach -= 1
    return flags


def _is_plain_word(token: Token) -> bool:
    return token.kind == "word" and not token.small_class


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
