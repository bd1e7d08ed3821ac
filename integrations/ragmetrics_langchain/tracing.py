"""LangSmith's trace around a run, where LangSmith is in use."""

import sys
from typing import Any

__all__ = ["current_trace"]


def current_trace() -> Any:
    """Id of the LangSmith trace that is open here, None without one; two look-ups, no import."""
    helpers = sys.modules.get("langsmith.run_helpers")
    if helpers is None:
        return None
    tree = helpers.get_current_run_tree()
    return None if tree is None else tree.trace_id
