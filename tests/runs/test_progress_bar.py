"""The bar of an evaluation: where it is shown, and what it says."""

import io
import sys
from contextlib import redirect_stderr
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.runs import progress_bar

SAMPLES = [
    {"id": str(number), "question": "Q?", "contexts": ["Tea is green."], "answer": "Tea is green."}
    for number in range(3)
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """A bar waits for nothing."""
    monkeypatch.setattr(progress_bar, "DELAY", 0.0)
    monkeypatch.setattr(progress_bar, "EVERY", 0.0)


@pytest.fixture(params=["tqdm", "a line"])
def bar(request, monkeypatch):
    if request.param == "tqdm":
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)


def on_screen(samples: Any = SAMPLES, stream: io.StringIO | None = None, **how: Any) -> str:
    """What an evaluation writes to standard error, by default a terminal."""
    stream = stream or Terminal()
    with redirect_stderr(stream):
        evaluate(samples, metrics="faithfulness", judge="embedded", **how)
    return stream.getvalue()


@pytest.mark.usefixtures("bar")
@pytest.mark.parametrize("progress", [None, True])
def test_a_terminal_shows_a_bar_by_default(progress):
    # the samples are alike: two calls for the first, none for the others
    last = on_screen(progress=progress).split("\r")[-1]

    assert "3" in last
    assert "2 calls" in last
    assert last.endswith("\n")


@pytest.mark.usefixtures("bar")
def test_a_row_that_is_left_out_counts_as_done():
    last = on_screen([*SAMPLES, {**SAMPLES[0], "answer": "No."}]).split("\r")[-1]

    assert "4" in last
    assert "1 rejected" in last


def test_without_tqdm_the_bar_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)

    assert on_screen().split("\r")[-1] == "3 of 3 samples, 2 calls\n"


@pytest.mark.usefixtures("bar")
def test_false_and_a_function_show_no_bar():
    seen: list[int] = []

    assert on_screen(progress=False) == ""
    assert on_screen(progress=lambda progress: seen.append(progress.samples)) == ""
    assert seen == [1, 2, 3]


@pytest.mark.usefixtures("bar")
def test_nothing_is_shown_where_nobody_watches_unless_it_is_asked_for():
    assert on_screen(stream=io.StringIO()) == ""
    assert "2 calls" in on_screen(stream=io.StringIO(), progress=True)


@pytest.mark.usefixtures("bar")
def test_a_run_that_is_over_at_once_shows_no_bar(monkeypatch):
    monkeypatch.setattr(progress_bar, "DELAY", 60.0)

    assert on_screen() == ""


@pytest.mark.parametrize(
    ("samples", "limit", "total"),
    [
        ([1, 2, 3], None, 3),
        ([1, 2, 3], 2, 2),
        (iter([1, 2, 3]), None, None),
        ({"question": "one sample"}, None, None),
        ("missing.jsonl", None, None),
    ],
)
def test_the_bar_knows_the_number_of_rows_where_it_can(samples, limit, total):
    assert progress_bar._total(samples, limit) == total
