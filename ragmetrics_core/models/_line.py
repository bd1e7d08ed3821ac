"""The line to a model: everything that stands between a driver and a judge, an embedder or a scorer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np

from ragmetrics_core._branches import own_task
from ragmetrics_core.errors import AccessRefused, BudgetSpent, ModelError, ModelOverloaded
from ragmetrics_core.journal import Journal, call_address, decode_reply
from ragmetrics_core.models._access import Access
from ragmetrics_core.models._allowance import Asked
from ragmetrics_core.models._answers import RATINGS, REPLIES, VECTORS, Kind
from ragmetrics_core.models._attempts import Attempts
from ragmetrics_core.models._cascade import Decider, decider_of
from ragmetrics_core.models._deadline import DeadlineTimer
from ragmetrics_core.models._discreet import Discretion
from ragmetrics_core.models._flight import Flight, joined_flights
from ragmetrics_core.models._foreign_errors import model_error
from ragmetrics_core.models._meter import Meter
from ragmetrics_core.models._pace import Pace, Turns
from ragmetrics_core.models._per_loop import PerLoop
from ragmetrics_core.models._traffic import Traffic
from ragmetrics_core.models._vectors import Vectors, of_one_length
from ragmetrics_core.models._wrapper import Wrapper, unwrapped
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Scorer

__all__ = ["Line"]

T = TypeVar("T")
_ENDLESS: Final = nullcontext()


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
        discretion: cleans what the model says; by default of the keys that can be seen in it.
        pace: how many calls may be in flight.

    Raises:
        RecordError: from a call: the journal cannot be read or written, or a stored answer was altered.
    """

    traffic: Traffic = field(default_factory=Traffic)
    journal: Journal | None = None
    meter: Meter = field(default_factory=Meter, repr=False, compare=False)
    discretion: Discretion | None = field(default=None, repr=False, compare=False)
    pace: Pace | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pace is None:
            allowance = self.traffic.allowance() if isinstance(unwrapped(self.inner), Judge) else None
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
        discretion: Discretion,
    ) -> "Line":
        """A run's line to a model; one that is a line already keeps its traffic and its pace."""
        if isinstance(model, Line):
            return replace(model, journal=journal, meter=meter, discretion=discretion)
        return cls(model, traffic, journal, meter, discretion)

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
            flying = list(takewhile(bool, map(flights.get, addresses)))
            if joined := await joined_flights(cast("list[Flight[Completion]]", flying)):
                self.meter.tally.shared += len(joined)
                return joined
        if len(addresses) > 1:
            addresses = self._unknown_run(addresses)
        if len(addresses) < request.draws:
            request = request._replace(draws=len(addresses))
        return await self._ask(addresses, cast("Judge", self.inner).agenerate, request, REPLIES)

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text; only those texts are embedded that the journal does not have.

        Raises:
            ModelError: the embedder did not answer, or not with one vector of finite numbers for each text.
            RecordError: the journal failed.
        """
        if not texts:
            return await cast("Embedder", self.inner).aembed(texts)
        text_at = {call_address(self.identity, "embed", text): text for text in dict.fromkeys(texts)}

        def embed(addresses: Sequence[str]) -> Awaitable[Sequence[Vectors]]:
            asked = [text_at[address] for address in addresses]
            return self._ask(addresses, cast("Embedder", self.inner).aembed, asked, VECTORS)

        rows = await self._each(list(text_at), embed, VECTORS)
        at = {text: position for position, text in enumerate(text_at.values())}
        try:
            return np.stack(of_one_length(rows))[[at[text] for text in texts]]
        except ValueError:
            journal = self.journal.path if self.journal else None
            raise ModelError(
                f"the embedder {self.identity} gives vectors of another length than before: name it "
                f"differently, or prune its vectors from the journal {journal or 'in memory'}"
            ) from None

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One number for each pair; only those pairs are rated that the journal does not have.

        Raises:
            ModelError: the scorer did not answer, or not with one finite number for each pair.
            RecordError: the journal failed.
        """
        if not pairs:
            return await cast("Scorer", self.inner).arate(pairs)
        different = dict.fromkeys(map(tuple, pairs))
        pair_at = {call_address(self.identity, "rate", *pair): pair for pair in different}

        def rate(addresses: Sequence[str]) -> Awaitable[Sequence[float]]:
            asked = [cast("tuple[str, str]", pair_at[each]) for each in addresses]
            return self._ask(addresses, cast("Scorer", self.inner).arate, asked, RATINGS)

        ratings = await self._each(list(pair_at), rate, RATINGS)
        rating_of = dict(zip(pair_at.values(), ratings, strict=True))
        return [rating_of[pair] for pair in pairs]

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
        flights, gate, alarm = self._here()
        for address in addresses:
            flights[address] = Flight()
        pace, timeout = self._pace, None if self._answers_at_once else self.traffic.timeout
        attempts = Attempts(self.traffic)
        answers: Sequence[T] = ()
        failure: BaseException | None = None
        try:
            while True:
                attempts.wait()
                tokens = await pace.allowance.turn(asked) if pace.allowance else 0.0
                if not gate.entered():
                    await gate.turn()
                slowdowns = pace.slowdowns
                attempts.begin()
                given: Sequence[Any] = ()
                begun = False
                try:
                    if not self._answers_at_once:
                        await own_task()
                    begun = self._begin(asked)
                    with _ENDLESS if timeout is None else alarm.after(timeout):
                        given = await call(asked)
                    answers = kind.checked(given, len(addresses), self.identity, self._discretion)
                    failure = None
                except (asyncio.CancelledError, GeneratorExit):
                    raise
                except BaseException as error:  # the boundary to foreign code: a model may raise anything
                    failure = self._told(error)
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
                    raise attempts.counted(failure)
                await asyncio.sleep(delay)
                self.meter.tally.retried += 1
            pace.succeeded(slowdowns)
            self._access.granted()
            if pace.allowance and isinstance(asked, Generate):
                pace.allowance.settle(tokens, given)
            self._keep(addresses, answers, kind)
            return answers
        except Exception as error:
            failure = error
            raise
        finally:
            # After a cancellation there is neither answer nor failure: one of those who wait takes over.
            told = failure if isinstance(failure, Exception) else None
            for number, address in enumerate(addresses):
                flights.pop(address).end(answers[number] if number < len(answers) else None, told)

    async def _each(
        self,
        addresses: Sequence[str],
        ask: Callable[[Sequence[str]], Awaitable[Sequence[T]]],
        kind: Kind[T],
    ) -> list[T]:
        """The answer for each address: stored, from calls in flight, or from one new call for the rest."""
        found: dict[str, T] = {}
        flights = self._here().flights
        while len(found) < len(addresses):
            others: dict[str, Flight[T]] = {}
            mine: list[str] = []
            for address in addresses:
                if address in found:
                    continue
                if (flight := flights.get(address)) is not None:
                    others[address] = flight
                elif (body := self._body(address)) is not None:
                    found[address] = kind.decode(body)
                    self.meter.tally.cached += 1
                else:
                    mine.append(address)
            # One's own call comes first: two who wait for one another's calls would wait for ever.
            if mine:
                found.update(zip(mine, await ask(mine), strict=True))
            for address, flight in others.items():
                answer = await flight.join()
                if answer is not None:
                    found[address] = answer
                    self.meter.tally.shared += 1
        return [found[address] for address in addresses]

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
            self._access.refused(refusal)
            error = refusal
        return self._discretion.error(error)

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
        return stored if self._discretion.redact is None else self._discretion.replies(stored)

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
    def _discretion(self) -> Discretion:
        return self.discretion or Discretion(self.inner)

    @cached_property
    def _answers_at_once(self) -> bool:
        """Whether the model never waits for anything, so that it needs no task and no limit of time."""
        # what its class says itself: one that is derived from it may wait
        return bool(vars(type(unwrapped(self.inner))).get("answers_at_once"))

    @cached_property
    def _access(self) -> Access:
        return Access()

    @cached_property
    def decider(self) -> Decider | None:
        """Says who of a judge that is made of several answers a request, by identity; None for any other."""
        return decider_of(self.inner)

    @cached_property
    def _here(self) -> "PerLoop[_Here]":
        return PerLoop(lambda: _Here({}, self._pace.gate(), DeadlineTimer()))


def _addresses(identity: str, digest: str, request: Generate[Any]) -> Sequence[str]:
    """The addresses of a request's draws."""
    first = request.draw
    return [call_address(identity, digest, str(first + number)) for number in range(request.draws)]


class _Here(NamedTuple):
    """What a line has of the running loop."""

    flights: dict[str, Flight[Any]]
    gate: Turns
    alarm: DeadlineTimer
