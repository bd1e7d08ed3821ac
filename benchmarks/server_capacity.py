"""Whether the local server could be the bottleneck: what it answers in a second, how late its answers come.

Run: python -m benchmarks.server_capacity

The client is as bare as a client can be: it writes prepared bytes and counts the bytes that come back.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.one_run import posts
from benchmarks.server import ServerProcess, Settings
from benchmarks.table import Row, printed

__all__ = ["Capacity", "measure"]

LATENCY = 0.05
LARGEST_DELAY = 0.002
IN_FLIGHT = 256
# More than any client here can ask in a second; the official one takes over 0.4 ms for a call.
RATE = 2000


class Capacity(NamedTuple):
    """What the server can do.

    Attributes:
        per_second: requests a second without latency.
        cpu: the server's own CPU seconds for a request.
        added: seconds that the middle answer comes late, at 50 ms, 256 in flight and 2,000 requests a second.
        added_worst: the same for the 99th of a hundred answers.
    """

    per_second: float
    cpu: float
    added: float
    added_worst: float

    def rows(self) -> Iterator[Row]:
        """The server against what any client here can ask."""
        yield Row(
            "the server's answers a second without latency",
            f"{self.per_second:,.0f}",
            f"CPU {self.cpu * 1e3:.2f} ms each",
        )
        yield Row(
            f"its delay at 50 ms, {IN_FLIGHT} in flight, {RATE:,} requests a second",
            f"{self.added * 1e3:.1f} ms",
            f"99 %: {self.added_worst * 1e3:.1f} ms",
            self.added > LARGEST_DELAY,
        )


class _Asking(asyncio.Protocol):
    """One connection that asks the same again and again, until the calls are used up."""

    def __init__(self, request: bytes, calls: int, pause: float, times: list[float]) -> None:
        self._request, self._left, self._pause, self._times = request, calls, pause, times
        self._seen = bytearray()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self) -> None:
        """Send the request."""
        self._left -= 1
        self._start = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head, _, body = self._seen.partition(b"\r\n\r\n")
        if len(body) < int(head.rpartition(b"content-length: ")[2]):
            return
        self._seen.clear()
        self._times.append(time.perf_counter() - self._start)
        if self._left <= 0:
            self.done.set_result(None)
            self._transport.close()
        elif self._pause:
            asyncio.get_running_loop().call_later(self._pause, self.ask)
        else:
            self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed a connection"))


def request_of(body: bytes) -> bytes:
    """A request for a chat completion as bytes."""
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def ask(port: int, body: bytes, *, calls: int, connections: int, cycle: float = 0.0) -> list[float]:
    """Seconds that each call took; with a cycle, each connection asks once in so many seconds."""
    loop = asyncio.get_running_loop()
    times: list[float] = []
    pause = max(0.0, cycle - LATENCY)
    askers = []
    for _ in range(connections):
        _, asker = await loop.create_connection(
            lambda: _Asking(request_of(body), calls // connections, pause, times), "127.0.0.1", port
        )
        askers.append(asker)
    for number, asker in enumerate(askers):
        loop.call_later(cycle * number / connections, asker.ask)
    await asyncio.gather(*(asker.done for asker in askers))
    return times


def capacity(body: bytes) -> Capacity:
    """Measure the server with this request."""
    with ServerProcess() as server:
        asyncio.run(ask(server.port, body, calls=200, connections=10))
        start, cpu = time.perf_counter(), server.counts().cpu_seconds
        asyncio.run(ask(server.port, body, calls=10_000, connections=50))
        seconds, cpu = time.perf_counter() - start, server.counts().cpu_seconds - cpu
        server.set(Settings(latency=LATENCY))
        times = asyncio.run(
            ask(server.port, body, calls=8_000, connections=IN_FLIGHT, cycle=IN_FLIGHT / RATE)
        )
    late = sorted(each - LATENCY for each in times)
    return Capacity(10_000 / seconds, cpu / 10_000, late[len(late) // 2], late[len(late) * 99 // 100])


def measure() -> Capacity:
    """Measure with a call to the judge of a usual evaluation, the one in the middle by length."""
    chats = (post.body for post in posts(5) if post.path == "/chat/completions")
    bodies = sorted((json.dumps(body).encode() for body in chats), key=len)
    return capacity(bodies[len(bodies) // 2])


def main() -> None:
    """Measure and print."""
    printed("Server", measure().rows())


if __name__ == "__main__":
    main()
