"""Denials: words that a statement affirms and its evidence denies, or the other way round."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from ragmetrics_embedded._support.places import WordPlaces
from ragmetrics_embedded._support.vocabulary import BY_CODE, DENIALS
from ragmetrics_embedded._support.words import Token, read_words

__all__ = ["MOSTLY", "Denial", "denial_of"]

# A negation reaches this many words of content; in scripts without spaces, this many pairs of characters.
_REACH: Final = 3
_LONG_REACH: Final = 8
# A longer statement is a text of its own.
_MOST_WORDS: Final = 100
# A pronoun stands for a word of this many sentences before.
_BEFORE: Final = 2
# The evidence denies a clause if this share of it is near, and affirms a denied one from half of it on.
MOSTLY: Final = 0.75
_HALF: Final = 0.5
_QUESTION: Final = re.compile(r"[?？]\W*$")
_BORDERS: Final = {
    code: re.compile(
        rf"[;,:](?!\d)|[.!?]\s|[()，。、；：]|\s[-–—]+\s|\b(?:{'|'.join(words.split())})\b", re.IGNORECASE
    )
    for code, words in DENIALS["borders"].items()
}
_NEGATORS: Final = {code: frozenset(words.split()) for code, words in DENIALS["negators"].items()}
_WORDS: Final = {name: frozenset(words.split()) for name, words in DENIALS["words"].items()}
_AFFIRMING: Final = re.compile("|".join(DENIALS["affirming"].split()))
_ELIDED: Final = re.compile(r"\bn['’](?=\w)", re.IGNORECASE)
_JOINED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_HIRAGANA: Final = re.compile("[\u3040-\u309f]+")


class Denial(NamedTuple):
    """A word of content that one of the two denies, and the other one affirms.

    Attributes:
        word: the word, as the statement has it.
        by_texts: whether the evidence denies it, and the statement affirms it.
        place: the sentence of the evidence.
    """

    word: Token
    by_texts: bool
    place: int


class _Clause(NamedTuple):
    """The words of content of a part of a sentence.

    Attributes:
        tokens: the words.
        keys: what must be equal of them.
        denied: the keys that a negation reaches, from the nearest on.
        before: the keys that precede the negation.
        is_plain: whether nothing in it negates, restricts or sets a condition.
    """

    tokens: tuple[Token, ...]
    keys: frozenset[str]
    denied: tuple[str, ...] = ()
    before: frozenset[str] = frozenset()
    is_plain: bool = False


def denial_of(statement: str, found: WordPlaces) -> Denial | None:
    """The first word that the statement affirms and the evidence denies, or the reverse, or None.

    Args:
        statement: one statement.
        found: the positions of its words.
    """
    clauses = _clauses(statement, found.evidence.language)
    if len(found.content) > _MOST_WORDS or len(clauses) > _MOST_WORDS:
        return None
    affirmed = frozenset[str]().union(*(clause.keys for clause in clauses if clause.is_plain))
    for said in clauses:
        for token in dict.fromkeys(said.tokens):
            is_denied = token.key in said.denied[:1] and token.key not in affirmed
            against = _opposed(token.key, said, found) if said.is_plain or is_denied else None
            if against is not None:
                return Denial(token, said.is_plain, against)
    return None


def _opposed(key: str, said: _Clause, found: WordPlaces) -> int | None:
    """The sentence that denies a word of a clause, or affirms a denied one; None if one as near does not."""
    clauses = list(_clauses_with(key, found))
    against: dict[tuple[str, ...], tuple[int, int]] = {}
    for place, clause in clauses:
        if said.is_plain:
            denied, least = clause.denied, MOSTLY
            is_same = found.weights.keys() >= clause.before and said.keys.issuperset(denied)
            opposes = is_same and key in denied[:1]
        else:
            denied, least = said.denied, _HALF
            opposes = clause.is_plain and clause.keys.issuperset(denied)
        cover = found.weigh(clause.keys & said.keys)
        if opposes and cover > against.get(denied, (0, 0))[0]:
            near = found.weigh(said.keys & _keys_before(place, found))
            if near >= least * found.weigh(said.keys):
                against[denied] = cover, place
    for denied, (cover, place) in against.items():
        agreeing = [
            found.weigh(clause.keys & said.keys)
            for _, clause in clauses
            if (
                clause.keys.issuperset(denied) and key not in clause.denied[:1]
                if said.is_plain
                else not clause.is_plain
            )
        ]
        if cover > max(agreeing, default=0):
            return place
    return None


def _keys_before(place: int, found: WordPlaces) -> frozenset[str]:
    """The keys of a sentence and of those that a pronoun in it may refer to."""
    around = found.evidence.around(place, _BEFORE, 0)
    return frozenset[str]().union(*(found.evidence.keys[at] for at in around))


def _clauses_with(key: str, found: WordPlaces) -> Iterator[tuple[int, _Clause]]:
    sentences = found.evidence.sentences
    # pieces of a long sentence have one text
    places = {sentences[place].text: place for place in found.places.get(key, ())}
    for text, place in places.items():
        if not sentences[place].decided:
            clauses = _clauses(text, found.evidence.language)
            yield from ((place, clause) for clause in clauses if key in clause.keys)


@lru_cache(maxsize=4096)
def _clauses(text: str, language: str) -> tuple[_Clause, ...]:
    """The clauses of a sentence; none of a question, which affirms and denies nothing."""
    if _QUESTION.search(text):
        return ()
    text = _ELIDED.sub("ne ", _AFFIRMING.sub(" ", text))
    starts = [0, *(border.start() for border in _BORDERS[language].finditer(text)), len(text)]
    parts = dict.fromkeys(text[start:end] for start, end in pairwise(starts))
    return tuple([_clause(part, language) for part in parts])


def _clause(text: str, language: str) -> _Clause:
    read = read_words(text, language)
    tokens, content, keys = read.tokens, read.content, read.content_keys
    words = {token.folded for token in tokens}
    if not words.isdisjoint(_WORDS["conditional"]):
        return _Clause(content, keys)
    negations = [place for place in range(len(tokens)) if _negates(tokens, place, language)]
    if not negations:
        is_plain = words.isdisjoint(_WORDS["restricting"] | BY_CODE[language].negations)
        return _Clause(content, keys, is_plain=is_plain)
    first, *later = negations
    # two negations in a row affirm: the first one reaches nothing
    denied = _reached(tokens, first, later[0] if later else len(tokens), language)
    # the pair of characters before a negation ends with it
    before = tokens[: first - 1] if _JOINED.match(tokens[first].folded) else tokens[:first]
    return _Clause(content, keys, denied, frozenset(token.key for token in _telling(before)) - set(denied))


def _telling(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if token.is_content and not _HIRAGANA.fullmatch(token.folded)]


def _reached(tokens: Sequence[Token], place: int, end: int, language: str) -> tuple[str, ...]:
    """The keys that a negation reaches: those that follow it, or precede it where it ends its clause."""
    word = tokens[place].folded
    before, after = tokens[:place][::-1], tokens[place + 1 : end]
    following = {token.folded for token in tokens[place + 1 : place + 3]}
    if following & _WORDS["cancelling"] or {token.folded for token in before[:1]} & _WORDS["or"]:
        return ()
    reached = [token for token in after if token.is_content and token.folded not in _WORDS["skipped"]]
    if word in _WORDS["japanese"] or (not reached and language in {"de", "nl"}):
        reached = _telling(before)
    reach = _LONG_REACH if _JOINED.match(word) else _REACH
    return tuple([token.key for token in reached[:reach]])


def _negates(tokens: Sequence[Token], place: int, language: str) -> bool:
    word = tokens[place].folded
    if _JOINED.match(word):
        return word[0] in _WORDS["chinese"] or word in _WORDS["japanese"]
    if word in _WORDS["failing"]:
        return any(token.folded == "to" for token in tokens[place + 1 : place + 2])
    return word in _NEGATORS[language] or word.endswith("n't")
