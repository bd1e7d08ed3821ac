"""Processes that tests kill, interrupt and starve: real ones, forked from a process that has all imported.

Importing everything takes a second; a fork takes milliseconds. So one run can be killed fifty times.
"""

import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.server import ServerProcess
from benchmarks.workload import METRICS
from ragmetrics_core import cli, evaluate
from ragmetrics_core.models import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.questions import generate_questions

__all__ = ["PATIENCE", "Child", "Ended", "command", "evaluate_words", "evaluated", "evaluation", "start"]

# Seconds. Nothing takes as long; who waits longer waits for something that will never come.
PATIENCE = 120.0

_FORKS = multiprocessing.get_context("forkserver")
# What a run imports only when it needs it would otherwise be imported by every fork.
_LATER = [
    "aiohttp",
    "filelock",
    "ragmetrics_core.cli._app",
    "ragmetrics_core.journal._database",
]
_FORKS.set_forkserver_preload(["__main__", __name__, *_LATER])


class Ended(NamedTuple):
    """How a process ended: its exit code (negative: the signal that ended it), and what it wrote."""

    code: int
    out: str
    err: str


class Child:
    """A process that runs a function of this module."""

    def __init__(self, process: ForkServerProcess, output: Path) -> None:
        self._process = process
        self._output = output

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def wait(self, seconds: float) -> None:
        """Wait so long, or until it ends."""
        self._process.join(seconds)

    def wait_for(self, seen: Callable[[], bool]) -> None:
        """Wait until something is so; the process must not end before."""
        deadline = time.monotonic() + PATIENCE
        while not seen():
            assert self.alive, f"it ended too early: {self.end()}"
            assert time.monotonic() < deadline, "waited too long"
            time.sleep(0.001)

    def end(self) -> Ended:
        """Wait for its end."""
        self._process.join(PATIENCE)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            raise AssertionError(f"it did not end within {PATIENCE:g} s")
        self._process.close()
        out, err = (self._output.with_suffix(each).read_text("utf-8", "replace") for each in (".out", ".err"))
        return Ended(code, out, err)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._process.kill()
        assert self.end().code == -signal.SIGKILL


def start(function: Callable[..., None], output: Path, *arguments: Any, **options: Any) -> Child:
    """Run a function of this module in a process of its own.

    Args:
        function: the function.
        output: what it writes goes to this path with the suffixes .out and .err.
        *arguments: what the function is given.
        **options: likewise, by name.
    """
    process = _FORKS.Process(target=_run, args=(function, output, arguments, options))
    process.start()
    return Child(process, output)


def command(
    arguments: Sequence[object],
    *,
    server: str = "",
    file_size: int | None = None,
    clock_jumps: bool = False,
) -> None:
    """Give a command to ragmetrics, as a user would.

    Args:
        arguments: the words of the command.
        server: the base URL of the models that the command names.
        file_size: how large a file may become, as if the disk were full then.
        clock_jumps: set the clock hours forth and back all the time.
    """
    os.environ["OPENAI_BASE_URL"] = server
    if file_size is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    if clock_jumps:
        _let_the_clock_jump()
    sys.argv = ["ragmetrics", *map(str, arguments)]
    cli.main()


def evaluate_words(data: Path, out: Path, *more: object) -> Sequence[object]:
    """The words of a command that evaluates a file with models behind a server."""
    models = "--judge", "openai:judge", "--embedder", "openai:embedder"
    return "evaluate", data, "--out", out, "--metrics", ",".join(METRICS), *models, *more


def evaluated(
    server: ServerProcess, data: Path, out: Path, *more: object, name: str = "command", **limits: int
) -> Child:
    """The command that evaluates a file; what it prints stands beside the run, under the name."""
    words = evaluate_words(data, out, *more)
    return start(command, out.with_name(name), words, server=server.base_url, **limits)


def evaluation(data: Path, out: Path, chats: str, embeddings: str) -> None:
    """Evaluate with a judge and an embedder on different servers."""
    evaluate(
        data,
        metrics=METRICS,
        judge=OpenAIJudge("judge", base_url=chats),
        embedder=OpenAIEmbedder("embedder", base_url=embeddings),
        out=out,
    )


def generation(corpus: Path, out: Path, server: str) -> None:
    """Write a test set with a model on a server, one call at a time."""
    judge = OpenAIJudge("judge", base_url=server, response_format="text")
    generate_questions(corpus, out=out, judge=judge, per=6, first_hit_share=1, concurrency=1)


def _run(
    function: Callable[..., None], output: Path, arguments: Sequence[Any], options: Mapping[str, Any]
) -> None:
    for stream, suffix in ((sys.stdout, ".out"), (sys.stderr, ".err")):
        file = os.open(output.with_suffix(suffix), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream.fileno())
        os.close(file)
    function(*arguments, **options)


def _let_the_clock_jump() -> None:
    real, hour = time.time, 3600.0
    jumps = [0.0, 5 * hour, -7 * hour, 24 * hour, -1 * hour]
    asked = 0

    def jumping() -> float:
        nonlocal asked
        asked += 1
        return real() + jumps[asked % len(jumps)]

    time.time = jumping
