"""Tables on a terminal: sentences get a readable column, or are notes below the table."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from ragmetrics_core.report.terminal._fitting import Fitted, FittedColumn

NAMES = ["faithfulness", "context_precision", "context_recall"]
SENTENCES = ["only 6 samples moved: the interval is too narrow", "every score is the same", "every time"]


def shown(width: int, *, figures: int = 1, sentences: list[str] = SENTENCES) -> str:
    """A table of three metrics with columns of numbers and sentences."""
    columns = [
        FittedColumn("metric", [*map(Text, NAMES)], "name"),
        *[FittedColumn(f"n{n}", [Text("0.123456789")] * 3, "number", "right") for n in range(figures)],
        FittedColumn("note", [*map(Text, sentences)]),
    ]
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(Fitted(columns))
    return file.getvalue()


@pytest.mark.parametrize("width", range(56, 130, 3))
def test_a_sentence_has_24_characters_in_a_line_or_is_a_note_below_the_table(width):
    out = shown(width, figures=2)
    assert max(map(len, out.splitlines())) <= width
    if "[1]" not in out:
        assert width - out.splitlines()[0].index("note") >= 24
        return
    rows = [line.split() for line in out.splitlines() if line.startswith(tuple(NAMES))]
    assert [row[3:] for row in rows] == [["[1]"], ["[2]"], ["every", "time"]]
    words = " ".join(out.split())
    assert f"· [1] {SENTENCES[0]}" in words
    assert f"· [2] {SENTENCES[1]}" in words


def test_the_table_is_as_wide_as_it_can_be_before_its_sentences_are_notes():
    # 17 + 2 + 11 + 2 + 24
    assert "[1]" not in shown(56)
    assert "[1]" in shown(55)


@pytest.mark.parametrize("width", range(56, 80, 3))
def test_no_sentence_is_broken_into_less_than_24_characters_even_if_it_is_short(width):
    out = shown(width, figures=2, sentences=["every score is the same"] * 3)
    assert out.count("every score is the same") == (1 if "[1]" in out else 3)


def test_rows_of_one_sentence_share_its_note():
    out = shown(50, sentences=[SENTENCES[0]] * 3)
    assert out.count("[1]") == 4
    assert "[2]" not in out
