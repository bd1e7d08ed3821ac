"""Accepted deviations of a JSON value from the schema of its form.

Each can mean only one value of the form. docs/judge_kinds.md lists them with the reasons, together with
those of the text around the object.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.parsers._reply import NotRead

__all__ = ["conformed", "object_with"]

Schema = Mapping[str, Any]

_INTEGER = re.compile(r" *-?[0-9]{1,20} *")
_BOOLEANS: Final = {"true": True, "false": False}
# Fields that no score needs, so that an absent value is an empty one.
_FREE: Final = frozenset({"reason", "evidence"})
_EMPTY: Final[tuple[Json, ...]] = (None, [], "")


def object_with(value: Json, schema: Schema) -> dict[str, Json]:
    """The object, or a bare list with entries as the object with the only list of the schema.

    Raises:
        NotRead: the value is another list.
    """
    if isinstance(value, dict):
        return value
    fields: Schema = schema.get("properties", {})
    lists = [name for name, inner in fields.items() if _items(inner) is not None]
    if len(lists) != 1 or not value:
        raise NotRead("it is a list, not a JSON object")
    return {lists[0]: value}


def conformed(value: Mapping[str, Json], schema: Schema) -> dict[str, Json]:
    """The object without accepted deviations from its schema; other deviations stay."""
    fields: Schema = schema.get("properties", {})
    plain: dict[str, Json] = {}
    for name, inner in value.items():
        if name not in _FREE:
            plain[name] = _meant(inner, fields.get(name, {}))
        elif inner not in _EMPTY:
            plain[name] = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
    return plain


def _meant(value: Json, schema: Schema) -> Json:
    """The value, number, boolean or fixed word that is meant; the value itself if none is."""
    if isinstance(value, str):
        return _meant_by_text(value, schema)
    if isinstance(value, dict):
        return conformed(value, schema)
    if isinstance(value, list):
        items = _items(schema) or {}
        return [_meant(inner, items) for inner in value]
    if isinstance(value, float) and schema.get("type") == "integer" and value.is_integer():
        return int(value)
    return value


def _meant_by_text(text: str, schema: Schema) -> Json:
    kind = schema.get("type")
    if kind == "string" and text in schema.get("enum", (text,)):
        return text
    if kind in ("integer", "number"):
        return int(text) if _INTEGER.fullmatch(text) else text
    plain = text.strip().removesuffix(".").casefold()
    if kind == "boolean":
        return _BOOLEANS.get(plain, text)
    words = [word for option in _options(schema) for word in option.get("enum", ()) if isinstance(word, str)]
    return next((word for word in words if word.casefold() == plain), text)


def _options(schema: Schema) -> list[Schema]:
    options: list[Schema] = schema.get("anyOf", [schema])
    return options


def _items(schema: Schema) -> Schema | None:
    """The schema of the entries of a list; None if the schema allows no list."""
    for option in _options(schema):
        if option.get("type") == "array":
            items: Schema = option.get("items", {})
            return items
    return None
