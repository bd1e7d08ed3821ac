"""Printed values: the text of a list or an object instead of the texts inside."""

import ast
import io
import json
import re
import tokenize
import warnings
from typing import Final, cast

from ragmetrics_core.boundary.shapes import is_mapping, is_series

__all__ = ["DOCUMENT_KEYS", "Unreadable", "holds_texts", "is_printed_object", "printed_value"]

DOCUMENT_KEYS: Final = ("page_content", "content", "text")

_PAIRS: Final = {"[": "]", "(": ")", "{": "}"}
_QUOTES: Final = "'\"\u2018\u2019\u201c\u201d\u00ab"
_NAME: Final = r"[A-Za-z_][\w.]*"
# a list of strings as Python or numpy write it; possessive, so that no text makes the match slow
_ESCAPE: Final = r"""\\(?:[\\'"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"""
_STRING: Final = rf"""(?:'(?:[^'\\\n]++|{_ESCAPE})*+'|"(?:[^"\\\n]++|{_ESCAPE})*+")"""
_STRING_ITEM: Final = re.compile(_STRING)
_ARRAY: Final = re.compile(rf"\[\s*+{_STRING}(?:\s++{_STRING})++\s*+\]")
# brackets after which prose does not go on: those of strings, mappings, tuples and objects
_LIST_HEAD: Final = re.compile(rf"\[\s*(?:['\"({{]|[bu]['\"]|{_NAME}\()")
_TUPLE_HEAD: Final = re.compile(rf"\(\s*(?:[{_QUOTES}\[({{]|[bu]['\"]|{_NAME}\()")
_CALL_HEAD: Final = re.compile(rf"{_NAME}(\()\s*(?:[{_QUOTES}\[({{)]|\w+\s*[=:])")
# an object with its fields: `AIMessage(content='...', ...)`
_OBJECT_HEAD: Final = re.compile(r"(?:[a-z_]\w*\.)*[A-Z]\w*(\()\w+\s*[=:]\s*\S")
# the fields alone, as pydantic prints a model: `content='...' additional_kwargs={}`
_FIELDS_HEAD: Final = re.compile(rf"[a-z_]\w*=(?:['\"\[({{<]|None\b|True\b|False\b|\d|{_NAME}\()")
_FURTHER_FIELD: Final = re.compile(r"\s[a-z_]\w*=(?:['\"\[({<]|[\w.]+)")
# what has no text left: an object by its address, or as JavaScript prints it
_ADDRESS: Final = re.compile(r"\[?<[^<>]+ at 0x[0-9a-fA-F]+>|\[object \w+\]")
_NODE: Final = re.compile(r"Node ID: \S+\nText: |shape: \(\d+,")
_MAPPING_HEAD: Final = re.compile(r"\{\s*['\"][^'\"]*['\"]\s*:")
_SERIES_END: Final = re.compile(r"dtype: \w+\Z")
_BYTES: Final = re.compile(r"[bB](['\"]).*\1\Z", re.DOTALL)
_QUOTED_LIST: Final = re.compile(r"(['\"])\s*[\[({].*[\])}]\s*\1\Z", re.DOTALL)
_MAY_BE_PRINTED: Final = re.compile(rf"[\[({{<'\"]|[bB]['\"]|{_NAME}[(=]|Node ID: |shape: ")
_INVISIBLE: Final = "\ufeff\u200b\u200e\u2060"
# deeper than any list of chunks; beyond it the parser of Python may run out of stack
_DEEPEST: Final = 100


class Unreadable(ValueError):
    """A text starts like a printed list or object but cannot be read as one."""


def printed_value(text: str) -> object:
    """Value that a text prints, as JSON or a Python literal; the text itself if it is prose.

    Raises:
        Unreadable: it looks printed, but neither can read all of it.
    """
    body = _body(text)
    if not _MAY_BE_PRINTED.match(body) and not _SERIES_END.search(body[-80:]):
        return text
    if body[0] in "[({'\"":
        try:
            value = _read(body)
        except Unreadable:
            if (body[0] in "[({" or _QUOTED_LIST.match(body)) and _looks_printed(body):
                raise
            return text
        if not isinstance(value, str):
            return value
        if value.lstrip()[:1] in ("[", "{", "("):  # a list that was written twice
            return printed_value(value)
        return text
    if _looks_printed(body):
        raise Unreadable
    return text


