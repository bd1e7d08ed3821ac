"""Marks that cite a source: they say where something stands, and are no facts themselves."""

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
    rf"|(?<=[.!?,;:])[¹²³⁰⁴-⁹]{{1,3}}"
    r")(?=[\s.,;:!?。，；\[【(<]|$)(?!\s?[=+*/])",
    re.IGNORECASE,
)

# A number in round brackets is a mark behind a whole sentence, unless the word before it takes a number.
_ROUND = re.compile(
    r"(?P<word>[^\W_][\w'’-]{0,40}+)[\"”’)]?(?P<marks>(?:,?\s?\(\d{1,2}\)){1,10})(?=[.!?。]?(?:\s|$))"
)
_BEFORE_END = re.compile(r"[.!?。]?(?:[ \t]*+(?:\n|$)|(?<=[.!?。])\s)")
_MAY_BE_MARKED = re.compile(r"[\[【(<¹²³⁰⁴-⁹]")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_TAKES_A_NUMBER = re.compile(
    r"a|about|all|and|annex|answer|appendix|are|article|at|be|between|box|by|case|category|chapter|class|clause"
    r"|column|condition|equals?|eq|equation|example|exactly|factor|fig|figure|for|formula|from|grade|group|is|item|least"
    r"|level|line|method|no|nor|not|note|number|of|only|option|or|over|page|paragraph|part|phase|point|question"
    r"|release|row|rule|section|stage|step|table|than|the|to|type|under|until|up|version|was|were|with"
    r"|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|abbildung|abschnitt|absatz|artikel|gleichung|kapitel|punkt|satz|schritt|seite|stufe|tabelle|teil|typ"
    r"|artículo|capítulo|ecuación|figura|sección|tabla|tipo|chapitre|équation|étape|tableau",
    re.IGNORECASE,
)


def without_citations(text: str) -> str:
    """The text without its marks: `[1]`, `[1, 2]`, `[^1]`, `[doc1]`, `【1】`, and `(1)` behind a sentence.

    >>> without_citations("It is 25 MB per file [1][2]."), without_citations("[1] It is 25 MB.")
    ('It is 25 MB per file.', 'It is 25 MB.')
    >>> without_citations("It is 25 MB (1)."), without_citations("Type (2) diabetes, see section (1).")
    ('It is 25 MB.', 'Type (2) diabetes, see section (1).')
    """
    if not _MAY_BE_MARKED.search(text):
        return text
    plain = _ROUND.sub(lambda found: _without_round(found, text), text)
    return _MARK.sub("", plain).lstrip()


def _without_round(found: re.Match[str], text: str) -> str:
    word = found["word"]
    taken = _TAKES_A_NUMBER.fullmatch(word) is not None or (word[-1].isdigit() and not _YEAR.fullmatch(word))
    glued = not found["marks"][0].isspace() and found["marks"][0] != ","
    if taken or glued or not _BEFORE_END.match(text, found.end()):
        return found[0]
    return found[0][: found.start("marks") - found.start()]
