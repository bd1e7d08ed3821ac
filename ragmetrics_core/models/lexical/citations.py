"""Marks that cite a source: they say where something stands, and are no facts themselves."""

import re

__all__ = ["without_citations"]

_NUMBERS = r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*+"
_MARK = re.compile(
    rf"\s*+(?:\[\^?{_NUMBERS}\]|\[(?:doc|source|ref)[ ._-]?\d{{1,3}}\]|【[^】\n]{{1,20}}】|\(\d{{1,2}}\))"
    r"(?=[\s.,;:!?\[【(]|$)",
    re.IGNORECASE,
)


def without_citations(text: str) -> str:
    """The text without its marks: `[1]`, `[1][2]`, `[1, 2]`, `[^1]`, `[doc1]`, `【1】`, `(1)`.

    >>> without_citations("It is 25 MB per file [1][2]."), without_citations("in (1789) stays")
    ('It is 25 MB per file.', 'in (1789) stays')
    """
    return _MARK.sub("", text)
