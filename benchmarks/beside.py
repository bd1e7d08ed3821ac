"""This tree beside another commit of it, in one run: what a judge call costs, and wall times over the floor.

    python -m benchmarks.beside COMMIT [--repeats N] [--samples N] [--without-throughput]

The two take turns, each measurement in a process of its own with the same interpreter, so that a machine that
is busy, or slow today, is so for both. Ratios are of the middle measurements; below 1 this tree is better.
Each commit is measured by its own benchmarks, which do the same work, in a worktree of its own.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.server import ServerProcess, Settings
from benchmarks.table import Row, child, limited, printed
from benchmarks.throughput import LATENCY

__all__ = ["Pair", "cost", "throughput"]

_ROOT = Path(__file__).resolve().parent.parent
_COST = """
import json
from benchmarks.own_cost import measure
print(json.dumps({{"own": measure(count={samples}, repeat=1).middle}}))
"""
GOAL = 0.65


class Pair:
    """Measurements of the other commit and of this tree, in turns."""

    def __init__(self, measure: Callable[[Path], float], other: Path, repeats: int) -> None:
        turns = [(measure(other), measure(_ROOT)) for _ in range(repeats)]
        self.before = median(before for before, _ in turns)
        self.now = median(now for _, now in turns)

    @property
    def ratio(self) -> float:
        """This tree's over the other's."""
        return self.now / self.before


@contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """The files of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "other"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def cost(other: Path, *, samples: int, repeats: int) -> Pair:
    """Microseconds of CPU that a judge call takes: five metrics, a folder and a journal."""

    def measure(tree: Path) -> float:
        return float(child(["-c", _COST.format(samples=samples)], folder=tree)["own"])

    return Pair(measure, other, repeats)


def throughput(other: Path, in_flight: int, *, samples: int, repeats: int) -> Pair:
    """Seconds of wall time against a server that answers after 50 ms."""
    with ServerProcess(Settings(latency=LATENCY)) as server:
        command = ["-m", "benchmarks.one_run", server.base_url]
        command += ["--samples", str(samples), "--in-flight", str(in_flight)]
        return Pair(lambda tree: float(child(command, folder=tree)["wall"]), other, repeats)


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=_ROOT, check=True)


def rows(other: Path, *, samples: int, repeats: int, levels: Sequence[int]) -> Iterator[Row]:
    """The table."""
    own = cost(other, samples=samples, repeats=repeats)
    yield Row("own cost of a judge call, before, µs", f"{own.before:.0f}")
    yield Row("own cost of a judge call, now, µs", f"{own.now:.0f}")
    yield limited("own cost of a judge call, now over before", own.ratio, GOAL)
    for in_flight in levels:
        wall = throughput(other, in_flight, samples=samples, repeats=max(1, repeats // 2))
        yield Row(f"wall time, {in_flight} in flight, before, s", f"{wall.before:.2f}")
        yield Row(f"wall time, {in_flight} in flight, now, s", f"{wall.now:.2f}")
        yield Row(f"wall time, {in_flight} in flight, now over before", f"{wall.ratio:.2f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("commit", help="a commit of this repository")
    parser.add_argument("--samples", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--without-throughput", action="store_true")
    given = parser.parse_args()
    levels = () if given.without_throughput else (16, 64)
    with worktree(given.commit) as other:
        printed(
            f"Beside {given.commit}",
            rows(other, samples=given.samples, repeats=given.repeats, levels=levels),
        )


if __name__ == "__main__":
    main()
