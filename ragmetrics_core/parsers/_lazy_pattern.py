"""Regular expressions that are compiled when they are first used.

The parsers have about a hundred of them, in many languages; compiling all takes a tenth of a second, and a
run with a well-behaved judge needs only a few.
"""

import re
from typing import Any, cast

__all__ = ["lazy"]

_METHODS = ("findall", "finditer", "fullmatch", "match", "search", "split", "sub")


class _LazyPattern:
    """Stands for a compiled pattern; becomes one, as far as callers see, at the first use."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        self.__dict__.update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled at its first use; otherwise as `re.compile`."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
