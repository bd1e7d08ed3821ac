"""A judge that follows a script."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ragmetrics_core.boundary.shapes import is_list
from ragmetrics_core.errors import ModelRefused
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["ScriptedJudge"]


@dataclass
class ScriptedJudge:
    """A judge with prepared replies that remembers its requests.

    Attributes:
        replies: replies by prompt name: one reply for every call, a list of replies for successive calls (the
            last one is repeated), or a function from the request to a reply. A reply is a text, a mapping
            (sent as JSON), a `Completion`, or an exception to raise. A mapping with the list `statements`
            splits a text in any form that a prompt asks for; the sentences of the statements stay unknown.
        identity: name of the judge in records.
        asked: all requests so far, in order.

    >>> judge = ScriptedJudge({"statements": {"statements": ["Paris is in France."]}})
    """

    answers_at_once: ClassVar[bool] = True

    replies: Mapping[str, Any] | Callable[[Generate[Any]], Any]
    identity: str = "scripted"
    asked: list[Generate[Any]] = field(default_factory=list)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The scripted replies, one for each draw.

        Raises:
            ModelRefused: the script has no reply for this prompt.
        """
        self.asked.append(request)
        return [_completion(self._reply(request, draw), request) for draw in range(request.draws)]

    def count(self, prompt: str) -> int:
        """Number of requests for a prompt."""
        return sum(request.prompt.name == prompt for request in self.asked)

    def _reply(self, request: Generate[Any], draw: int) -> Any:
        if callable(self.replies):
            return self.replies(request)
        name = request.prompt.name
        if name not in self.replies:
            raise ModelRefused(f"the script has no reply for the prompt {name!r}")
        scripted = self.replies[name]
        if is_list(scripted):
            turn = self.count(name) - 1 + draw
            return scripted[min(turn, len(scripted) - 1)]
        return scripted


def _completion(reply: Any, request: Generate[Any]) -> Completion:
    if isinstance(reply, Exception):
        raise reply
    if isinstance(reply, Completion):
        return reply
    if isinstance(reply, str):
        return Completion(reply)
    is_split = "statements" in reply and request.prompt.numbered is not None
    return Completion(json.dumps(reply, ensure_ascii=False), held_to="graded" if is_split else None)
