"""Calls that are on their way: who asks for the same waits for them."""

import asyncio
from collections.abc import Sequence
from typing import Generic, TypeVar

__all__ = ["Flight", "joined_flights"]

T = TypeVar("T")


class Flight(Generic[T]):
    """One answer that is on its way, and who waits for it."""

    __slots__ = ("_answer", "_ended", "_failure", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []
        self._ended = False
        self._answer: T | None = None
        self._failure: Exception | None = None

    async def join(self) -> T | None:
        """The answer; None when the call was cancelled or did not answer this.

        Raises:
            Exception: what the call raised.
        """
        if not self._ended:
            # A future for each: cancelling one who waits then leaves the others alone.
            landed = asyncio.get_running_loop().create_future()
            self._waiting.append(landed)
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


async def joined_flights(flights: Sequence[Flight[T]]) -> list[T]:
    """The answers of calls in flight, up to the first that has none."""
    answers: list[T] = []
    for flight in flights:
        answer = await flight.join()
        if answer is None:
            break
        answers.append(answer)
    return answers
