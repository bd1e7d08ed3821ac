"""Names, abbreviations, dates and quantities in a text."""

import re

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.texts import folded, plain_form
from ragmetrics_embedded._support.vocabulary import CONNECTORS, language_of
from ragmetrics_embedded._support.words import read_words, unit_of

__all__ = ["entities_of"]

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_PATTERNS = (
    # specifications, standards, releases: "TS 23.501", "RFC 3261", "Release 15", "ISO 9001"
    r"\b(?:TS|TR|RFC|ISO|IEC|IEEE|EN|ETSI|ITU-[TR]|Rel(?:ease|\.)?|Phase|Type"
    r"|Version|Chapter|Clause|Table|Figure|Annex)[ -]\d[\w.\-/]*\b",
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|{_MONTH}\s+\d{{4}})\b",
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?",
    r"[《「『“][^《》「」『』“”\n]{1,40}[》」』”]",
)
_FIXED = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_WORD = re.compile(r"[^\W_](?:[\w'’&./-]*\w)?")
_QUANTITY = re.compile(r"(?<![\w.,])\d+(?:[.,  ]\d+)*(?:\s?-?)(?P<unit>[^\W\d_]+|[%°]C?)(?!\w)")
_POSSESSIVE = re.compile(r"['’]s$")
_HIDDEN = "\0"


def entities_of(text: str) -> tuple[str, ...]:
    """The entities of a text in its plain form, each once, in order.

    They are: capitalised words in a row (not at the start of a sentence alone), abbreviations and
    identifiers, numbers with a unit, dates, and references such as "TS 23.501". In German every noun has a
    capital, so that only abbreviations, numbers and runs of capitalised words count there; in scripts
    without capitals only what stands in quotes and what is written in Latin letters.
    """
    found: dict[str, str] = {}
    for sentence in split_sentences(plain_form(text)):
        for name in _of_sentence(sentence):
            spaced = " ".join(name.split())
            found.setdefault(folded(spaced), spaced)
    return tuple(found.values())


def _of_sentence(text: str) -> list[str]:
    places = {found[0].strip("《》「」『』“”"): found.start() for found in _FIXED.finditer(text)}
    rest = _FIXED.sub(_hidden, text)
    for quantity in _QUANTITY.finditer(rest):
        if unit_of(quantity["unit"]) is not None:
            places.setdefault(quantity[0], quantity.start())
            rest = f"{rest[: quantity.start()]}{_hidden(quantity)}{rest[quantity.end() :]}"
    for name, at in _names(rest, text):
        places.setdefault(name, at)
    return sorted(places, key=lambda name: (places[name], name))


def _hidden(found: re.Match[str]) -> str:
    return _HIDDEN * len(found[0])


def _names(text: str, whole: str) -> list[tuple[str, int]]:
    """Runs of capitalised words and codes, with where they start."""
    kinds = {token.folded: token.kind for token in read_words(whole).tokens}
    noun_capitals = language_of([word.casefold() for word in _WORD.findall(whole)]).code == "de"
    runs: list[list[re.Match[str]]] = []
    for word in _WORD.finditer(text):
        is_near = bool(runs) and not text[runs[-1][-1].end() : word.start()].strip()
        run = runs[-1] if is_near else []
        is_capital = word[0][0].isupper() and kinds.get(word[0].casefold()) not in {"function", "number"}
        connects = word[0] in CONNECTORS or (word[0].isdigit() and len(word[0]) < 4)
        if run:
            connects |= word[0] == "the" and run[-1][0] == "of"
        if is_capital or _is_coded(word[0]) or (run and connects):
            run.append(word)
            runs += [] if is_near else [run]
    return [named for run in runs if (named := _name(run, text, noun_capitals=noun_capitals))]


def _is_coded(word: str) -> bool:
    """Whether a word is an identifier: a capital inside, an underscore, or letters and digits."""
    plain = _POSSESSIVE.sub("", word)
    has_letters = any(map(str.isalpha, plain))
    return has_letters and ("_" in plain or any(map(str.isupper, plain[1:])) or any(map(str.isdigit, plain)))


def _name(run: list[re.Match[str]], text: str, *, noun_capitals: bool) -> tuple[str, int] | None:
    while run[-1][0] in CONNECTORS or run[-1][0] == "the":
        run = run[:-1]
    start = run[0].start()
    is_first = not any(map(str.isalnum, text[:start]))
    if len(run) == 1 and not _is_coded(run[0][0]) and (is_first or noun_capitals):
        return None
    name = _POSSESSIVE.sub("", text[start : run[-1].end()])
    return (name, start) if any(map(str.isalpha, name)) else None
