"""The turns before a question, and their value as evidence."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.samples._messages import role_of

__all__ = [
    "Earlier",
    "NamedText",
    "ToolCall",
    "Turn",
    "conversation_text",
    "earlier_in",
    "last_turns",
    "turn_starts",
]

ASKING = "user"
ANSWERING = "assistant"
_TOOL = "tool"
# About 4,000 tokens of conversation.
_MOST_CHARACTERS = 16_000


# `frozen` stands where a type checker sees it, which then refuses an assignment too.
class ToolCall(BaseModel, frozen=True):
    """A tool call in a message: the tool's name and the arguments as text, usually JSON."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    name: str
    arguments: str = ""
    id: str | None = None


class Turn(BaseModel, frozen=True):
    """A message of a conversation.

    Attributes:
        role: "user", "assistant", "system", "tool", or another word.
        content: its text.
        contexts: for an answer, the chunks that the model received for it, if known.
        tool_calls: for an answer, the tools that it called.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    role: str
    content: str
    contexts: tuple[str, ...] | None = None
    tool_calls: tuple[ToolCall, ...] | None = None


class NamedText(NamedTuple):
    """A text of the conversation and its place in words, such as "the answer of turn 2"."""

    text: str
    place: str


class Earlier(NamedTuple):
    """The turns before a question, by their value as evidence.

    Attributes:
        contexts: the chunks that earlier answers were made from, and the texts of tools.
        user: the user's words, including the question.
        answers: the application's own answers, which are not evidence by themselves.
    """

    contexts: tuple[NamedText, ...] = ()
    user: tuple[NamedText, ...] = ()
    answers: tuple[NamedText, ...] = ()


def earlier_in(history: Sequence[Turn], question: str | None, turn: int | None) -> Earlier:
    """Sort the messages of a history by their value as evidence.

    Args:
        history: the messages before the question.
        question: the question, which is evidence of the user's words if there were any messages.
        turn: number of the answer to it in its conversation; by default one more than the turns before it.
    """
    starts = set(turn_starts(history))
    number = 0 if turn is None else max(0, turn - len(starts) - 1)
    contexts: dict[str, NamedText] = {}
    user: list[NamedText] = []
    answers: list[NamedText] = []
    for place, message in enumerate(history):
        number += place in starts
        speaker = role_of(message.role)
        chunks = message.contexts or ((message.content,) if speaker == _TOOL else ())
        for chunk in chunks:
            if chunk.strip():
                contexts.setdefault(chunk, NamedText(chunk, f"the contexts of turn {number}"))
        if speaker == ASKING and message.content.strip():
            user.append(NamedText(message.content, f"the user's message of turn {number}"))
        elif speaker == ANSWERING and message.content.strip():
            answers.append(NamedText(message.content, f"the answer of turn {number}"))
    has_conversation = contexts or user or answers
    if has_conversation and question and question.strip():
        user.append(NamedText(question, "the user's question"))
    return Earlier(tuple(contexts.values()), tuple(user), tuple(answers))


def turn_starts(history: Sequence[Turn]) -> list[int]:
    """Places of the messages with which the user begins a turn; messages in a row begin one."""
    starts: list[int] = []
    speaker = ""
    for place, message in enumerate(history):
        role = role_of(message.role)
        if role not in (ASKING, ANSWERING, _TOOL):
            continue
        if role == ASKING != speaker:
            starts.append(place)
        speaker = role
    return starts


def last_turns(history: Sequence[Turn], window: int | None, turn: int | None) -> tuple[tuple[Turn, ...], int]:
    """The last turns of a history, and the number of the next answer.

    Args:
        history: the messages.
        window: number of turns, each a user's message with the replies to it; None for all.
        turn: the number of the next answer, if known; one that the history contradicts does not count.
    """
    starts = turn_starts(history)
    following = max(turn or 0, len(starts) + 1)
    if window is None or len(starts) <= window:
        return tuple(history), following
    return tuple(history[starts[-window] :]), following


def conversation_text(history: Sequence[Turn], most: int | None = _MOST_CHARACTERS) -> str:
    """Messages of the user and the application as text, each with its role.

    Args:
        history: the messages.
        most: number of characters that the last messages may have together; earlier ones are left out. The
            last message is always complete. None for no limit.
    """
    spoken = [(role_of(message.role), message.content) for message in history]
    lines = [f"{role}: {text}" for role, text in spoken if role in (ASKING, ANSWERING) and text.strip()]
    kept: list[str] = []
    length = 0
    for line in reversed(lines):
        length += len(line)
        if kept and most is not None and length > most:
            break
        kept.append(line)
    return "\n".join(reversed(kept))
