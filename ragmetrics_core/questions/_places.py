"""Quotes in place: the passages of the documents around them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ragmetrics_core.questions._model import Document, Passage, Quote

__all__ = ["QuotePlace", "places_of"]

FURTHEST = 1_500
"""Characters before and after a quote that are shown at most."""


class QuotePlace(NamedTuple):
    """A stretch of a document with its quotes.

    Attributes:
        document: id of the document.
        text: the stretch.
        quotes: start, end and number of each quote, counted in the stretch.
        is_start: whether the stretch begins where the document begins.
        is_end: whether the stretch ends where the document ends.
        is_found: whether the document has the quote at its offsets; if not, the text is the quote's own.
    """

    document: str
    text: str
    quotes: tuple[tuple[int, int, int], ...]
    is_start: bool = False
    is_end: bool = False
    is_found: bool = True


class _Stretch(NamedTuple):
    start: int
    end: int
    quotes: tuple[tuple[int, int, int], ...]


def places_of(
    quotes: Sequence[Quote], documents: Mapping[str, Document], passages: Mapping[str, Sequence[Passage]]
) -> tuple[QuotePlace, ...]:
    """The quotes within their passages; quotes of one stretch of text share a place.

    Args:
        quotes: quotes of a question; they are numbered from 1.
        documents: documents of the corpus by id.
        passages: passages of each document by its id.
    """
    places: list[QuotePlace] = []
    stretches: dict[str, list[_Stretch]] = {}
    for number, quote in enumerate(quotes, start=1):
        document = documents.get(quote.document)
        if document is None or document.text[quote.start : quote.end] != quote.text:
            own = ((0, len(quote.text), number),)
            places.append(QuotePlace(quote.document, quote.text, own, is_found=False))
        else:
            stretch = _around(quote, number, passages.get(quote.document, ()))
            stretches.setdefault(quote.document, []).append(stretch)
    for name, each in stretches.items():
        text = documents[name].text
        for start, end, found in _merged(each):
            counted = tuple((first - start, last - start, number) for first, last, number in found)
            place = QuotePlace(name, text[start:end], counted, start == 0, end == len(text))
            places.append(place)
    return tuple(sorted(places, key=lambda place: min(number for *_, number in place.quotes)))


def _around(quote: Quote, number: int, passages: Iterable[Passage]) -> _Stretch:
    touched = [each for each in passages if each.start < quote.end and quote.start < each.end]
    start = min([quote.start, *(each.start for each in touched)])
    end = max([quote.end, *(each.end for each in touched)])
    start, end = max(start, quote.start - FURTHEST), min(end, quote.end + FURTHEST)
    return _Stretch(start, end, ((quote.start, quote.end, number),))


def _merged(stretches: Iterable[_Stretch]) -> list[_Stretch]:
    """Stretches of one document, with those joined that overlap or touch."""
    merged: list[_Stretch] = []
    for each in sorted(stretches):
        if merged and each.start <= merged[-1].end:
            last = merged[-1]
            merged[-1] = _Stretch(last.start, max(last.end, each.end), last.quotes + each.quotes)
        else:
            merged.append(each)
    return merged
