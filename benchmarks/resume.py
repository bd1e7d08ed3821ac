"""How soon a long run that was killed asks its judge again: 100,000 samples, of which 80,000 are done.

Run: python -m benchmarks.resume [--samples N]

The run is made as in reading.py. Then the same command is given again and again, and killed where it asks
its first new question; the first time nothing is kept of the files, as in a folder that was copied. Five
kills in a row follow, after some calls each: every one of them must leave more records than the one before.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.reading import BASE, multiplied
from benchmarks.table import Row, child, limited, printed
from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import evaluate
from ragmetrics_core.metrics import RECOMMENDED
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs import Run

SECONDS = 3.0
KILLS = 5
# Calls that each process makes before it is killed.
CALLS = 200


class Killed(LocalJudge):
    """A judge whose process ends, as by `kill -9`, at a call; it says when it was asked first."""

    def __init__(self, start: float, calls: int) -> None:
        super().__init__()
        self._start = start
        self._left = calls
        self._first = 0.0

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The reply, as long as there are calls left."""
        self._first = self._first or time.time() - self._start
        self._left -= 1
        if self._left < 0:
            print(json.dumps({"seconds": self._first, "cpu": time.process_time()}), flush=True)
            os._exit(0)
        return await super().agenerate(request)


def measure(count: int) -> list[Row]:
    """Make the run, kill it again and again, and say when it asked."""
    with tempfile.TemporaryDirectory() as place:
        folder, data = Path(place) / "run", Path(place) / "samples.jsonl"
        base = evaluate(
            samples(BASE, contexts=1), metrics=RECOMMENDED, judge=LocalJudge(), out=f"{place}/base"
        )
        multiplied(Path(place) / "base", folder, count * 8 // 10)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        (folder / "manifest.json").write_text(json.dumps({**manifest, "finished": False}), encoding="utf-8")
        rows = list(base.samples())
        with data.open("w", encoding="utf-8") as file:
            for number in range(count):
                sample = rows[number % BASE].model_copy(update={"id": f"copy-{number}"})
                file.write(sample.model_dump_json(exclude_none=True) + "\n")
        for path in folder.glob(".index*"):
            path.unlink()
        found = [Row("first new call, where nothing was kept", _seconds(_killed(folder, data, 0)))]
        first = _killed(folder, data, 0)
        found.append(limited("first new call after a kill, seconds", first["seconds"], SECONDS))
        found.append(Row("its processor time", f"{first['cpu']:.1f} s"))
        held = [len(Run.load(folder).keys)]
        for _ in range(KILLS):
            _killed(folder, data, CALLS)
            held.append(len(Run.load(folder).keys))
        stuck = sum(later <= earlier for earlier, later in pairwise(held))
        found.append(
            limited(f"of {KILLS} kills in a row, those that left no new record", stuck, 0, form="{:.0f}")
        )
        return found


def _killed(folder: Path, data: Path, calls: int) -> dict[str, float]:
    words = ["-m", "benchmarks.resume", "--once", str(folder), str(data), str(time.time()), str(calls)]
    return child(words)


def _seconds(found: dict[str, float]) -> str:
    return f"{found['seconds']:.1f} s"


def main() -> None:
    """Measure and print; `--once` is what each process does."""
    if sys.argv[1:2] == ["--once"]:
        folder, data, start, calls = sys.argv[2:]
        evaluate(data, metrics=RECOMMENDED, judge=Killed(float(start), int(calls)), out=folder)
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.resume", description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    given = parser.parse_args()
    printed(f"A run of {given.samples:,} samples that goes on", measure(given.samples))


if __name__ == "__main__":
    main()
