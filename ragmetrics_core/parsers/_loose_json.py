"""A reader for JSON as models write it: one linear pass, and nothing is ever evaluated."""

import re
from typing import NamedTuple, TypeVar

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.shapes import Json

__all__ = ["LooseValue", "read_loose"]

Container = TypeVar("Container", list[Json], dict[str, Json])

_DEPTH = 64
_COMMAS = frozenset(",;")
_DOT = frozenset(".…")
_NOT_SKIPPED = frozenset('{}[]",:')
_SKIP = lazy(r"(?:\s+|//[^\n]*)*+")
_NUMBER = lazy(r"-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_BARE = lazy(r"[^\W\d][\w-]{0,63}")
_DOTS = lazy(r"\.{3}|…")
_SHORT_NUMBER = lazy(r"\d{1,4}")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_NOT_FINITE = frozenset({"nan", "infinity", "inf"})
# A quote closes its string only where JSON could go on: quotes inside the text then need no escape.
# (Before another quote it ends as well: there a comma is missing.)
_CLOSES = r"(?=\s*(?:[,:}\]]|$)|\s*\n|\s*//|\s+[\"'“])"
# A string in other marks that has no end ends the reading; a backtick may begin a fence, and many of them are
# looked at, each no further than this.
_LONGEST_IN_BACKTICKS = 1000
_STRINGS = {
    opening: lazy(
        rf"{opening}((?:[^{closing}\\]|\\.|{closing}(?!{_CLOSES})){repeat}){closing}{_CLOSES}", re.DOTALL
    )
    for opening, closing, repeat in (
        ('"', '"', "*+"),
        ("'", "'", "*+"),
        ("“", "”", "*+"),
        ("‘", "’", "*+"),
        ("„", "“", "*+"),
        ("”", "”", "*+"),
        ("`", "`", f"{{0,{_LONGEST_IN_BACKTICKS}}}+"),
    )
}
_ESCAPE = lazy(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class LooseValue(NamedTuple):
    """What was read and how far.

    Attributes:
        value: the object or array; None when it is no value at all.
        end: the character after the last one that was read.
        cut: whether the text ended before the value did, also where nothing of it could be kept.
        failed: whether it is no value.
        disputed: whether a key has two different values.
        work: how much was read, in characters; an opened container costs as much as a hundred.
    """

    value: Json
    end: int
    cut: bool
    failed: bool
    disputed: bool
    work: int


class _Unreadable(Exception):
    """The text is not JSON, not even loosely; carries nothing."""


class _Cut(Exception):
    """The text ended inside a scalar, which is therefore not taken."""


def read_loose(text: str, start: int) -> LooseValue:
    """Read the object or array that begins at `start`.

    Read beyond strict JSON: single, typographic and unescaped inner quotes, trailing and missing commas
    between lines, Python's constants, unquoted keys and one-word values, line comments, and a text that ends
    too early: what is complete by then is kept; a value and an object of a list that were cut in their middle
    are not. Nesting beyond 64 levels, numbers that are not finite and a key with two different values make it
    unreadable.
    """
    reader = _LooseReader(text, start)
    try:
        value = reader.container(1)
    except _Unreadable:
        reader.cut = False
        return reader.result(None, start, failed=True)
    except _Cut:
        reader.cut = True
        return reader.result(None, start, failed=True)
    return reader.result(value, start, failed=False)


class _LooseReader:
    """One pass over the text; a position that only moves forward."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.position = start
        self.cut = False
        self.disputed = False
        self.opened = 0

    def result(self, value: Json, start: int, *, failed: bool) -> LooseValue:
        work = self.position - start + 100 * self.opened
        return LooseValue(value, self.position, self.cut, failed, self.disputed, work)

    def peek(self) -> str:
        """The next character that is neither space nor comment; "" at the end."""
        char = self.text[self.position : self.position + 1]
        if char.isalnum() or char in _NOT_SKIPPED:
            return char
        found = _SKIP.match(self.text, self.position)
        self.position = found.end() if found else self.position
        return self.text[self.position : self.position + 1]

    def value(self, depth: int, *, bare: bool) -> Json:
        char = self.peek()
        if char == "":
            raise _Cut
        if char in "{[":
            return self.container(depth + 1)
        if char in _STRINGS:
            return self.string(char)
        return self.scalar(bare=bare)

    def container(self, depth: int) -> Json:
        if depth > _DEPTH:
            raise _Unreadable
        self.opened += 1
        opening = self.text[self.position]
        self.position += 1
        return self.pairs(depth) if opening == "{" else self.entries(depth)

    def entries(self, depth: int, first: list[Json] | None = None) -> list[Json]:
        found: list[Json] = first or []
        while not self.ends("]" if first is None else "]}", first=not found):
            try:
                value = self.value(depth, bare=False)
            except _Cut:
                self.cut = True
            else:
                # what an object would have said in its other half is not known
                found += [] if self.cut and isinstance(value, dict) else [value]
        return self.kept(found)

    def pairs(self, depth: int) -> Json:
        found: dict[str, Json] = {}
        while not self.ends("}", first=not found):
            try:
                key = self.key()
                if self.peek() not in {":", "：", "="}:
                    if not found and self.peek() in {",", "]"}:
                        return self.entries(depth, [key])  # {"a", "b"]: a list behind the wrong bracket
                    if self.peek() == "":
                        raise _Cut
                    raise _Unreadable
                self.position += 1
                value = self.value(depth, bare=True)
                if key in found and found[key] != value:
                    self.disputed = True
                    raise _Unreadable  # neither of the two is sure to be meant
                found[key] = value
            except _Cut:
                self.cut = True
        return self.kept(found)

    def kept(self, found: Container) -> Container:
        """The container, unless the text ended before its first entry: it may not have been empty."""
        if self.cut and not found:
            raise _Cut
        return found

    def ends(self, closing: str, *, first: bool) -> bool:
        """Whether the container is over; steps over the separators before its next entry."""
        commas = False
        before = self.position
        while (char := self.peek()) in _COMMAS or (char in _DOT and _DOTS.match(self.text, self.position)):
            commas = commas or char in _COMMAS
            self.position += 3 if char == "." else 1
        if char != "" and char in closing:
            self.position += 1
            return True
        if char == "" or self.cut:
            self.cut = True
            return True
        # Two entries need a comma or at least a line break between them.
        if not first and not commas and "\n" not in self.text[before : self.position]:
            raise _Unreadable
        return False

    def key(self) -> str:
        char = self.peek()
        if char in _STRINGS:
            return self.string(char)
        found = _BARE.match(self.text, self.position) or _SHORT_NUMBER.match(self.text, self.position)
        if found is None:
            raise _Unreadable
        self.position = found.end()
        return found[0]

    def string(self, opening: str) -> str:
        found = _STRINGS[opening].match(self.text, self.position)
        if found is None:
            if opening == "`":
                raise _Unreadable  # the fence behind an object whose bracket is missing
            self.position = len(self.text)
            raise _Cut
        self.position = found.end()
        return _ESCAPE.sub(_unescape, found[1])

    def scalar(self, *, bare: bool) -> Json:
        if found := _NUMBER.match(self.text, self.position):
            self.position = found.end()
            if self.position == len(self.text):
                raise _Cut  # "1" may be the start of "12"
            number = float(found[0])
            if number in {float("inf"), float("-inf")}:
                raise _Unreadable
            return int(found[0]) if found[0].lstrip("-").isdigit() else number
        if found := _BARE.match(self.text, self.position):
            word = found[0].casefold()
            self.position = found.end()
            if self.position == len(self.text):
                raise _Cut  # "no" may be the start of "not mentioned"
            if word in _CONSTANTS:
                return _CONSTANTS[word]
            if bare and word not in _NOT_FINITE:
                return found[0]
        raise _Unreadable


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, code)
