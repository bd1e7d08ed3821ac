"""The line to a model: everything between a driver and a judge, an embedder or a scorer."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

from ragmetrics_core.errors import (
    AccessRefused,
    BudgetSpent,
    ModelOverloaded,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.journal import Journal, call_address
from ragmetrics_core.models._answers import RATINGS, REPLIES, VECTORS, AnswerKind
from ragmetrics_core.models._batched import Vectors, in_rows
from ragmetrics_core.models._foreign_errors import model_error
from ragmetrics_core.models._pace import Allowance, Pace, Turns
from ragmetrics_core.models._traced import LINE_CALL, LineCall
from ragmetrics_core.models._traffic import Traffic
from ragmetrics_core.models.branches import own_task
from ragmetrics_core.models.meter import Meter
from ragmetrics_core.models.per_loop import PerLoop
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.models.wrapper import Decider, Wrapper, decider_of, unwrapped
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Scorer

__all__ = ["Line"]

# What a model is asked: a judge gets a request, an embedder texts, a scorer pairs of texts.
Asked = Generate[Any] | Sequence[str] | Sequence[tuple[str, ...]]

K = TypeVar("K")
T = TypeVar("T")
Flights = dict[str, "asyncio.Future[Any]"]
"""Answers in flight, by address; None if the call was cancelled or did not answer it."""

# What refuses the first call, or so many in a row, refuses every one.
_REFUSALS_IN_A_ROW = 3


@dataclass(frozen=True)
class Line(Wrapper):
    """A model with everything between it and its callers: cache, limits, time limits and retries.

    Each draw of a prompt, each text and each pair of texts is a call with an address of its own. A call that
    is in flight is not made again: other callers wait for it. If it fails, all waiting callers get the error
    and nothing is stored. If the caller that made it is cancelled, a waiting caller makes it.

    A call waits for its turn; then its time limit starts. It is retried after a `TransientModelError`; any
    other failure is raised at once. The delay before attempt n + 1 is uniform between 0 and `first_delay *
    2**(n - 1)` seconds ("full jitter": calls that failed together do not return together), plus the wait that
    the server asked for. Meanwhile other calls have its turn. The last failure is raised with its class, its
    message and the number of attempts. Replies and errors are redacted on arrival.

    Answers are not stored if the model's identity may belong to a different model later (`cacheable` is
    False: a function without a digest), but calls in flight are still shared.

    A run makes a line to each of its models. Pass one line to several runs to apply its `traffic` to all of
    them together.

    Attributes:
        inner: the judge, embedder or scorer.
        traffic: limits, time limits and retries.
        journal: the cache of answers, or None.
        meter: counts calls and tokens.
        redactor: redacts what the model returns; by default the keys found in the model.
        pace: limits the calls in flight.

    Raises:
        RecordError: raised by a call if the journal cannot be read or written, or a stored answer was
            altered.
    """

    traffic: Traffic = field(default_factory=Traffic)
    journal: Journal | None = None
    meter: Meter = field(default_factory=Meter, repr=False, compare=False)
    redactor: Redactor | None = field(default=None, repr=False, compare=False)
    pace: Pace | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pace is None:
            limits = (self.traffic.requests_per_minute, self.traffic.tokens_per_minute)
            is_limited = any(limits) and isinstance(unwrapped(self.inner), Judge)
            allowance = Allowance(*limits) if is_limited else None
            pace = Pace(min(self.traffic.concurrency, super().concurrency), allowance)
            object.__setattr__(self, "pace", pace)

    @classmethod
    def to(
        cls,
        model: Judge | Embedder | Scorer,
        traffic: Traffic,
        *,
        journal: Journal | None,
        meter: Meter,
        redactor: Redactor,
    ) -> "Line":
        """A run's line to a model; an existing line keeps its traffic and its pace."""
        if isinstance(model, Line):
            return replace(model, journal=journal, meter=meter, redactor=redactor)
        return cls(model, traffic, journal, meter, redactor)

    @property
    def concurrency(self) -> int:
        """Maximum number of calls in flight."""
        return self._pace.most

    @property
    def turns(self) -> Turns:
        """The running loop's calls in flight and waiting calls."""
        return self._pace.gate()

    def agenerate(self, request: Generate[Any]) -> Awaitable[Sequence[Completion]]:
        """Replies for all draws, from the journal, from calls in flight, or from the judge.

        Raises:
            ModelError: the judge failed, or did not return text.
            RecordError: the journal failed.
        """
        # The driver fills in the digest; who calls a judge directly need not.
        digest = request.digest or digest_of(*(message.content for message in request.messages))
        identity = (self.decider and self.decider(request)) or self.identity
        draws = range(request.draw, request.draw + request.draws)
        address_of = {draw: call_address(identity, digest, str(draw)) for draw in draws}

        def asking(draws: Sequence[int]) -> Asked:
            """The request for the first of these draws and the consecutive ones."""
            if len(draws) == request.draws:
                return request
            run = [draw for number, draw in enumerate(draws) if draw == draws[0] + number]
            return request._replace(draw=run[0], draws=len(run))

        return self._answers(address_of, asking, cast("Judge", self.inner).agenerate, REPLIES)

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """One row per text; only texts missing from the journal are embedded.

        Raises:
            ModelError: the embedder failed, or did not return one vector of finite numbers per text.
            RecordError: the journal failed.
        """
        call = cast("Embedder", self.inner).aembed
        if not texts:
            return await call(texts)
        address_of = {text: call_address(self.identity, "embed", text) for text in texts}
        vectors = await self._answers(address_of, list[str], call, VECTORS)
        at = {text: position for position, text in enumerate(address_of)}
        journal = (self.journal and self.journal.path) or "in memory"
        otherwise = (
            f"the embedder {self.identity} now gives vectors of a different length: rename it, "
            f"or prune its vectors from the journal {journal}"
        )
        return in_rows(vectors, otherwise)[[at[text] for text in texts]]

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One number per pair; only pairs missing from the journal are rated.

        Raises:
            ModelError: the scorer failed, or did not return one finite number per pair.
            RecordError: the journal failed.
        """
        call = cast("Scorer", self.inner).arate
        if not pairs:
            return await call(pairs)
        address_of = {pair: call_address(self.identity, "rate", *pair) for pair in map(tuple, pairs)}
        ratings = await self._answers(address_of, list[tuple[str, ...]], call, RATINGS)
        rating_of = dict(zip(address_of, ratings, strict=True))
        return [rating_of[tuple(pair)] for pair in pairs]

    async def _answers(
        self,
        address_of: Mapping[K, str],
        asking: Callable[[Sequence[K]], Asked],
        call: Callable[[Any], Awaitable[Any]],
        kind: AnswerKind[T],
    ) -> list[T]:
        """The answer for each item, in order: stored, in flight, or from new calls."""
        answers: dict[K, T] = {}
        flights = self._flights()
        while len(answers) < len(address_of):
            others: dict[K, asyncio.Future[T | None]] = {}
            mine: list[K] = []
            for item, address in address_of.items():
                if item in answers:
                    continue
                if (flight := flights.get(address)) is not None:
                    others[item] = flight
                elif (answer := self._stored(address, kind)) is not None:
                    answers[item] = answer
                else:
                    mine.append(item)
            # One's own call comes first: two who wait for one another's calls would wait for ever.
            if mine:
                asked = asking(mine)
                if isinstance(asked, Generate):
                    mine = mine[: asked.draws]
                addresses = [address_of[item] for item in mine]
                replies = await self._ask(addresses, asked, call, kind, flights)
                answers.update(zip(mine, replies, strict=False))
            for item, flight in others.items():
                if (answer := await asyncio.shield(flight)) is not None:
                    answers[item] = answer
                    self.meter.tally.shared += 1
        return [answers[item] for item in address_of]

    async def _ask(
        self,
        addresses: Sequence[str],
        asked: Asked,
        call: Callable[[Any], Awaitable[Any]],
        kind: AnswerKind[T],
        flights: Flights,
    ) -> Sequence[T]:
        """Make a call, store its answers, and give them to all waiting callers.

        The call runs in the caller's task: cancelling the task ends it.
        """
        loop = asyncio.get_running_loop()
        for address in addresses:
            flights[address] = loop.create_future()
        request = asked if isinstance(asked, Generate) else None
        pace, traffic, gate = self._pace, self.traffic, self.turns
        timeout = None if self._answers_at_once else traffic.timeout
        answers: Sequence[T] = ()
        ended: Exception | None = None
        attempt, spent = 0, 0.0
        try:
            while True:
                attempt += 1
                tokens = await pace.allowance.turn(request) if pace.allowance and request else 0.0
                await gate.turn()
                slowdowns, begun = pace.slowdowns, loop.time()
                given: Sequence[Any] = ()
                failure: BaseException | None = None
                is_counted = False
                limit = asyncio.timeout(timeout)
                try:
                    if not self._answers_at_once:
                        await own_task()
                    is_counted = self._begin(asked)
                    LINE_CALL.set(LineCall(self._redactor, limit))
                    async with limit:
                        given = await call(asked)
                    answers = kind.checked(given, len(addresses), self.identity, self._redactor)
                except (asyncio.CancelledError, GeneratorExit):
                    raise
                except BaseException as error:  # the boundary to foreign code: a model may raise anything
                    late = ModelTimeout(f"no answer within {timeout:g} s") if limit.expired() else None
                    failure = self._failure(late or error)
                    if isinstance(failure, ModelOverloaded):
                        pace.slow_down(slowdowns)
                        gate.hold(failure.retry_after)
                finally:
                    LINE_CALL.set(None)
                    gate.leave()
                    if is_counted and request:
                        self.meter.end(request, given)
                if failure is None:
                    pace.succeeded(slowdowns)
                    pace.refusals_left = _REFUSALS_IN_A_ROW
                    if pace.allowance and request:
                        pace.allowance.settle(tokens, given)
                    if self._kept is not None:
                        for address, answer in zip(addresses, answers, strict=False):
                            self._kept.put(address, kind.encode(answer), identity=self.identity)
                    return answers
                # out of the handler: what is raised here must not carry what was taken out
                if isinstance(failure, TransientModelError):
                    attempt += failure.requests - 1
                may_pass = isinstance(failure, TransientModelError) and attempt < traffic.attempts
                delay = _delay(failure, attempt, traffic) if may_pass else 0.0
                spent += delay + (loop.time() - begun if attempt > 1 else 0.0)
                if not may_pass or spent > traffic.patience:
                    self.meter.tally.failed += not isinstance(failure, BudgetSpent)
                    raise _counted(failure, attempt)
                await asyncio.sleep(delay)
                self.meter.tally.retried += 1
        except Exception as error:
            ended = error
            raise
        finally:
            # After a cancellation there is neither answer nor failure: one of those who wait takes over.
            for number, address in enumerate(addresses):
                flight = flights.pop(address)
                if ended is not None:
                    flight.set_exception(ended)
                    flight.exception()  # nobody need wait for it
                else:
                    flight.set_result(answers[number] if number < len(answers) else None)

    def _begin(self, asked: Asked) -> bool:
        """Count a call and return True.

        Raises:
            BudgetSpent: a limit of the run is reached.
        """
        if isinstance(asked, Generate):
            self.meter.start()
        elif isinstance(asked[0], str):
            self.meter.tally.embedded += len(asked)
        return True

    def _failure(self, error: BaseException) -> BaseException:
        """The redacted error; it says whether a retry may help, and whether the model refuses every call."""
        # A function may raise the errors of its client. Any other error stays as it is: it may be a mistake
        # in the function.
        failure = model_error(error, unwrapped(self.inner)) if isinstance(error, Exception) else error
        if isinstance(failure, AccessRefused):
            self._pace.refusals_left -= 1
            failure.is_lasting = self._pace.refusals_left <= 0
        if isinstance(failure, AccessRefused | TransientModelError):
            error = failure
        return self._redactor.error(error)

    def _stored(self, address: str, kind: AnswerKind[T]) -> T | None:
        """The stored answer, or None."""
        if self._kept is None or (body := self._kept.get(address)) is None:
            return None
        self.meter.tally.cached += 1
        answer = kind.decode(body)
        if self._redactor.redact is None:
            return answer
        # a journal may hold what was not redacted: one that runs share, or replies from a file
        return kind.checked([answer], 1, self.identity, self._redactor)[0]

    @cached_property
    def _kept(self) -> Journal | None:
        """The journal, or None if the model's answers may not be stored."""
        return self.journal if getattr(self.inner, "cacheable", True) else None

    @cached_property
    def _pace(self) -> Pace:
        assert self.pace is not None
        return self.pace

    @cached_property
    def _redactor(self) -> Redactor:
        return self.redactor or Redactor(self.inner)

    @cached_property
    def _answers_at_once(self) -> bool:
        """Whether the model answers without waiting, so that it needs no task and no time limit."""
        # what its class says itself: one that is derived from it may wait
        return bool(vars(type(unwrapped(self.inner))).get("answers_at_once"))

    @cached_property
    def decider(self) -> Decider | None:
        """Function that picks the sub-judge, for a judge made of several; None for any other."""
        return decider_of(self.inner)

    @cached_property
    def _flights(self) -> PerLoop[Flights]:
        """The running loop's answers in flight."""
        return PerLoop(dict)


def _delay(failure: BaseException, attempt: int, traffic: Traffic) -> float:
    """Seconds from a failed attempt to the next one."""
    most = min(traffic.longest_delay, traffic.first_delay * 2.0 ** (attempt - 1))
    return random.uniform(0.0, most) + max(0.0, getattr(failure, "retry_after", None) or 0.0)


def _counted(failure: BaseException, attempts: int) -> BaseException:
    """The failure with the number of attempts; a copy, because several callers may hold the original."""
    if attempts <= 1 or not isinstance(failure, TransientModelError):
        return failure
    counted = failure.saying(f"{failure} (after {attempts} attempts)")
    counted.__cause__ = failure
    return counted
