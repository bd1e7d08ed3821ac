"""A small OpenAI-compatible server for tests: real HTTP on the loopback, answering what a test prepares."""

import asyncio
import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

__all__ = ["Answer", "OpenAIServer", "Seen", "chat", "closed_port", "vectors"]


class Seen(NamedTuple):
    """A request that came in."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server sends.

    Attributes:
        status: the status code.
        body: JSON to be, or bytes as they are.
        headers: further headers.
        content_type: of the body.
        cut: end the connection after so many bytes of the body; 0 ends it before the first byte of all.
        raw: sent in place of everything else.
        silent: never answer.
        trickle: seconds between the bytes of the body.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    cut: int | None = None
    raw: bytes | None = None
    silent: bool = False
    trickle: float | None = None


def chat(
    *texts: str, usage: Mapping[str, int] | None = None, finish_reason: str | None = "stop", **message: Any
) -> Answer:
    """A chat completion with one choice for each text; or one with a message of other fields."""
    messages = [{"content": text} for text in texts] or [message]
    choices = [
        {"index": index, "finish_reason": finish_reason, "message": {"role": "assistant", **each}}
        for index, each in enumerate(messages)
    ]
    body = {"object": "chat.completion", "model": "served-model", "choices": choices}
    return Answer(body=body | ({"usage": usage} if usage else {}))


def vectors(embeddings: Iterable[Any]) -> Answer:
    """An answer of an embeddings server: one embedding for each text, in order."""
    return Answer(
        body={"data": [{"index": index, "embedding": each} for index, each in enumerate(embeddings)]}
    )


def closed_port() -> int:
    """A port of the loopback on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class OpenAIServer:
    """The server, on an event loop and a thread of its own; use it with `with`.

    Args:
        answer: the answer to every request, or a function from the request to its answer.
        tls: speak TLS in this way; the address says http all the same.
    """

    def __init__(
        self, answer: Answer | Callable[[Seen], Answer], *, tls: ssl.SSLContext | None = None
    ) -> None:
        self.answer = answer
        self._tls = tls
        self.seen: list[Seen] = []
        self.connections = 0
        self._changed = threading.Condition()
        self._open = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-server")

    @property
    def base_url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        # hundreds connect at once, and none may be turned away while this thread has to wait
        serving = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls, backlog=2048)
        self._server = self._call(serving)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def all_connections_end(self, *, within: float = 20.0) -> bool:
        """Whether the clients close all connections; waits no longer than that takes."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, timeout=within)

    def sees(self, requests: int, *, within: float = 20.0) -> bool:
        """Whether so many requests come in; waits no longer than that takes."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.seen) >= requests, timeout=within)

    def _call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _stop(self) -> None:
        self._server.close()
        # A connection that is being accepted becomes a task only now.
        await asyncio.sleep(0)
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _count(self, change: int) -> None:
        with self._changed:
            self._open += change
            self.connections += max(change, 0)
            self._changed.notify_all()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count(+1)
        try:
            # Python 3.11 complains of a task for a connection that ends by being cancelled.
            with contextlib.suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
                while await self._answer_one(reader, writer):
                    pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self._count(-1)

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays."""
        start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", "0"))) or b"null")
        seen = Seen(start.split()[1], headers, body)
        with self._changed:
            self.seen.append(seen)
            self._changed.notify_all()
        answer = self.answer(seen) if callable(self.answer) else self.answer
        if answer.silent:
            await reader.read()  # until the client goes
            return False
        sent = _bytes(answer)
        if answer.trickle is not None:
            head = sent.index(b"\r\n\r\n") + 4
            writer.write(sent[:head])
            for place in range(head, len(sent)):
                await asyncio.sleep(answer.trickle)
                writer.write(sent[place : place + 1])
                await writer.drain()
        else:
            writer.write(sent)
        await writer.drain()
        return answer.cut is None and answer.raw is None


def _bytes(answer: Answer) -> bytes:
    if answer.raw is not None:
        return answer.raw
    body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
    headers = {"content-type": answer.content_type, "content-length": str(len(body)), **answer.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    if answer.cut == 0:
        return b""
    return f"HTTP/1.1 {answer.status} Status\r\n{head}\r\n".encode("latin-1") + body[: answer.cut]
