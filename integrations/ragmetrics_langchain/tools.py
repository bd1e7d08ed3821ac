"""Which tools give contexts."""

from collections.abc import Iterable

from langchain_core.tools import BaseTool

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.shapes import is_iterable, is_mapping

__all__ = ["ContextTools", "tool_names"]

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


def _name(tool: object) -> str:
    name = tool if isinstance(tool, str) else getattr(tool, "name", None) or getattr(tool, "__name__", None)
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"context_tools takes names of tools or tools, not {tool!r}")
    return name
