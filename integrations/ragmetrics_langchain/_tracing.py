"""The current context: LangSmith's trace, and LangChain's run."""

import sys
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

__all__ = ["current_trace", "parent_run_here"]


def parent_run_here() -> Any:
    """Id of the current run, or None."""
    config = var_child_runnable_config.get()
    return None if config is None else getattr(config.get("callbacks"), "parent_run_id", None)


def current_trace() -> Any:
    """Id of the current LangSmith trace, or None; two look-ups, no import."""
    helpers = sys.modules.get("langsmith.run_helpers")
    if helpers is None:
        return None
    tree = helpers.get_current_run_tree()
    return None if tree is None else tree.trace_id
