"""How a reply is read, in every driver."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ragmetrics_core.adapting import Ending
from ragmetrics_core.asking import CUT
from ragmetrics_core.parsers import Answer, Hints, Reading, is_refusal
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion

__all__ = ["CUT_SHORT", "ReadReply", "ended_hints", "read_reply", "unanswered"]

CUT_SHORT = frozenset({"cut", "filtered"})
_NO_ANSWER: Mapping[Ending, str] = {
    "cut": CUT,
    "filtered": "the provider's content filter held the reply back",
    "refused": "the judge refused to answer",
    "tool call": "the judge called a tool instead of answering",
}


class ReadReply(NamedTuple):
    """A reply as it was read, what goes on record of it, and the digest of its text."""

    reading: Reading[Any]
    value: Any
    digest: str


def ended_hints(hints: Hints, ended: Ending) -> Hints:
    """The hints with what the provider says of the reply's end."""
    if ended != "whole" and ended not in CUT_SHORT:
        return hints
    # `replace` takes three times as long
    return Hints(hints.numbers, hints.sample, hints.items, hints.shown, hints.form, ended == "whole")


def unanswered(completion: Completion, ended: Ending, reading: Reading[Any]) -> str | None:
    """Why the reply may hold no answer, in words; None when its text says nothing of the kind."""
    if ended in _NO_ANSWER:
        return _NO_ANSWER[ended]
    if reading.rule == "json" and reading.value is not None:
        return None  # nobody declines in the very form that he was asked for
    return "the judge declined to answer" if is_refusal(completion.text.lstrip()) else None


@lru_cache(maxsize=256)
def read_reply(read: Callable[[str, Hints], Reading[Answer]], text: str, hints: Hints) -> ReadReply:
    """Read a reply; metrics of one sample that share a call read it once."""
    reading = read(text, hints)
    value = None if reading.value is None else reading.value.model_dump(mode="json")
    return ReadReply(reading, value, digest_of(text))
