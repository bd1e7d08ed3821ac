"""What one call through the official `openai` client costs, on each HTTP transport that it offers.

A small server in a process of its own answers every chat completion after a fixed delay, so the CPU time of
this process is the client's alone. Run it with `python benchmarks/openai_transport.py`; compare the lines of
one run only.
"""

import argparse
import asyncio
import importlib.util
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import NamedTuple

import openai
from openai import HttpxBinaryResponseContent as Response

REPLY = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": json.dumps({"statements": ["A sentence."] * 10})},
        }
    ],
    "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
}
PROMPT = "A sentence of a retrieved context, one of many. " * 100


class Cost(NamedTuple):
    """What the calls took, in milliseconds for each call."""

    cpu: float
    wall: float


class _Answering(asyncio.Protocol):
    """One connection of the server: reads a request by its content length, replies after the delay."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._seen = b""
        body = json.dumps(REPLY).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._reply = head.encode() + body

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head, end, body = self._seen.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) >= length:
            self._seen = body[length:]
            asyncio.get_running_loop().call_later(self._delay, self._transport.write, self._reply)


def serve(delay: float, port: Connection) -> None:
    """Answer on a free port of the loopback, whose number goes to the parent."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Answering(delay), "127.0.0.1", 0, backlog=1024)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


async def measure(call: Callable[[], Awaitable[object]], *, calls: int, in_flight: int) -> Cost:
    """CPU and wall time of the calls, the first ones (which open the connections) left out."""
    left = iter(range(calls))

    async def work() -> None:
        for _ in left:
            await call()

    await asyncio.gather(*(call() for _ in range(in_flight)))
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return Cost(cpu * 1000 / calls, wall * 1000 / calls)


async def through_openai(base_url: str, *, typed: bool, aiohttp: bool, calls: int, in_flight: int) -> Cost:
    """Calls by the client's typed method, or by `post` with the JSON read here, as `OpenAIJudge` does it."""
    http_client = openai.DefaultAioHttpClient() if aiohttp else None
    async with openai.AsyncOpenAI(
        base_url=base_url, api_key="-", max_retries=0, http_client=http_client
    ) as client:

        async def call() -> object:
            if typed:
                return await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": PROMPT}]
                )
            body = {"model": "m", "messages": [{"role": "user", "content": PROMPT}]}
            answer = await client.post(f"{base_url}/chat/completions", cast_to=Response, body=body)
            return json.loads(answer.content)

        return await measure(call, calls=calls, in_flight=in_flight)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds until the server answers")
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many measurements is shown")
    args = parser.parse_args()
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(args.delay, there), daemon=True)
    server.start()
    base_url = f"http://127.0.0.1:{here.recv()}/v1"
    transports = ["httpx2", "aiohttp"] if importlib.util.find_spec("aiohttp") else ["httpx2"]
    print(f"openai {openai.__version__}, {args.calls} calls, answered after {args.delay * 1000:g} ms")
    print(
        f"{'transport':<10}{'called by':<10}{'in flight':>10}"
        f"{'CPU ms/call':>13}{'wall ms/call':>14}{'ideal':>8}"
    )
    for in_flight in (16, 64):
        for transport in transports:
            for called in ("method", "post"):
                cost = min(
                    asyncio.run(
                        through_openai(
                            base_url,
                            typed=called == "method",
                            aiohttp=transport == "aiohttp",
                            calls=args.calls,
                            in_flight=in_flight,
                        )
                    )
                    for _ in range(args.repeats)
                )
                ideal = args.delay * 1000 / in_flight
                print(
                    f"{transport:<10}{called:<10}{in_flight:>10}"
                    f"{cost.cpu:>13.2f}{cost.wall:>14.2f}{ideal:>8.2f}"
                )
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
