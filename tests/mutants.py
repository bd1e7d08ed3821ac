"""Alters the formulas one operator at a time, and sees that a test fails each time: `make mutants`.

What survives must stand in `tests/scoring/mutants.toml` with the reason why no test can see it. Options are
passed on to `mutmut run`: `--max-children 1` takes one process.
"""

import os
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "tests" / "scoring" / "mutants.toml"
WORK = ROOT / "mutants"


class Mutant(NamedTuple):
    """One alteration: the function, the line as it was and as it became."""

    function: str
    was: str
    becomes: str

    def __str__(self) -> str:
        """The alteration as a short diff."""
        return f"{self.function}\n  - {self.was}\n  + {self.becomes}"


def mutmut(*arguments: str) -> str:
    """What mutmut prints."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def equivalent() -> dict[Mutant, str]:
    """The alterations that change no result, with the reason for each."""
    entries = tomllib.loads(LISTED.read_text(encoding="utf-8"))["mutant"]
    return {
        Mutant(entry["function"], entry["was"], becomes): " ".join(entry["reason"].split())
        for entry in entries
        for becomes in entry["becomes"]
    }


def outcomes() -> Iterator[tuple[str, str]]:
    """Each alteration by mutmut's name, and how it ended."""
    for line in mutmut("results", "--all", "true").splitlines():
        name, colon, status = line.strip().rpartition(": ")
        if colon:
            yield name, status


def described(name: str) -> Mutant:
    """What mutmut altered under this name: "ragmetrics_core.scoring._text.x_bleu__mutmut_2"."""
    lines = mutmut("show", name).splitlines()
    was, becomes = (
        " ".join(
            " ".join(line[1:].split()) for line in lines if line.startswith(sign) and line[:3] != sign * 3
        )
        for sign in "-+"
    )
    module, _, function = name.removeprefix("ragmetrics_core.scoring.").partition(".")
    return Mutant(f"{module}.{function.removeprefix('x_').partition('__mutmut_')[0]}", was, becomes)


def main() -> int:
    """Run all alterations anew; 1 when one survived without a reason, or a reason is not needed."""
    rmtree(WORK, ignore_errors=True)
    # with the examples that continuous integration takes: what survives must not depend on the day
    environment = {**os.environ, "CI": "1"}
    command = [sys.executable, "-m", "mutmut", "run", *sys.argv[1:]]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    ended = dict(outcomes())
    known = equivalent()
    alive = {described(name): status for name, status in ended.items() if status != "killed"}
    unknown = [f"{status}: {mutant}" for mutant, status in alive.items() if mutant not in known]
    needless = [f"listed, but killed or gone: {mutant}" for mutant in known if mutant not in alive]
    print("\n".join([*unknown, *needless]))
    counts = Counter(ended.values())
    print(
        f"{len(ended)} mutants, {counts['killed']} killed, {len(alive) - len(unknown)} that change no result "
        f"(with {len(set(known.values()))} reasons), {len(unknown)} without a reason"
    )
    return 1 if unknown or needless else 0


if __name__ == "__main__":
    sys.exit(main())
