"""Wall time of five metrics against a server that takes its time, over what is possible at all.

Run: python -m benchmarks.throughput [--samples N] [--without-ragas]

The floor is the larger of calls x latency / in flight, and calls x what one call costs the bare client: the
`openai` client on aiohttp, posting the bodies that `OpenAIJudge` posts, with as many in flight, at a server
without latency. That cost is taken as CPU time: on a quiet machine it is the wall time as well, and on a
busy one it does not raise the floor. Every measurement has a process of its own, and the server another one.

ragas is measured through its `evaluate`, with as many workers as calls may be in flight, on the same server
and samples. Its metric of answer relevance asks for embeddings in a way that stops its event loop, so it is
also measured without that metric. Imports are not in anybody's time.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.server import Counts, ServerProcess, Settings
from benchmarks.table import Row, child, printed
from benchmarks.workload import samples

__all__ = ["Throughput", "measure"]

LATENCY = 0.05
IN_FLIGHT = (16, 64, 256)
# The bare client's wall over its CPU time without latency, when nothing else runs.
QUIET = 1.15
BUDGETS = {16: 1.15, 64: 1.3}
RAGAS = ("ragas==0.4.3", "langchain-community<0.4", "langchain-openai")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One measurement: seconds, megabytes, and what the server saw of it."""

    wall: float
    cpu: float
    memory: float
    failed: int
    counts: Counts

    @property
    def calls(self) -> int:
        """Requests that the server got."""
        return self.counts.total


@dataclass(frozen=True, kw_only=True)
class Level:
    """All measurements at one number in flight; `client` is without latency, `bare` with it."""

    in_flight: int
    samples: int
    client: Measured
    bare: Measured
    ours: Sequence[Measured]
    ragas: Measured | None = None
    ragas_without: Measured | None = None

    @property
    def middle(self) -> Measured:
        """Our run with the middle wall time."""
        wall = median(run.wall for run in self.ours)
        return min(self.ours, key=lambda run: abs(run.wall - wall))

    def programs(self) -> Iterator[tuple[str, Measured]]:
        """What ran at the latency, by name."""
        named = {
            "bare client": self.bare,
            "ragmetrics": self.middle,
            "ragas 0.4.3": self.ragas,
            "ragas 0.4.3 *": self.ragas_without,
        }
        return ((name, run) for name, run in named.items() if run is not None)

    def floor(self, calls: int) -> float:
        """The seconds that so many calls need."""
        return max(calls * LATENCY / self.in_flight, calls * self.client.cpu / self.client.calls)

    def over(self, run: Measured) -> float:
        """A run's wall time over its floor."""
        return run.wall / self.floor(run.calls)


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """The measurements at each number in flight, and why ragas is not among them, if it is not."""

    levels: Sequence[Level]
    without_ragas: str = ""

    def ratios(self) -> Iterator[Row]:
        """Wall times over their floors, ours with their budgets."""
        waited = max(level.client.wall / level.client.cpu for level in self.levels)
        if waited > QUIET:
            yield Row("the machine is busy with something else: wall times say little", f"{waited:.2f}")
        for level in self.levels:
            over, limit = level.over(level.middle), BUDGETS.get(level.in_flight)
            what = f"wall time over the floor, {level.in_flight} in flight: ragmetrics"
            spread = f"{min(map(level.over, level.ours)):.2f} to {max(map(level.over, level.ours)):.2f}"
            budget = f"at most {limit:.2f}" if limit else f"({spread})"
            yield Row(what, f"{over:.2f}", budget, limit is not None and over > limit)
        failed = sum(run.failed for level in self.levels for run in level.ours)
        yield Row("scores of ragmetrics that failed", str(failed), "none", failed > 0)
        for level in self.levels:
            if level.ragas and level.ragas_without:
                yield Row(
                    f"wall time over the floor, {level.in_flight} in flight: ragas 0.4.3",
                    f"{level.over(level.ragas):.2f}",
                    f"({level.over(level.ragas_without):.2f} *)",
                )
        for level in self.levels:
            if level.ragas:
                yield Row(
                    f"ragas' wall time over ours, {level.in_flight} in flight, same samples",
                    f"{level.ragas.wall / level.middle.wall:.1f}",
                )
        if any(level.ragas for level in self.levels):
            yield Row("  * without answer relevance, whose embedding calls stop its event loop", "")
        if self.without_ragas:
            yield Row(f"ragas was not measured: {self.without_ragas}", "-")

    def lines(self) -> Iterator[str]:
        """Times, calls, tokens and memory, with a heading."""
        yield (
            f"  {'in flight':>9}  {'':<14}{'wall s':>8}{'floor s':>9}{'ratio':>7}{'CPU ms a call':>15}"
            f"{'own':>6}{'peak MB':>9}{'calls':>7}{'prompt tokens a sample':>24}{'failed':>8}"
        )
        for level in self.levels:
            for name, run in level.programs():
                own = run.cpu / run.calls - level.bare.cpu / level.bare.calls
                yield (
                    f"  {level.in_flight:>9}  {name:<14}{run.wall:>8.2f}{level.floor(run.calls):>9.2f}"
                    f"{level.over(run):>7.2f}{run.cpu / run.calls * 1e3:>15.2f}{own * 1e3:>6.2f}"
                    f"{run.memory:>9.0f}"
                    f"{run.calls / level.samples:>7.1f}{run.counts.prompt_tokens / level.samples:>24,.0f}"
                    f"{run.failed:>8}"
                )
        costs = (
            f"{run.cpu / run.calls * 1e3:.2f} ({run.wall / run.calls * 1e3:.2f} wall)"
            for run in (level.client for level in self.levels)
        )
        yield f"  own: CPU beyond the bare client's. A call without latency takes it {', '.join(costs)} ms."


