"""The table of the benchmarks: what was measured, what is allowed, and a mark where the two do not agree."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Row", "child", "limited", "printed"]

_ROOT = Path(__file__).resolve().parent.parent


class Row(NamedTuple):
    """A line of the table.

    Attributes:
        what: what was measured.
        measured: the figure, with its unit.
        budget: the limit, or what to compare the figure with; "" for none.
        missed: the figure is over its limit.
    """

    what: str
    measured: str
    budget: str = ""
    missed: bool = False


def limited(what: str, measured: float, limit: float, *, form: str = "{:.2f}") -> Row:
    """A line with a limit."""
    return Row(what, form.format(measured), f"at most {form.format(limit)}", measured > limit)


def printed(title: str, rows: Iterable[Row]) -> None:
    """Print one part of the table."""
    print(f"\n{title}")
    for row in rows:
        mark = "MISSED" if row.missed else ""
        print(f"  {row.what:<62} {row.measured:>10}  {row.budget:<18} {mark}".rstrip(), flush=True)


def child(
    arguments: Sequence[str],
    *,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
    folder: Path = _ROOT,
) -> dict[str, Any]:
    """What a process of its own prints as JSON; its memory and its CPU time are its own, too.

    Args:
        arguments: for python.
        python: the interpreter.
        environment: the process's environment variables; None for those of this one.
        folder: where it runs; with `-m` and `-c` it imports from there first.

    Raises:
        RuntimeError: it failed; the message is the end of what it said.
    """
    done = subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
