"""Four lines below the first table of a newcomer say what it means."""

import io

import pytest
from rich.console import Console

from ragmetrics_core import Run, evaluate
from ragmetrics_core.cli._evaluate import means
from ragmetrics_core.errors import ModelError
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {"id": "a", "question": "Q?", "contexts": ["Tea is green."], "answer": "Tea is green."}


def page(run: Run, *, is_terminal: bool = True) -> str:
    console = Console(file=io.StringIO(), width=80)
    for part in means(run, is_terminal=is_terminal):
        console.print(part)
    return console.file.getvalue()


def below(run: Run, **how: bool) -> list[str]:
    """The names of the columns that are explained."""
    _, _, explained = page(run, **how).partition("\n\n")
    return [
        line.split()[0] for line in explained.splitlines() if line.strip()
    ]  # a line each, also at 80 columns


def test_a_terminal_explains_the_columns_of_the_first_table(tmp_path):
    run = evaluate([SAMPLE], metrics="faithfulness", judge="embedded", out=tmp_path / "first")

    assert below(run) == ["mean", "n", "abstained"]
    assert "0 is the worst, 1 the best" in page(run)


def test_a_file_or_a_pipe_gets_the_table_alone(tmp_path):
    run = evaluate([SAMPLE], metrics="faithfulness", judge="embedded", out=tmp_path / "first")

    assert below(run, is_terminal=False) == []


def test_with_a_second_run_beside_it_no_table_is_explained(tmp_path):
    runs = [
        evaluate([SAMPLE], metrics="faithfulness", judge="embedded", out=tmp_path / name) for name in "ab"
    ]

    assert [below(run) for run in runs] == [[], []]


def test_a_run_in_memory_is_explained():
    assert below(evaluate([SAMPLE], metrics="faithfulness", judge="embedded"))


def test_where_something_failed_the_range_of_the_mean_is_explained():
    def broken(request):
        if "Tea is black." in str(request.variables):
            raise ModelError("no reply")
        return (
            {"statements": ["Tea."]}
            if request.prompt.name == "statements"
            else {"verdicts": [{"number": 1, "verdict": "yes"}]}
        )

    rows = [SAMPLE, {**SAMPLE, "id": "b", "answer": "Tea is black."}]
    run = evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(broken), attempts=1)

    assert below(run) == ["mean", "n", "worst–best"]


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (["hallucination"], "1 is the worst, 0 the best"),
        (["faithfulness", "hallucination"], "the worst and the best depend on the metric"),
    ],
)
def test_the_ends_of_the_range_are_those_of_the_metrics(metrics, words):
    assert words in page(evaluate([{**SAMPLE, "reference": "Green."}], metrics=metrics, judge="embedded"))
