"""How long `import ragmetrics_core` takes, against `import numpy, pydantic`, which it needs.

Run: python -m benchmarks.imports

The fastest of ten processes each, in turns. `import pydantic` alone is lazy, it loads little more than a list
of names; what any package with a model in it pays is shown beside it.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.table import Row, child, limited, printed

__all__ = ["Imports", "measure"]

PROCESSES = 10
BUDGET = 1.5
OURS = "import ragmetrics_core"
NEEDED = "import numpy, pydantic"
USED = "import numpy; from pydantic import BaseModel"
# None of these may come with the core.
HEAVY = ("aiohttp", "httpx", "langchain_core", "openai", "pandas", "requests", "rich", "scipy", "typer")
_CODE = """
import json, sys, time
start = time.perf_counter()
{statement}
seconds = time.perf_counter() - start
packages = sorted({{name.partition(".")[0] for name in sys.modules}})
json.dump({{"seconds": seconds, "packages": packages}}, sys.stdout)
"""


@dataclass(frozen=True, kw_only=True)
class Imports:
    """Seconds of the fastest import by statement, and heavy packages that came with ours."""

    seconds: dict[str, float]
    heavy: list[str]

    def ratios(self) -> Iterator[Row]:
        """Ours over what it needs."""
        yield limited(f"{OURS} over {NEEDED}", self.seconds[OURS] / self.seconds[NEEDED], BUDGET)
        came = ", ".join(self.heavy) or "none"
        yield Row("clients and frameworks imported with it", came, "none", bool(self.heavy))

    def details(self) -> Iterator[Row]:
        """The times."""
        for statement, seconds in self.seconds.items():
            yield Row(statement, f"{seconds * 1e3:.0f} ms")


def measure() -> Imports:
    """Measure all in turns."""
    times: dict[str, list[float]] = {OURS: [], NEEDED: [], USED: []}
    heavy: set[str] = set()
    for _ in range(PROCESSES):
        for statement, seconds in times.items():
            found = child(["-c", _CODE.format(statement=statement)])
            seconds.append(found["seconds"])
            if statement == OURS:
                heavy |= set(found["packages"]) & set(HEAVY)
    return Imports(
        seconds={statement: min(seconds) for statement, seconds in times.items()}, heavy=sorted(heavy)
    )


def main() -> None:
    """Measure and print."""
    found = measure()
    printed(f"Imports, Python {sys.version.split()[0]}", [*found.ratios(), *found.details()])


if __name__ == "__main__":
    main()
