"""Question and history of a resumed turn, and a history that is loaded in the run."""

from collections.abc import Sequence
from typing import Any

from ragmetrics_core.adapting import CapturedMessage, NamedValue
from ragmetrics_langchain._dialect import DIALECT, MESSAGES, fields_of
from ragmetrics_langchain._runs import LangChainRun

__all__ = ["resumed_question", "special_history"]


def resumed_question(parts: Sequence[LangChainRun]) -> NamedValue | None:
    """The question of a turn whose start this handler did not see, from its state."""
    first, state = parts[0], fields_of(parts[0].outputs)
    if not first.is_resumed:
        return None
    reply = getattr(first.inputs, "resume", None)
    asked = [turn.text for turn in _said(first.outputs) if turn.role == "user" and turn.text != reply]
    if asked:
        return NamedValue(asked[-1], "last human message of the outputs")
    known = next((name for name in ("question", "query", "input", "user_input") if name in state), None)
    return None if known is None else NamedValue(state[known], f"outputs[{known!r}]")


def special_history(parts: Sequence[LangChainRun], question: str) -> Sequence[CapturedMessage] | None:
    """The history of a resumed turn, or one loaded by `RunnableWithMessageHistory`."""
    if parts[-1].is_resumed:
        said = _said(parts[-1].outputs)
        places = [n for n, turn in enumerate(said) if turn.role == "user" and turn.text == question]
        replies = [n for n, turn in enumerate(said) if turn.role == "user"]
        return [*said[: places[-1]], *said[places[-1] + 1 : replies[-1] + 1]] if places else None
    for call in (inner for part in parts for inner in part.walk()):
        if call.name == "load_history" and (said := DIALECT.messages(call.outputs)):
            return said[:-1] if said[-1] == CapturedMessage("user", question) else said
    return None


def _said(value: Any) -> Sequence[CapturedMessage]:
    named = fields_of(value)
    return DIALECT.messages(named.get(MESSAGES) if named else value)
