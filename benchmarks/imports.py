"""What `import ragmetrics_core` costs, and what comes later: in time over what it needs, and in packages.

    python -m benchmarks.imports

The package itself loads its parts when they are asked for, so its import alone says little: the way to
`evaluate`, and to the end of a first evaluation, is measured too. Each line is the fastest of some fresh
processes, by the clock and in CPU time, with compiled modules, as an installed package has them. `import
pydantic` is lazy; what any package with a model in it pays is shown beside it.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.table import Row, child, limited, printed

__all__ = ["Imports", "measure"]

PROCESSES = 10
BUDGET = 1.5
OURS = "import ragmetrics_core"
EVALUATE = "from ragmetrics_core import evaluate"
FIRST = """from ragmetrics_core import evaluate
sample = {"question": "Q?", "answer": "A.", "contexts": ["A."]}
evaluate([sample], metrics=["faithfulness"], judge="embedded")"""
NEEDED = "import numpy, pydantic"
USED = "import numpy; from pydantic import BaseModel"
NAMES = {FIRST: "the same, and a first evaluation"}
# None of these may come with the core.
HEAVY = ("aiohttp", "httpx", "langchain_core", "openai", "pandas", "requests", "rich", "scipy", "typer")
_CODE = """
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
{statement}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
packages = sorted({{name.partition(".")[0] for name in sys.modules}})
json.dump({{"wall": wall, "cpu": cpu, "packages": packages}}, sys.stdout)
"""


class Seconds(NamedTuple):
    """What a statement took, by the clock and in CPU time."""

    wall: float
    cpu: float


@dataclass(frozen=True, kw_only=True)
class Imports:
    """Seconds of the fastest import by statement, and heavy packages that came with ours."""

    seconds: dict[str, Seconds]
    heavy: list[str]

    def ratios(self) -> Iterator[Row]:
        """Ours over what it needs, by the clock and in CPU time."""
        wall, cpu = self._over_needed(OURS)
        yield limited(f"{OURS} over {NEEDED}", max(wall, cpu), BUDGET)
        for statement in (EVALUATE, FIRST):
            wall, cpu = self._over_needed(statement)
            yield Row(
                f"{NAMES.get(statement, statement)}, over the same", f"{wall:.2f}", f"({cpu:.2f} by CPU)"
            )
        came = ", ".join(self.heavy) or "none"
        yield Row("clients and frameworks imported with it", came, "none", bool(self.heavy))

    def details(self) -> Iterator[Row]:
        """The times."""
        for statement, (wall, cpu) in self.seconds.items():
            yield Row(NAMES.get(statement, statement), f"{wall * 1e3:.0f} ms", f"({cpu * 1e3:.0f} ms CPU)")

    def _over_needed(self, statement: str) -> Seconds:
        ours, needed = self.seconds[statement], self.seconds[NEEDED]
        return Seconds(ours.wall / needed.wall, ours.cpu / needed.cpu)


def measure() -> Imports:
    """Measure all in turns."""
    found: dict[str, list[Seconds]] = {each: [] for each in (OURS, EVALUATE, FIRST, NEEDED, USED)}
    heavy: set[str] = set()
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for turn in range(PROCESSES + 1):
            for statement, seconds in found.items():
                told = child(["-c", _CODE.format(statement=statement)], environment=environment)
                if turn:  # the first one compiles
                    seconds.append(Seconds(told["wall"], told["cpu"]))
                if statement == EVALUATE:
                    heavy |= set(told["packages"]) & set(HEAVY)
    fastest = {
        statement: Seconds(min(each.wall for each in seconds), min(each.cpu for each in seconds))
        for statement, seconds in found.items()
    }
    return Imports(seconds=fastest, heavy=sorted(heavy))


def main() -> None:
    """Measure and print."""
    found = measure()
    printed(f"Imports, Python {sys.version.split()[0]}", [*found.ratios(), *found.details()])


if __name__ == "__main__":
    main()
