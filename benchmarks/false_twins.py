"""False twins of true claims: one word is changed, so that the evidence no longer supports the claim."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from zlib import crc32

from ragmetrics_core.models._support.vocabulary import ANTONYMS, UNITS

__all__ = ["KINDS", "Twin", "twins_of"]

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
_MEASURED = re.compile(r"(?<=\d )([A-Za-z]+)\b")
_NEGATED = re.compile(r"\b(is|are|was|were|can|could|will|would|does|do|did|has|have|had) not\b")
_VERB = re.compile(r"\b(is|are|was|were|can|could|will|would)\b(?! not\b)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+)*")
_WORD = re.compile(r"\b[a-z]+\b")
_STRONGER: Final = {
    **{"may": "must", "might": "must", "can": "must", "must": "may", "should": "need not"},
    **{"some": "all", "most": "all", "many": "all", "all": "some of the", "every": "no", "several": "all"},
    **{
        "often": "always",
        "sometimes": "always",
        "usually": "always",
        "always": "sometimes",
        "never": "often",
    },
    **{"before": "after", "after": "before", "similar": "same", "same": "similar", "first": "last"},
    **{"more": "less", "less": "more", "higher": "lower", "lower": "higher", "only": "not only"},
}


class Twin(NamedTuple):
    """A false twin and what was changed."""

    kind: str
    text: str


def twins_of(claim: str, texts: Sequence[str]) -> Iterator[Twin]:
    """The false twins of a claim that these texts support, at most one of each kind.

    What is changed, and to what, depends on the claim alone, so that every training sees the same twins.
    """
    whole = " ".join(texts)
    draw = crc32(claim.encode())
    for kind, change in KINDS.items():
        text = change(claim, whole, draw)
        if text is not None and text != claim:
            yield Twin(kind, text)


def _number(claim: str, whole: str, draw: int) -> str | None:
    found = list(_NUMBER.finditer(claim))
    if not found:
        return None
    match = found[draw % len(found)]
    digits = match[0]
    place = draw // 7 % len(digits)
    if not digits[place].isdigit():
        place = 0
    other = str((int(digits[place]) + 1 + draw % 8) % 10 or 9)
    changed = digits[:place] + other + digits[place + 1 :]
    if draw % 3 == 0:
        # a number that stands elsewhere in the texts is the harder error
        others: list[str] = [text for text in _NUMBER.findall(whole) if text not in claim]
        changed = others[draw % len(others)] if others else changed
    elif changed in whole:
        return None
    return claim[: match.start()] + changed + claim[match.end() :]


def _negation(claim: str, whole: str, draw: int) -> str | None:
    del whole, draw
    if _NEGATED.search(claim):
        return _NEGATED.sub(r"\1", claim, count=1)
    return _VERB.sub(r"\1 not", claim, count=1)


def _names(claim: str, whole: str, draw: int) -> str | None:
    found = list(_NAME.finditer(claim))
    if len(found) > 1 and draw % 2:
        one, two = found[0], found[-1]
        between = claim[one.end() : two.start()]
        if one[0] == two[0] or re.fullmatch(r"\W*(?:and|or|,)?\W*", between):
            return None
        return f"{claim[: one.start()]}{two[0]}{between}{one[0]}{claim[two.end() :]}"
    others: list[str] = [name for name in _NAME.findall(whole) if name.split()[0] not in claim]
    if not found or not others:
        return None
    match = found[draw % len(found)]
    return claim[: match.start()] + others[draw % len(others)] + claim[match.end() :]


def _unit(claim: str, whole: str, draw: int) -> str | None:
    for match in _MEASURED.finditer(claim):
        unit = UNITS.get(match[1]) or UNITS.get(match[1].casefold())
        if unit is None:
            continue
        others = [
            name
            for name, other in UNITS.items()
            if other.dimension == unit.dimension
            and other.factor != unit.factor
            and name.isascii()
            and len(name) > 2
        ]
        if others:
            return claim[: match.start()] + others[draw % len(others)] + claim[match.end() :]
    return None


def _word(claim: str, whole: str, draw: int) -> str | None:
    """A word that stands elsewhere in the texts takes the place of one of the claim."""
    own = [match for match in _WORD.finditer(claim) if len(match[0]) > 5]
    others: list[str] = [word for word in _WORD.findall(whole) if len(word) > 5 and word not in claim]
    if not own or not others:
        return None
    match = own[draw % len(own)]
    return claim[: match.start()] + others[draw // 5 % len(others)] + claim[match.end() :]


def _opposite(claim: str, whole: str, draw: int) -> str | None:
    del whole
    for match in _WORD.finditer(claim):
        if match[0] in _STRONGER:
            return claim[: match.start()] + _STRONGER[match[0]] + claim[match.end() :]
        if opposites := sorted(ANTONYMS.get(match[0], ())):
            return claim[: match.start()] + opposites[draw % len(opposites)] + claim[match.end() :]
    return None


KINDS: Final[dict[str, Any]] = {
    "number": _number,
    "negation": _negation,
    "names": _names,
    "unit": _unit,
    "word": _word,
    "opposite": _opposite,
}
