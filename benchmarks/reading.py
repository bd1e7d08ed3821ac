"""What reading a run costs as it grows: seconds of each command, and megabytes of the folder.

Run: python -m benchmarks.growth --reading [--largest 300000]

Two metrics, one context of 200 words. The samples of a small run that was measured are written again and
again under new ids, each record sealed as it should be: so a folder of any size is made quickly.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.table import Row, limited
from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import evaluate
from ragmetrics_core.metrics import RECOMMENDED
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._folder import Folder

__all__ = ["Reading", "details", "measure", "ratios"]

SIZES = (3_000, 30_000, 300_000)
BASE = 100
FLAT = 1.2
ONE = "show RUN SAMPLE METRIC"
_COMMAND = "import sys; from ragmetrics_core.cli import main; sys.argv[0] = 'ragmetrics'; main()"


class Cost(NamedTuple):
    """Seconds by the clock, and seconds of all cores together."""

    wall: float
    cpu: float


class Reading(NamedTuple):
    """A run with so many samples: megabytes on disk, of them the index; what each command costs."""

    samples: int
    disk: float
    indexed: float
    costs: dict[str, Cost]


def measure(*, largest: int = SIZES[1]) -> list[Reading]:
    """Measure all sizes up to the largest."""
    with tempfile.TemporaryDirectory() as place:
        base = Path(place) / "base"
        evaluate(samples(BASE, contexts=1), metrics=RECOMMENDED, judge=LocalJudge(), out=base)
        return [_measured(Path(place), base, size) for size in SIZES if size <= largest]


def ratios(found: Sequence[Reading]) -> Iterator[Row]:
    """Whether opening one score costs the same in all sizes, and the rest no more a sample."""
    first, last = found[0], found[-1]
    many, few = f"{last.samples:,}", f"{first.samples:,}"
    for name in first.costs:
        ratio = last.costs[name].cpu / first.costs[name].cpu
        if name == ONE:
            yield limited(f"{name}, {many} samples over {few}", ratio, FLAT)
        else:
            yield Row(f"{name}, {many} samples over {few}", f"{ratio:.1f}", f"samples: {many} / {few}")


def details(found: Sequence[Reading]) -> Iterator[Row]:
    """Each size."""
    for reading in found:
        count = f"{reading.samples:,} samples"
        yield Row(f"{count}: on disk; of it the index", f"{reading.disk:.0f} MB", f"{reading.indexed:.0f} MB")
        for name, cost in reading.costs.items():
            yield Row(f"{count}: {name}: by the clock; all cores", f"{cost.wall:.1f} s", f"{cost.cpu:.1f} s")


def _measured(place: Path, base: Path, count: int) -> Reading:
    run = place / f"run {count}"
    _multiplied(base, run, count)
    disk, index = (sum(path.stat().st_size for path in run.glob(of)) / 2**20 for of in ("*", ".index*"))
    sample = f"copy-{count // 2}"
    commands = {
        "show RUN": ["show", run],
        ONE: ["show", run, sample, "faithfulness"],
        "audit RUN": ["audit", run],
        "audit RUN --processes 1": ["audit", run, "--processes", 1],
        "report RUN": ["report", run, "--out", place / "report.html"],
        "study groups RUN": ["study", "groups", run],
    }
    for path in run.glob(".index*"):
        path.unlink()
    first = _cost(["show", run, sample, "faithfulness"])
    costs = {f"{ONE}, where no index was kept": first}
    return Reading(count, disk, index, costs | {name: _cost(words) for name, words in commands.items()})


def _multiplied(base: Path, out: Path, count: int) -> None:
    """A run of so many samples, each one of the base's under an id of its own."""
    run = Run.load(base)
    of = [(run.sample(each), list(run.scores(each).values())) for each in run.sample_ids]
    folder = Folder.begin(out, run.manifest.model_copy(update={"finished": False}))
    folder.add_prompt_texts(run.prompts)
    for number in range(count):
        sample, records = of[number % len(of)]
        update = {"sample_id": f"copy-{number}"}
        folder.add_sample(sample.model_copy(update={"id": f"copy-{number}"}), is_new=True)
        folder.add_records([record.model_copy(update=update) for record in records])
    folder.save_manifest(folder.manifest.model_copy(update={"finished": True}))
    folder.close()


def _cost(words: Sequence[object]) -> Cost:
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed: {done.stderr[-2000:]}")
    wall, after = time.perf_counter() - start, os.times()
    return Cost(wall, sum(after[2:4]) - sum(before[2:4]))
