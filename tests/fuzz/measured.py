"""One target's time and memory, in a process that nothing watches: `python -m tests.fuzz.measured`.

Time is CPU time for inputs that are stretched to 100 kB; an input over the budget is measured twice more, and
the fastest counts. Memory is what the process holds: its growth over thousands of inputs after a warm-up, and
the highest it ever was above its beginning.
"""

import argparse
import gc
import json
import random
import resource
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.catalogue import TARGETS, kept
from tests.fuzz.findings import Findings
from tests.fuzz.mutation import mutated, stretched
from tests.fuzz.target import Target

BUDGET_MS = 250.0
GROWTH_MB = 8.0
# What is over and over in a reply may be one character; a row of a file has eight at least, for Python's own
# JSON alone needs 150 ms to refuse 50,000 rows of one bracket.
SHORTEST = {"parser": 1, "injection": 1}


def milliseconds(target: Target, data: bytes) -> float:
    """CPU time; the fastest of three runs when the first is over the budget."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        target(data)
        best = min(best, (time.process_time() - start) * 1000 * 100_000 / max(len(data), 100_000))
        if best <= BUDGET_MS:
            break
    return best


def held() -> float:
    """Megabytes that the process holds now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def peak() -> float:
    """Megabytes that the process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Measure one target."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.measured")
    parser.add_argument("target")
    parser.add_argument("--stretched", type=int, required=True)
    parser.add_argument("--executions", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--place", type=Path, required=True)
    parser.add_argument("--findings", type=Path, required=True)
    given = parser.parse_args()
    warnings.simplefilter("error")
    target = TARGETS[given.target]
    findings = Findings(given.target, given.findings)
    chance = random.Random(0)
    inputs = [*target.seeds(), *kept(given.target), *(path.read_bytes() for path in given.place.iterdir())]

    def repeated(count: int, seconds: float) -> int:
        """Run on other inputs, so many or so long; how many it were."""
        number = 0
        end = time.monotonic() + seconds
        while number < count and time.monotonic() < end:
            findings.watched(target, mutated(chance.choice(inputs), inputs, chance, target.largest))
            number += 1
        return number

    start, first = held(), time.monotonic()
    warm = repeated(given.executions // 4, given.seconds / 4)
    before = held()
    count = repeated(given.executions - warm, given.seconds / 2)
    growth, seconds = held() - before, time.monotonic() - first
    slowest = stretch(target, inputs, given, findings)
    if growth > GROWTH_MB:
        findings.told[target.name] = f"grew by {growth:.0f} MB over {count} inputs"
    told = {"slowest": slowest, "growth": growth, "peak": peak() - start, "found": findings.told}
    print(json.dumps({**told, "count": warm + count, "seconds": seconds}))


def stretch(target: Target, inputs: Sequence[bytes], given: argparse.Namespace, findings: Findings) -> float:
    """The milliseconds of the slowest of many inputs of 100 kB."""
    chance = random.Random(1)
    slowest = 0.0
    least = SHORTEST.get(target.name.partition(".")[0], 8)
    end = time.monotonic() + given.seconds / 2
    for _ in range(given.stretched):
        data = stretched(chance.choice(inputs), chance, least=least)
        if findings.watched(target, data) and (took := milliseconds(target, data)) > slowest:
            slowest = took
            if slowest > BUDGET_MS:
                findings.add("slow", data, f"{slowest:.0f} ms per 100 kB, and {BUDGET_MS:.0f} are allowed")
        if time.monotonic() > end:
            break
    return slowest


if __name__ == "__main__":
    main()
