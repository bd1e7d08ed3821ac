"""The line to a model: everything that stands between a driver and a judge, an embedder or a scorer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import numpy as np

from ragmetrics_core.errors import (
    AccessRefused,
    BudgetSpent,
    ModelError,
    ModelOverloaded,
    ModelTimeout,
    TransientModelError,
)
from ragmetrics_core.journal import (
    Journal,
    call_address,
    decode_rating,
    decode_reply,
    decode_vector,
    encode_rating,
    encode_reply,
    encode_vector,
)
from ragmetrics_core.models._batched import Vectors, in_rows
from ragmetrics_core.models._cascade import Decider, decider_of
from ragmetrics_core.models._foreign_errors import model_error
from ragmetrics_core.models._meter import Meter
from ragmetrics_core.models._pace import Allowance, Asked, Attempts, Pace, Turns
from ragmetrics_core.models._per_loop import PerLoop
from ragmetrics_core.models._redactor import Redactor, same_error
from ragmetrics_core.models._traffic import Traffic
from ragmetrics_core.models._wrapper import Wrapper, unwrapped
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Scorer

__all__ = ["Line"]

T = TypeVar("T")
Flights = dict[str, "asyncio.Future[Any]"]
"""Answers that are on their way, by address; None for one whose call was cancelled or did not answer it."""

# What refuses the first call, or so many in a row, refuses every one.
_REFUSALS_IN_A_ROW = 3


@dataclass(frozen=True)
class Kind(Generic[T]):
    """What a kind of model answers.

    Attributes:
        asked: what it is asked to do, as a part of the addresses of its answers.
        checked: takes what a model gave, how many answers were asked for, the model's identity, and what
            takes out what is private.
        encode, decode: to the form in which the journal stores one, and back.
    """

    asked: str
    checked: Callable[[Any, int, str, Redactor], Sequence[T]]
    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]


def _replies(given: Any, count: int, identity: str, redactor: Redactor) -> Sequence[Completion]:
    """At most so many replies and at least one, without what is private."""
    if not given:
        raise ModelError(f"the judge {identity} returned no reply")
    for reply in given:
        if not isinstance(reply, Completion) or not isinstance(cast("object", reply.text), str):
            kind = type(getattr(reply, "text", reply)).__name__
            raise ModelError(f"the judge {identity} replied with {kind}, not with text")
    return redactor.replies(given[:count])


def _vectors(given: Any, count: int, identity: str, _: Redactor) -> Sequence[Vectors]:
    """One vector for each text."""
    vectors = np.asarray(given)
    is_whole = vectors.ndim == 2 and len(vectors) == count and vectors.size
    if not is_whole or not np.isfinite(vectors).all():
        raise ModelError(
            f"the embedder {identity} gave an array of shape {vectors.shape} for {count} "
            "texts, or one with numbers that are not finite"
        )
    return list(vectors)


def _ratings(given: Any, count: int, identity: str, _: Redactor) -> Sequence[float]:
    """One number for each pair."""
    if len(given) != count or not np.isfinite(given).all():
        raise ModelError(
            f"the scorer {identity} gave {len(given)} ratings for {count} pairs, or "
            "numbers that are not finite"
        )
    return [float(rating) for rating in given]


_REPLIES: Final = Kind("reply", _replies, encode_reply, decode_reply)
_VECTORS: Final = Kind("embed", _vectors, encode_vector, decode_vector)
_RATINGS: Final = Kind("rate", _ratings, encode_rating, decode_rating)


@dataclass(frozen=True)
class Line(Wrapper):
    """A model, and all that stands between it and who asks.

    The address of a call says whether it is in flight, in the journal, or to be made. Each draw of a prompt,
    each text and each pair of texts is a call of its own. A call that is in flight already is not made again:
    who asks for the same waits for it. When it fails, all who wait get the error, and nothing is stored; when
    the one who made it is cancelled, one of those who wait makes it.

    A call that is made takes its turn first, then has its seconds, and is made again after a
    `TransientModelError`; any other failure is the caller's at once. Before attempt n + 1 it waits between 0
    and `first_delay * 2**(n - 1)` seconds, all equally likely ("full jitter": callers that failed together do
    not come back together), and as long as the server asked on top. Meanwhile others have its turn. The last
    failure is the caller's, with its class, its message and how many attempts there were. Replies and errors
    are cleaned of what is private as they come.

    The answers of a model whose identity may be another model's tomorrow (`cacheable` is False: a function
    without a chosen identity) are not stored, but calls in flight are shared all the same.

    A run makes a line to each of its models. Who makes one himself and hands it to several runs lets them
    share its pace: the calls of all of them together keep to its `traffic`.

    Attributes:
        inner: the judge, embedder or scorer.
        traffic: how it is asked.
        journal: where answers are kept; None keeps none.
        meter: counts what is asked.
        redactor: cleans what the model says; by default of the keys that can be seen in it.
        pace: how many calls may be in flight.

    Raises:
        RecordError: from a call: the journal cannot be read or written, or a stored answer was altered.
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
        """A run's line to a model; one that is a line already keeps its traffic and its pace."""
        if isinstance(model, Line):
            return replace(model, journal=journal, meter=meter, redactor=redactor)
        return cls(model, traffic, journal, meter, redactor)

    @property
    def concurrency(self) -> int:
        """How many calls may be in flight at most."""
        return self._pace.most

    @property
    def turns(self) -> Turns:
        """Who of the running loop's calls is in flight, and who waits."""
        return self._here().gate

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Replies from calls in flight or the journal, as many in a row as there are; else from the judge.

        Raises:
            ModelError: the judge did not answer, or not with text.
            RecordError: the journal failed.
        """
        # The driver fills in the digest; who calls a judge directly need not.
        digest = request.digest or digest_of(*(message.content for message in request.messages))
        identity = (self.decider and self.decider(request)) or self.identity
        addresses = _addresses(identity, digest, request)
        flights = self._here().flights
        while addresses:
            if stored := self._stored_run(addresses):
                return stored
            if addresses[0] not in flights:
                break
            joined: list[Completion] = []
            for flight in list(takewhile(bool, map(flights.get, addresses))):
                if flight is None or (reply := await asyncio.shield(flight)) is None:
                    break
                joined.append(reply)
            if joined:
                self.meter.tally.shared += len(joined)
                return joined
        if len(addresses) > 1:
            addresses = self._unknown_run(addresses)
        if len(addresses) < request.draws:
            request = request._replace(draws=len(addresses))
        return await self._ask(addresses, cast("Judge", self.inner).agenerate, request, _REPLIES)

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text; only those texts are embedded that the journal does not have.

        Raises:
            ModelError: the embedder did not answer, or not with one vector of finite numbers for each text.
            RecordError: the journal failed.
        """
        if not texts:
            return await cast("Embedder", self.inner).aembed(texts)
        vector_of = await self._each(
            [(text,) for text in texts], cast("Embedder", self.inner).aembed, _VECTORS
        )
        at = {text: position for position, (text,) in enumerate(vector_of)}
        journal = (self.journal and self.journal.path) or "in memory"
        otherwise = (
            f"the embedder {self.identity} gives vectors of another length than before: name it differently, "
            f"or prune its vectors from the journal {journal}"
        )
        return in_rows([*vector_of.values()], otherwise)[[at[text] for text in texts]]

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One number for each pair; only those pairs are rated that the journal does not have.

        Raises:
            ModelError: the scorer did not answer, or not with one finite number for each pair.
            RecordError: the journal failed.
        """
        if not pairs:
            return await cast("Scorer", self.inner).arate(pairs)
        asked = [(one, other) for one, other in pairs]
        rating_of = await self._each(asked, cast("Scorer", self.inner).arate, _RATINGS)
        return [rating_of[pair] for pair in asked]

    async def _ask(
        self,
        addresses: Sequence[str],
        call: Callable[[Any], Awaitable[Any]],
        asked: Asked,
        kind: Kind[T],
    ) -> Sequence[T]:
        """Make a call; store its answers, and give them to all who wait for them.

        It is made in the caller's own task: cancelling that ends it, and nothing is left behind.
        """
        flights, gate = self._here()
        loop = asyncio.get_running_loop()
        for address in addresses:
            flights[address] = loop.create_future()
        pace, timeout = self._pace, None if self._answers_at_once else self.traffic.timeout
        attempts = Attempts(self.traffic)
        answers: Sequence[T] = ()
        failure: BaseException | None = None
        try:
            while True:
                tokens = await pace.allowance.turn(asked) if pace.allowance else 0.0
                await gate.turn()
                slowdowns = pace.slowdowns
                attempts.begin()
                given: Sequence[Any] = ()
                begun = False
                limit = asyncio.timeout(timeout)
                try:
                    begun = self._begin(asked)
                    async with limit:
                        given = await call(asked)
                    answers = kind.checked(given, len(addresses), self.identity, self._redactor)
                    failure = None
                except (asyncio.CancelledError, GeneratorExit):
                    raise
                except BaseException as error:  # the boundary to foreign code: a model may raise anything
                    late = ModelTimeout(f"no answer within {timeout:g} s") if limit.expired() else None
                    failure = self._told(late or error)
                    if isinstance(failure, ModelOverloaded):
                        pace.slow_down(slowdowns)
                        gate.hold(failure.retry_after)
                finally:
                    gate.leave()
                    if begun and isinstance(asked, Generate):
                        self.meter.end(asked, given)
                # out of the handler: what is raised here must not carry what was taken out
                if failure is None:
                    break
                delay = attempts.delay(failure)
                if delay is None:
                    self.meter.tally.failed += not isinstance(failure, BudgetSpent)
                    raise _counted(failure, attempts.made)
                await asyncio.sleep(delay)
                self.meter.tally.retried += 1
            pace.succeeded(slowdowns)
            pace.refusals_left = _REFUSALS_IN_A_ROW
            if pace.allowance and isinstance(asked, Generate):
                pace.allowance.settle(tokens, given)
            self._keep(addresses, answers, kind)
            return answers
        except Exception as error:
            failure = error
            raise
        finally:
            # After a cancellation there is neither answer nor failure: one of those who wait takes over.
            for number, address in enumerate(addresses):
                flight = flights.pop(address)
                if isinstance(failure, Exception):
                    flight.set_exception(failure)
                    flight.exception()  # nobody need wait for it
                else:
                    flight.set_result(answers[number] if number < len(answers) else None)

    async def _each(
        self,
        items: Sequence[tuple[str, ...]],
        call: Callable[[Any], Awaitable[Any]],
        kind: Kind[T],
    ) -> dict[tuple[str, ...], T]:
        """The answer for each item: stored, from calls in flight, or from one new call for the rest."""
        address_of = {item: call_address(self.identity, kind.asked, *item) for item in items}
        answers: dict[tuple[str, ...], T] = {}
        flights = self._here().flights
        while len(answers) < len(address_of):
            others: dict[tuple[str, ...], asyncio.Future[T | None]] = {}
            mine: list[tuple[str, ...]] = []
            for item, address in address_of.items():
                if item in answers:
                    continue
                if (flight := flights.get(address)) is not None:
                    others[item] = flight
                elif (body := self._body(address)) is not None:
                    answers[item] = kind.decode(body)
                    self.meter.tally.cached += 1
                else:
                    mine.append(item)
            # One's own call comes first: two who wait for one another's calls would wait for ever.
            if mine:
                asked: Asked = [item[0] for item in mine] if kind is _VECTORS else mine
                addresses = [address_of[item] for item in mine]
                answers.update(zip(mine, await self._ask(addresses, call, asked, kind), strict=True))
            for item, flight in others.items():
                if (answer := await asyncio.shield(flight)) is not None:
                    answers[item] = answer
                    self.meter.tally.shared += 1
        return {item: answers[item] for item in address_of}

    def _begin(self, asked: Asked) -> bool:
        """Count a call; True, since it begins.

        Raises:
            BudgetSpent: a limit of the run is reached.
        """
        if isinstance(asked, Generate):
            self.meter.start()
        elif isinstance(asked[0], str):
            self.meter.tally.embedded += len(asked)
        return True

    def _told(self, error: BaseException) -> BaseException:
        """The error without what is private; it says whether the model refuses every call."""
        # a function may raise what its client does
        refusal = model_error(error, unwrapped(self.inner)) if isinstance(error, Exception) else error
        if isinstance(refusal, AccessRefused):
            self._pace.refusals_left -= 1
            refusal.is_lasting = self._pace.refusals_left <= 0
            error = refusal
        return self._redactor.error(error)

    def _body(self, address: str) -> bytes | None:
        return None if self._kept is None else self._kept.get(address)

    def _stored_run(self, addresses: Sequence[str]) -> Sequence[Completion]:
        """The stored replies, up to the first draw that has none."""
        if (first := self._body(addresses[0])) is None:
            return ()
        later = takewhile(lambda body: body is not None, map(self._body, addresses[1:]))
        bodies = [first, *later]
        self.meter.tally.cached += len(bodies)
        stored = [decode_reply(body) for body in bodies if body is not None]
        # a journal may hold what was not redacted: one that runs share, or replies from a file
        return stored if self._redactor.redact is None else self._redactor.replies(stored)

    def _unknown_run(self, addresses: Sequence[str]) -> Sequence[str]:
        """The first address and those after it, up to the first whose answer is known or on its way."""
        flights = self._here().flights
        later = takewhile(lambda each: each not in flights and self._body(each) is None, addresses[1:])
        return [addresses[0], *later]

    def _keep(self, addresses: Sequence[str], answers: Sequence[T], kind: Kind[T]) -> None:
        if self._kept is not None:
            for address, answer in zip(addresses, answers, strict=False):
                self._kept.put(address, kind.encode(answer), identity=self.identity)

    @cached_property
    def _kept(self) -> Journal | None:
        """The journal, if the model's answers may be kept."""
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
        """Whether the model never waits for anything, so that it needs no task and no limit of time."""
        # what its class says itself: one that is derived from it may wait
        return bool(vars(type(unwrapped(self.inner))).get("answers_at_once"))

    @cached_property
    def decider(self) -> Decider | None:
        """Says who of a judge that is made of several answers a request, by identity; None for any other."""
        return decider_of(self.inner)

    @cached_property
    def _here(self) -> "PerLoop[_Here]":
        return PerLoop(lambda: _Here({}, self._pace.gate()))


def _counted(failure: BaseException, attempts: int) -> BaseException:
    """The failure with the number of attempts; a copy, because several callers may hold it."""
    if attempts <= 1 or not isinstance(failure, TransientModelError):
        return failure
    counted = same_error(failure, f"{failure} (after {attempts} attempts)")
    counted.__cause__ = failure
    return counted


def _addresses(identity: str, digest: str, request: Generate[Any]) -> Sequence[str]:
    """The addresses of a request's draws."""
    first = request.draw
    return [call_address(identity, digest, str(first + number)) for number in range(request.draws)]


class _Here(NamedTuple):
    """What a line has of the running loop."""

    flights: Flights
    gate: Turns
