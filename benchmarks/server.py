"""A local server that speaks the OpenAI protocol, and fails as often as it is told to.

    python -m benchmarks.server --port 0 --latency 0.05 --fault 429=0.1 --fault hang=0.05

It prints its port. It answers chat completions and embeddings as `answers` says, and is controlled so:

    GET  /counts     what it has seen so far, as JSON
    POST /reset      forget that
    POST /settings   change settings: a JSON object of those that change, e.g. {"faults": {"500": 0.2}}

`ServerProcess` starts one from Python, in a process of its own.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self, cast

from benchmarks.answers import FAULTS, Answer, Counts, Fault, Model, Settings

__all__ = ["FAULTS", "Counts", "Fault", "ServerProcess", "Settings"]

_ROOT = Path(__file__).resolve().parent.parent
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class ServerProcess:
    """A server in a process of its own, for `with`; it ends with the block, and with the process that has it.

    Args:
        settings: how it behaves from the start.
        port: where it listens; 0 for any free port. A fixed one lets a server be started again.
    """

    def __init__(self, settings: Settings | None = None, *, port: int = 0) -> None:
        self._settings = settings or Settings()
        self.port = port

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def __enter__(self) -> Self:
        paths = filter(None, (str(_ROOT), os.environ.get("PYTHONPATH")))
        # Its input is a pipe that nobody writes to: however this process ends, the server ends with it.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.server", "--port", str(self.port), "--until-input-ends"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.__exit__()
            raise RuntimeError("the server did not start; its error output says why")
        self.port = int(line)
        self.set(self._settings)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def set(self, settings: Settings) -> None:
        """Behave like this from now on."""
        self._ask("/settings", asdict(settings))

    def reset(self) -> None:
        """Start to count again."""
        self._ask("/reset", {})

    def counts(self) -> Counts:
        """What it has seen."""
        found = self._ask("/counts")
        by_name = {name: Counter(of) for name, of in found.items() if isinstance(of, dict)}
        return Counts(**{**found, **by_name})

    def _ask(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        # Not by way of a proxy that the environment names.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{self.port}{path}", data, timeout=60) as answer:
            return cast("dict[str, Any]", json.load(answer))


_HELD = -1
# Seconds until it is seen whether a request still has to wait.
_HELD_FOR = 0.01


class _Connection(asyncio.Protocol):
    """One connection, kept alive; requests have a content length, and clients wait for their answer."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._seen = bytearray()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._hanging = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._seen += data
        while (end := self._seen.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._seen[: end + 2])
            length = int(found[1]) if (found := _LENGTH.search(head)) else 0
            if len(self._seen) < (last := end + 4 + length):
                return
            body = bytes(self._seen[end + 4 : last])
            del self._seen[:last]
            self._handle(head.split(b" ", 2)[1].decode(), body)

    def connection_lost(self, exc: Exception | None) -> None:
        counts = self._model.counts
        gone = len(self._timers)
        counts.in_flight -= gone + self._hanging
        if gone:
            counts.outcomes["gone"] += gone
        for timer in self._timers.values():
            timer.cancel()

    def _handle(self, path: str, body: bytes) -> None:
        if not path.endswith(("/chat/completions", "/embeddings")):
            self._transport.write(self._model.control(path, body))
            return
        self._model.counts.in_flight += 1
        self._take(path, body)

    def _take(self, path: str, body: bytes) -> None:
        loop = asyncio.get_running_loop()
        # no request has this number, and a connection has one at a time
        self._timers.pop(_HELD, None)
        if self._model.holds(body):
            self._timers[_HELD] = loop.call_later(_HELD_FOR, self._take, path, body)
            return
        due = loop.time()
        delay, answer = self._model.answer(path, body)
        if answer.outcome == "hang":
            self._hanging += 1
            self._model.counts.outcomes["hang"] += 1
        elif delay <= 0:
            self._send(answer)
        else:
            number = self._model.counts.total
            self._timers[number] = loop.call_at(due + delay, self._release, number, answer)

    def _release(self, number: int, answer: Answer) -> None:
        del self._timers[number]
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        counts = self._model.counts
        counts.in_flight -= 1
        counts.outcomes[answer.outcome] += 1
        if answer.outcome == "ok":
            counts.answered[answer.digest] += 1
            counts.prompt_tokens += answer.tokens[0]
            counts.completion_tokens += answer.tokens[1]
        if answer.outcome == "reset":
            # With this option the kernel resets the connection in place of closing it in order.
            on, no_seconds = 1, 0
            opened = self._transport.get_extra_info("socket")
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", on, no_seconds))
            self._transport.abort()
            return
        self._transport.write(answer.data)
        if answer.outcome == "cut":
            self._transport.close()


async def serve(model: Model, port: int, *, until_input_ends: bool = False) -> None:
    """Listen on the loopback and print the port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(model), "127.0.0.1", port, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    if until_input_ends:
        await loop.run_in_executor(None, sys.stdin.read)
        server.close()
    else:
        await server.serve_forever()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 for any free port")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds from request to answer")
    parser.add_argument("--jitter", type=float, default=0.0, help="up to so many seconds more")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=SHARE", help=", ".join(FAULTS))
    parser.add_argument("--capacity", type=int, help="answer 429 when more requests than that are in flight")
    parser.add_argument("--retry-after", type=float, default=1.0, help="seconds that 429 and 503 ask for")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--prompt-tokens", type=int, help="what usage says; by default a fourth of the characters"
    )
    parser.add_argument("--completion-tokens", type=int)
    parser.add_argument("--until-input-ends", action="store_true", help="end when standard input does")
    given = vars(parser.parse_args())
    port, until_input_ends = given.pop("port"), given.pop("until_input_ends")
    faults = {kind: float(share) for kind, _, share in (each.partition("=") for each in given.pop("fault"))}
    try:
        model = Model(Settings(faults=cast("dict[Fault, float]", faults), **given))
    except ValueError as error:
        parser.error(str(error))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(model, port, until_input_ends=until_input_ends))


if __name__ == "__main__":
    main()
