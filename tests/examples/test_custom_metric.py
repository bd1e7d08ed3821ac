"""The example of a metric of one's own is short, keeps the contract, and is proved like any other."""

from pathlib import Path

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import Run, evaluate
from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import ConfigError, PromptError
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import load_file
from ragmetrics_core.testing import ScriptedJudge, check_metric

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SAMPLE = {"id": "q1", "question": "Where?", "answer": "It may be in Ulm. It lies on the Danube."}
REPLY = {"hedging": {"verdicts": [{"number": 1, "verdict": "yes"}, {"number": 2, "verdict": "no"}]}}


@pytest.fixture
def hedging(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from custom_metric import Hedging

    return Hedging()


def test_it_takes_44_lines_with_a_line_for_each_name_that_it_imports():
    assert len((FOLDER / "custom_metric.py").read_text(encoding="utf-8").splitlines()) <= 44


def test_it_keeps_what_every_metric_keeps_to(hedging):
    check_metric(hedging, [SAMPLE, {**SAMPLE, "id": "q2", "answer": ""}])


def test_its_run_is_proved_by_the_commands_too(hedging, tmp_path, monkeypatch):
    judge = ScriptedJudge(REPLY)
    run = evaluate([SAMPLE], metrics=[hedging], judge=judge, out=tmp_path / "run")
    assert (run.score("q1", "hedging").value, run.score("q1", "hedging").formula) == (0.5, "1 / 2 = 0.5")
    assert list(Run.load(tmp_path / "run", metrics=[hedging]).audit()) == []

    monkeypatch.chdir(FOLDER)
    found = CliRunner().invoke(app, ["audit", str(tmp_path / "run"), "--metrics", "custom_metric:Hedging"])
    assert (found.exit_code, "1 record checked" in found.output) == (0, True)
    found = CliRunner().invoke(app, ["audit", str(tmp_path / "run")])
    assert found.exit_code == 1
    assert "there is no metric 'hedging'" in " ".join(found.output.split())


def test_the_embedded_judge_says_that_it_has_no_rule_for_its_prompt(hedging):
    with pytest.raises(ConfigError, match="no rule for the prompt 'hedging'"):
        evaluate([SAMPLE], metrics=[hedging], judge="embedded")


def test_a_prompt_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PromptError, match=r"prompt file .* does not exist"):
        load_file(tmp_path / "none.v1.md", answer=VerdictList)
