"""One target, searched with coverage as the guide, in a process of its own: `python -m tests.fuzz.guided`.

atheris instruments the package while it is imported and keeps every input that reaches something new. Without
atheris, which has no build for some platforms, inputs are changed blindly.
"""

import argparse
import importlib.util
import json
import os
import random
import sys
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path

HAS_ATHERIS = importlib.util.find_spec("atheris") is not None
if HAS_ATHERIS:
    import atheris

# What is imported here is watched: the package must not be imported before.
with atheris.instrument_imports(include=["ragmetrics_core"]) if HAS_ATHERIS else nullcontext():
    from tests.fuzz.catalogue import TARGETS, kept
    from tests.fuzz.findings import Findings
    from tests.fuzz.mutation import mutated


class Search:
    """Runs the target again and again, and ends the process when it was enough."""

    def __init__(self, name: str, executions: int, seconds: float, findings: Path) -> None:
        self.target = TARGETS[name]
        self.findings = Findings(name, findings)
        self._executions = executions
        self._count = 0
        self._start = time.monotonic()
        self._seconds = seconds

    def __call__(self, data: bytes) -> None:
        """Run the target once."""
        self._count += 1
        self.findings.watched(self.target, data)
        seconds = time.monotonic() - self._start
        if self._count >= self._executions or seconds > self._seconds:
            told = {"count": self._count, "seconds": seconds, "found": self.findings.told}
            print(json.dumps(told), flush=True)
            os._exit(0)  # libFuzzer would go on


def guided(search: Search, place: Path, seeds: Sequence[bytes]) -> None:
    """Search with atheris; half of the changes are its own."""
    for seed in seeds:
        (place / sha256(seed).hexdigest()[:16]).write_bytes(seed)

    def change(data: bytes, largest: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.5:
            found: bytes = atheris.Mutate(data, largest)
            return found
        return mutated(bytes(data), seeds, chance, largest)

    options = [f"-max_len={search.target.largest}", "-timeout=60", "-rss_limit_mb=4096", "-len_control=0"]
    options += [f"-artifact_prefix={place}-", "-verbosity=0"]
    atheris.Setup([sys.argv[0], str(place), *options], search, custom_mutator=change)
    atheris.Fuzz()


def blind(search: Search, seeds: Sequence[bytes]) -> None:
    """Search without a guide."""
    chance = random.Random(0)
    for seed in seeds:
        search(seed)
    while True:
        search(mutated(chance.choice(seeds), seeds, chance, search.target.largest))


def main() -> None:
    """Search one target."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided")
    parser.add_argument("target")
    parser.add_argument("--executions", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--place", type=Path, required=True)
    parser.add_argument("--findings", type=Path, required=True)
    given = parser.parse_args()
    warnings.simplefilter("error")
    search = Search(given.target, given.executions, given.seconds, given.findings)
    seeds = [*search.target.seeds(), *kept(given.target)]
    if HAS_ATHERIS:
        guided(search, given.place, seeds)
    else:
        blind(search, seeds)


if __name__ == "__main__":
    main()
