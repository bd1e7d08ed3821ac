"""What a setting may be, from its type: values are checked before anything is asked, and read from text."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Part
from ragmetrics_core.shapes import is_tuple

__all__ = ["checks_of", "escaped", "from_text", "type_of"]

# A whole number does where a number is meant; a text, a truth value or an infinite number does not.
_EXACT = ConfigDict(strict=True, allow_inf_nan=False)
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    NoneType: "none",
}

# Several values stand with colons between them; a colon with a backslash before it belongs to a value.
_MARK = re.compile(r"[:\\]")
_CHARACTER = re.compile(r"\\[:\\]|.", re.DOTALL)

Check = Callable[[object], None]


@cache
def checks_of(metric: type) -> dict[str, Check]:
    """For each setting of a metric what raises `ConfigError` for a value that its type does not allow.

    Settings of other types than numbers, texts, truth values, choices, tuples of these, prompts and parts are
    not checked: what somebody's own metric may hold is theirs to say.
    """
    found: dict[str, Check] = {}
    for each in fields(metric):
        kind = type_of(metric, each.name)
        if _is_plain(kind):
            found[each.name] = _check_of(metric, each.name, kind)
        elif Prompt in _members(kind):
            found[each.name] = _prompt_check(metric, each.name, kind)
        elif Part in _members(kind):
            found[each.name] = _part_check(metric, each.name)
    return found


def type_of(metric: type, setting: str) -> Any:
    """The type of a setting; None for one that the metric does not have."""
    return _types(metric).get(setting)


@cache
def _types(metric: type) -> dict[str, Any]:
    try:
        hints = get_type_hints(metric)
    except NameError:  # a name that only type checkers import
        hints = {}
    return {each.name: hints.get(each.name, each.type) for each in fields(metric)}


def escaped(text: str) -> str:
    r"""A text among several as `from_text` reads it back.

    >>> escaped("good: complete")
    'good\\: complete'
    """
    return _MARK.sub(r"\\\g<0>", text)


def from_text(text: str, kind: Any) -> Any:
    """A setting of a type as it is written in a metric's name: `10`, `1:0`, `true`, `none`."""
    members = [each for each in _members(kind) if each is not NoneType]
    if len(members) < len(_members(kind)) and text.casefold() == "none":
        return None
    kind = members[0] if len(members) == 1 else kind
    if get_origin(kind) is tuple:
        element, *others = get_args(kind)
        kinds = [element] if Ellipsis in others else [element, *others]
        parts = _separated(text)
        return tuple(from_text(part.strip(), kinds[min(n, len(kinds) - 1)]) for n, part in enumerate(parts))
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    if kind is str or (choices and all(isinstance(each, str) for each in choices)):
        return text
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _separated(text: str) -> list[str]:
    parts = [""]
    for character in _CHARACTER.findall(text):
        if character == ":":
            parts.append("")
        else:
            parts[-1] += character[-1]
    return parts


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


def _check_of(metric: type, setting: str, kind: Any) -> Check:
    adapter: TypeAdapter[Any] = TypeAdapter(kind, config=_EXACT)

    def check(value: object) -> None:
        try:
            adapter.validate_python(value)
        except ValidationError:
            raise _refusal(metric, setting, _described(kind), value) from None

    return check


def _prompt_check(metric: type, setting: str, kind: Any) -> Check:
    own = [each.default for each in fields(metric) if each.name == setting]
    own += [values[setting] for values in getattr(metric, "variants", {}).values() if setting in values]
    asked = {each.variables for each in own if isinstance(each, Prompt)}

    def check(value: object) -> None:
        if isinstance(value, Prompt):
            if asked and value.variables not in asked:
                names = " or ".join(sorted(f"{{{', '.join(sorted(each))}}}" for each in asked))
                shown = f"{value.id} with {{{', '.join(sorted(value.variables))}}}"
                raise ConfigError(f"{metric.name}: {setting} must be a prompt with {names}, not {shown}")  # type: ignore[attr-defined]
        elif value is not None or NoneType not in _members(kind):
            call = f"{metric.__name__}({setting}=Prompt(...))"
            how = f"pass {call}, a version of the library's, or a folder of prompts (prompts=..., --prompts)"
            raise _refusal(metric, setting, "a prompt", value, how)

    return check


def _part_check(metric: type, setting: str) -> Check:
    def check(value: object) -> None:
        if not all(isinstance(each, Part) for each in (value if is_tuple(value) else (value,))):
            how = f"pass {metric.__name__}({setting}=...)"
            raise _refusal(metric, setting, "made of Part(...)", value, how)

    return check


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
