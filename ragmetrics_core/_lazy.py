"""Names of a package that are imported when they are first asked for (PEP 562).

The package lists them for type checkers under `TYPE_CHECKING`, and here by the module that each is in.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["loaded_when_asked"]


def loaded_when_asked(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names stand in these modules of it."""

    def attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return attribute
