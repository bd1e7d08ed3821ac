"""Names, abbreviations, dates and quantities in a text."""

import re
from collections.abc import Mapping

from ragmetrics_core.models.lexical.sources import sentences_of
from ragmetrics_core.models.lexical.tokens import Sentence

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
_HIDDEN = "\0"


def entities_of(text: str) -> tuple[str, ...]:
    """The entities of a text as it writes them, each once, in order.

    They are: capitalised words in a row (not at the start of a sentence alone), abbreviations and
    identifiers, numbers with a unit, dates, and references such as "TS 23.501". In German every noun has a
    capital, so that only abbreviations, numbers and runs of capitalised words count there; in scripts
    without capitals only what stands in quotes and what is written in Latin letters.
    """
    found: dict[str, str] = {}
    for sentence in sentences_of(text):
        for name in _of_sentence(sentence):
            found.setdefault(" ".join(name.split()).casefold(), " ".join(name.split()))
    return tuple(found.values())


def _of_sentence(sentence: Sentence) -> list[str]:
    text = sentence.text
    spans = [found.span() for found in _FIXED.finditer(text)]
    taken = [text[start:end].strip("《》「」『』“”") for start, end in spans]
    places = dict(zip(taken, (start for start, _ in spans), strict=True))
    rest = text
    for start, end in spans:
        rest = f"{rest[:start]}{_HIDDEN * (end - start)}{rest[end:]}"
    for quantity in sentence.quantities:
        if quantity.unit is not None and (at := rest.find(quantity.text)) != -1:
            places.setdefault(quantity.text, at)
            rest = rest.replace(quantity.text, _HIDDEN * len(quantity.text))
    for name, at in _names(rest, sentence):
        places.setdefault(name, at)
    return sorted(places, key=lambda name: (places[name], name))


def _names(text: str, sentence: Sentence) -> list[tuple[str, int]]:
    """Runs of capitalised words and codes, with where they start."""
    kinds = {token.text: token.kind for token in sentence.tokens}
    noun_capitals = sentence.language == "de"
    run: list[re.Match[str]] = []
    runs: list[list[re.Match[str]]] = []
    for word in _WORD.finditer(text):
        kind = kinds.get(word[0]) or kinds.get(re.sub(r"['’]s$", "", word[0]))
        capital = word[0][0].isupper() and kind not in {"stop", "number"}
        coded = kind == "code" or (capital and any(char.isupper() for char in word[0][1:]))
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
    return [named for run in runs if (named := _name(run, text, kinds, noun_capitals=noun_capitals))]


def _name(
    run: list[re.Match[str]], text: str, kinds: Mapping[str, str], *, noun_capitals: bool
) -> tuple[str, int] | None:
    while run[-1][0] in _CONNECTORS or run[-1][0] == "the":
        run = run[:-1]
    first = run[0]
    alone = len(run) == 1
    coded = kinds.get(first[0]) == "code" or any(char.isupper() for char in first[0][1:])
    starts = not any(char.isalnum() for char in text[: first.start()])
    if alone and not coded and (starts or noun_capitals):
        return None
    name = re.sub(r"['’]s$", "", text[first.start() : run[-1].end()])
    return (name, first.start()) if any(char.isalpha() for char in name) else None
