"""An audit on all cores: processes that look at records and say which are not as they should be.

Each is this interpreter, started afresh on this module, and is told places in files through a pipe. So
nothing of the program that audits is needed: no `if __name__ == "__main__"`, no fork of its threads. A
notebook and `python -c` will do; and where no process can be started, nothing is lost but time.
"""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self, TextIO

from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.metrics import Metric, get
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.runs._index import Key, Place
from ragmetrics_core.runs._lines import Lines
from ragmetrics_core.runs._reading import Reader
from ragmetrics_core.runs._record_audit import RecordAudit

__all__ = ["AuditProcesses", "answer_audits", "processes_for"]

# A process takes about a second to start, in which this one looks at a thousand records. On two cores it is
# worth the while from a few thousand on; where others use the cores too, later. Below this it starts none.
_FEW = 10_000
# Records that a process is told at a time.
_CHUNK = 100
# Only then may anything be imported: with -P nothing comes from the working folder, which may be the run's.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.readline()); "
    "from ragmetrics_core.runs._audit_processes import answer_audits; answer_audits(sys.stdin)"
)

_Placed = list[tuple[Key, Place]]


def processes_for(records: int, wanted: int | None = None) -> int:
    """How many processes look at so many records; one is this process.

    Args:
        records: how many records there are.
        wanted: how many processes somebody asks for; None for one a core where there are many records.
    """
    if wanted is not None:
        return max(1, wanted)
    return 1 if records < _FEW else min(_cores(), records // _CHUNK)


class AuditProcesses:
    """Processes that look at the records of a folder, for `with`: none outlives the block.

    Args:
        count: how many processes.
        path: the run's folder.
        prompts: the prompts' texts, by digest.
        check: what records are held against.
        metrics: metrics of the run that are known as objects, by signature. Those that the catalogue does not
            make by themselves are unknown to other processes: their records are all doubtful.
    """

    def __init__(
        self,
        count: int,
        path: Path,
        prompts: Mapping[str, PromptText],
        check: RecordAudit,
        metrics: Mapping[str, Metric[Any]],
    ) -> None:
        self._count = count
        self._own = {signature for signature, metric in metrics.items() if not _is_known(signature, metric)}
        self._told = {
            "path": str(path.absolute()),
            "prompts": {digest: text._asdict() for digest, text in prompts.items()},
            "models": dict(check.models),
            "signatures": sorted(check.signatures),
        }

    def __enter__(self) -> Self:
        self._idle: SimpleQueue[AuditProcess] = SimpleQueue()
        self.processes = [AuditProcess(self._told) for _ in range(self._count)]
        for each in self.processes:
            self._idle.put(each)
        self._threads = ThreadPoolExecutor(self._count, thread_name_prefix="audit")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self.processes:
            each.kill()  # first, so that no thread waits for one
        self._threads.shutdown(cancel_futures=True)
        for each in self.processes:
            each.close()

    def doubtful(self, places: Iterable[tuple[Key, Place]]) -> Iterator[tuple[Key, Place]]:
        """The records, in their order, of which no process says that they are as they should be."""
        left = iter(places)
        waiting: deque[tuple[_Placed, Future[set[int] | None]]] = deque()
        while True:
            while len(waiting) < 2 * self._count and (chunk := list(islice(left, _CHUNK))):
                waiting.append((chunk, self._threads.submit(self._ask, chunk)))
            if not waiting:
                return
            chunk, asked = waiting.popleft()
            sound = asked.result() or set[int]()
            yield from (placed for number, placed in enumerate(chunk) if number not in sound)

    def _ask(self, chunk: _Placed) -> set[int] | None:
        """The numbers of records that are as they should be; None where no process could be asked."""
        process = self._idle.get()
        try:
            # a sample that is missing, and a metric that only this process knows, stand nowhere
            asked = [
                None if place.sample is None or key.signature in self._own else place for key, place in chunk
            ]
            return process.ask(asked)
        finally:
            self._idle.put(process)


class AuditProcess:
    """One process; one that cannot be started, or has died, knows nothing."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._process: subprocess.Popen[str] | None = None
        with suppress(OSError, ValueError):
            self._process = subprocess.Popen(  # noqa: S603  this interpreter, on a constant text
                [sys.executable, "-P", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
        self._first = f"{json.dumps(sys.path)}\n{json.dumps(told)}\n"

    def ask(self, places: Sequence[Place | None]) -> set[int] | None:
        """The numbers of the places at which a record is as it should be."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(f"{self._first}{json.dumps(places)}\n")
            process.stdin.flush()
            self._first = ""
            return set(json.loads(process.stdout.readline()))
        except (OSError, ValueError):
            return None

    @property
    def code(self) -> int | None:
        """How it ended; None for one that still runs, or never did."""
        return None if self._process is None else self._process.poll()

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Wait for its end."""
        if self._process is not None:
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):  # what nobody reads any more
                    if pipe is not None:
                        pipe.close()


def answer_audits(questions: TextIO) -> None:
    """What a process does: for each line of places, a line with the numbers of records that are sound."""
    # Ctrl-C reaches all processes of a terminal: the one that started this one ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # whatever anything prints is no answer
        told = json.loads(questions.readline())
        check = RecordAudit(told["models"], frozenset(told["signatures"]))
        prompts = {digest: PromptText(**text) for digest, text in told["prompts"].items()}
        records, samples = (Lines(Path(told["path"]) / name) for name in ("records.jsonl", "samples.jsonl"))
        with Reader(records, samples, prompts) as reader:
            for line in questions:
                places = [place and Place(*place) for place in json.loads(line)]
                sound = [
                    number for number, place in enumerate(places) if place and _is_sound(reader, place, check)
                ]
                answers.write(f"{json.dumps(sound)}\n")
                answers.flush()


def _is_sound(reader: Reader, place: Place, check: RecordAudit) -> bool:
    try:
        return not check.differences(reader, place, None)
    except RecordError:
        return False


def _is_known(signature: str, metric: Metric[Any]) -> bool:
    """Whether a metric is what every process makes of its signature."""
    with suppress(ConfigError, ValueError, TypeError):
        return bool(get(signature) == metric)
    return False


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
