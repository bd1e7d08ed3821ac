"""Replies of a language model with the log-probabilities of its yes and no tokens."""

import json
import re
from collections.abc import Mapping
from math import exp
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from ragmetrics_core.boundary.shapes import Json

__all__ = [
    "AlternativeTokens",
    "LogProbabilityReply",
    "holds_log_probabilities",
    "plain_reply",
    "yes_or_no_in",
]

_FROZEN = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)
_NO_LETTERS: Final = re.compile(r"[\W\d_]+")
_LINE: Final = re.compile(r"^[ \t]*(\d{1,6})[.):]? {1,9}(yes|no)\.?[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
# A quote within a JSON text has a backslash before it, so that only fields match.
_FIELD: Final = re.compile(r'"number"\s*:\s*(\d{1,6})\b|"verdict"\s*:\s*"(yes|no)"', re.IGNORECASE)


def yes_or_no_in(token: str) -> str | None:
    """The verdict that a token is, without case, spaces and marks; None for any other token.

    >>> yes_or_no_in(' "Yes'), yes_or_no_in("nothing")
    ('yes', None)
    """
    word = _NO_LETTERS.sub("", token).casefold() if len(token) <= 20 else ""
    return word if word in ("yes", "no") else None


class AlternativeTokens(BaseModel):
    """A yes or no token of a reply, with the likely tokens at its place.

    Attributes:
        place: its first character in the reply.
        token: the token.
        alternatives: tokens that are yes or no, with their log-probabilities.
    """

    model_config = _FROZEN

    place: Annotated[int, Field(ge=0)]
    token: str
    alternatives: tuple[tuple[str, Annotated[float, Field(le=0)]], ...]

    @property
    def probability(self) -> float | None:
        """P(yes) / (P(yes) + P(no)); a verdict that is not among the alternatives counts as 0."""
        shares = {"yes": 0.0, "no": 0.0}
        for token, logarithm in self.alternatives:
            if (word := yes_or_no_in(token)) is not None:
                shares[word] += exp(logarithm)
        total = sum(shares.values())
        return shares["yes"] / total if total else None


class LogProbabilityReply(BaseModel):
    """A reply with its yes and no tokens: {"logprobs": [...], "reply": "<raw reply>"}.

    Attributes:
        logprobs: the tokens.
        reply: the reply, as the model wrote it.
    """

    model_config = _FROZEN

    logprobs: tuple[AlternativeTokens, ...]
    reply: str

    def probability(self, number: int, verdict: str) -> float | None:
        """Probability of "yes" at the place of a verdict; None unless exactly one token is the verdict."""
        places = [place for found, place in _places(self.reply) if found == number]
        if len(places) != 1:
            return None
        covering = [
            each
            for each in self.logprobs
            if each.place <= places[0] < each.place + len(each.token)
            and self.reply.startswith(each.token, each.place)
        ]
        if len(covering) != 1 or yes_or_no_in(covering[0].token) != verdict:
            return None
        return covering[0].probability


def _places(reply: str) -> list[tuple[int, int]]:
    """Numbers with the first character of their verdicts: in lines, or in the fields of JSON in order."""
    lines = [(int(match[1]), match.start(2)) for match in _LINE.finditer(reply)]
    fields = [*_FIELD.finditer(reply)]
    numbers, verdicts = fields[::2], fields[1::2]
    if lines or any(not match[1] for match in numbers) or any(not match[2] for match in verdicts):
        return lines
    pairs = zip(numbers, verdicts, strict=False)
    return [(int(number[1]), verdict.start(2)) for number, verdict in pairs]


def holds_log_probabilities(value: Mapping[str, Json]) -> bool:
    """Whether a reply's JSON object holds another reply and its log-probabilities."""
    return set(value) == {"logprobs", "reply"}


def plain_reply(text: str) -> str:
    """The reply that a model wrote, without the log-probabilities and maps that a record keeps with it."""
    while text.startswith(('{"calibration": ', '{"logprobs": ')):
        try:
            value: Json = json.loads(text)
        except (ValueError, RecursionError):
            break
        inner = value.get("reply") if isinstance(value, dict) else None
        if not isinstance(inner, str):
            break
        text = inner
    return text
