"""Runs, scores and results of studies in a notebook."""

import re
from html import escape

import pytest

from ragmetrics_core import Run, evaluate, study
from ragmetrics_core.records import Record
from ragmetrics_core.study import (
    compare_runs,
    comparison_tables,
    read_scores,
    study_groups,
)

SENCHA = {
    "id": "sencha",
    "question": "How should sencha be brewed?",
    "contexts": [
        "Sencha is a Japanese green tea. Brew it with water of 70 to 80 degrees for one to two minutes.",
        "Black tea is brewed with boiling water for three to five minutes.",
    ],
    "answer": "Sencha is brewed with water of 70 to 80 degrees. Let it steep for five minutes.",
    "reference": "With water of 70 to 80 degrees, for one to two minutes.",
}
OTHERS = [
    {**SENCHA, "id": f"tea-{number}", "answer": "Sencha is a Japanese green tea.", "kind": kind}
    for number, kind in enumerate(["green", "green", "black", "black"])
]


def measured(*samples: dict[str, object], **how: object) -> Run:
    return evaluate(samples, metrics="faithfulness", judge="embedded", **how)


def test_a_run_names_the_rows_that_were_left_out_with_the_reason():
    run = measured(SENCHA, {**SENCHA, "answer": "No."}, {"answer": ["No.", "Yes."]})
    shown = run._repr_html_()

    assert "1 sample, 2 rows left out" in shown
    for row in run.rejected:
        assert f"<li>{row.where}: " in shown


def test_a_run_gives_its_notes_and_the_reasons_of_missing_values():
    run = measured({**SENCHA, "contexts": None}, {**SENCHA, "id": "b", "answer": ""}, {**SENCHA, "id": "c"})
    shown = run._repr_html_()

    assert "faithfulness/strict.1 skipped for 1 of 3: no contexts" in shown
    assert "faithfulness/strict.1 undefined for 1 of 3: " in shown
    assert "Answers: " in shown


def test_the_table_of_a_first_run_says_how_to_read_it_and_later_ones_only_on_request(tmp_path):
    first = measured(SENCHA, out=tmp_path / "first")
    assert "<details open><summary>How to read this table" in first._repr_html_()

    second = measured(SENCHA, out=tmp_path / "second")
    assert "<details><summary>How to read this table" in second._repr_html_()
    assert "<details><summary>How to read this table" in first._repr_html_()


def test_a_score_shows_its_proof():
    shown = measured(SENCHA).score("sencha", "faithfulness")._repr_html_()
    text = " ".join(re.sub(r"<sup>.*?</sup>|<[^>]*>", "", shown).split())

    assert "1 / 2 = 0.5" in text
    for part in (SENCHA["question"], SENCHA["answer"], SENCHA["reference"], *SENCHA["contexts"]):
        assert part in text
    assert "✗" in text or "≈" in text
    assert "statements.v5" in text  # which prompt was asked


def test_a_record_without_its_sample_shows_its_verdicts():
    record = measured(SENCHA).score("sencha", "faithfulness").model_copy(update={"sample": None})

    assert isinstance(record, Record)
    assert "Answer statements" in record._repr_html_()


def test_a_score_without_a_value_says_why():
    shown = measured({**SENCHA, "answer": ""}).score("sencha", "faithfulness")._repr_html_()

    assert "undefined (" in shown


def test_a_mark_across_another_one_loses_no_text():
    # statements 1 and 2 share "green tea": the pieces between the ends stay in their order
    from ragmetrics_core.report._marks import Mark
    from ragmetrics_core.report.html._notebook import _marked

    marks = [Mark(0, 9, 1, "yes", "evidence"), Mark(6, 12, 2, "no", "evidence")]
    shown = _marked("<green & tea>", marks)

    assert re.sub(r"<sup>.*?</sup>|</?span[^>]*>", "", shown) == "&lt;green &amp; tea&gt;"
    assert re.findall(r"<sup>(\d)</sup>", shown) == ["1", "2"]


def test_the_result_of_a_study_shows_its_tables_with_their_notes():
    before = read_scores(measured(*OTHERS), name="before")
    after = read_scores(measured(*({**each, "answer": "It is a cake."} for each in OTHERS)), name="after")
    compared = compare_runs(before, after)
    shown = compared._repr_html_()

    for table in comparison_tables(compared):
        assert table.title in shown
        assert all(escape(note[:300]) in shown for note in table.notes)


def test_names_of_groups_are_text_in_a_notebook():
    run = measured(*({**each, "kind": f"<b>{each['kind']}</b>"} for each in OTHERS))
    shown = study_groups([read_scores(run)], by="kind")._repr_html_()

    assert "&lt;b&gt;green&lt;/b&gt;" in shown
    assert "<b>" not in shown


@pytest.mark.parametrize(
    "name", ["Agreement", "Funnel", "GroupStudy", "RunComparison", "Trend", "GateVerdict"]
)
def test_results_of_every_kind_can_be_shown_in_a_notebook(name):
    assert callable(getattr(study, name)._repr_html_)
