"""Counts of a run's model calls, and the limits on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragmetrics_core.errors import BudgetSpent
from ragmetrics_core.models._budget import Budget, Price
from ragmetrics_core.protocol import Completion, Generate, Usage

__all__ = ["CHARACTERS_PER_TOKEN", "Meter", "Tally", "tokens_in"]

# A token is about four characters of English; other languages need up to three times as many.
CHARACTERS_PER_TOKEN = 4


@dataclass
class Tally:
    """Counts of a run so far.

    Attributes:
        calls: calls of the judge, retries included.
        retried: retries of calls of any model.
        shared: calls answered by the same call of another metric or sample.
        cached: replies read from the journal.
        embedded: texts sent to the embedder.
        failed: calls that failed after all attempts.
        prompt_tokens, completion_tokens: the judge's own counts.
        asked_again: those of `calls` made because a reply was not in its form.
    """

    calls: int = 0
    retried: int = 0
    shared: int = 0
    cached: int = 0
    embedded: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    asked_again: int = 0


class Meter:
    """Count a run's model calls and refuse those beyond its budget.

    Args:
        tally: earlier counts.
        budget: limits of the run.
        price: the judge's price; required if the budget limits the cost.
    """

    def __init__(
        self, tally: Tally | None = None, budget: Budget | None = None, price: Price | None = None
    ) -> None:
        self.tally = tally or Tally()
        self._budget = budget or Budget()
        self._price = price
        self._in_flight = 0
        self._uncounted = Usage(0, 0)
        self.is_limited = self._budget.has_limit

    def start(self) -> None:
        """Start a call of the judge.

        Raises:
            BudgetSpent: a limit of the run is reached.
        """
        if self.is_limited:
            self._check()
        self.tally.calls += 1
        self._in_flight += 1

    def end(self, request: Generate[Any], replies: Sequence[Completion]) -> None:
        """End a call of the judge with these replies."""
        self._in_flight -= 1
        self.tally.asked_again += bool(request.again)
        used = [reply.usage for reply in replies if reply.usage]
        for usage in used:
            self.tally.prompt_tokens += usage.prompt_tokens
            self.tally.completion_tokens += usage.completion_tokens
        if replies and not used and self.is_limited:
            # a limit must hold for a judge that does not count, too; the tally has only what was counted
            prompt = tokens_in(sum(len(message.content) for message in request.messages))
            completion = sum(tokens_in(len(reply.text)) for reply in replies)
            known = self._uncounted
            self._uncounted = Usage(known.prompt_tokens + prompt, known.completion_tokens + completion)

    @property
    def spent(self) -> float:
        """Largest spent share of any limit; 0.0 without a limit."""
        return max((used / limit if limit else 1.0 for used, limit, _ in self._limits()), default=0.0)

    def _check(self) -> None:
        for used, limit, message in self._limits():
            if used >= limit:
                raise BudgetSpent(message)

    def _limits(self) -> Iterator[tuple[float, float, str]]:
        """Use of each limit, the limit, and the message if it is reached."""
        limits, tally = self._budget, self.tally
        if limits.calls is not None:
            yield tally.calls, limits.calls, f"the run may make no more than {limits.calls:,} calls"
        prompt = tally.prompt_tokens + self._uncounted.prompt_tokens
        completion = tally.completion_tokens + self._uncounted.completion_tokens
        ended = tally.calls - self._in_flight
        expected = 1 + self._in_flight / ended if ended else 1.0
        if limits.tokens is not None:
            tokens = (prompt + completion) * expected
            yield tokens, limits.tokens, f"the run may use no more than {limits.tokens:,} tokens"
        if limits.cost is not None and self._price is not None:
            cost = (prompt * self._price.prompt + completion * self._price.completion) / 1e6
            yield cost * expected, limits.cost, f"the run may cost no more than {limits.cost:g}"


def tokens_in(characters: int) -> int:
    """Estimated tokens of a text with this many characters."""
    return -(-characters // CHARACTERS_PER_TOKEN)
