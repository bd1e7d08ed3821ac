"""Observation of streams while the user reads them: same objects, same tokens, no delay."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import StreamingAgentChatResponse

from ragmetrics_core.live import SkipReason, reason_of

__all__ = ["READ", "Stream", "is_unread", "tee"]

T = TypeVar("T")

READ: ContextVar[str | None] = ContextVar("ragmetrics_llama_index_read", default=None)
"""The span that made the stream being read: a model is often called only then."""


@dataclass(eq=False)
class Stream:
    """An answer that is still being read.

    Attributes:
        on_finish: takes the tokens or the answer at the end.
        on_give_up: takes the reason for a missing answer.
    """

    on_finish: Callable[[Any], object]
    on_give_up: Callable[[SkipReason], object]
    tokens: list[Any] = field(default_factory=list[Any])
    is_settled: bool = False

    def finish(self, answer: Any = None) -> None:
        """Finish with the tokens, or with a given answer."""
        self._settle(self.on_finish, self.tokens if answer is None else answer)

    def give_up(self, reason: SkipReason) -> None:
        """Finish without a complete answer."""
        self._settle(self.on_give_up, reason)

    def _settle(self, how: Callable[[Any], object], outcome: Any) -> None:
        if not self.is_settled:
            self.is_settled = True
            how(outcome)

    def __del__(self) -> None:
        # a generator that nobody began to read is collected without a word
        self.give_up("abandoned")


def is_unread(response: object) -> bool:
    """Whether it is an unread stream of a query engine."""
    return (
        isinstance(response, StreamingResponse | AsyncStreamingResponse)
        and response.response_txt is None
        and cast("object", response.response_gen) is not None
    )


def tee(
    response: StreamingResponse | AsyncStreamingResponse | StreamingAgentChatResponse,
    stream: Stream,
    span: str,
) -> None:
    """Collect the tokens of a response for a stream that a span made."""
    if isinstance(response, StreamingAgentChatResponse):
        if response.chat_stream is not None:
            response.chat_stream = _noted(response.chat_stream, stream, span)
        if response.achat_stream is not None:
            response.achat_stream = _anoted(response.achat_stream, stream, span)
    elif isinstance(response, StreamingResponse):
        response.response_gen = _noted(response.response_gen, stream, span)
    else:
        response.response_gen = _anoted(response.response_gen, stream, span)


@contextmanager
def _settled(stream: Stream) -> Generator[None]:
    """End the stream like its reading; all results and errors go to the reader."""
    try:
        yield
    except BaseException as error:
        stream.give_up(reason_of(error))
        raise
    stream.finish()


def _noted(tokens: Generator[T], stream: Stream, span: str) -> Generator[T]:
    """The tokens as they arrive; closing it closes the inner one."""
    try:
        with _settled(stream):
            while True:
                read = READ.set(span)
                try:
                    token = next(tokens)
                except StopIteration:
                    break
                finally:
                    READ.reset(read)
                stream.tokens.append(_new_part(token))
                yield token
    finally:
        if hasattr(tokens, "close"):
            tokens.close()


async def _anoted(tokens: AsyncGenerator[T], stream: Stream, span: str) -> AsyncGenerator[T]:
    """The tokens as they arrive; closing it closes the inner one."""
    try:
        with _settled(stream):
            while True:
                read = READ.set(span)
                try:
                    token = await anext(tokens)
                except StopAsyncIteration:
                    break
                finally:
                    READ.reset(read)
                stream.tokens.append(_new_part(token))
                yield token
    finally:
        if hasattr(tokens, "aclose"):
            await tokens.aclose()


def _new_part(token: Any) -> Any:
    """A token, or the new part of a chat's response."""
    return (token.delta or "") if hasattr(token, "delta") else token
