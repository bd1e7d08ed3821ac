"""What a public docstring documents under `Args:` is an argument, also where arguments are unpacked."""

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

PACKAGES = [
    "",
    ".live",
    ".metrics",
    ".models",
    ".probe",
    ".prompts",
    ".records",
    ".runs",
    ".samples",
    ".study",
]
_NAMES = re.compile(r"^    (\*{0,2}\w+(?:, \w+)*):", re.MULTILINE)


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions, and the public methods of public classes."""
    for package in PACKAGES:
        module = import_module(f"ragmetrics_core{package}")
        for name in getattr(module, "__all__", None) or dir(module):
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield f"{package}.{name}", value
            elif inspect.isclass(value):
                for method, function in inspect.getmembers(value, inspect.isfunction):
                    if not method.startswith("_") and function.__module__.startswith("ragmetrics_core"):
                        yield f"{package}.{name}.{method}", function


PUBLIC = dict(public())


def arguments_of(function: Callable[..., Any]) -> set[str]:
    """By its signature, which has unpacked keywords one by one, and by its own code, which has their name."""
    code = inspect.unwrap(function).__code__
    both = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    written = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + both]
    return {*inspect.signature(function).parameters, *written}


def documented(function: Callable[..., Any]) -> list[str]:
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", inspect.getdoc(function) or "", re.MULTILINE)
    names = _NAMES.findall(section[1]) if section else []
    return [name.lstrip("*") for listed in names for name in listed.split(", ")]


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_documented_is_an_argument(name: str):
    assert set(documented(PUBLIC[name])) <= arguments_of(PUBLIC[name])


def test_unpacked_settings_are_seen():
    evaluate = PUBLIC[".evaluate"]
    assert {"metrics", "judge", "settings", "samples"} <= set(documented(evaluate)) & arguments_of(evaluate)
