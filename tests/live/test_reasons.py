"""One vocabulary of reasons: the core and the adapters use no other words, and the page has them all."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import ragmetrics_core
from ragmetrics_core.live import SkipReason

ROOT = Path(__file__).resolve().parents[2]
# The packages that are imported: those of the checkout, or those of the wheel.
CORE = Path(ragmetrics_core.__file__).parent
ADAPTERS = CORE.parent / "integrations" if CORE.parent == ROOT else CORE.parent
FOLDERS = (
    CORE / "adapting",
    CORE / "live",
    ADAPTERS / "ragmetrics_langchain",
    ADAPTERS / "ragmetrics_llama_index",
    ADAPTERS / "haystack_integrations" / "components" / "evaluators" / "ragmetrics",
)


def reasons_in(path: Path) -> Iterator[str]:
    """The words given to `Skip(...)`, `skip(...)` and `give_up(...)`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in ("Skip", "skip", "give_up"):
                inside = (each for argument in node.args for each in _words(argument))
                yield from inside


def _words(argument: ast.expr) -> Iterator[str]:
    if isinstance(argument, ast.IfExp):
        yield from _words(argument.body)
        yield from _words(argument.orelse)
    elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        yield argument.value


def test_the_core_and_the_adapters_say_why_in_no_other_words():
    used = {reason for folder in FOLDERS for path in folder.rglob("*.py") for reason in reasons_in(path)}

    assert "no_question" in used
    assert used <= set(get_args(SkipReason))


def test_the_page_explains_every_word():
    page = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
    section = page.partition("### What is not scored")[2].partition("\n## ")[0]
    first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]

    explained = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(explained) == sorted(get_args(SkipReason))
