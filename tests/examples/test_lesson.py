"""The lesson runs from top to bottom without a key, and its text says what its cells show."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOK = json.loads((FOLDER / "lesson.ipynb").read_text(encoding="utf-8"))


def of_kind(kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == kind]


def shown(value: Any) -> str:
    """A value as a notebook shows it."""
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


@pytest.fixture(scope="module")
def lesson():
    """The values of the cells' last lines, and the names that the cells define."""
    names: dict[str, Any] = {}
    values: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FOLDER)
        for source in of_kind("code"):
            cell = ast.parse(source)
            last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
            exec(compile(cell, "lesson.ipynb", "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "lesson.ipynb", "eval"), names)
                values.append("" if value is None else shown(value))
    return names, "\n".join(values)


def test_the_file_is_a_notebook_without_stored_outputs():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in NOTEBOOK["cells"]}) == len(NOTEBOOK["cells"])
    for cell in NOTEBOOK["cells"]:
        assert cell.get("outputs", []) == []


def test_thirty_everyday_samples_are_measured(lesson):
    names, _ = lesson

    assert len(names["rows"]) == len(names["creative"]) == len(names["careful"]) == 30


def test_the_score_of_the_lesson_is_two_of_five(lesson):
    names, output = lesson

    assert names["creative"].score("sencha", "faithfulness").formula == "2 / 5 = 0.4"
    assert "2 / 5 = 0.4" in output
    assert round(names["creative"].mean("faithfulness").value, 1) == 0.7


def test_the_answer_that_is_correct_and_scores_zero_is_not_called_wrong(lesson):
    names, output = lesson
    corrected = names["creative"].score("jasmine", "factual_correctness")

    assert "['more_than_reference']" in output
    assert corrected.corrections
    assert corrected.value > 0


def test_the_comparison_is_decided_for_one_metric_and_open_for_the_other(lesson):
    names, _ = lesson
    verdicts = {row.metric.partition("/")[0]: row.verdict for row in names["compared"].metrics}

    assert verdicts == {"faithfulness": "better", "factual_correctness": "cannot tell"}


def test_the_raters_and_the_metric_are_compared_in_a_table(lesson):
    _, output = lesson

    assert "kappa" in output
    assert re.search(r"<th scope=\"col\">area</th>", output)


def test_the_pages_that_the_lesson_names_exist():
    for page in re.findall(r"docs/\w+\.md", "".join(of_kind("markdown"))):
        assert (FOLDER.parent / page).exists()


def test_the_lesson_leaves_nothing_behind():
    assert not (FOLDER / "lesson_labels.csv").exists()
