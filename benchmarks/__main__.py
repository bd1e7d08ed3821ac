"""Everything that DESIGN.md promises in numbers, measured on this machine in one run, in one table.

    python -m benchmarks [--quick] [--without-ragas]

Ratios and budgets come first, with a mark where a budget is missed. Nothing else should run meanwhile. It
takes about ten minutes; with --quick about two, on fewer samples.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Iterator

from benchmarks import growth, imports, own_cost, prefixes, server_capacity, throughput
from benchmarks.table import Row, printed
from benchmarks.workload import METRICS


def own_cost_rows(found: own_cost.OwnCost) -> Iterator[Row]:
    """Own cost a call: the middle run counts."""
    yield Row("own cost of a judge call in µs of CPU, middle run", f"{found.middle:.0f}")


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer samples: for a look, not for a claim")
    parser.add_argument("--without-ragas", action="store_true")
    given = parser.parse_args()
    count, repeats, largest = (50, 1, 10_000) if given.quick else (200, 3, 100_000)
    start = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - start:5.0f} s  {what}", file=sys.stderr, flush=True)

    say("imports")
    imported = imports.measure()
    say("own cost")
    cost = own_cost.measure(repeat=repeats)
    say("the server")
    served = server_capacity.measure()
    say("throughput")
    reached = throughput.measure(count=count, repeats=repeats, with_ragas=not given.without_ragas)
    say("growth")
    grown = growth.measure(largest=largest)
    say("prefixes")
    shared = prefixes.measure()
    say("done")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}; "
        f"{len(METRICS)} metrics x {count} samples, answered after {throughput.LATENCY * 1e3:g} ms"
    )
    printed(
        "Ratios and budgets",
        [
            *reached.ratios(),
            *own_cost_rows(cost),
            *imported.ratios(),
            *growth.ratios(grown),
            *shared.rows(),
            *served.rows(),
        ],
    )
    print("\nWhat they are made of")
    print("\n".join(reached.lines()))
    printed("Growth and imports", [*growth.details(grown), *imported.details()])


if __name__ == "__main__":
    main()
