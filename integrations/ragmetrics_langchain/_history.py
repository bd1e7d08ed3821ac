"""What was said before the question, in its thread and in its own turn."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from ragmetrics_langchain._messages import asked, conversation, fields_of
from ragmetrics_langchain._seen import Seen, SeenTurn

__all__ = ["MESSAGES", "said_before", "without_reply"]

MESSAGES = "messages"
HISTORY_KEYS = ("chat_history", "history")


def said_before(turn: SeenTurn, question: str | None) -> Sequence[BaseMessage]:
    """What was said before the question; in a turn that was interrupted, also what was said since.

    Args:
        turn: the turn.
        question: its text.
    """
    first = next(iter(turn.parts())).run
    for value in (turn.run.outputs, first.inputs):
        messages = _messages(value)
        if (message := _question_among(messages, turn, question)) is not None:
            place = next(n for n, each in enumerate(messages) if each is message)
            if before := [*messages[:place], *_clarified(messages[place + 1 :])]:
                return before
    named = fields_of(first.inputs)
    said = (conversation(named.get(key)) for key in HISTORY_KEYS)
    return next((messages for messages in said if messages), ()) or _loaded(turn, question)


def without_reply(run: Seen) -> Any:
    """The outputs of a resumed run without what a person replied to the interrupt, which is no question."""
    reply = getattr(run.inputs, "resume", None)
    messages = _messages(run.outputs)
    if not isinstance(reply, str) or not messages:
        return run.outputs
    return {**fields_of(run.outputs), MESSAGES: [each for each in messages if each.text != reply]}


def _messages(value: Any) -> list[BaseMessage]:
    named = fields_of(value)
    return conversation(named.get(MESSAGES, None if named else value))


def _question_among(
    messages: Sequence[BaseMessage], turn: SeenTurn, question: str | None
) -> BaseMessage | None:
    """The message that is the question: the last one of a person; in a resumed turn, the one that says it."""
    if not turn.run.is_resumed:
        return asked(messages)
    same = [each for each in messages if each.type == "human" and each.text == question]
    return same[-1] if same else asked(messages)


def _clarified(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """What was asked back and replied, up to the last reply."""
    last = max((n for n, each in enumerate(messages) if each.type == "human"), default=-1)
    return messages[: last + 1]


def _loaded(turn: SeenTurn, question: str | None) -> Sequence[BaseMessage]:
    """What `RunnableWithMessageHistory` loaded; without the question that it may end with."""
    for run in turn.inner_runs():
        if run.name == "load_history" and (messages := conversation(run.outputs)):
            last = messages[-1]
            return messages[:-1] if last.type == "human" and last.text == question else messages
    return ()
