"""A model whose answers are kept in a journal, so that the same call is never made twice."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Generic, TypeVar, cast

import numpy as np

from ragmetrics_core.errors import ModelError
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
from ragmetrics_core.models.stopwatch import Stopwatch
from ragmetrics_core.models.vectors import Vectors, of_one_length
from ragmetrics_core.models.wrapper import PerLoop, Wrapper
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Scorer

__all__ = ["Cached"]

T = TypeVar("T")


@dataclass
class _Counts:
    hits: int = 0
    shared: int = 0


@dataclass(frozen=True)
class Cached(Wrapper):
    """Answers from the journal what was answered before, and stores every new answer.

    Each draw of a prompt, each text and each pair of texts is a call of its own, with its own address. A call
    that is in flight already is not made again: who asks for the same waits for it. When it fails, all who
    wait get the error, and nothing is stored; when the one who made it is cancelled, one of those who wait
    makes it.

    The answers of a model whose identity may be another model's tomorrow (`cacheable` is False: a function
    without a chosen identity) are not stored, but calls in flight are shared all the same.

    Attributes:
        inner: the judge, embedder or scorer.
        journal: where answers are kept.

    Raises:
        RecordError: from a call: the journal cannot be read or written, or a stored answer was altered.
    """

    journal: Journal
    _counts: _Counts = field(default_factory=_Counts, init=False, repr=False, compare=False)

    @property
    def hits(self) -> int:
        """How many draws, texts and pairs the journal answered."""
        return self._counts.hits

    @property
    def shared(self) -> int:
        """How many draws, texts and pairs were answered by a call that was in flight already."""
        return self._counts.shared

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Replies from the journal, as many in a row as it has; else from the judge.

        Raises:
            ModelError: the judge did not answer.
            RecordError: the journal failed.
        """
        addresses = self._draws(request)
        flights = self._flights()
        while True:
            stored = self._stored_run(addresses)
            if stored:
                self._counts.hits += len(stored)
                return stored
            if not addresses or addresses[0] not in flights:
                break
            flying = list(takewhile(bool, map(flights.get, addresses)))
            joined = await _joined(cast("list[_Flight[Completion]]", flying))
            if joined:
                self._counts.shared += len(joined)
                return joined
        mine = addresses
        if len(addresses) > 1:
            # A later draw may be known already; then only those before it are asked for.
            mine = addresses[:1]
            mine += takewhile(lambda each: each not in flights and self._stored(each) is None, addresses[1:])
            if len(mine) < len(addresses):
                request = replace(request, draws=len(mine))
        return await self._lead(mine, flights, cast("Judge", self.inner).agenerate(request), encode_reply)

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text; only those texts are embedded that the journal does not have.

        Raises:
            ModelError: the embedder did not answer, or not with one vector of finite numbers for each text.
            RecordError: the journal failed.
        """
        embedder, identity = cast("Embedder", self.inner), self.identity
        if not texts:
            return await embedder.aembed(texts)
        text_at = {call_address(identity, "embed", text): text for text in dict.fromkeys(texts)}

        async def embed(addresses: Sequence[str]) -> Sequence[Vectors]:
            vectors = np.asarray(await embedder.aembed([text_at[address] for address in addresses]))
            is_whole = vectors.ndim == 2 and len(vectors) == len(addresses) and vectors.size
            if not is_whole or not np.isfinite(vectors).all():
                raise ModelError(
                    f"the embedder {identity} gave an array of shape {vectors.shape} for {len(addresses)} "
                    "texts, or one with numbers that are not finite"
                )
            return list(vectors)

        rows = await self._each(list(text_at), embed, encode_vector, decode_vector)
        at = {text: position for position, text in enumerate(text_at.values())}
        try:
            return np.stack(of_one_length(rows))[[at[text] for text in texts]]
        except ValueError:
            raise ModelError(
                f"the embedder {identity} gives vectors of another length than before: name it "
                f"differently, or prune its vectors from the journal {self.journal.path or 'in memory'}"
            ) from None

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """One number for each pair; only those pairs are rated that the journal does not have.

        Raises:
            ModelError: the scorer did not answer, or not with one finite number for each pair.
            RecordError: the journal failed.
        """
        scorer, identity = cast("Scorer", self.inner), self.identity
        if not pairs:
            return await scorer.arate(pairs)
        pair_at = {call_address(identity, "rate", *pair): pair for pair in dict.fromkeys(map(tuple, pairs))}

        async def rate(addresses: Sequence[str]) -> Sequence[float]:
            ratings = await scorer.arate([cast("tuple[str, str]", pair_at[each]) for each in addresses])
            if len(ratings) != len(addresses) or not np.isfinite(ratings).all():
                raise ModelError(
                    f"the scorer {identity} gave {len(ratings)} ratings for {len(addresses)} pairs, or "
                    "numbers that are not finite"
                )
            return [float(rating) for rating in ratings]

        ratings = await self._each(list(pair_at), rate, encode_rating, decode_rating)
        rating_of = dict(zip(pair_at.values(), ratings, strict=True))
        return [rating_of[pair] for pair in pairs]

    def _draws(self, request: Generate[Any]) -> list[str]:
        """The address of each draw that is asked for."""
        # The driver fills in the digest; who calls a judge directly need not.
        digest = request.digest or digest_of(*(message.content for message in request.messages))
        identity, first = self.identity, request.draw
        return [call_address(identity, digest, str(draw)) for draw in range(first, first + request.draws)]

    def _stored_run(self, addresses: Sequence[str]) -> list[Completion]:
        """The stored replies, up to the first draw that has none."""
        stored: list[Completion] = []
        for address in addresses:
            body = self._stored(address)
            if body is None:
                break
            stored.append(decode_reply(body))
        return stored

    def _stored(self, address: str) -> bytes | None:
        return self.journal.get(address) if self._keeps else None

    async def _each(
        self,
        addresses: Sequence[str],
        ask: Callable[[Sequence[str]], Awaitable[Sequence[T]]],
        encode: Callable[[T], bytes],
        decode: Callable[[bytes], T],
    ) -> list[T]:
        """The answer for each address: stored, from calls in flight, or from one new call for the rest."""
        found: dict[str, T] = {}
        flights = self._flights()
        while len(found) < len(addresses):
            others: dict[str, _Flight[T]] = {}
            mine: list[str] = []
            for address in addresses:
                if address in found:
                    continue
                if (flight := flights.get(address)) is not None:
                    others[address] = flight
                elif (body := self._stored(address)) is not None:
                    found[address] = decode(body)
                    self._counts.hits += 1
                else:
                    mine.append(address)
            # One's own call comes first: two who wait for one another's calls would wait for ever.
            if mine:
                found.update(zip(mine, await self._lead(mine, flights, ask(mine), encode), strict=True))
            for address, flight in others.items():
                answer = await flight.join()
                if answer is not None:
                    found[address] = answer
                    self._counts.shared += 1
        return [found[address] for address in addresses]

    async def _lead(
        self,
        addresses: Sequence[str],
        flights: "dict[str, _Flight[Any]]",
        call: Awaitable[Sequence[T]],
        encode: Callable[[T], bytes],
    ) -> Sequence[T]:
        """Make a call; store its answers, and give them to all who wait for them.

        It is made in the caller's own task: a time limit around it ends it, and nothing is left behind.
        """
        watch = Stopwatch()
        for address in addresses:
            flights[address] = _Flight(watch)
        answers: Sequence[T] = ()
        failure: Exception | None = None
        try:
            with watch:
                answers = (await call)[: len(addresses)]
            if self._keeps:
                identity = self.identity
                for address, answer in zip(addresses, answers, strict=False):
                    self.journal.put(address, encode(answer), identity=identity)
            return answers
        except Exception as error:  # whatever a model raises goes to all who wait for this call
            failure = error
            raise
        finally:
            # After a cancellation there is neither answer nor failure: one of those who wait takes over.
            for number, address in enumerate(addresses):
                flights.pop(address).end(answers[number] if number < len(answers) else None, failure)

    @cached_property
    def _flights(self) -> "PerLoop[dict[str, _Flight[Any]]]":
        return PerLoop(dict)

    @cached_property
    def _keeps(self) -> bool:
        return bool(getattr(self.inner, "cacheable", True))


class _Flight(Generic[T]):
    """One answer that is on its way, and who waits for it."""

    __slots__ = ("_answer", "_ended", "_failure", "_waiting", "_watch")

    def __init__(self, watch: Stopwatch) -> None:
        self._watch = watch
        self._waiting: list[asyncio.Future[None]] = []
        self._ended = False
        self._answer: T | None = None
        self._failure: Exception | None = None

    async def join(self) -> T | None:
        """The answer; None when the call was cancelled or did not answer this.

        A time limit around stands still whenever the call in flight waits for its turn.

        Raises:
            Exception: what the call raised.
        """
        if not self._ended:
            # A future for each: cancelling one who waits then leaves the others alone.
            landed = asyncio.get_running_loop().create_future()
            self._waiting.append(landed)
            with self._watch.followed():
                await landed
        if self._failure is not None:
            raise self._failure
        return self._answer

    def end(self, answer: T | None, failure: Exception | None) -> None:
        """Wake up all who wait."""
        self._ended, self._answer, self._failure = True, answer, failure
        for landed in self._waiting:
            if not landed.done():
                landed.set_result(None)


async def _joined(flights: Sequence[_Flight[T]]) -> list[T]:
    """The answers of calls in flight, up to the first that has none."""
    answers: list[T] = []
    for flight in flights:
        answer = await flight.join()
        if answer is None:
            break
        answers.append(answer)
    return answers
