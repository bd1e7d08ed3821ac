"""Tokens of code by room, held to the budgets in rooms.toml: a room may only shrink.

Run: python -m tests.house.rooms            says how many tokens each room has, and its budget
     python -m tests.house.rooms --check    fails where a room has more tokens than its budget
     python -m tests.house.rooms --write    lowers the budgets to what the rooms have; it raises none

A room is a package of the core, a package in a package that has a budget of its own, or an integration; what
lies loose at the core's top is one room. Tokens are names, operators, numbers and strings, without those of
docstrings, imports and `__all__`: what a reader has to read, however dense the lines are. Those of JavaScript
are its words and signs. Whoever needs more room raises its budget by hand, in a commit of its own that says
why.
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parent.parent.parent
BUDGETS = ROOT / "rooms.toml"
_NAMED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_COUNTED = frozenset({tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING})
_SCRIPT_COMMENT = re.compile(r"^\s*(?://|/?\*).*$", re.MULTILINE)
_SCRIPT_TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens_of(path: Path) -> int:
    """The tokens of code of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return len(_SCRIPT_TOKEN.findall(_SCRIPT_COMMENT.sub("", text)))
    left_out = _left_out(text)
    return sum(
        token.type in _COUNTED and token.start[0] not in left_out
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )


def _left_out(text: str) -> frozenset[int]:
    """The numbers of the lines of docstrings, imports and `__all__`."""
    numbers: set[int] = set()
    for node in ast.walk(ast.parse(text)):
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
    """The tokens of each room: the longest of the named rooms that holds a file, else its package."""
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
            found["JavaScript" if path.suffix == ".js" else own[0] if own else room] += tokens_of(path)
    return found


def main(given: str = "") -> int:
    """Print the rooms; the exit code is 1 where one is over its budget."""
    budgets: dict[str, int] = tomllib.loads(BUDGETS.read_text(encoding="utf-8"))["tokens"]
    found = rooms(budgets)
    core = sum(count for room, count in found.items() if room.startswith("ragmetrics_core"))
    adapters = sum(count for room, count in found.items() if room.startswith("integrations"))
    counts = {**found, "the core": core, "the integrations": adapters}
    over = [room for room, count in counts.items() if count > budgets.get(room, 0)]
    for room, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(
            f"{room:52} {count:7,} of {budgets.get(room, 0):7,}{'  over its budget' if room in over else ''}"
        )
    if given == "--write":
        lowered = {room: min(count, budgets.get(room, count)) for room, count in sorted(counts.items())}
        head = BUDGETS.read_text(encoding="utf-8").partition("[tokens]")[0]
        lines = [f'"{room}" = {count}' for room, count in lowered.items()]
        BUDGETS.write_text("\n".join([f"{head}[tokens]", *lines, ""]), encoding="utf-8")
    if over:
        print(f"over: {', '.join(over)}. A room may only shrink; a budget is raised in a commit of its own.")
    return 1 if over and given == "--check" else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
