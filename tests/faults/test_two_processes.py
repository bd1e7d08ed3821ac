"""Two processes on one run folder: the second is refused, the first is not disturbed."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from benchmarks.server import ServerProcess, Settings
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import Scores, scores_of, undisturbed, written

SAMPLES = 15
# how many looks in a row must see the same, a tenth of a second apart
STILL = 30
# The 15 samples make over 120 requests. With two samples at a time the first ones are finished by the 60th.
HELD, SLOWLY = Settings(holds_after=60), ("--concurrency", 2)

T = TypeVar("T")


@pytest.fixture(scope="module")
def alone() -> Scores:
    return undisturbed(SAMPLES)


@pytest.mark.parametrize("more", [(), ("--overwrite",)])
def test_the_second_process_is_refused_and_the_first_finishes_undisturbed(
    tmp_path: Path, server: ServerProcess, alone: Scores, more: tuple[str, ...]
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    records = out / "records.jsonl"
    server.set(HELD)
    first = children.evaluated(server, data, out, *SLOWLY, name="first")
    first.wait_for(lambda: records.exists() and records.stat().st_size > 0)
    # a process that stands still keeps its folder
    first.send(signal.SIGSTOP)
    before, asked = standing_still(lambda: (contents(out), server.counts().total))
    refused = children.evaluated(server, data, out, *more, name="second").end()
    assert contents(out) == before
    assert server.counts().total == asked
    first.send(signal.SIGCONT)
    server.set(Settings())

    assert refused.code == 2
    assert refused.err.startswith(f"ragmetrics: another process (pid {first.pid} on ")
    assert refused.err.endswith(f" writes to the run {out}: wait until it ends or choose another folder\n")
    assert refused.err.count("\n") == 1
    assert first.end().code == 0
    assert scores_of(Run.load(out)) == alone
    assert max(server.counts().asked.values()) == 1


def test_of_processes_that_start_together_one_makes_the_run_and_the_others_say_who_does(
    tmp_path: Path, server: ServerProcess, alone: Scores
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    server.set(Settings(faults={"hang": 1.0}))
    impatient = "--timeout", 1, "--attempts", 100
    processes = [children.evaluated(server, data, out, *impatient, name=f"{number}") for number in range(4)]
    # three give up; the one that holds the lock gets no answer until then
    while sum(process.alive for process in processes) > 1:
        for process in processes:
            process.wait(0.01)
    server.set(Settings())
    ended = [process.end() for process in processes]
    assert sorted(each.code for each in ended) == [0, 2, 2, 2]
    assert sum(f" writes to the run {out}: " in each.err for each in ended) == 3
    assert scores_of(Run.load(out)) == alone
    assert len((out / "records.jsonl").read_bytes().splitlines()) == len(alone)


def contents(run: Path) -> dict[str, bytes]:
    """All files, but for those that SQLite maps into memory."""
    return {each.name: each.read_bytes() for each in run.iterdir() if not each.name.endswith("-shm")}


def standing_still(look: Callable[[], T]) -> T:
    """What is seen when it no longer changes: what a stopped process had sent may still be on its way."""
    seen = look()
    same = 0
    while same < STILL:
        time.sleep(0.1)
        now = look()
        same, seen = same + 1 if now == seen else 0, now
    return seen