def is_printed_object(text: str) -> bool:
    """Whether a text prints an object that holds a text, such as a chat message, or a list of texts."""
    try:
        return holds_texts(printed_value(text))
    except Unreadable:
        body = _body(text)
        if body[0] == "[" and _spans(body, 0):
            return bool(_LIST_HEAD.match(body) or _ADDRESS.match(body))
        return _prints_fields(body) or bool(_BYTES.match(body) or _SERIES_END.search(body[-80:]))


def holds_texts(value: object) -> bool:
    """Whether a value is a list of texts or documents, or a mapping that holds the text of one."""
    if is_series(value) or isinstance(value, set):
        items = [item for item in cast("list[object]", value) if item is not None]
        return bool(items) and all(isinstance(item, str) or holds_texts(item) for item in items)
    return is_mapping(value) and any(isinstance(value.get(key), str) for key in DOCUMENT_KEYS)


def _body(text: str) -> str:
    return text.strip().strip(_INVISIBLE).strip()


def _read(body: str) -> object:
    try:
        return cast("object", json.loads(body))
    except (ValueError, RecursionError):
        pass
    if _ARRAY.fullmatch(body):
        items = [str(ast.literal_eval(item)) for item in _STRING_ITEM.findall(body)]
        # a long string that `pprint` laid out in pieces looks the same, and each piece ends in a blank
        if all(item[-1:].isspace() for item in items[:-1]):
            raise Unreadable
        return items
    if _is_deep(body):
        raise Unreadable
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of backslashes that escape nothing
            value = cast("object", ast.literal_eval(body))
        if _joins_strings(body):
            raise Unreadable
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, tokenize.TokenError):
        raise Unreadable from None
    return value


def _is_deep(body: str) -> bool:
    """Whether brackets or signs are nested too deeply for real data."""
    depth = run = 0
    for mark in re.findall(r"[\[({\])}]|[-+~]", body):
        if mark in "-+~":
            run += 1
            continue
        run = 0
        depth += 1 if mark in _PAIRS else -1
        if depth > _DEEPEST:
            return True
    return run > _DEEPEST


def _joins_strings(body: str) -> bool:
    """Whether two strings are adjacent, which Python joins but numpy prints for two items."""
    earlier = None
    for token in tokenize.generate_tokens(io.StringIO(body).readline):
        if token.type in (tokenize.NL, tokenize.NEWLINE):
            continue
        if token.type == tokenize.STRING and earlier == tokenize.STRING:
            return True
        earlier = token.type
    return False


def _looks_printed(body: str) -> bool:
    if _prints_fields(body):
        return True
    if body[0] in "[{":
        return bool(_LIST_HEAD.match(body) or _MAPPING_HEAD.match(body)) or _spans(body, 0)
    if body[0] == "(":
        return bool(_TUPLE_HEAD.match(body)) and _spans(body, 0)
    if call := _CALL_HEAD.match(body):
        return _spans(body, call.start(1))
    return bool(_BYTES.match(body) or _QUOTED_LIST.match(body) or _SERIES_END.search(body[-80:]))


def _prints_fields(body: str) -> bool:
    """Whether the whole text is an object with its fields, possibly truncated."""
    if named := _OBJECT_HEAD.match(body):
        return _spans(body, named.start(1))
    if _ADDRESS.match(body) or _NODE.match(body):
        return True
    return bool(_FIELDS_HEAD.match(body) and _FURTHER_FIELD.search(body))


def _spans(body: str, start: int) -> bool:
    """Whether the bracket at a place closes at the very end of the text, or never."""
    opening = body[start]
    closing = _PAIRS[opening]
    depth = 0
    for match in re.finditer(rf"[{re.escape(opening + closing)}]", body[start:]):
        depth += 1 if match[0] == opening else -1
        if depth == 0:
            return start + match.end() == len(body)
    return True
