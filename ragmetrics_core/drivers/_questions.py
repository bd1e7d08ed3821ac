"""A rendered request and how the replies to it are read, once for all metrics of a sample that ask it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragmetrics_core._packing import outlined_step
from ragmetrics_core.adapting import Ending, ending
from ragmetrics_core.asking import CUT
from ragmetrics_core.parsers import Declined, Hints, Reading, is_refusal
from ragmetrics_core.prompts import Item
from ragmetrics_core.protocol import Completion, Generate, Reply

__all__ = ["Drawn", "Places", "Question", "ReadReply", "hints_of"]

Places = tuple[tuple[int, int], ...]

_CUT_SHORT = frozenset({"cut", "filtered"})
_NO_ANSWER: Mapping[Ending, str] = {
    "cut": CUT,
    "filtered": "the provider's content filter held the reply back",
    "refused": "the judge refused to answer",
    "tool call": "the judge called a tool instead of answering",
}


class Drawn(NamedTuple):
    """One reply to a request: its draw, and, where several judges were asked, whose it is."""

    draw: int
    completion: Completion
    judge: str | None = None


class ReadReply(NamedTuple):
    """A reply as it was read.

    Attributes:
        reply: what the metric gets.
        step: what goes on record of it, but for what goes without saying; its path is the metric's own.
        abstention: whether it says that the answer declines.
    """

    reply: Reply[Any]
    step: dict[str, Any]
    abstention: Declined | None


class Question:
    """A request as it is sent to the judge.

    Args:
        request: what is sent.
        used: the sentences that it shows, by the digest of their text.
    """

    __slots__ = ("_hints", "_read", "request", "used")

    def __init__(self, request: Generate[Any], used: Mapping[str, Places]) -> None:
        self.request = request
        self.used = used
        self._hints: dict[Ending, Hints] = {}
        self._read: dict[tuple[int, str | None], tuple[Completion, ReadReply]] = {}

    def read(self, drawn: Drawn) -> ReadReply:
        """Read a reply; metrics that share it read it once.

        Raises:
            Exception: whatever an answer's type of the user's own raises.
        """
        key = (drawn.draw, drawn.judge)
        known = self._read.get(key)
        if known is None or known[0] is not drawn.completion:
            known = self._read[key] = drawn.completion, self._reading(drawn)
        return known[1]

    def _reading(self, drawn: Drawn) -> ReadReply:
        draw, completion, judge = drawn
        request, prompt, usage = self.request, self.request.prompt, completion.usage
        ended = ending(completion.finish_reason)
        reading = prompt.answer.read(completion.text, self._hints_for(ended))
        value = reading.value
        step = {
            "path": "",
            "prompt": prompt.id,
            "prompt_digest": prompt.digest,
            "rendered_digest": request.digest,
            "draw": draw,
            "again": request.again,
            "judge": judge,
            "reply": completion.text,
            "model": completion.model,
            "finish_reason": completion.finish_reason,
            "prompt_tokens": usage.prompt_tokens if usage else None,
            "completion_tokens": usage.completion_tokens if usage else None,
            "rule": reading.rule,
            # a type of the user's own may raise: that is its metric's failure, here
            "value": value if value is None or value.is_ours() else value.written(),
            "dropped": reading.dropped,
        }
        is_cut = reading.cut or ended in _CUT_SHORT
        reply = Reply(reading, is_cut, _unanswered(completion, ended, reading), judge)
        return ReadReply(reply, outlined_step(step), None if value is None else value.abstention())

    def _hints_for(self, ended: Ending) -> Hints:
        """The request's hints, with what the provider says of the reply's end."""
        known = self._hints.get(ended)
        if known is None:
            hints = self.request.hints
            if ended == "whole" or ended in _CUT_SHORT:
                hints = Hints(*hints[:5], ended == "whole")
            known = self._hints[ended] = hints
        return known


def hints_of(request: Generate[Any], shown: tuple[str, ...], form: tuple[str, ...]) -> Hints:
    """What the reader of a reply may know: the texts of the request, as they are and as it shows them."""
    texts: list[str] = []
    items: list[str] = []
    for value in request.variables.values():
        if isinstance(value, str):
            texts.append(value)
        elif not isinstance(value, int):
            listed: Any = value
            if listed and isinstance(listed[0], Item):
                items += [text for _, text in listed]
            else:
                texts += map(str, listed)
    known = request.hints
    return Hints(known.numbers, known.sample or (*texts, *items), known.items or tuple(items), shown, form)


def _unanswered(completion: Completion, ended: Ending, reading: Reading[Any]) -> str | None:
    """Why the reply may hold no answer, in words; None when its text says nothing of the kind."""
    if ended in _NO_ANSWER:
        return _NO_ANSWER[ended]
    if reading.rule == "json" and reading.value is not None:
        return None  # nobody declines in the very form that he was asked for
    return "the judge declined to answer" if is_refusal(completion.text.lstrip()) else None
