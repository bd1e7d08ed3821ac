"""Fuzzing: every parser, every loader and the record, with whatever bytes there are.

    python -m tests.fuzz [--executions N] [--seconds S] [--target NAME ...] [--keep]

Each target runs N times: a fifth of them with coverage as the guide, where atheris can be had, the others on
inputs made of what that found. S seconds are the most that either takes.
Prints a table, and ends with 1 when something was found: an error that is not allowed, over 250 ms of CPU
for 100 kB, or memory that grows. The input that did it is left in `.fuzz/findings`; what reaches something
new, in `.fuzz`, where the next search begins. `--keep` takes the fewest of these that reach everything into
the repository, whose tests replay them.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

WORK = Path(__file__).parents[2] / ".fuzz"
HEADER = f"{'target':<28}{'executions':>11}{'a second':>10}{'ms/100 kB':>11}{'growth MB':>11}{'peak MB':>9}"


class Row(NamedTuple):
    """What came of one target."""

    name: str
    count: int
    seconds: float
    slowest: float
    growth: float
    peak: float
    found: dict[str, str]

    def __str__(self) -> str:
        """The row of the table, and what was found below it."""
        rate = self.count / max(self.seconds, 1e-9)
        numbers = f"{self.count:>11,}{rate:>10,.0f}{self.slowest:>11.1f}{self.growth:>11.1f}{self.peak:>9.1f}"
        return "\n".join(
            [f"{self.name:<28}{numbers}", *(f"  {what}: {path}" for path, what in self.found.items())]
        )


def ran(module: str, name: str, *options: str) -> dict[str, Any]:
    """What a process of one target printed; its end is a finding when it printed nothing."""
    findings = WORK / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    place = WORK / name
    place.mkdir(exist_ok=True)
    log = WORK / f"{name}.{module}.log"
    command = [sys.executable, "-m", f"tests.fuzz.{module}", name, *options]
    command += ["--place", str(place), "--findings", str(findings)]
    with log.open("w", encoding="utf-8") as errors:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
    *_, last = done.stdout.splitlines() or [""]
    try:
        found: dict[str, Any] = json.loads(last)
    except ValueError:
        return {"found": {str(log): f"the process ended with {done.returncode}"}}
    return found


def fuzzed(name: str, executions: int, seconds: float) -> Row:
    """Search one target, then measure it; a fifth of the executions is for the slower search."""
    times = ("--seconds", str(seconds))
    searched = ran("guided", name, *times, "--executions", str(executions // 5))
    left = executions - searched.get("count", 0)
    several = str(min(200, executions // 20))
    measured = ran("measured", name, *times, "--executions", str(left), "--stretched", several)
    return Row(
        name,
        searched.get("count", 0) + measured.get("count", 0),
        searched.get("seconds", 0.0) + measured.get("seconds", 0.0),
        measured.get("slowest", 0.0),
        measured.get("growth", 0.0),
        measured.get("peak", 0.0),
        searched["found"] | measured["found"],
    )


def keep(name: str) -> str:
    """Take the fewest inputs that reach everything into the repository."""
    from tests.fuzz.catalogue import TARGETS, kept, stored
    from tests.fuzz.coverage import fewest

    inputs = [*kept(name), *(path.read_bytes() for path in (WORK / name).glob("*"))]
    chosen = fewest(TARGETS[name], inputs)
    stored(name, chosen)
    return f"{name:<28}{len(chosen):>6} of {len(inputs):,} inputs, {sum(map(len, chosen)):>7,} bytes"


def main() -> int:
    """Search, measure, print the table; 1 when something was found."""
    from tests.fuzz.catalogue import TARGETS

    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--executions", type=int, default=20_000, help="of each target")
    parser.add_argument("--seconds", type=float, default=120, help="for each half of a target at most")
    parser.add_argument("--target", action="append", help="a target, or the beginning of some names")
    parser.add_argument(
        "--keep", action="store_true", help="take what was found into the repository's corpus"
    )
    given = parser.parse_args()
    names = [name for name in TARGETS if name.startswith(tuple(given.target or [""]))]
    if not names:
        parser.error(f"no target begins like that; there is {', '.join(TARGETS)}")
    if given.keep:
        print("\n".join(map(keep, names)))
        return 0
    print(HEADER)
    rows = []
    for name in names:
        rows.append(fuzzed(name, given.executions, given.seconds))
        print(rows[-1], flush=True)
    parsed = sum(row.count for row in rows if row.name.startswith("parser."))
    found = sum(len(row.found) for row in rows)
    print(
        f"{sum(row.count for row in rows):,} executions, {parsed:,} of them of parsers, in "
        f"{sum(row.seconds for row in rows):,.0f} s; at most {max(row.slowest for row in rows):.0f} ms for "
        f"100 kB, {max(row.growth for row in rows):.1f} MB of growth, {max(row.peak for row in rows):.0f} MB "
        f"at the peak; {found} findings"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
