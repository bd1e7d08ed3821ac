"""Lines of code by room, held to the budgets in rooms.toml: a room may only shrink.

Run: python -m tests.house.rooms            says how many lines each room has, and its budget
     python -m tests.house.rooms --check    fails where a room has more lines than its budget
     python -m tests.house.rooms --write    lowers the budgets to what the rooms have; it raises none

A room is a package of the core, a package in a package that has a budget of its own, or an integration; what
lies loose at the core's top is one room. Lines count without docstrings, imports, `__all__`, blank lines and
comments; those of JavaScript without blank lines and comments. Whoever needs more room raises its budget
by hand, in a commit of its own that says why.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parent.parent.parent
BUDGETS = ROOT / "rooms.toml"
_NAMED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(path: Path) -> int:
    """The lines of code of a file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    left_out = _left_out(path) if path.suffix == ".py" else frozenset[int]()
    comments = "#" if path.suffix == ".py" else ("//", "/*", "*")
    return sum(
        bool(line.strip()) and not line.strip().startswith(comments) and number not in left_out
        for number, line in enumerate(lines, start=1)
    )


def _left_out(path: Path) -> frozenset[int]:
    """The numbers of the lines of docstrings, imports and `__all__`."""
    numbers: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, _NAMED) and ast.get_docstring(node, clean=False) is not None:
            said: ast.stmt = node.body[0]
        elif isinstance(node, ast.Import | ast.ImportFrom) or _is_all(node):
            said = node
        else:
            continue
        numbers.update(range(said.lineno, (said.end_lineno or said.lineno) + 1))
    return frozenset(numbers)


def _is_all(node: ast.AST) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"


def rooms(budgets: Mapping[str, int]) -> Counter[str]:
    """The lines of each room: the longest of the named rooms that holds a file, else its package."""
    found: Counter[str] = Counter()
    for top in ("ragmetrics_core", "integrations"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in {".py", ".js"}:
                continue
            parts = path.relative_to(ROOT).parts
            own = [
                name for length in range(len(parts), 1, -1) if (name := "/".join(parts[:length])) in budgets
            ]
            room = "/".join(parts[:2]) if len(parts) > 2 else f"{top}/*.py"
            found["JavaScript" if path.suffix == ".js" else own[0] if own else room] += lines_of(path)
    return found


def main(given: str = "") -> int:
    """Print the rooms; the exit code is 1 where one is over its budget."""
    budgets: dict[str, int] = tomllib.loads(BUDGETS.read_text(encoding="utf-8"))["lines"]
    found = rooms(budgets)
    core = sum(count for room, count in found.items() if room.startswith("ragmetrics_core"))
    adapters = sum(count for room, count in found.items() if room.startswith("integrations"))
    counts = {**found, "the core": core, "the integrations": adapters}
    over = [room for room, count in counts.items() if count > budgets.get(room, 0)]
    for room, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(
            f"{room:52} {count:6,} of {budgets.get(room, 0):6,}{'  over its budget' if room in over else ''}"
        )
    if given == "--write":
        lowered = {room: min(count, budgets.get(room, count)) for room, count in sorted(counts.items())}
        head = BUDGETS.read_text(encoding="utf-8").partition("[lines]")[0]
        lines = [f'"{room}" = {count}' for room, count in lowered.items()]
        BUDGETS.write_text("\n".join([f"{head}[lines]", *lines, ""]), encoding="utf-8")
    if over:
        print(f"over: {', '.join(over)}. A room may only shrink; a budget is raised in a commit of its own.")
    return 1 if over and given == "--check" else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