def ragas_python() -> str:
    """The python of an environment with ragas, made when it is not there yet (takes some minutes).

    It is kept in $RAGMETRICS_BENCH_CACHE, or else beside the other caches of this user.

    Raises:
        RuntimeError: the environment could not be made.
    """
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    kept = Path(os.environ.get("RAGMETRICS_BENCH_CACHE") or Path(caches) / "ragmetrics-bench")
    folder = kept / RAGAS[0].replace("==", "-")
    python, stamp = folder / "bin" / "python", folder / "installed"
    if not stamp.exists():
        print(f"Installing {RAGAS[0]} into {folder}, once", file=sys.stderr, flush=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *RAGAS]
        for command in ([sys.executable, "-m", "venv", "--clear", str(folder)], install):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")
        stamp.touch()
    return str(python)


def measure(*, count: int = 200, repeats: int = 3, with_ragas: bool = True) -> Throughput:
    """Measure everything at all numbers in flight."""
    python, missing = None, ""
    if with_ragas:
        try:
            python = ragas_python()
        except RuntimeError as error:
            missing = str(error)
    with ServerProcess() as server, tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "samples.jsonl"
        written.write_text("\n".join(each.model_dump_json() for each in samples(count)), encoding="utf-8")
        levels = [
            _level(server, in_flight, count=count, repeats=repeats, ragas=python, written=written)
            for in_flight in IN_FLIGHT
        ]
    return Throughput(levels=levels, without_ragas=missing)


def _level(
    server: ServerProcess, in_flight: int, *, count: int, repeats: int, ragas: str | None, written: Path
) -> Level:
    settings = ["--in-flight", str(in_flight)]
    ours = ["-m", "benchmarks.one_run", server.base_url, "--samples", str(count), *settings]
    theirs = ["-m", "benchmarks.ragas_run", server.base_url, str(written), *settings]

    def run(command: Sequence[str], *, latency: float = LATENCY, python: str = sys.executable) -> Measured:
        server.set(Settings(latency=latency))
        server.reset()
        found = child(command, python=python)
        return Measured(**found, counts=server.counts())

    def cheapest(*, latency: float) -> Measured:
        runs = (run([*ours, "--bare"], latency=latency) for _ in range(repeats))
        return min(runs, key=lambda each: each.wall)

    return Level(
        in_flight=in_flight,
        samples=count,
        client=cheapest(latency=0.0),
        bare=cheapest(latency=LATENCY),
        ours=[run(ours) for _ in range(repeats)],
        ragas=run(theirs, python=ragas) if ragas else None,
        ragas_without=run([*theirs, "--without-embeddings"], python=ragas) if ragas else None,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without-ragas", action="store_true")
    given = parser.parse_args()
    found = measure(count=given.samples, repeats=given.repeats, with_ragas=not given.without_ragas)
    printed("Ratios", found.ratios())
    print("\n".join(found.lines()))


if __name__ == "__main__":
    main()
