"""Intervals of the report know which samples belong together; a status of every kind has a sign."""

from importlib.resources import files
from typing import get_args

import pytest

from ragmetrics_core import evaluate, write_report
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.records import Status
from ragmetrics_core.testing import ScriptedJudge


def reply(request):
    if request.prompt.name == "statements":
        return {"statements": [str(request.variables["answer"])], "declined": False}
    verdict = "yes" if "right" in request.variables["items"][0].text else "no"
    return {"verdicts": [{"number": 1, "reason": "", "verdict": verdict}]}


def run_of(out, label="session", count=12):
    """Sessions of 10 answers each, all right or all wrong by turns."""
    rows = [
        {
            "id": f"q{n}",
            "question": "Who?",
            "answer": "It is right." if n % count % 2 else "It is wrong.",
            "contexts": ["It."],
            "labels": {label: n % count},
        }
        for n in range(10 * count)
    ]
    return evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(reply), out=out)


def interval(page):
    return page.locator(".means tbody tr").first.inner_text()


def test_the_interval_of_a_mean_is_by_session_and_of_two_runs_the_differences_too(opened, tmp_path):
    # 12 sessions of which 6 are all right: mean 0.5. A session's mean differs from it by 0.5, so that the
    # error is sqrt(12 / 11 x 12 x (0.5 / 12)^2) = 0.1508: they are worth 0.25 / 0.1508^2 = 11 samples, whose
    # Wilson's interval, with t(0.975, 11) = 2.201, is
    # 0.5 +- 2.201 sqrt(0.25 / 11 + 4.844 / 484) / (1 + 4.844 / 11)
    first, second = run_of(tmp_path / "run"), run_of(tmp_path / "b")
    page = opened.go(write_report(first, tmp_path / "report.html"))
    assert "0.224 to 0.776" in interval(page)
    assert "120 samples in 12 clusters by session" in page.inner_text("main")
    # taken for independent: 0.5 +- 1.960 sqrt(0.25 / 120 + 3.841 / 57600) / (1 + 3.841 / 120)
    page = opened.go(write_report(first, tmp_path / "report.html", cluster="none"))
    assert "0.412 to 0.588" in interval(page)
    page = opened.go(write_report(first, tmp_path / "report.html", other=second))
    assert page.inner_text("main").count("clusters by session") == 2
    assert opened.errors == []


def test_a_label_says_what_belongs_together_and_one_that_no_sample_has_is_refused(opened, tmp_path):
    run = run_of(tmp_path / "run", label="source")
    assert "0.412 to 0.588" in interval(opened.go(write_report(run, tmp_path / "report.html")))
    page = opened.go(write_report(run, tmp_path / "report.html", cluster="source"))
    assert "0.224 to 0.776" in interval(page)
    with pytest.raises(ConfigError, match="no sample has the label 'page'"):
        write_report(run, tmp_path / "report.html", cluster="page")


def test_a_metric_that_raised_has_a_sign_in_the_report(opened, tmp_path):
    class Broken(Faithfulness):
        def measure(self, sample):
            raise ZeroDivisionError("division by zero")
            yield

    row = {"id": "q", "question": "Who?", "answer": "He.", "contexts": ["He."]}
    run = evaluate([row], metrics=[Broken()], judge=ScriptedJudge(reply), out=tmp_path / "run")
    assert run.score("q", "faithfulness").status == "metric_error"
    page = opened.go(write_report(run, tmp_path / "report.html"))
    assert "1 metric error" in page.inner_text("main")
    page = opened.go(tmp_path / "report.html", "#sample=q")
    page.wait_for_selector(".proof")
    assert opened.errors == []


def test_every_status_has_a_sign():
    script = files("ragmetrics_core.report.html").joinpath("script", "elements.js").read_text("utf-8")
    listed = script.partition("const STATUS = {")[2].partition("};")[0].splitlines()
    assert {line.partition(":")[0].strip() for line in listed if ":" in line} == set(get_args(Status))
