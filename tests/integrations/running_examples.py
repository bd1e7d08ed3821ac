"""Examples run in this process, with any model in place of the small one, which takes minutes."""

import importlib.util
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skips a test where a package is not installed."""
    absent = [each for each in packages if importlib.util.find_spec(each) is None]
    return pytest.mark.skipif(bool(absent), reason=f"not installed: {', '.join(absent)}")


def load_example(
    monkeypatch: pytest.MonkeyPatch, name: str, *arguments: str, instead: Mapping[str, Any]
) -> dict[str, Any]:
    """What an example defines, with some of its names replaced."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    example = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="example")
    example["main"].__globals__.update(instead)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *arguments])
    return example


def run_example(
    monkeypatch: pytest.MonkeyPatch, name: str, *arguments: str, instead: Mapping[str, Any]
) -> Any:
    """Run an example's `main`; gives what it defines."""
    example = load_example(monkeypatch, name, *arguments, instead=instead)
    example["main"]()
    return example


def assert_compared(printed: str, example: dict[str, Any], *ways: str) -> None:
    """Each way of retrieving is compared with the plain one, by every metric."""
    for way in ways:
        table = printed.partition(f"{way} against plain\n")[2].splitlines()[1:6]
        metrics = example["compare"].__globals__["METRICS"]
        assert [line.split()[0].partition("/")[0] for line in table] == list(metrics)
        assert all(line.endswith(("cannot tell", "better", "worse")) for line in table)


def assert_lost(printed: str, where: str) -> None:
    """One relevant passage for each of three questions: the search finds all, the reranker keeps none."""
    lost = printed.partition("where they were lost\n")[2].partition("\n\n")[0].splitlines()
    assert len(lost) == 3
    assert all(line.endswith(where) for line in lost)


def assert_repeated(printed: str) -> None:
    """The second of three turns repeats a year that no document has: only the first answer has it."""
    _, first, second, third = printed.split("visitor-7#")
    assert "1 / 2 = 0.5" in first
    assert "rewritten by the application: When did the Harbour Museum open?" in second
    assert "only in an earlier answer: The Harbour Museum opened in 1987." in second
    assert "(the answer of turn 1)" in second
    assert "1 / 1 = 1" in third
