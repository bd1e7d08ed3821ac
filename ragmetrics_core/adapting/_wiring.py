"""Calls that made the answer, their requests, and the calls upstream."""

from collections.abc import Sequence
from typing import Any

from ragmetrics_core.adapting._captured import Call, CapturedMessage, CapturedRun, Dialect
from ragmetrics_core.comparing import spaced_form

__all__ = ["SHORTEST", "calls_before", "makers_of", "messages_in", "reply_of", "request_of"]

# A shorter text of a step stands in a request, or in a reply, by chance.
SHORTEST = 20


def makers_of(run: CapturedRun, answer: str, dialect: Dialect) -> Sequence[Call]:
    """The calls that made the answer: by the wiring, or else the only call with the answer as its reply."""
    if run.answered_by is not None:
        return run.answered_by
    models = [call for call in run.walk() if call.kind == "model" and call.ended is not None]
    wanted = spaced_form(answer)
    replies = [(call, spaced_form(reply_of(call, dialect))) for call in models]
    same = [call for call, reply in replies if reply == wanted]
    same = same or [call for call, reply in replies if _holds(reply, wanted) or _holds(wanted, reply)]
    if same:
        return same if len(same) == 1 else ()
    return models if len(models) == 1 else ()


def _holds(longer: str, shorter: str) -> bool:
    """Whether a text contains another one, and not by chance."""
    return len(shorter) >= SHORTEST and shorter in longer


def reply_of(call: Call, dialect: Dialect) -> str:
    if (text := dialect.text(call.outputs)) is not None:
        return text
    messages = dialect.messages(call.outputs)
    return messages[-1].text if messages else ""


def request_of(makers: Sequence[Call], dialect: Dialect) -> list[CapturedMessage] | None:
    """The messages of the calls that made the answer; None if those of one call are unknown."""
    request: list[CapturedMessage] = []
    for call in makers:
        messages = messages_in(call.inputs, dialect)
        if not messages:
            return None
        request += messages
    return request or None


def messages_in(value: Any, dialect: Dialect) -> Sequence[CapturedMessage]:
    if messages := dialect.messages(value):
        return messages
    text = dialect.text(value)
    return () if text is None else [CapturedMessage("user", text)]


def calls_before(run: CapturedRun, makers: Sequence[Call]) -> list[Call]:
    """The calls upstream of the answer, in order of their ends."""
    calls = [call for call in run.walk() if call.ended is not None and call not in makers]
    if makers and all(call.sources is not None for call in makers):
        wired = {inner for maker in makers for call in maker.behind() for inner in call.walk()}
        calls = [call for call in calls if call in wired]
    elif makers:
        began = max(call.began for call in makers)
        calls = [call for call in calls if call.ended is not None and call.ended < began]
    return sorted(calls, key=lambda call: call.ended or 0)
