"""Question and history of a resumed turn, and a history that is loaded in the run."""

from collections.abc import Sequence

from ragmetrics_core.adapting import CapturedMessage, NamedValue
from ragmetrics_langchain._dialect import DIALECT, fields_of
from ragmetrics_langchain._runs import LangChainRun

__all__ = ["resumed_question", "special_history"]


def resumed_question(parts: Sequence[LangChainRun]) -> NamedValue | None:
    """The question of a turn whose start this handler did not see, from its state."""
    first = parts[0]
    if not first.is_resumed:
        return None
    reply = getattr(first.inputs, "resume", None)
    said = DIALECT.conversation(first.outputs)
    asked = [turn.text for turn in said if turn.role == "user" and turn.text != reply]
    if asked:
        return NamedValue(asked[-1], "last human message of the outputs")
    state = fields_of(first.outputs)
    known = (name for name in ("question", "query", "input", "user_input") if name in state)
    return next((NamedValue(state[name], f"outputs[{name!r}]") for name in known), None)


def special_history(parts: Sequence[LangChainRun], question: str) -> Sequence[CapturedMessage] | None:
    """The history of a resumed turn, or one loaded by `RunnableWithMessageHistory`."""
    if parts[-1].is_resumed:
        said = DIALECT.conversation(parts[-1].outputs)
        replies = [n for n, turn in enumerate(said) if turn.role == "user"]
        places = [n for n in replies if said[n].text == question]
        return [*said[: places[-1]], *said[places[-1] + 1 : replies[-1] + 1]] if places else None
    for call in (inner for part in parts for inner in part.walk()):
        if call.name == "load_history" and call.ended is not None:
            said = DIALECT.messages(call.outputs)
            is_asked = bool(said) and (said[-1].role, said[-1].text) == ("user", question)
            return said[:-1] if is_asked else said
    return None
