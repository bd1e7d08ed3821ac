"""What a run has asked of its models, and the limits that it must not pass."""

from collections.abc import Sequence
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
    """What a run has done so far.

    Attributes:
        calls: how often the judge was really asked, further attempts included.
        retried: how often a call of any model was made again.
        shared: calls that another metric of the sample, or another sample, had in flight or answered.
        cached: replies that were read from the journal.
        embedded: texts that were really embedded.
        failed: calls that failed for good.
        prompt_tokens, completion_tokens: as the judge counted them.
        asked_again: calls among them that asked again, after a reply that was not in its form.
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
    """Counts what is asked of a run's models and refuses what would go beyond its budget.

    Args:
        tally: what was counted before.
        budget: what the run may spend.
        price: what the judge costs; needed for a budget with a cost.
    """

    def __init__(
        self, tally: Tally | None = None, budget: Budget | None = None, price: Price | None = None
    ) -> None:
        self.tally = tally or Tally()
        self._budget = budget or Budget()
        self._price = price
        self._in_flight = 0
        self._uncounted = Usage(0, 0)
        self._limited = self._budget.has_limit

    def start(self) -> None:
        """A call of the judge begins.

        Raises:
            BudgetSpent: a limit of the run is reached.
        """
        if self._limited:
            self._check()
        self.tally.calls += 1
        self._in_flight += 1

    def end(self, request: Generate[Any], replies: Sequence[Completion]) -> None:
        """A call of the judge has ended, with these replies."""
        self._in_flight -= 1
        self.tally.asked_again += bool(request.again)
        used = [reply.usage for reply in replies if reply.usage]
        for usage in used:
            self.tally.prompt_tokens += usage.prompt_tokens
            self.tally.completion_tokens += usage.completion_tokens
        if replies and not used and self._limited:
            # a limit must hold for a judge that does not count, too; the tally has only what was counted
            prompt = tokens_in(sum(len(message.content) for message in request.messages))
            completion = sum(tokens_in(len(reply.text)) for reply in replies)
            known = self._uncounted
            self._uncounted = Usage(known.prompt_tokens + prompt, known.completion_tokens + completion)

    def _check(self) -> None:
        limits, tally = self._budget, self.tally
        if limits.calls is not None and tally.calls >= limits.calls:
            raise BudgetSpent(f"the run may make no more than {limits.calls:,} calls")
        prompt = tally.prompt_tokens + self._uncounted.prompt_tokens
        completion = tally.completion_tokens + self._uncounted.completion_tokens
        ended = tally.calls - self._in_flight
        expected = 1 + self._in_flight / ended if ended else 1.0
        if limits.tokens is not None and (prompt + completion) * expected >= limits.tokens:
            raise BudgetSpent(f"the run may use no more than {limits.tokens:,} tokens")
        if limits.cost is not None and self._price is not None:
            cost = (prompt * self._price.prompt + completion * self._price.completion) / 1e6
            if cost * expected >= limits.cost:
                raise BudgetSpent(f"the run may cost no more than {limits.cost:g}")


def tokens_in(characters: int) -> int:
    """About how many tokens a text of so many characters has."""
    return -(-characters // CHARACTERS_PER_TOKEN)
