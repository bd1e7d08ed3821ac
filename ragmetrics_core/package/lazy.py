"""Lazy imports: a package's names (PEP 562), and functions.

A package lists its names for type checkers under `TYPE_CHECKING`, and here with their modules.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["NOTEBOOK_PAGES", "loaded_when_asked", "loaded_when_called"]

NOTEBOOK_PAGES: Final[dict[str, Callable[[Any], str]]] = {}
"""Functions that show an object in a notebook, by kind; the package sets them, the report defines them."""


def loaded_when_asked(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that imports names from these modules when needed."""

    def attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return attribute


def loaded_when_called(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that is imported at the first call."""

    def call(*args: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*args)

    return call
