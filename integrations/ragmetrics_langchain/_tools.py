"""Names given as options: tools that return contexts, metadata that become labels."""

from collections import UserDict
from collections.abc import Iterable

from langchain_core.tools import BaseTool

from ragmetrics_core.adapting import Rules
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.shapes import is_iterable, is_mapping

__all__ = ["ContextTools", "ContextWays", "label_names", "tool_names"]

ContextTools = str | BaseTool | Iterable[str | BaseTool]


_WAYS = (
    "use a retriever or a tool with documents, call note_contexts(documents) where you search, "
    "or pass extract=, context_key=, context_tools= or system_message=True"
)


class ContextWays(UserDict[str, str]):
    """Instructions for providing contexts, for the warning when none of the first captures had any.

    If the named tools were never called, the warning names those that were.

    Args:
        rules: the tools whose text is a context, and the tools called in runs without contexts.
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(contexts=_WAYS)
        self._rules = rules

    def __getitem__(self, field: str) -> str:
        """The instructions for a field."""
        ways = super().__getitem__(field)
        unknown = {*self._rules.context_tools} - self._rules.called
        if not unknown or not self._rules.called:
            return ways
        named, called = (", ".join(map(repr, sorted(names))) for names in (unknown, self._rules.called))
        return f"context_tools names {named}, but the tools that were called are {called}; or {ways}"


def tool_names(tools: ContextTools) -> tuple[str, ...]:
    """The names of tools, from a name, a tool, or several.

    Raises:
        ConfigError: a value has the wrong type.
    """
    if isinstance(tools, str | BaseTool):
        return (_name(tools),)
    if not is_iterable(tools) or is_mapping(tools):
        raise ConfigError(f"context_tools takes tools or names of tools, not {type(tools).__name__}")
    return tuple(_name(tool) for tool in tools)


def label_names(keys: str | Iterable[object]) -> tuple[str, ...]:
    """The names of labels, from one or several.

    Raises:
        ConfigError: a value has the wrong type.
    """
    names: tuple[object, ...] = (keys,) if isinstance(keys, str) else tuple(keys)
    known = tuple(name for name in names if isinstance(name, str) and name)
    if len(known) < len(names):
        raise ConfigError(f"label_keys takes names of a run's metadata, not {names!r}")
    return known


def _name(tool: object) -> str:
    name = tool if isinstance(tool, str) else getattr(tool, "name", None) or getattr(tool, "__name__", None)
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"context_tools takes tools or names of tools, not {tool!r}")
    return name
