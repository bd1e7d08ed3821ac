"""Sentences to tokens: what a sentence speaks of, its numbers with units, its clauses and their negations."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from ragmetrics_core.models.lexical.quantities import Found, Quantity, readings, unit_name, with_shared_units
from ragmetrics_core.models.lexical.vocabulary import (
    ANAPHORA,
    AUXILIARIES,
    CJK_FAINT,
    CJK_NEGATIONS,
    CJK_NOT_NEGATIONS,
    CLAUSE_WORDS,
    COORDINATORS,
    STRONG_CLAUSE_WORDS,
    UNITS,
    VERBS,
    WEAK,
    Language,
    Unit,
    language_of,
    stem,
)

__all__ = ["WEIGHTS", "Clause", "Kind", "Sentence", "Token", "read_sentence"]

Kind = Literal["stop", "faint", "weak", "part", "word", "name", "code", "number"]

# Set by judgement, not fitted: names and numbers decide whether a statement is about the same thing.
WEIGHTS: dict[Kind, float] = {
    "stop": 0.0, "faint": 0.1, "weak": 0.35, "part": 0.5,
    "word": 1.0, "name": 1.5, "code": 1.5, "number": 1.5,
}  # fmt: skip

# Scripts without spaces between words, and Hangul, whose words carry their endings.
_CJK = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
# Letters, digits and the vowel signs of Indic and Semitic scripts, which are no letters to `\w`.
_LETTER = (
    rf"(?:[^\W_{_CJK}]|[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u0dff])"
)
_SCAN = re.compile(
    rf"""
      (?P<number>(?<![A-Za-z0-9_]) [$€£¥]?
        (?: \d+(?:\.\d+)?\^[-−]?\w+
          | \d{{1,3}}(?:[ \u00a0\u2009\u202f,'’]\d{{3}})+(?:\.\d+)?(?![\d])
          | \d+(?:[.,:]\d+)* )
        (?! [A-Za-z_]*[A-Z0-9_] | [-–/.]?[A-Za-z]*[A-Z][A-Za-z]*\d ))
    | (?P<cjk>[{_CJK}]+)
    | (?P<word>{_LETTER}+(?:[-‐‑_'’&+/.]{_LETTER}+)*)
    | (?P<unit>[%°]C?)
    | (?P<stop>[;:—；：]|\s[–-]\s) | (?P<comma>[,，、()（）])
    """,
    re.VERBOSE,
)  # fmt: skip
_COMMAS = ",，"
_ASIDE = re.compile(
    r"[(（][^()（）]*[)）]|\b(?:e\.g\.|i\.e\.|z\.\s?B\.|p\.\s?ex\.|such as|for example|for instance"
    r"|specified in|defined in|described in|as per|see)\s[^,;()]*",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"[\s-]([^\W\d_]+)(?![\w-])")
_POSSESSIVE = re.compile(r"['’]s?$")
_SPLIT_PARTS = re.compile(r"[-‐‑/&+.'’]")
_JOINED_PREFIXES = frozenset(
    {"pre", "re", "non", "co", "sub", "multi", "inter", "anti", "semi", "bi", "tri", "mis", "de"}
)


class Token(NamedTuple):
    """A token: the key by which texts are compared, what kind it is, and how the text writes it."""

    key: str
    kind: Kind
    text: str


class Clause(NamedTuple):
    """A part of a sentence with its own predicate: the keys in it, and how many negations."""

    keys: frozenset[str]
    negations: int


class Sentence(NamedTuple):
    """A sentence, taken apart.

    Attributes:
        text: the sentence as it stands in its source.
        tokens: its tokens in order, function words included.
        quantities: its numbers.
        clauses: its clauses.
        segments: the keys of each comma-separated part.
        anaphoric: it says "it", "this" or the like, so it may lean on the sentence before.
        initials: the first letters of its words, to find what an abbreviation stands for.
        asides: keys that stand only in brackets or behind "e.g.", "specified in" and the like.
        language: its language or "cjk", as its function words or script tell; None when they do not.
    """

    text: str
    tokens: tuple[Token, ...]
    quantities: tuple[Quantity, ...]
    clauses: tuple[Clause, ...]
    segments: tuple[frozenset[str], ...]
    anaphoric: bool
    initials: str
    asides: frozenset[str]
    language: str | None

    @property
    def content(self) -> dict[str, Token]:
        """The distinct tokens that carry weight, by key; numbers are among the quantities instead."""
        return {token.key: token for token in reversed(self.tokens) if token.kind not in {"stop", "number"}}


class _Placed(NamedTuple):
    token: Token
    clause: int
    segment: int


@lru_cache(maxsize=2048)
def read_sentence(text: str) -> Sentence:
    """Take a sentence apart; any text is fine.

    >>> sentence = read_sentence("The timer T310 is not longer than 1 200 ms.")
    >>> [token.text for token in sentence.tokens if token.kind in {"code", "number"}]
    ['T310', '1 200']
    >>> sentence.quantities[0].text
    '1 200 ms'
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _Reader(text, plain).read()


class _Reader:
    """Reads one sentence from left to right."""

    def __init__(self, text: str, plain: str) -> None:
        self.text = text
        self.plain = plain
        self.matches = list(_SCAN.finditer(plain))
        raw = [found["word"] for found in self.matches if found["word"]]
        self.language = language_of([word.casefold() for word in raw])
        self.names_count = not _is_title_case(raw, self.language)
        self.found: list[_Placed] = []
        self.quantities: list[Found] = []
        self.negations: dict[int, int] = {}
        self.clause = self.segment = 0
        self.after_break = True
        self.after_comma = False
        self.read_up_to = 0
        self.aside_spans = [found.span() for found in _ASIDE.finditer(plain)]
        self.aside_keys: set[str] = set()
        self.main_keys: set[str] = set()
        self.in_aside = False

    def read(self) -> Sentence:
        for place, match in enumerate(self.matches):
            if match.start() < self.read_up_to:
                continue  # the unit of the number before
            if self.aside_spans:
                self.in_aside = any(start <= match.start() < end for start, end in self.aside_spans)
            match match.lastgroup:
                case "number":
                    self._number(match, place)
                case "cjk":
                    self._cjk(match[0])
                case "word":
                    self._word(match, place)
                case "stop":
                    self._break(match[0], new_clause=True)
                case "comma":
                    self._break(match[0], new_clause=False)
                case _:
                    pass
        tokens = tuple(found.token for found in self.found)
        clauses: list[set[str]] = [set() for _ in range(self.clause + 1)]
        segments: list[set[str]] = [set() for _ in range(self.segment + 1)]
        for token, clause, segment in self.found:
            clauses[clause].add(token.key)
            segments[segment].add(token.key)
        return Sentence(
            text=self.text,
            tokens=tokens,
            quantities=with_shared_units(self.quantities, self.plain),
            clauses=tuple(
                Clause(frozenset(keys), self.negations.get(number, 0))
                for number, keys in enumerate(clauses)
                if keys
            ),
            segments=tuple(map(frozenset, segments)),
            anaphoric=any(token.text.casefold() in ANAPHORA for token in tokens),
            initials="".join(token.text[0].casefold() for token in tokens if token.text[0].isalpha()),
            asides=frozenset(self.aside_keys - self.main_keys),
            language=self._language(tokens),
        )

    def _language(self, tokens: Sequence[Token]) -> str | None:
        if any(token.kind in {"part", "faint"} for token in tokens):
            return "cjk"
        telling = sum(token.key in self.language.stop for token in tokens if token.kind == "stop")
        return self.language.code if telling >= 3 or telling * 2 >= len(tokens) > 2 else None

    def _break(self, mark: str, *, new_clause: bool) -> None:
        if self.found and self.found[-1].segment == self.segment:
            self.segment += 1
        if new_clause and self.found and self.found[-1].clause == self.clause:
            self.clause += 1
        self.after_break = new_clause
        self.after_comma = mark in _COMMAS

    def _add(self, key: str, kind: Kind, text: str) -> None:
        (self.aside_keys if self.in_aside else self.main_keys).add(key)
        self.found.append(_Placed(Token(key, kind, text), self.clause, self.segment))
        self.after_break = self.after_comma = False

    def _number(self, match: re.Match[str], place: int) -> None:
        digits = match["number"]
        unit = UNITS.get(digits[0])
        after = self.matches[place + 1] if place + 1 < len(self.matches) else None
        end = match.end()
        if after is not None and after.lastgroup in {"word", "unit", "cjk"} and after.start() - end <= 1:
            name = unit_name(after[0], attached=after.start() == end)
            if name:
                unit, end = UNITS[name], after.start() + len(name)
        self._quantity(readings(digits), unit, match.start(), end, digits)

    def _quantity(self, values: frozenset[str], unit: Unit | None, start: int, end: int, text: str) -> None:
        self.read_up_to = end
        quantity = Quantity(values, unit, self.plain[start:end], self.segment)
        self.quantities.append(Found(quantity, start, end))
        self._add(quantity.key, "number", text)

    def _cjk(self, run: str) -> None:
        negations = len(CJK_NEGATIONS.findall(run)) - len(CJK_NOT_NEGATIONS.findall(run))
        self.negations[self.clause] = self.negations.get(self.clause, 0) + max(negations, 0)
        if len(run) == 1:
            self._add(run, "stop" if run in CJK_FAINT else "part", run)
        for one, two in pairwise(run):
            self._add(one + two, "faint" if one in CJK_FAINT or two in CJK_FAINT else "part", one + two)

    def _word(self, match: re.Match[str], place: int) -> None:
        whole = _POSSESSIVE.sub("", match[0])
        if not whole:
            return
        folded = match[0].casefold().replace("’", "'")
        if folded in COORDINATORS and self._is_between_numbers(place):
            self._break(match[0], new_clause=False)
        if self._starts_clause(folded, place):
            self.clause += bool(self.found and self.found[-1].clause == self.clause)
        if folded in self.language.negations or folded.endswith("n't"):
            self.negations[self.clause] = self.negations.get(self.clause, 0) + 1
        if folded in self.language.numbers and not self._is_name(whole, folded):
            unit_of = self._unit_after(match)
            unit, end = unit_of if unit_of else (None, match.end())
            self._quantity(frozenset({self.language.numbers[folded]}), unit, match.start(), end, match[0])
        elif (
            folded in self.language.stop
            or (len(folded) == 1 and folded.islower() and folded.isascii())
            or folded.endswith("n't")
        ):
            self._add(folded, "stop", match[0])
        else:
            self._content(whole)

    def _unit_after(self, match: re.Match[str]) -> tuple[Unit, int] | None:
        following = _NEXT_WORD.match(self.plain, match.end())
        name = unit_name(following[1], attached=False) if following else None
        return (UNITS[name], following.end()) if following and name else None

    def _starts_clause(self, folded: str, place: int) -> bool:
        if folded in STRONG_CLAUSE_WORDS:
            return True
        if not self.after_comma or folded not in CLAUSE_WORDS:
            return False
        return folded not in COORDINATORS or self._has_verb(place + 1)

    def _is_between_numbers(self, place: int) -> bool:
        """Whether an "and" joins two entries of a list of numbers, "2 for voice and 3 for video"."""
        following = self.matches[place + 1 : place + 2]
        numbered = bool(self.quantities) and self.quantities[-1].quantity.segment == self.segment
        return numbered and any(match.lastgroup == "number" for match in following)

    def _has_verb(self, place: int) -> bool:
        """Whether what follows, up to the next break, has a verb: else ", and" goes on with a list."""
        for match in self.matches[place : place + 8]:
            if match.lastgroup in {"stop", "comma"}:
                return False
            if match[0].casefold() in AUXILIARIES or match[0] in VERBS:
                return True
        return False

    def _content(self, word: str) -> None:
        for part, key, is_code in _keys(word):
            if is_code:
                self._add(key, "code", part)
            elif part.casefold() in self.language.stop:
                self._add(part.casefold(), "stop", part)
            elif self._is_name(part, part.casefold()):
                # "Ga", "Xn", "Bob": as short as an abbreviation, and as telling
                self._add(key, "code" if len(part) <= 3 else "name", part)
            elif len(part) == 2 and part[0].isupper() and self.names_count:
                # The first word of a sentence: but a word of two letters that is no function word is a name.
                self._add(key, "code", part)
            else:
                self._add(key, "weak" if part.casefold() in WEAK else "word", part)

    def _is_name(self, word: str, folded: str) -> bool:
        starts = self.after_break or not self.found
        return self.names_count and word[0].isupper() and not starts and folded not in self.language.stop


def _is_title_case(words: Sequence[str], language: Language) -> bool:
    """Whether capital letters say nothing about names: in German, in headings, in shouting."""
    if language.code == "de":
        return True
    long = [word for word in words[1:] if len(word) > 3]
    return len(long) >= 3 and sum(word[0].isupper() for word in long) > 0.6 * len(long)


def _is_plain(part: str) -> bool:
    """A word of small letters, at most the first one a capital, that is long enough to stand alone."""
    return len(part) >= 3 and part.isalpha() and part[1:].islower()


class _Part(NamedTuple):
    """A part of a compound, its key, and whether it is an abbreviation or identifier."""

    text: str
    key: str
    is_code: bool


@lru_cache(maxsize=20_000)
def _keys(word: str) -> tuple[_Part, ...]:
    """The parts of a word with their keys."""
    parts = _split(word)
    if len(parts) > 1:
        return tuple(part for each in parts if each for part in _keys(each))
    (word,) = parts
    folded = word.casefold()
    if not _is_code(word):
        return (_Part(word, stem(folded), False),)
    # "gNBs", "PDUs": the plural of an abbreviation
    plural = len(word) > 2 and word[-1] == "s" and word[-2].isupper()
    return (_Part(word, (folded[:-1] if plural else folded).rstrip("'’") or folded, True),)


def _split(word: str) -> list[str]:
    """The words in a compound: two in "RAN-based" and "UDM/ARPF", one in "gNB-CU" and "pre-requisite"."""
    parts = _SPLIT_PARTS.split(word)
    if len(parts) == 1 or parts[0].casefold() in _JOINED_PREFIXES:
        return [word.replace("-", "") if len(parts) > 1 else word]
    if "/" in word:
        return word.split("/")
    has_code = any(len(part) > 5 and _is_code(part) and not part.isupper() for part in parts)
    return parts if any(map(_is_plain, parts)) and not has_code else [word]


def _is_code(word: str) -> bool:
    """An abbreviation or identifier: a capital, an underscore, or letters and digits inside."""
    if word.isalpha() and (word[1:].islower() or word.islower()):
        return False
    if "_" in word or (any(char.isdigit() for char in word) and any(char.isalpha() for char in word)):
        return True
    return any(char.isupper() for char in word[1:])
