"""What a run costs as samples grow: seconds a sample and peak memory, samples streamed to a folder.

Run: python -m benchmarks.growth [--largest N]
     python -m benchmarks.growth --reading [--largest N]   what reading such a run costs: see reading.py

Two metrics, one context of 200 words, a judge that answers at once; each size in a process of its own.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import reading
from benchmarks.memory import peak_megabytes
from benchmarks.table import Row, child, limited, printed
from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import evaluate
from ragmetrics_core.metrics import RECOMMENDED

__all__ = ["Size", "details", "measure", "ratios"]

SIZES = (100, 1_000, 10_000, 100_000)
MEGABYTES = 250.0
# "Flat", as a figure: below it, nothing that counts grows with the number of samples.
FLAT = 1.2


class Size(NamedTuple):
    """A run with so many samples: seconds, megabytes of memory, megabytes on disk."""

    samples: int
    seconds: float
    memory: float
    disk: float


def measure(*, largest: int = SIZES[-1]) -> list[Size]:
    """Measure all sizes up to the largest."""
    sizes = [size for size in SIZES if size <= largest]
    return [Size(**child(["-m", "benchmarks.growth", "--once", str(size)])) for size in sizes]


def ratios(sizes: Sequence[Size]) -> Iterator[Row]:
    """Whether cost and memory stay flat, the first size left out: it is too small to tell."""
    first, last = sizes[1], sizes[-1]
    per_sample = (last.seconds / last.samples) / (first.seconds / first.samples)
    many, few = f"{last.samples:,}", f"{first.samples:,}"
    yield limited(f"seconds a sample, {many} streamed over {few}", per_sample, FLAT)
    yield limited(f"peak memory in MB, {many} streamed", last.memory, MEGABYTES, form="{:.0f}")
    before = sizes[-2]
    yield limited(f"peak memory, {many} streamed over {before.samples:,}", last.memory / before.memory, FLAT)


def details(sizes: Sequence[Size]) -> Iterator[Row]:
    """Each size."""
    for size in sizes:
        yield Row(
            f"{size.samples:,} samples: ms a sample; peak memory; on disk",
            f"{size.seconds / size.samples * 1e3:.2f} ms",
            f"{size.memory:.0f} MB; {size.disk:,.0f} MB",
        )


def once(count: int) -> Size:
    """Run in this process."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        start = time.perf_counter()
        evaluate(samples(count, contexts=1), metrics=RECOMMENDED, judge=LocalJudge(), out=out)
        seconds = time.perf_counter() - start
        disk = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 2**20
    return Size(count, seconds, peak_megabytes(), disk)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--largest", type=int, help="leave larger sizes out")
    parser.add_argument("--once", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--reading", action="store_true", help="what reading costs; 30,000 if none is given")
    parser.add_argument("--without-audit", action="store_true", help="with --reading: audits nothing")
    given = parser.parse_args()
    if given.reading:
        found = reading.measure(largest=given.largest or reading.SIZES[1], audits=not given.without_audit)
        rows = [*reading.ratios(found), *reading.stored(found[-1]), *reading.details(found)]
        printed("Reading", rows)
        return
    if given.once:
        json.dump(once(given.once)._asdict(), sys.stdout)
        return
    sizes = measure(largest=given.largest or SIZES[-1])
    printed("Growth", [*ratios(sizes), *details(sizes)])


if __name__ == "__main__":
    main()
