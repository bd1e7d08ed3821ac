"""Streams that are read by the user and noted on the way: the same objects, the same tokens, no delay."""

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
"""The span that a stream was made in, while it is read: a model is often asked only then."""


@dataclass(eq=False)
class Stream:
    """An answer that is still being read.

    Attributes:
        on_finish: takes the tokens, or the answer, once it is there.
        on_give_up: takes the reason why there is none.
    """

    on_finish: Callable[[Any], object]
    on_give_up: Callable[[SkipReason], object]
    tokens: list[Any] = field(default_factory=list[Any])
    is_settled: bool = False

    def finish(self, answer: Any = None) -> None:
        """The answer is there: the tokens, unless it is given."""
        self._settle(self.on_finish, self.tokens if answer is None else answer)

    def give_up(self, reason: SkipReason) -> None:
        """There will be no whole answer."""
        self._settle(self.on_give_up, reason)

    def _settle(self, how: Callable[[Any], object], outcome: Any) -> None:
        if not self.is_settled:
            self.is_settled = True
            how(outcome)

    def __del__(self) -> None:
        # a generator that nobody began to read is collected without a word
        self.give_up("abandoned")


def is_unread(response: object) -> bool:
    """Whether it is the stream of a query engine that nobody has read yet."""
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
    """Note the tokens of a response for a stream, which was made in a span."""
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
    """The stream ends as the reading of it does; everything is the reader's, and is only noted here."""
    try:
        yield
    except BaseException as error:
        stream.give_up(reason_of(error))
        raise
    stream.finish()


def _noted(tokens: Generator[T], stream: Stream, span: str) -> Generator[T]:
    """The tokens, as they come; closing it closes the inner one."""
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
                stream.tokens.append(_text(token))
                yield token
    finally:
        if hasattr(tokens, "close"):
            tokens.close()


async def _anoted(tokens: AsyncGenerator[T], stream: Stream, span: str) -> AsyncGenerator[T]:
    """The tokens, as they come; closing it closes the inner one."""
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
                stream.tokens.append(_text(token))
                yield token
    finally:
        if hasattr(tokens, "aclose"):
            await tokens.aclose()


def _text(token: Any) -> Any:
    """A token, or what is new in a chat's response."""
    return (token.delta or "") if hasattr(token, "delta") else token
