"""What a text holds of the documents that it was made of."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from langchain_core.documents import Document

__all__ = ["CutDocument", "held_by", "whole_text"]

# White space, and how JSON and Python write it and quotes in a text.
_SPACE = re.compile(r"(?:\\[nrt]|\s)+")
_QUOTE = re.compile(r"""\\(["'\\/])""")
# A shorter beginning may be in a text by chance.
_SHORTEST = 20


class CutDocument(Document):
    """The part of a document that a text holds.

    Attributes:
        whole: the text of the document.
    """

    whole: str


def whole_text(document: Document) -> str:
    """The text of a document before it was cut off."""
    return document.whole if isinstance(document, CutDocument) else document.page_content


class _Held(NamedTuple):
    place: int
    document: Document


def held_by(text: str, documents: Sequence[Document]) -> list[Document]:
    """The documents that a text holds, in the text's order; of one that it cuts off, the part that it holds.

    Spaces and line breaks may differ, and quotes be escaped. Where the text holds the beginning of none, it
    says them in other words: then they are all given.
    """
    plain = _plain(text)
    held = [found for document in documents if (found := _held(plain, document)) is not None]
    return [each.document for each in sorted(held, key=lambda each: each.place)] or list(documents)


def _held(text: str, document: Document) -> _Held | None:
    whole = _plain(document.page_content)
    if not whole:
        return None
    if (place := text.find(whole)) >= 0:
        return _Held(place, document)
    place = text.find(whole[:_SHORTEST])
    if place < 0 or len(whole) < _SHORTEST:
        return None
    if whole[-_SHORTEST:] in text:  # whole, in a form of its own: indented, quoted, escaped
        return _Held(place, document)
    low, high = _SHORTEST, len(whole)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if whole[:middle] in text else (low, middle)
    cut = whole[:low].rstrip()
    return _Held(place, CutDocument(page_content=cut, id=document.id, whole=document.page_content))


def _plain(text: str) -> str:
    return _QUOTE.sub(r"\1", _SPACE.sub(" ", text)).strip()
