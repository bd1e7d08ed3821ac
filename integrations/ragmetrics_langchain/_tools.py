"""Names given as options: tools that return contexts, metadata that become labels."""

from collections.abc import Iterable

from langchain_core.tools import BaseTool

from ragmetrics_core.boundary import is_iterable, is_mapping
from ragmetrics_core.errors import ConfigError

__all__ = ["CONTEXT_WAYS", "ContextTools", "label_names", "tool_names"]

ContextTools = str | BaseTool | Iterable[str | BaseTool]


CONTEXT_WAYS = {
    "contexts": "use a retriever or a tool with documents, call note_contexts(documents) where you search, "
    "or pass extract=, context_key= or system_message=True"
}


def tool_names(tools: ContextTools, option: str = "context_tools") -> tuple[str, ...]:
    """The names of tools and other components, from a name, a tool, or several.

    Raises:
        ConfigError: a value has the wrong type.
    """
    if isinstance(tools, str | BaseTool):
        return (_name(tools, option),)
    if not is_iterable(tools) or is_mapping(tools):
        raise ConfigError(f"{option} takes tools or names, not {type(tools).__name__}")
    return tuple(_name(tool, option) for tool in tools)


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


def _name(tool: object, option: str) -> str:
    name = tool if isinstance(tool, str) else getattr(tool, "name", None) or getattr(tool, "__name__", None)
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{option} takes tools or names, not {tool!r}")
    return name
