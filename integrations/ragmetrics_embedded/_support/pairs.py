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
        rows = _table(lines, at)
        pairs = _of_table(lines[at : at + rows]) if rows else []
        if not rows and (rows := _listing(lines, at)):
            pairs = _of_listing(lines[at : at + rows])
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


def _said(subject: str, keys: Sequence[str], value: str) -> str:
    """A pair in words; a denial precedes the last key directly."""
    *around, key = map(_key_words, keys)
    if value.casefold() in _DENIED | _AFFIRMED:
        said = f"not {key}" if value.casefold() in _DENIED else key
    else:
        said = f"{key}: {value}" if key else value
    return " ".join([*([f"{subject}:"] if subject else []), *filter(None, around), said])


def _decided(key: str, value: str) -> str:
    return _key_words(key) if value.casefold() in _DENIED | _AFFIRMED else ""


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
            keys = (*above[-1], key) if key else above[-1] or ("",)
            said = _said(subjects[-1], keys, value)
            quote = text[token.start() if start is None else start : token.end()]
            pairs.append(Pair(quote, said, _decided(key, value)))
            if key.casefold() in _NAMING and len(value) < _LONGEST_NAME:
                subjects[-1] = value
    return pairs


def _table(lines: list[str], at: int) -> int:
    """Number of lines from here that form a table: a head, a rule, rows."""
    if "|" not in lines[at] or not (lines[at + 1 : at + 2] and _RULE.match(lines[at + 1])):
        return 0
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end - at


def _of_table(lines: list[str]) -> list[Pair]:
    head, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [
        Pair(line.strip(), _said(row[0] if place else "", [name], cell), _decided(name, cell))
        for line, row in zip(lines[2:], rows, strict=True)
        for place, (name, cell) in enumerate(zip(head, row, strict=False))
        if cell
    ]


def _listing(lines: list[str], at: int) -> int:
    """Number of lines from here of the form `key: value`."""
    end = at
    while end < len(lines) and _LINE.match(lines[end].rstrip()):
        end += 1
    return end - at if end - at >= _FEWEST_LINES else 0


def _of_listing(lines: list[str]) -> list[Pair]:
    subject, pairs = "", list[Pair]()
    for line in lines:
        if (found := _LINE.match(line.rstrip())) is None:
            continue
        key, value = found["key"], found["value"].strip()
        pairs.append(Pair(line.strip(), _said(subject, [key], value), _decided(key, value)))
        if not pairs[1:] and len(value) < _LONGEST_NAME:
            subject = value
    return pairs
