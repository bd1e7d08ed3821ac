"""Citation marks: they name a source and are not facts themselves."""

import re

__all__ = ["without_citations"]

_NUMBERS = r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20}"
_WORD = (
    r"(?:doc(?:ument)?|source|ref(?:erence)?|chunk|context|passage|citation|cite|note"
    r"|quelle|fuente|fonte|bron|источник)s?"
)
_NAMED = rf"(?:{_WORD}\s?[._:#-]?\s?)?{_NUMBERS}"

# Of what may be something else too, only the form that is a mark: an interval ([0, 1]), an index (row[1] = 2)
# and a heading in lenticular brackets (【重要】) stay.
_MARK = re.compile(
    rf"\s{{0,3}}(?:"
    rf"(?<!range\s)(?<!interval\s)(?<!∈\s)(?:\[\[(?:{_NAMED})\]\]|\[(?!0\s?[,;–-])(?:\^?{_NAMED})(?:†[^\]\n]{{0,80}})?\])"
    rf"(?:\(https?://[^\s()]{{1,500}}\))?"
    rf"|【{_NAMED}(?::\d{{1,3}})?(?:†[^】\n]{{0,80}})?】"
    rf"|\({_WORD}\s?[._:#-]?\s?{_NUMBERS}\)"
    rf"|<sup>\[?{_NUMBERS}\]?</sup>"
    rf"|(?<=[.!?,;:])(?:[¹²³⁰⁴-⁹]{{1,3}}|\^\d{{1,3}})"
    r")(?=[\s.,;:!?。，；\[【(<]|$)(?!\s?[=+*/])",
    re.IGNORECASE,
)

_MAY_BE_MARKED = re.compile(r"[\[【(<^¹²³⁰⁴-⁹]")


def without_citations(text: str) -> str:
    """The text without its marks: `[1]`, `[1, 2]`, `[^1]`, `[doc1]`, `【1】`; `(1)` may be anything.

    >>> without_citations("It is 25 MB per file [1][2]."), without_citations("[1] It is 25 MB.")
    ('It is 25 MB per file.', 'It is 25 MB.')
    """
    return _MARK.sub("", text).lstrip() if _MAY_BE_MARKED.search(text) else text
