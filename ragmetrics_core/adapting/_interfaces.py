"""Interfaces that a framework's model implements."""

import dis
import inspect
from types import FunctionType

__all__ = ["can_only_raise"]

# So many decorators around one method are none.
_DEPTH = 20


def can_only_raise(model: object, method: str) -> bool:
    """Whether a method never returns: it only raises, because the interface is not implemented.

    Decorators are unwrapped if they keep the function or enclose one of the same name.
    """
    code = getattr(_innermost(getattr(type(model), method)), "__code__", None)
    return code is not None and not any(
        step.opname.startswith(("RETURN", "YIELD")) for step in dis.get_instructions(code)
    )


def _innermost(function: object) -> object:
    for _ in range(_DEPTH):
        inner = getattr(function, "__wrapped__", None)  # LlamaIndex has a bool there
        if not callable(inner):
            inner = _enclosed(function)
        if inner is None:
            break
        function = inner
    return function


def _enclosed(function: object) -> object | None:
    """The function of the same name that a decorator's function calls."""
    if not isinstance(function, FunctionType):
        return None
    values = inspect.getclosurevars(function).nonlocals.values()
    named = (each for each in values if isinstance(each, FunctionType))
    return next((each for each in named if each.__name__ == function.__name__), None)
