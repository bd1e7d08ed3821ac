"""What a service under load leaves on disk: `python -m benchmarks.live_storage`, or `--ten-minutes`.

Four worker processes score forty answers a second, each of 5 kB, with a judge that takes 0.7 s for a call, so
that something always waits. All of them share one folder, which is rotated by size. Four times in a run all
are killed with -9 and started anew, as a deployment does at its worst. Every second it is measured from
outside what waits, by the lines of the captures, and how long the files are that hold it.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, LiveResult, LiveScorer

WORKERS = 4
A_SECOND = 10
DEPLOYS = 5
SENTENCE = "The session management function selects the user plane function. "
PART = 10_000_000
KEEP = 3


class Waiting(NamedTuple):
    """Bytes of captures: what waits, and the files that hold it."""

    waits: int
    files: int


async def judge(text: str) -> str:
    """One statement in every answer, supported, after 0.7 s."""
    await asyncio.sleep(0.7)
    if '"verdicts"' in text:
        return '{"verdicts": [{"number": 1, "reason": "it says so", "verdict": "yes"}]}'
    return '{"statements": ["The session management function selects it."], "declined": false}'


def to_sample(capture: Capture) -> Sample:
    """The sample of a capture."""
    return Sample(question=capture.question, contexts=tuple(capture.contexts), answer=capture.answer)


def work(folder: Path) -> None:
    """Answer and score until somebody kills this process."""
    with (
        (folder / f"taken-{os.getpid()}").open("a") as taken,
        (folder / f"scored-{os.getpid()}").open("a") as scored,
    ):

        def note(result: LiveResult) -> None:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(result.sample.id, result.records[0].status, memory, file=scored, flush=True)

        live = LiveScorer(
            "faithfulness", judge=judge, out=folder / "live", rotate=PART, keep=KEEP, on_result=note
        )
        begun = time.monotonic()
        for number in range(10**9):
            time.sleep(max(0.0, begun + number / A_SECOND - time.monotonic()))
            contexts = [f"{number} {place}. {SENTENCE * 18}" for place in range(4)]
            capture = Capture(translate=to_sample, question="Which?", contexts=contexts, answer=SENTENCE)
            print(capture.id, file=taken, flush=True)
            live.submit(capture)


def waiting(folder: Path) -> Iterator[Waiting]:
    """For each process what waits, as its file says it."""
    for place in folder.glob("captures/*"):
        try:
            lines = (place / "captures.jsonl").read_bytes().splitlines(keepends=True)
            files = sum(file.stat().st_size for file in place.iterdir())
        except FileNotFoundError:  # it was replaced or removed in this moment
            continue
        open_lines: dict[str, int] = {}
        for line in lines:
            if line.startswith(b'{"done"'):
                open_lines.pop(json.loads(line)["done"], None)
            elif line.endswith(b"\n"):
                open_lines[json.loads(line)["sample"]["id"]] = len(line)
        yield Waiting(sum(open_lines.values()), files)


def bytes_in(folder: Path) -> int:
    """Bytes of all files."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def names(folder: Path, kind: str) -> list[list[str]]:
    """What the workers noted."""
    return [line.split() for file in folder.glob(f"{kind}-*") for line in file.read_text().splitlines()]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_storage")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--ten-minutes", action="store_true", help="the same as --seconds 600")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        work(given.worker)
    seconds = 600.0 if given.ten_minutes else given.seconds
    command = [sys.executable, "-m", "benchmarks.live_storage", "--worker"]
    most, least_spare = Waiting(0, 0), float("inf")
    print(f"{WORKERS} workers, {WORKERS * A_SECOND} answers a second, {seconds:.0f} s, {DEPLOYS} deployments")
    print(
        f"{'s':>5}{'taken':>8}{'scored':>8}{'waits, kB':>11}{'captures, kB':>14}{'runs':>6}{'runs, MB':>10}"
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        begun, shown = time.monotonic(), 0.0
        for deploy in range(1, DEPLOYS + 1):
            workers = [subprocess.Popen([*command, str(folder)]) for _ in range(WORKERS)]
            while time.monotonic() < begun + seconds * deploy / DEPLOYS:
                time.sleep(1)
                now = list(waiting(folder / "live"))
                for one in now:
                    most = max(most, one, key=lambda each: each.files)
                    least_spare = min(least_spare, 3 * one.waits + 1_000_000 - one.files)
                if time.monotonic() > begun + shown + seconds / 20:
                    shown = time.monotonic() - begun
                    kept = sum(one.waits for one in now) / 1e3, sum(one.files for one in now) / 1e3
                    runs = sorted(path.parent.name for path in folder.glob("live/*/manifest.json"))
                    counts = len(names(folder, "taken")), len(names(folder, "scored"))
                    print(
                        f"{shown:5.0f}{counts[0]:8,}{counts[1]:8,}{kept[0]:11,.0f}{kept[1]:14,.0f}{len(runs):6}"
                        f"{bytes_in(folder / 'live') / 1e6:10.1f}",
                        flush=True,
                    )
            for worker in workers:
                worker.kill()
                worker.wait()
        with LiveScorer("faithfulness", judge=judge, out=folder / "live", rotate=PART, keep=KEEP) as last:
            left = last.catch_up()
            last.flush()
            late = [result.sample.id for result in last.results]
        taken = {words[0] for words in names(folder, "taken")}
        rows = names(folder, "scored")
        times = Counter([words[0] for words in rows] + late)
        runs = sorted(path.parent.name for path in folder.glob("live/*/manifest.json"))
        print(f"left by the last kill and scored then: {left}")
        print(f"taken {len(taken):,}, scored {len(times):,}, told twice {sum(n > 1 for n in times.values())}")
        print(f"taken and not scored (killed within milliseconds of the answer): {len(taken - times.keys())}")
        print(f"longest captures of a worker: {most.files:,} bytes, where {most.waits:,} waited")
        print(f"least that was left below 3 times what waits and 1 MB: {least_spare:,.0f} bytes")
        print(f"runs at the end: {', '.join(runs)}; {bytes_in(folder / 'live') / 1e6:.1f} MB")
        print(f"most memory of a worker: {max(int(words[2]) for words in rows) / 1024:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
