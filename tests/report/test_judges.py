"""Every page says the same of a run's judge, and a report of two judges says at its top that they differ."""

import pytest

from ragmetrics_core import evaluate, write_report
from ragmetrics_core.report.judge_lines import judge_lines
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_embedded import LexicalJudge
from tests.report.conftest import data_of

SAMPLE = {"id": "a", "question": "Who?", "contexts": ["Nobody."], "answer": "Nobody."}


@pytest.fixture
def scripted(tmp_path):
    """The sample, judged by another judge than the embedded one."""
    reply = {"verdicts": [{"number": 1, "reason": "", "evidence": "", "verdict": "yes"}]}
    judge = ScriptedJudge({"statements": {"statements": ["Nobody."], "declined": False}, "verdicts": reply})
    return evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / "scripted")


@pytest.fixture
def embedded(tmp_path):
    return evaluate([SAMPLE], metrics="faithfulness", judge="embedded", out=tmp_path / "embedded")


def test_a_report_and_a_notebook_say_of_the_judge_what_the_terminal_says(embedded, tmp_path):
    lines = list(judge_lines(embedded))
    (run,) = data_of(write_report(embedded, tmp_path / "report.html"))["overview"]["runs"]
    assert lines[0] == LexicalJudge.note
    assert run["judge_lines"] == lines
    assert LexicalJudge.note in embedded._repr_html_()


def test_a_panel_with_the_embedded_judge_has_its_note(tmp_path):
    panel = ["embedded", ScriptedJudge({})]
    run = evaluate([SAMPLE], metrics="faithfulness", panel=panel, out=tmp_path / "panel")
    assert next(judge_lines(run)) == LexicalJudge.note


def test_two_runs_of_one_judge_have_no_notice(embedded, opened, tmp_path):
    page = opened.go(write_report(embedded, tmp_path / "report.html", other=embedded))
    assert page.locator(".notice").count() == 0


def test_a_report_of_two_judges_says_so_before_any_number(embedded, scripted, opened, tmp_path):
    page = opened.go(write_report(embedded, tmp_path / "report.html", other=scripted))
    notice = page.locator(".notice").first
    assert notice.inner_text() == f"The judge of second is scripted, that of first {embedded.judge}."
    assert notice.bounding_box()["y"] < page.locator("table").first.bounding_box()["y"]


def test_a_report_of_two_judges_says_so_even_if_no_metric_is_in_both(scripted, opened, tmp_path):
    other = evaluate([SAMPLE], metrics="groundedness_rating", judge="embedded", out=tmp_path / "rating")
    page = opened.go(write_report(scripted, tmp_path / "report.html", other=other))
    assert "The judge of second is embedded:" in page.locator(".notice").first.inner_text()
