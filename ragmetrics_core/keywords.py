"""Settings as keywords: one definition of them, which every door takes and hands on."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any, TypeVar

__all__ = ["names_in", "refuse_unknown", "unfolded"]

F = TypeVar("F", bound=Callable[..., Any])


def names_in(keywords: type) -> tuple[str, ...]:
    """The names that a typed dictionary of keywords has, those of its bases first."""
    return tuple(keywords.__annotations__)


def refuse_unknown(given: Mapping[str, object], *known: str) -> None:
    """Raise `TypeError`, as Python does, for a keyword that nobody takes; it names the nearest one."""
    for name in given:
        if name not in known:
            near = "".join(f"; {each!r} is one" for each in get_close_matches(name, known, n=1))
            raise TypeError(f"unexpected keyword argument {name!r}{near}")


def unfolded(keywords: type, defaults: Mapping[str, Any]) -> Callable[[F], F]:
    """A function that says in its signature which settings its `**settings` are.

    Type checkers and editors know them from `Unpack[...]`. This is for what looks at a signature while a
    program runs: `help`, notebooks, Haystack's reading of a YAML file.

    Args:
        keywords: the typed dictionary that is unpacked.
        defaults: what a setting is that is not given, by name.
    """

    def unfold(function: F) -> F:
        here = signature(function)
        taken = [each for each in here.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        settings = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
            for name, annotation in keywords.__annotations__.items()
        ]
        function.__signature__ = here.replace(parameters=[*taken, *settings])  # type: ignore[attr-defined]
        return function

    return unfold
