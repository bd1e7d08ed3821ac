"""A rendered request and its replies, read once for all metrics of a sample."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragmetrics_core.adapting import Ending, ending
from ragmetrics_core.boundary.shapes import is_dict
from ragmetrics_core.parsers import Declined, Reading, of_earlier
from ragmetrics_core.protocol import Completion, Generate, Reply
from ragmetrics_core.records.packing import outlined_step

__all__ = ["Drawn", "Places", "ReadReply", "SharedRequest"]

Places = tuple[tuple[int, int], ...]

_NO_ANSWER: Mapping[Ending, str] = {
    "cut": "the reply was cut by the model's length limit",
    "filtered": "the provider's content filter held the reply back",
    "refused": "the judge refused to answer",
    "tool call": "the judge called a tool instead of answering",
}
_LONGEST_QUOTE = 200


class Drawn(NamedTuple):
    """A reply to a request, with its draw and, for several judges, its judge.

    Attributes:
        earlier: the step of an earlier reader, whose reading counts instead of a new one.
        is_first: whether that is the first reader, whose values had other forms.
    """

    draw: int
    completion: Completion
    judge: str | None = None
    earlier: Mapping[str, Any] | None = None
    is_first: bool = False


class ReadReply(NamedTuple):
    """The reading of a reply.

    Attributes:
        reply: value for the metric.
        step: recorded fields without defaults; the metric adds the path.
        abstention: whether it says that the answer declines.
    """

    reply: Reply[Any]
    step: dict[str, Any]
    abstention: Declined | None


class SharedRequest:
    """A request as sent to the judge.

    Args:
        request: the request.
        used: the sentences that it contains, by digest of their text.
    """

    __slots__ = ("_read", "request", "used")

    def __init__(self, request: Generate[Any], used: Mapping[str, Places]) -> None:
        self.request = request
        self.used = used
        self._read: dict[tuple[int, str | None], tuple[Completion, ReadReply]] = {}

    def read(self, drawn: Drawn) -> ReadReply:
        """Read a reply; metrics that share it read it once.

        Raises:
            Exception: any error of a custom answer type.
        """
        key = (drawn.draw, drawn.judge)
        known = self._read.get(key)
        if known is None or known[0] is not drawn.completion:
            known = self._read[key] = drawn.completion, self._reading(drawn)
        return known[1]

    def _reading(self, drawn: Drawn) -> ReadReply:
        if drawn.earlier is not None:
            return self._as_read_earlier(drawn, drawn.earlier)
        draw, completion, judge, *_ = drawn
        request, prompt, usage = self.request, self.request.prompt, completion.usage
        reading = self._read_whole(completion)
        value = reading.value
        step = {
            "path": "",
            "prompt": prompt.id,
            "prompt_digest": prompt.digest,
            "rendered_digest": request.digest,
            "draw": draw,
            "again": request.again > 0,
            "judge": judge,
            "reply": completion.text,
            "model": completion.model,
            "finish_reason": completion.finish_reason,
            "held_to": completion.held_to,
            "prompt_tokens": usage.prompt_tokens if usage else None,
            "completion_tokens": usage.completion_tokens if usage else None,
            "rule": reading.rule,
            # a type of the user's own may raise: that is its metric's failure, here
            "value": None if value is None else value.written(),
            "objections": reading.objections,
            "dropped": reading.dropped,
        }
        reply = Reply(reading, completion.text, draw, judge, prompt.id, request.expected)
        return ReadReply(reply, outlined_step(step), None if value is None else value.abstention())

    def _read_whole(self, completion: Completion) -> Reading[Any]:
        """Read a reply that may be truncated, because lines of text do not show their end."""
        expected = self.request.expected
        if completion.held_to == "graded":
            expected = expected._replace(graded=True)
        reading: Reading[Any] = self.request.prompt.answer.read(completion.text, expected)
        how = ending(completion.finish_reason)
        why = _NO_ANSWER.get(how)
        if why and how == "refused" and (words := " ".join(completion.text.split())):
            why = f"{why}: {words[:_LONGEST_QUOTE]}"
        if why is None or (reading.rule == "json" and not reading.objections):
            return reading
        if reading.rule == "json":
            return reading._replace(objections=(why, *reading.objections))
        return Reading(None, (why, *reading.objections))

    def _as_read_earlier(self, drawn: Drawn, step: Mapping[str, Any]) -> ReadReply:
        """The reading of a reply by its earlier reader."""
        known, answer = step.get("value"), self.request.prompt.answer
        if not drawn.is_first:
            value = answer.checked(known) if is_dict(known) else None
            said = (
                tuple(step.get("objections", ())),
                step.get("rule", "unread"),
                tuple(step.get("dropped", ())),
            )
            reading: Reading[Any] = Reading(value, *said)
        elif is_dict(known):
            reading = of_earlier(answer, known, self.request.expected)
        else:
            reading = Reading(None, ("an earlier reader could not read it",))
        request = self.request
        reply = Reply(reading, step["reply"], drawn.draw, drawn.judge, request.prompt.id, request.expected)
        asked = {} if step.get("again") else {"rendered_digest": request.digest}
        return ReadReply(
            reply, {**step, **asked}, None if reading.value is None else reading.value.abstention()
        )
