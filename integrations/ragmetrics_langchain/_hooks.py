"""LangChain's callbacks reduced to three events: a run begins, ends or fails."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from langchain_core.callbacks import BaseCallbackHandler

from ragmetrics_core.adapting import Kind, is_judging
from ragmetrics_langchain._calling import JUDGE_TAG

__all__ = ["Hooks", "Told"]

Told = Mapping[str, Any]
"""LangChain's keywords of an event: run_id, parent_run_id, tags, metadata."""


class Taker(Protocol):
    """A receiver of the events."""

    def begin(self, kind: Kind, name: str, inputs: Any, told: Told) -> None:
        """Note the start of a run."""

    def end(self, outputs: Any, told: Told) -> None:
        """Note the output of a run."""

    def fail(self, error: BaseException, told: Told) -> None:
        """Note the failure of a run."""

    def hook_failed(self, error: Exception) -> None:
        """Note that an event could not be taken."""


class Hooks(BaseCallbackHandler):
    """A handler that never raises into the application and ignores our own work.

    Args:
        taker: receives the events.
    """

    # Hooks only note references: going through a thread would cost more than they do.
    run_inline = True
    raise_error = False

    def __init__(self, taker: Taker) -> None:
        self._taker = taker

    def _begin(self, kind: Kind, serialized: Mapping[str, Any] | None, inputs: Any, told: Told) -> None:
        if JUDGE_TAG not in (told.get("tags") or ()):
            name = str(told.get("name") or (serialized or {}).get("name") or kind)
            self._guarded(self._taker.begin, kind, name, inputs, told)

    def _guarded(self, event: Callable[..., None], *args: Any) -> None:
        if is_judging():
            return
        try:
            event(*args)
        except Exception as error:  # the boundary to the host: no error of ours may reach it
            self._taker.hook_failed(error)

    def on_chain_start(self, serialized: Any, inputs: Any, **told: Any) -> None:
        """Note the start of a run."""
        self._begin("prompt" if told.get("run_type") == "prompt" else "chain", serialized, inputs, told)

    def on_chat_model_start(self, serialized: Any, messages: Any, **told: Any) -> None:
        """Note a chat model's request."""
        self._begin("model", serialized, messages[0], told)

    def on_llm_start(self, serialized: Any, prompts: Any, **told: Any) -> None:
        """Note a completion model's request."""
        self._begin("model", serialized, prompts, told)

    def on_retriever_start(self, serialized: Any, query: str, **told: Any) -> None:
        """Note a retrieval."""
        self._begin("retriever", serialized, query, told)

    def on_tool_start(self, serialized: Any, input_str: str, **told: Any) -> None:
        """Note a call of a tool."""
        self._begin("tool", serialized, told.get("inputs") or input_str, told)

    def on_chain_end(self, outputs: Any, **told: Any) -> None:
        """Note the output; submit a sample if the run is one."""
        self._guarded(self._taker.end, outputs, told)

    on_llm_end: Any = on_chain_end
    on_retriever_end: Any = on_chain_end
    on_tool_end: Any = on_chain_end

    def on_chain_error(self, error: BaseException, **told: Any) -> None:
        """Drop the run; a failed run is not a sample."""
        self._guarded(self._taker.fail, error, told)

    on_llm_error = on_chain_error
    on_retriever_error = on_chain_error
    on_tool_error = on_chain_error
