"""Streams that are read by the user and noted on the way: the same objects, the same tokens, no delay."""

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, TypeVar

from ragmetrics_core.live import Capture, SkipReason, reason_of

__all__ = ["Stream", "noted", "noted_async"]

T = TypeVar("T")


class Stream:
    """An answer that is still being read.

    Args:
        capture: what is submitted once the answer is there.
        submit: takes the capture.
        skip: takes the reason why there is no answer.
    """

    def __init__(
        self, capture: Capture, submit: Callable[[Capture], object], skip: Callable[[SkipReason], None]
    ) -> None:
        self._capture = capture
        self._submit = submit
        self._skip = skip
        self._is_settled = False
        self._tokens: list[Any] = []

    def note(self, token: Any) -> None:
        """One more token."""
        self._tokens.append(token)

    def finish(self, answer: Any = None) -> None:
        """The answer is there: the tokens, unless it is given."""
        if not self._is_settled:
            self._is_settled = True
            self._capture.answer = self._tokens if answer is None else answer
            self._submit(self._capture)

    def give_up(self, reason: SkipReason) -> None:
        """There will be no whole answer."""
        if not self._is_settled:
            self._is_settled = True
            self._skip(reason)

    def __del__(self) -> None:
        # a generator that nobody began to read is collected without a word
        self.give_up("abandoned")


def noted(tokens: Generator[T], stream: Stream, text: Callable[[T], Any]) -> Generator[T]:
    """The tokens, as they come; closing it closes the inner one."""
    try:
        for token in tokens:
            stream.note(text(token))
            yield token
    except BaseException as error:  # everything is the reader's; it is only noted here
        stream.give_up(reason_of(error))
        raise
    else:
        stream.finish()
    finally:
        if hasattr(tokens, "close"):
            tokens.close()


async def noted_async(
    tokens: AsyncGenerator[T], stream: Stream, text: Callable[[T], Any]
) -> AsyncGenerator[T]:
    """The tokens, as they come; closing it closes the inner one."""
    try:
        async for token in tokens:
            stream.note(text(token))
            yield token
    except BaseException as error:  # everything is the reader's; it is only noted here
        stream.give_up(reason_of(error))
        raise
    else:
        stream.finish()
    finally:
        if hasattr(tokens, "aclose"):
            await tokens.aclose()
