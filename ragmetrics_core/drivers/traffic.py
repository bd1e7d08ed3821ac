"""What goes to the models: how much at a time, how often again, for how long, and up to which cost.

A model of a run is wrapped so, from the outside in; each layer is one concern:

    Cached        answered calls are read from the journal, the same call in flight is made once
    Retrying      failures that may pass
    RateLimited   requests and tokens per minute
    Limited       calls in flight
    TimeLimited   seconds per call
    Metered       counts what is really asked, and stops at the limits of the run
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ragmetrics_core.drivers.asynchronous import Calls, Models, Tally
from ragmetrics_core.errors import AccessRefused, BudgetSpent, ConfigError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import (
    Batched,
    Cached,
    Limited,
    RateLimited,
    Retrying,
    TimeLimited,
    model_error,
)
from ragmetrics_core.models.wrapper import A, Wrapper, unwrapped
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Scorer, Usage

__all__ = ["Meter", "Metered", "Price", "Spending", "Traffic", "tokens_in", "wired"]

T = TypeVar("T")
W = TypeVar("W", bound=Wrapper)

# A token is about four characters of English; other languages need up to three times as many.
CHARACTERS_PER_TOKEN = 4

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(NamedTuple):
    """What a model costs, in any currency, for a million tokens."""

    prompt: Amount
    completion: Amount


@dataclass(frozen=True, kw_only=True)
class Spending:
    """Limits of a run; None for no limit.

    Attributes:
        calls: how often the judge may be asked, further attempts included; never exceeded, but for the
            further attempts of a judge that retries by itself: they are counted when they have been made.
        tokens: prompt and completion tokens of the judge together; estimated from the characters where the
            judge does not count them.
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
        self._started = 0
        self._uncounted = Usage(0, 0)
        self._retrying: list[tuple[Retrying, int]] = []
        self._limited = spending != Spending(price=spending.price)

    def watch(self, judge: Retrying) -> None:
        """Count the further attempts that a judge makes by itself from now on."""
        self._retrying.append((judge, judge.retries))

    def start(self) -> None:
        """A call of the judge begins.

        Raises:
            BudgetSpent: a limit of the run is reached.
        """
        if self._limited:
            self._count_calls()
            self._check()
        self._started += 1
        self._in_flight += 1
        self._count_calls()

    def end(self, request: Generate[Any], replies: Sequence[Completion]) -> None:
        """A call of the judge has ended, with these replies."""
        self._in_flight -= 1
        self._count_calls()
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

    def _count_calls(self) -> None:
        again = sum([judge.retries - before for judge, before in self._retrying]) if self._retrying else 0
        self.tally.calls = self._started + again

    def _check(self) -> None:
        limits, tally = self._spending, self.tally
        if limits.calls is not None and tally.calls >= limits.calls:
            raise BudgetSpent(f"the run may make no more than {limits.calls:,} calls")
        prompt = tally.prompt_tokens + self._uncounted.prompt_tokens
        completion = tally.completion_tokens + self._uncounted.completion_tokens
        ended = self._started - self._in_flight
        expected = 1 + self._in_flight / ended if ended else 1.0
        if limits.tokens is not None and (prompt + completion) * expected >= limits.tokens:
            raise BudgetSpent(f"the run may use no more than {limits.tokens:,} tokens")
        if limits.cost is not None and limits.price is not None:
            cost = (prompt * limits.price.prompt + completion * limits.price.completion) / 1e6
            if cost * expected >= limits.cost:
                raise BudgetSpent(f"the run may cost no more than {limits.cost:g}")


class Access:
    """Whether a model answers at all: what refuses the first call, or some in a row, refuses every one."""

    IN_A_ROW = 3

    def __init__(self) -> None:
        self._left = 1

    def granted(self) -> None:
        """A call was answered."""
        self._left = self.IN_A_ROW

    def refused(self, error: AccessRefused) -> None:
        """A call was refused; the error says whether that is likely to last."""
        self._left -= 1
        error.is_lasting = self._left <= 0


@dataclass(frozen=True)
class Metered(Wrapper):
    """Counts the calls that reach a model, and sees whether it refuses all of them."""

    meter: Meter = field(kw_only=True)
    access: Access = field(default_factory=Access, init=False, repr=False, compare=False)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Forward the request, if the run may still make it."""
        self.meter.start()
        replies: Sequence[Completion] = ()
        try:
            replies = await self._around(cast("Judge", self.inner).agenerate, request)
            return replies
        finally:
            self.meter.end(request, replies)

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Forward the texts."""
        self.meter.tally.embedded += len(texts)
        return await super().aembed(texts)

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        try:
            answer = await call(asked)
        except Exception as error:  # the boundary to foreign code: a function may raise what its client does
            told = model_error(error, unwrapped(self.inner))
            if not isinstance(told, AccessRefused):
                raise
            self.access.refused(told)
        else:
            self.access.granted()
            return answer
        # outside the handler: the client's error may hold the key
        raise told


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
        is_judge = isinstance(unwrapped(model), Judge)  # a wrapper has the methods of every kind
        if is_judge and (self.requests_per_minute or self.tokens_per_minute):
            layer = RateLimited(
                layer,
                requests_per_minute=self.requests_per_minute,
                tokens_per_minute=self.tokens_per_minute,
            )
        own = _own(model, Retrying)
        if own is None:
            layer = Retrying(layer, self.attempts)
        elif is_judge:
            meter.watch(own)
        return Cached(layer, journal)


def wired(models: Models, traffic: Traffic, journal: Journal, spending: Spending) -> Calls:
    """Calls to the models, with all layers around each of them."""
    counts = Tally()
    meter = Meter(counts, spending)
    judges = tuple(traffic.around(judge, journal, meter) for judge in models.judges)
    embedder = models.embedder and Batched(traffic.around(models.embedder, journal, meter))
    scorer = models.scorer and traffic.around(models.scorer, journal, meter)
    models = replace(models, judges=judges, embedder=embedder, scorer=scorer)
    return Calls(models, counts, ends_when_refused=True)


def tokens_in(characters: int) -> int:
    """About how many tokens a text of so many characters has."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def _own(model: object, kind: type[W]) -> W | None:
    """The wrapper of such a kind that a model is, or holds; None when there is none."""
    while isinstance(model, Wrapper):
        if isinstance(model, kind):
            return model
        model = model.inner
    return None
