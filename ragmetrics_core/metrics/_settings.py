"""Check settings of metrics against their types, and read settings from text."""

import re
from contextlib import suppress
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ragmetrics_core.boundary.shapes import is_list, is_tuple
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Part

__all__ = ["checked", "escaped", "from_text", "type_of"]

# A whole number is accepted as a float; texts, booleans and infinite numbers are not.
_EXACT = ConfigDict(strict=True, allow_inf_nan=False)
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    NoneType: "none",
}

# Colons separate values; a colon after a backslash belongs to its value.
_MARK = re.compile(r"[:\\]")
_PART = re.compile(r":((?:\\[:\\]|[^:])*)")
_ESCAPED = re.compile(r"\\([:\\])")


def checked(metric: type, setting: str, value: object) -> object:
    """Check a value for a setting of a metric; a list becomes a tuple.

    Checked types: numbers, texts, booleans, choices, tuples of these, prompts and parts. Other types, which
    a custom metric may use, are not checked.

    Raises:
        ConfigError: the type does not allow the value.
    """
    kind = type_of(metric, setting)
    members = _members(kind)
    if not _is_plain(kind) and Prompt not in members and Part not in members:
        return value
    value = tuple(value) if is_list(value) else value
    if Prompt in members:
        _check_prompt(metric, setting, value)
    elif Part in members:
        if not all(isinstance(part, Part) for part in (value if is_tuple(value) else (value,))):
            how = f"pass {metric.__name__}({setting}=...)"
            raise _refusal(metric, setting, "made of Part(...)", value, how)
    else:
        try:
            _adapter(kind).validate_python(value)
        except ValidationError:
            raise _refusal(metric, setting, _described(kind), value) from None
    return value


def type_of(metric: type, setting: str) -> Any:
    """The type of a setting; None if the metric does not have it."""
    return _types(metric).get(setting)


@cache
def _types(metric: type) -> dict[str, Any]:
    try:
        hints = get_type_hints(metric)
    except NameError:  # a name that only type checkers import
        hints = {}
    return {each.name: hints.get(each.name, each.type) for each in fields(metric)}


def escaped(text: str) -> str:
    r"""Escape a text in a tuple, so that `from_text` reads it back.

    >>> escaped("good: complete")
    'good\\: complete'
    """
    return _MARK.sub(r"\\\g<0>", text)


def from_text(text: str, kind: Any) -> Any:
    """Read a value of type `kind` from a metric's name: `10`, `1:0`, `true`, `none`."""
    members = [each for each in _members(kind) if each is not NoneType]
    if len(members) < len(_members(kind)) and text.casefold() == "none":
        return None
    kind = members[0] if len(members) == 1 else kind
    if get_origin(kind) is tuple:
        element, *others = get_args(kind)
        kinds = [element] if Ellipsis in others else [element, *others]
        parts = [_ESCAPED.sub(r"\1", part).strip() for part in _PART.findall(f":{text}")]
        return tuple(from_text(part, kinds[min(n, len(kinds) - 1)]) for n, part in enumerate(parts))
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    if kind is str or (choices and all(isinstance(each, str) for each in choices)):
        return text
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _members(kind: Any) -> tuple[Any, ...]:
    """The types of a union, or the type alone; `Prompt` and `Part` for prompts of a kind, and for parts."""
    if get_origin(kind) in (Union, UnionType):
        return tuple(member for each in get_args(kind) for member in _members(each))
    if get_origin(kind) is tuple and Part in get_args(kind):
        return (Part,)
    return (get_origin(kind) if get_origin(kind) is Prompt else kind,)


def _is_plain(kind: Any) -> bool:
    if get_origin(kind) in (Union, UnionType, tuple):
        return all(each is Ellipsis or _is_plain(each) for each in get_args(kind))
    return get_origin(kind) is Literal or (isinstance(kind, type) and kind in _WORDS)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=_EXACT)


def _check_prompt(metric: Any, setting: str, value: object) -> None:
    if isinstance(value, Prompt):
        own = [getattr(metric, setting, None), *(values.get(setting) for values in metric.variants.values())]
        asked = {prompt.variables for prompt in own if isinstance(prompt, Prompt)}
        if asked and value.variables not in asked:
            names = " or ".join(sorted(f"{{{', '.join(sorted(names))}}}" for names in asked))
            shown = f"{value.id} with {{{', '.join(sorted(value.variables))}}}"
            raise ConfigError(f"{metric.name}: {setting} must be a prompt with {names}, not {shown}")
    elif value is not None or NoneType not in _members(type_of(metric, setting)):
        call = f"{metric.__name__}({setting}=Prompt(...))"
        how = f"pass {call}, a version of the library's, or a folder of prompts (prompts=..., --prompts)"
        raise _refusal(metric, setting, "a prompt", value, how)


def _refusal(metric: Any, setting: str, wanted: str, value: object, how: str = "") -> ConfigError:
    return ConfigError(
        f"{metric.name}: {setting} must be {wanted}, not {value!r}" + (f"; {how}" if how else "")
    )


def _described(kind: Any) -> str:
    """A type in words.

    >>> _described(float | None), _described(tuple[float, float]), _described(Literal["f", "recall"])
    ('a finite number or none', '2 values, each a finite number', "one of 'f', 'recall'")
    """
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_described, get_args(kind)))
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    if get_origin(kind) is tuple:
        elements = [each for each in get_args(kind) if each is not Ellipsis]
        count = "values" if Ellipsis in get_args(kind) else f"{len(elements)} values"
        return f"{count}, each {' or '.join(dict.fromkeys(map(_described, elements)))}"
    return _WORDS[kind]
