"""What goes to the models: how much at a time, how often again, for how long, and up to which cost.

A model of a run is wrapped so, from the outside in; each layer is one concern:

    Cached        answered calls are read from the journal, the same call in flight is made once
    Retrying      failures that may pass
    RateLimited   requests and tokens per minute
    Limited       calls in flight
    TimeLimited   seconds per call
    Metered       counts what is really asked, and stops at the limits of the run
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.drivers.asynchronous import Calls, Models, Tally
from ragmetrics_core.errors import BudgetSpent, ConfigError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import Batched, Cached, Limited, RateLimited, Retrying, TimeLimited
from ragmetrics_core.models.wrapper import Wrapper
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Scorer

__all__ = ["Meter", "Metered", "Price", "Spending", "Traffic", "wired"]


class Price(NamedTuple):
    """What a model costs, in any currency, for a million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, kw_only=True)
class Spending:
    """Limits of a run; None for no limit.

    Attributes:
        calls: how often the judge may be asked, further attempts included; never exceeded.
        tokens: prompt and completion tokens of the judge together.
        cost: in the currency of `price`. Tokens and cost are known only after a reply, so each call in
            flight is taken to become what the calls so far were on average.
        price: what the judge costs; needed with `cost`.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price: Price | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "cost"):
            limit = getattr(self, name)
            if limit is not None and limit < 0:
                raise ConfigError(f"max_{name} must be 0 or more, or None, not {limit}")
        if self.cost is not None and self.price is None:
            raise ConfigError("max_cost needs the judge's price: pass prices=... with an entry for its model")


class Meter:
    """Counts what is asked of a run's models and refuses what would go beyond its limits."""

    def __init__(self, tally: Tally, spending: Spending) -> None:
        self.tally = tally
        self._spending = spending
        self._in_flight = 0
        self._limited = spending != Spending(price=spending.price)

    def start(self) -> None:
        """A call of the judge begins.

        Raises:
            BudgetSpent: a limit of the run is reached.
        """
        if self._limited:
            self._check()
        self.tally.calls += 1
        self._in_flight += 1

    def end(self, replies: Sequence[Completion]) -> None:
        """A call of the judge has ended, with these replies."""
        self._in_flight -= 1
        for reply in replies:
            if reply.usage:
                self.tally.prompt_tokens += reply.usage.prompt_tokens
                self.tally.completion_tokens += reply.usage.completion_tokens

    def _check(self) -> None:
        limits, tally = self._spending, self.tally
        if limits.calls is not None and tally.calls >= limits.calls:
            raise BudgetSpent(f"the run may make no more than {limits.calls:,} calls")
        prompt, completion = tally.prompt_tokens, tally.completion_tokens
        ended = tally.calls - self._in_flight
        expected = 1 + self._in_flight / ended if ended else 1.0
        if limits.tokens is not None and (prompt + completion) * expected >= limits.tokens:
            raise BudgetSpent(f"the run may use no more than {limits.tokens:,} tokens")
        if limits.cost is not None and limits.price is not None:
            cost = (prompt * limits.price.prompt + completion * limits.price.completion) / 1e6
            if cost * expected >= limits.cost:
                raise BudgetSpent(f"the run may cost no more than {limits.cost:g}")


@dataclass(frozen=True)
class Metered(Wrapper):
    """Counts the calls that reach a model."""

    meter: Meter = field(kw_only=True)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Forward the request, if the run may still make it."""
        self.meter.start()
        replies: Sequence[Completion] = ()
        try:
            replies = await super().agenerate(request)
            return replies
        finally:
            self.meter.end(replies)

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Forward the texts."""
        self.meter.tally.embedded += len(texts)
        return await super().aembed(texts)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """How a run asks its models.

    Attributes:
        concurrency: how many calls of a model may be in flight.
        timeout: seconds for one call, not counting the time that it waits for its turn; None for no limit.
        attempts: how often a call is made at most when it fails for reasons that may pass.
        requests_per_minute, tokens_per_minute: what the judge's server allows; None for no limit.
    """

    concurrency: int = 16
    timeout: float | None = 120.0
    attempts: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise ConfigError(f"concurrency must be at least 1, not {self.concurrency}")
        if self.timeout is not None and self.timeout <= 0:
            raise ConfigError(f"timeout must be above 0 seconds, or None, not {self.timeout:g}")
        if self.attempts < 1:
            raise ConfigError(f"attempts must be at least 1, not {self.attempts}")

    def around(self, model: Judge | Embedder | Scorer, journal: Journal, meter: Meter) -> Cached:
        """The model with all layers around it; retries that it brings along are kept."""
        layer: Judge | Embedder | Scorer = Metered(model, meter=meter)
        if self.timeout is not None:
            layer = TimeLimited(layer, self.timeout)
        layer = Limited(layer, self.concurrency)
        if isinstance(model, Judge) and (self.requests_per_minute or self.tokens_per_minute):
            layer = RateLimited(
                layer,
                requests_per_minute=self.requests_per_minute,
                tokens_per_minute=self.tokens_per_minute,
            )
        if not _has(model, Retrying):
            layer = Retrying(layer, self.attempts)
        return Cached(layer, journal)


def wired(models: Models, traffic: Traffic, journal: Journal, spending: Spending) -> Calls:
    """Calls to the models, with all layers around each of them."""
    counts = Tally()
    meter = Meter(counts, spending)
    judges = tuple(traffic.around(judge, journal, meter) for judge in models.judges)
    embedder = models.embedder and Batched(traffic.around(models.embedder, journal, meter))
    scorer = models.scorer and traffic.around(models.scorer, journal, meter)
    return Calls(replace(models, judges=judges, embedder=embedder, scorer=scorer), counts)


def _has(model: object, kind: type[Wrapper]) -> bool:
    """Whether a model is such a wrapper, or holds one."""
    while isinstance(model, Wrapper):
        if isinstance(model, kind):
            return True
        model = model.inner
    return False
