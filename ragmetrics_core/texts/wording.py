"""Counts and texts of the data, formatted for people."""

import json
import re

__all__ = ["escaped", "number_of", "quoted", "visible"]

# Controls that are no line break, marks of direction (they make text read other than it is), characters that
# nobody sees (tags can carry a whole text), halves of characters, which have no UTF-8 form, and what is no
# character. The joiners of Persian, Hindi and emoji (U+200C, U+200D) are letters of their scripts.
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_BLANK = frozenset("\t\u2028\u2029")
_QUOTATION_MARKS = '"“”„‟«»＂'


def number_of(count: int, one: str, several: str | None = None) -> str:
    """A number with its noun, and verb if any: "1 sample", "2,000 samples", "1 row was".

    >>> number_of(1, "sample"), number_of(2000, "reply"), number_of(2, "row was", "rows were")
    ('1 sample', '2,000 replies', '2 rows were')
    """
    if count == 1:
        return f"1 {one}"
    if several is None:
        several = f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in "aeiou" else f"{one}s"
    return f"{count:,} {several}"


def quoted(text: str) -> str:
    """A text of the data in quotation marks: its own outer marks are dropped, inner ones become single.

    >>> quoted('"Bingley.'), quoted('"Yes," he said, "no."')
    ('“Bingley.”', "“'Yes,' he said, 'no.'”")
    """
    inner = text.strip(_QUOTATION_MARKS)
    if any(mark in inner for mark in _QUOTATION_MARKS):
        inner = text.translate(dict.fromkeys(map(ord, _QUOTATION_MARKS), "'"))
    return f"“{inner}”"


def visible(text: str) -> str:
    r"""The text with visible substitutes for characters that could control a terminal or mislead a reader.

    Its length does not change, so positions stay valid; line breaks stay.

    >>> visible("\x1b[31mred\r\nblue")
    '␛[31mred \nblue'
    """
    return _UNSAFE.sub(_shown, text.replace("\r\n", " \n"))


def escaped(text: str) -> str:
    r"""JSON in which each such character is escaped; its meaning does not change.

    >>> escaped('{"a": "\u202e\x9b"}')
    '{"a": "\\u202e\\u009b"}'
    """
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f"), text)


def _shown(found: re.Match[str]) -> str:
    char = found[0]
    if char in _BLANK:
        return " "
    if char < " ":
        return chr(0x2400 + ord(char))
    return "␡" if char == "\x7f" else "\N{REPLACEMENT CHARACTER}"
