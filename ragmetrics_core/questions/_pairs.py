"""Pairs of passages that share rare names, numbers and words, for questions that need both."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ragmetrics_core.questions._model import Passage
from ragmetrics_core.texts.comparing import UNSPACED, folded

__all__ = ["PassagePair", "rare_pairs"]

_RARE_SHARE: Final = 0.02
_LEAST_APART: Final = 3
# Partners of a passage by one term: so that a term of many passages does not make pairs of them all.
_PARTNERS: Final = 8
# Of a word that is neither a name nor a number.
_ORDINARY_WEIGHT: Final = 0.5
_LEAST_LETTERS: Final = 4
_LEAST_DIGITS: Final = 3
_GRAM: Final = 3

_UNIT: Final = (
    r"\s?(?:[%‰€$£¥]|°\s?[CFK]?|[kKMGTPmcdµμnp]?(?:bar|[Bb]yte|bit|min|cal|Wh|Hz|Pa|eV|dB|[mgWVABbslLJNthKΩ])"
    r"[²³]?(?:/[sh])?)(?!\w)"
)
_TOKEN: Final = re.compile(
    rf"(?P<measure>\d[\d.,]*{_UNIT})|(?P<number>\d[\d.,]*\d|\d)(?![^\W\d_])|(?P<run>[{UNSPACED}]+)"
    rf"|(?P<word>[^\W_{UNSPACED}]+)"
)
_OPENING: Final = " \"'“”‘’«»„([{*_`"
_SENTENCE_ENDS: Final = frozenset(".!?:…\n\r|#>•-")
_JOINED: Final = re.compile(r"[ -]")


class PassagePair(NamedTuple):
    """Two passages that share rare terms.

    Attributes:
        first: the passage that comes first.
        second: the other passage.
        shared: the terms, as the first passage writes them.
    """

    first: Passage
    second: Passage
    shared: tuple[str, ...]


class _Term(NamedTuple):
    """A term of a passage, at its first place."""

    start: int
    end: int
    is_entity: bool


def rare_pairs(passages: Iterable[Passage]) -> list[PassagePair]:
    r"""Pairs of passages that share rare terms, the rarest terms first.

    Terms are names (capitalized inside a sentence, or with digits or several capitals), numbers with units,
    whole numbers of three digits, and words of four letters; in scripts without spaces, three characters in
    a row. A term is rare if at most 2 % of the passages have it, or two. The passages are of different
    documents, or three apart, and share less than half of their ordinary words. Empty if no passages share a
    rare term.

    .. math:: \sum_t w_t \ln(N / n_t)

    is the order, over the shared terms :math:`t`, which :math:`n_t` of :math:`N` passages have; the weight is
    1 for names and numbers with units, and 0.5 for others. Terms that overlap count once, with the highest.
    So that passages take turns, pairs with fewer better ones of the same passage come first.
    """
    listed = tuple(passages)
    terms = [_terms(passage.text) for passage in listed]
    places = _places(terms)
    entities = {key for each in terms for key, term in each.items() if term.is_entity}
    most = max(2.0, _RARE_SHARE * len(listed))
    ordinals = _ordinals(listed)
    shared: dict[tuple[int, int], list[str]] = {}
    for key, numbers in places.items():
        if 2 <= len(numbers) <= most:
            for partners in _partners(numbers, listed, ordinals):
                shared.setdefault(partners, []).append(key)
    weights = {
        key: (1 if key in entities else _ORDINARY_WEIGHT) * math.log(len(listed) / len(numbers))
        for key, numbers in places.items()
    }
    ranked: list[tuple[float, int, int, PassagePair]] = []
    for (first, second), keys in shared.items():
        if not _are_copies(terms[first], terms[second]):
            runs = _runs([(terms[first][key], weights[key]) for key in keys])
            texts = (listed[first].text[start:end] for start, end, _ in runs)
            pair = PassagePair(listed[first], listed[second], tuple(dict.fromkeys(texts)))
            ranked.append((-math.fsum(weight for _, _, weight in runs), first, second, pair))
    return _taking_turns([pair for *_, pair in sorted(ranked, key=lambda each: each[:3])])


def _taking_turns(ranked: Iterable[PassagePair]) -> list[PassagePair]:
    """The pairs by the number of better ones that a passage of theirs is in."""
    better = Counter[tuple[str, int]]()
    numbered: list[tuple[int, PassagePair]] = []
    for pair in ranked:
        places = [(passage.document, passage.start) for passage in (pair.first, pair.second)]
        numbered.append((max(better[place] for place in places), pair))
        better.update(places)
    return [pair for _, pair in sorted(numbered, key=lambda each: each[0])]


def _terms(text: str) -> dict[str, _Term]:
    """The terms of a text by their folded form."""
    terms: dict[str, _Term] = {}
    name: list[re.Match[str]] = []
    for found in _TOKEN.finditer(text):
        if found["run"]:
            for start in range(found.start(), found.end() - _GRAM + 1):
                _add(terms, text, _Term(start, start + _GRAM, is_entity=False))
        elif found["measure"]:
            _add(terms, text, _Term(*found.span(), is_entity=True))
        elif found["number"]:
            if found[0].isdigit() and len(found[0]) >= _LEAST_DIGITS:
                _add(terms, text, _Term(*found.span(), is_entity=False))
        else:
            is_entity = _is_name(text, found)
            if is_entity or len(found[0]) >= _LEAST_LETTERS:
                _add(terms, text, _Term(*found.span(), is_entity=is_entity))
        is_part = found["word"] is not None and found[0][0].isupper()
        if name and not (is_part and _JOINED.fullmatch(text, name[-1].end(), found.start())):
            name = []
        if is_part:
            name.append(found)
        if len(name) > 1:
            _add(terms, text, _Term(name[-2].start(), found.end(), is_entity=True))
    return terms


def _add(terms: dict[str, _Term], text: str, term: _Term) -> None:
    key = folded(" ".join(text[term.start : term.end].split()))
    known = terms.setdefault(key, term)
    if term.is_entity and not known.is_entity:
        terms[key] = term


def _is_name(text: str, found: re.Match[str]) -> bool:
    """Whether a word is capitalized inside a sentence, or has digits or several capitals."""
    word = found[0]
    if len(word) > 1 and (sum(map(str.isupper, word)) > 1 or any(map(str.isdigit, word))):
        return True
    before = text[max(found.start() - 10, 0) : found.start()].rstrip(_OPENING)
    return len(word) > 1 and word[0].isupper() and before != "" and before[-1] not in _SENTENCE_ENDS


def _places(terms: Sequence[Mapping[str, _Term]]) -> dict[str, list[int]]:
    """The passages that have each term."""
    places: dict[str, list[int]] = {}
    for number, keys in enumerate(terms):
        for key in keys:
            places.setdefault(key, []).append(number)
    return places


def _ordinals(passages: Sequence[Passage]) -> list[int]:
    """The position of each passage in its document."""
    counts: dict[str, int] = {}
    ordinals: list[int] = []
    for passage in passages:
        ordinals.append(counts.get(passage.document, 0))
        counts[passage.document] = ordinals[-1] + 1
    return ordinals


def _partners(
    numbers: Sequence[int], passages: Sequence[Passage], ordinals: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of these passages that are far enough apart; each with the next few only."""
    for place, first in enumerate(numbers):
        count = 0
        for second in numbers[place + 1 :]:
            is_near = passages[first].document == passages[second].document
            if is_near and ordinals[second] - ordinals[first] < _LEAST_APART:
                continue
            yield first, second
            count += 1
            if count == _PARTNERS:
                break


def _are_copies(one: Mapping[str, _Term], other: Mapping[str, _Term]) -> bool:
    """Whether half of the ordinary words of one are those of the other."""
    words = [{key for key, term in terms.items() if not term.is_entity} for terms in (one, other)]
    shared = words[0] & words[1]
    return bool(shared) and 2 * len(shared) >= min(map(len, words))


def _runs(terms: Iterable[tuple[_Term, float]]) -> list[tuple[int, int, float]]:
    """Ranges of overlapping terms, each with its highest weight."""
    runs: list[tuple[int, int, float]] = []
    for term, weight in sorted(terms):
        if runs and term.start < runs[-1][1]:
            start, end, highest = runs[-1]
            runs[-1] = (start, max(end, term.end), max(highest, weight))
        else:
            runs.append((term.start, term.end, weight))
    return runs
