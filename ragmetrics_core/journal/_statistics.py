"""Statistics of a journal by model: number, size and age of its answers."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ragmetrics_core.journal._bodies import usage_of

if TYPE_CHECKING:
    from ragmetrics_core.journal._database import AnsweredCall

__all__ = ["IdentityStatistics", "statistics_of"]


class IdentityStatistics(NamedTuple):
    """Statistics of one model in a journal.

    Attributes:
        identity: the model, by endpoint, name and settings.
        calls: number of answered calls (replies, vectors and ratings).
        bytes: size of the stored answers.
        prompt_tokens, completion_tokens: tokens used, as far as the replies state them.
        first_created, last_created: times of the first and last answer.
        last_used: last use of an answer, to the day.
    """

    identity: str
    calls: int
    bytes: int
    prompt_tokens: int
    completion_tokens: int
    first_created: datetime
    last_created: datetime
    last_used: datetime


# What the figures of two answers come to, in the order of the fields after the first.
_TOGETHER: tuple[Callable[[Any], Any], ...] = (sum, sum, sum, sum, min, max, max)


def statistics_of(calls: "Iterable[AnsweredCall]") -> tuple[IdentityStatistics, ...]:
    """Statistics of answered calls for each model, by identity."""
    statistics: dict[str, IdentityStatistics] = {}
    for call in calls:
        created, used = (datetime.fromtimestamp(seconds, UTC) for seconds in (call.created, call.used))
        tokens = usage_of(call.body) or (0, 0)
        one = IdentityStatistics(call.identity, 1, len(call.body), *tokens, created, created, used)
        before = statistics.get(call.identity)
        if before is not None:
            values = zip(_TOGETHER, before[1:], one[1:], strict=True)
            one = IdentityStatistics(call.identity, *(together(pair) for together, *pair in values))
        statistics[call.identity] = one
    return tuple(statistics[identity] for identity in sorted(statistics))
