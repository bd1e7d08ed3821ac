"""Names that options take: of tools that give contexts, of metadata that become labels."""

from collections.abc import Iterable

from langchain_core.tools import BaseTool

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.shapes import is_iterable, is_mapping

__all__ = ["ContextTools", "label_names", "tool_names"]

ContextTools = str | BaseTool | Iterable[str | BaseTool]


def tool_names(tools: ContextTools) -> tuple[str, ...]:
    """The names of tools: of one, or of several; by name or as objects.

    Raises:
        ConfigError: something else is among them.
    """
    if isinstance(tools, str | BaseTool):
        return (_name(tools),)
    if not is_iterable(tools) or is_mapping(tools):
        raise ConfigError(f"context_tools takes names of tools or tools, not {type(tools).__name__}")
    return tuple(_name(tool) for tool in tools)


def label_names(keys: str | Iterable[object]) -> tuple[str, ...]:
    """The names of labels: one, or several.

    Raises:
        ConfigError: something else is among them.
    """
    names: tuple[object, ...] = (keys,) if isinstance(keys, str) else tuple(keys)
    known = tuple(name for name in names if isinstance(name, str) and name)
    if len(known) < len(names):
        raise ConfigError(f"label_keys takes names of a run's metadata, not {names!r}")
    return known


def _name(tool: object) -> str:
    name = tool if isinstance(tool, str) else getattr(tool, "name", None) or getattr(tool, "__name__", None)
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"context_tools takes names of tools or tools, not {tool!r}")
    return name
