"""Lazy imports of a package's names (PEP 562).

The package lists the names for type checkers under `TYPE_CHECKING`, and here with their modules.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["loaded_when_asked"]


def loaded_when_asked(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that imports names from these modules when needed."""

    def attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return attribute
