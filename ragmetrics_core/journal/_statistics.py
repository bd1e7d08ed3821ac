"""What a journal holds of each model: how many answers, how large, and since when."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from ragmetrics_core.journal._bodies import usage_of

if TYPE_CHECKING:
    from ragmetrics_core.journal._database import AnsweredCall

__all__ = ["IdentityStatistics", "statistics_of"]


class IdentityStatistics(NamedTuple):
    """What the journal holds of one model.

    Attributes:
        identity: the model, by endpoint, name and settings.
        calls: answered calls: replies, vectors and ratings.
        bytes: size of the stored answers.
        prompt_tokens, completion_tokens: what they cost, as far as the replies say.
        first_created, last_created: when the first and the last answer came.
        last_used: when one was last asked for, to the day.
    """

    identity: str
    calls: int
    bytes: int
    prompt_tokens: int
    completion_tokens: int
    first_created: datetime
    last_created: datetime
    last_used: datetime


def statistics_of(calls: "Iterable[AnsweredCall]") -> tuple[IdentityStatistics, ...]:
    """What answered calls come to for each model, by identity."""
    found: dict[str, IdentityStatistics] = {}
    for call in calls:
        created, used = (datetime.fromtimestamp(each, UTC) for each in (call.created, call.used))
        tokens = usage_of(call.body) or (0, 0)
        one = IdentityStatistics(call.identity, 1, len(call.body), *tokens, created, created, used)
        known = found.get(call.identity)
        found[call.identity] = one if known is None else _together(known, one)
    return tuple(found[identity] for identity in sorted(found))


def _together(one: IdentityStatistics, other: IdentityStatistics) -> IdentityStatistics:
    return IdentityStatistics(
        one.identity,
        one.calls + other.calls,
        one.bytes + other.bytes,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        min(one.first_created, other.first_created),
        max(one.last_created, other.last_created),
        max(one.last_used, other.last_used),
    )
