"""Data in texts: JSON, tables and lines of `key: value`, read as pairs of a key and a value."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

__all__ = ["Pair", "parts_of"]

_JSON: Final = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}\[\],:]')
_LINE: Final = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?P<key>[^\W\d_][\w /()&-]{0,40}?)[ \t]*:[ \t]+(?P<value>\S.*)$"
)
_RULE: Final = re.compile(r"^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*$")
_BORDER: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+")
_NAMING: Final = frozenset({"name", "title", "id"})
_DENIED: Final = frozenset({"false", "no"})
_AFFIRMED: Final = frozenset({"true", "yes"})
# Fewer lines of `key: value` in a row are prose with a colon.
_FEWEST_LINES: Final = 3
_LONGEST_NAME: Final = 80


class Pair(NamedTuple):
    """A value: as written in its text, and in words.

    Attributes:
        text: the key and the value as written.
        words: the subject, the words of the key, the value; `not` precedes a denied key.
        key: the words of an affirmed or denied key; empty for any other value.
    """

    text: str
    words: str
    key: str = ""


def parts_of(text: str) -> Iterator[str | Pair]:
    """The parts of a text, in order: pairs for data, otherwise the text itself.

    A compound key is split into words: "OutdoorSeating" and "outdoor_seating". True affirms, false denies,
    null is ignored. An object's name, or the first cell of a table's row, precedes each of its pairs.

    >>> [part.words for part in parts_of('{"name": "Astra", "freeParking": false, "hours": {"Sun": "9:0"}}')]
    ['name: Astra', 'Astra: not free Parking freeParking', 'Astra: hours Sun: 9:0']
    >>> list(parts_of("It opens at nine: always."))
    ['It opens at nine: always.']
    """
    if text.lstrip()[:1] in {"{", "["} and (pairs := _of_json(text)):
        yield from pairs
        return
    lines = text.splitlines(keepends=True)
    prose = ""
    at = 0
    while at < len(lines):
        rows, pairs = _table(lines, at)
        if not rows:
            rows, pairs = _listing(lines, at)
        if rows:
            if prose.strip():
                yield prose
            prose = ""
            yield from pairs
        else:
            prose += lines[at]
        at += rows or 1
    if prose.strip():
        yield prose


def _pair(text: str, subject: str, above: Sequence[str], key: str, value: str) -> Pair:
    """A value with its keys in words; a denial precedes the last key directly."""
    *around, last = map(_key_words, (*above, key) if key else above or ("",))
    said, decided = f"{last}: {value}" if last else value, ""
    if value.casefold() in _DENIED | _AFFIRMED:
        said = f"not {last}" if value.casefold() in _DENIED else last
        decided = _key_words(key)
    return Pair(text, " ".join(filter(None, [f"{subject}:" if subject else "", *around, said])), decided)


def _key_words(key: str) -> str:
    words = _BORDER.sub(" ", key).strip()
    return words if words == key else f"{words} {key}"


def _of_json(text: str) -> list[Pair]:
    """The pairs of a text that is a JSON object or array; otherwise none."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(whole, dict | list):
        return []
    pairs: list[Pair] = []
    tokens = list(_JSON.finditer(text))
    # of each object and array that is open: its name, the keys that lead to it, and the key in hand
    subjects, above, key = [""], [tuple[str, ...]()], ""
    start: int | None = None
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        sign = token[0]
        if sign in "{[":
            subjects.append(subjects[-1])
            above.append((*above[-1], key) if key else above[-1])
            key, start = "", None
        elif sign in "}]":
            subjects.pop()
            above.pop()
            key, start = "", None
        elif following is not None and following[0] == ":":
            key, start = json.loads(sign), token.start()
        elif sign not in ",:" and sign != "null":
            value = json.loads(sign) if sign[0] == '"' else sign
            quote = text[token.start() if start is None else start : token.end()]
            pairs.append(_pair(quote, subjects[-1], above[-1], key, value))
            if key.casefold() in _NAMING and len(value) < _LONGEST_NAME:
                subjects[-1] = value
    return pairs


def _table(lines: list[str], at: int) -> tuple[int, list[Pair]]:
    """The number of lines from here that form a table: a head, a rule, rows; and its pairs."""
    if "|" not in lines[at] or not (lines[at + 1 : at + 2] and _RULE.match(lines[at + 1])):
        return 0, []
    head, pairs, end = _cells(lines[at]), list[Pair](), at + 2
    while end < len(lines) and "|" in lines[end]:
        line, row = lines[end].strip(), _cells(lines[end])
        pairs += [
            _pair(line, row[0] if place else "", (), name, cell)
            for place, (name, cell) in enumerate(zip(head, row, strict=False))
            if cell
        ]
        end += 1
    return end - at, pairs


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _listing(lines: list[str], at: int) -> tuple[int, list[Pair]]:
    """The number of lines from here of the form `key: value`, and their pairs."""
    subject, pairs, end = "", list[Pair](), at
    while end < len(lines) and (found := _LINE.match(lines[end].rstrip())) is not None:
        value = found["value"].strip()
        pairs.append(_pair(lines[end].strip(), subject, (), found["key"], value))
        if end == at and len(value) < _LONGEST_NAME:
            subject = value
        end += 1
    return (end - at, pairs) if end - at >= _FEWEST_LINES else (0, [])
