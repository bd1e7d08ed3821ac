"""Names, abbreviations, dates and quantities in a text."""

import re

from ragmetrics_core.comparing import folded, plain_form
from ragmetrics_core.parsers import split_sentences
from ragmetrics_embedded._support.vocabulary import UNITS, language_of
from ragmetrics_embedded._support.words import read_words

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
_CONNECTORS = frozenset({"of", "de", "la", "du", "des", "del", "di", "da", "do", "van", "von", "der", "&"})
_WORD = re.compile(r"[^\W_](?:[\w'’&./-]*\w)?")
_QUANTITY = re.compile(r"(?<![\w.,])\d+(?:[.,  ]\d+)*(?:\s?-?)(?P<unit>[^\W\d_]+|[%°]C?)(?!\w)")
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
    spans = [found.span() for found in _FIXED.finditer(text)]
    taken = [text[start:end].strip("《》「」『』“”") for start, end in spans]
    places = dict(zip(taken, (start for start, _ in spans), strict=True))
    rest = text
    for start, end in spans:
        rest = f"{rest[:start]}{_HIDDEN * (end - start)}{rest[end:]}"
    for quantity in _QUANTITY.finditer(rest):
        if quantity["unit"] in UNITS or (len(quantity["unit"]) > 2 and quantity["unit"].casefold() in UNITS):
            places.setdefault(quantity[0], quantity.start())
            rest = f"{rest[: quantity.start()]}{_HIDDEN * len(quantity[0])}{rest[quantity.end() :]}"
    for name, at in _names(rest, text):
        places.setdefault(name, at)
    return sorted(places, key=lambda name: (places[name], name))


def _names(text: str, whole: str) -> list[tuple[str, int]]:
    """Runs of capitalised words and codes, with where they start."""
    kinds = {token.folded: token.kind for token in read_words(whole).tokens}
    words = [word[0] for word in _WORD.finditer(whole)]
    noun_capitals = language_of([word.casefold() for word in words]).code == "de"
    run: list[re.Match[str]] = []
    runs: list[list[re.Match[str]]] = []
    for word in _WORD.finditer(text):
        kind = kinds.get(word[0].casefold())
        capital = word[0][0].isupper() and kind not in {"function", "number"}
        coded = _is_coded(word[0])
        near = bool(run) and text[run[-1].end() : word.start()].strip() == ""
        connects = word[0] in _CONNECTORS or (word[0] == "the" and bool(run) and run[-1][0] == "of")
        if (capital or coded) or (near and connects) or (near and word[0].isdigit() and len(word[0]) < 4):
            if run and not near:
                runs.append(run)
                run = []
            run.append(word)
        elif run:
            runs.append(run)
            run = []
    runs += [run] if run else []
    return [named for run in runs if (named := _name(run, text, noun_capitals=noun_capitals))]


def _is_coded(word: str) -> bool:
    """Whether a word is an identifier: a capital inside, an underscore, or letters and digits."""
    plain = re.sub(r"['’]s$", "", word)
    letters = any(char.isalpha() for char in plain)
    return letters and (
        "_" in plain or any(char.isupper() for char in plain[1:]) or any(map(str.isdigit, plain))
    )


def _name(run: list[re.Match[str]], text: str, *, noun_capitals: bool) -> tuple[str, int] | None:
    while run[-1][0] in _CONNECTORS or run[-1][0] == "the":
        run = run[:-1]
    first = run[0]
    alone = len(run) == 1
    coded = _is_coded(first[0])
    starts = not any(char.isalnum() for char in text[: first.start()])
    if alone and not coded and (starts or noun_capitals):
        return None
    name = re.sub(r"['’]s$", "", text[first.start() : run[-1].end()])
    return (name, first.start()) if any(char.isalpha() for char in name) else None
