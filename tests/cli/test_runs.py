"""`ragmetrics runs`: the runs of a folder, and how each stands."""

from ragmetrics_core import Run, evaluate
from ragmetrics_core.runs import export_wave
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.testing import ScriptedJudge
from tests.cli.conftest import SAMPLES

WIDE = 300


def row_of(outcome, path) -> str:
    """The row of a run, in one line."""
    return next(" ".join(line.split()) for line in outcome.out.splitlines() if str(path) in line)


def test_a_run_is_listed_with_its_samples_means_and_judge(command, folder):
    outcome = command("runs", folder.parent, columns=WIDE)
    row = row_of(outcome, folder)
    assert outcome.code == 0
    # q1 1/3, q2 1/2: 0.417, as the page of the run has it
    assert " finished 6 0.417 faithfulness scripted" in row
    # the other metrics are below the first one
    means = {mean.metric: mean.value for mean in Run.load(folder).means()}
    for name in ("factual_correctness", "context_precision"):
        assert f"{means[f'{name}/strict.1']:.3f} {name}" in outcome.words


def test_two_variants_of_a_metric_are_told_apart_and_one_without_a_score_has_no_mean(command, tmp_path):
    metrics = ["faithfulness", "faithfulness/paper"]
    sample = {"id": "a", "question": "Who?", "answer": "He."}
    evaluate([sample], metrics=metrics, judge="embedded", out=tmp_path / "run")
    words = command("runs", tmp_path, columns=WIDE).words
    assert "none faithfulness/strict.1" in words
    assert "none faithfulness/paper.1" in words


def test_a_run_whose_records_cannot_be_read_is_listed_without_means(command, tmp_path):
    evaluate(SAMPLES[:1], metrics="faithfulness", judge="embedded", out=tmp_path / "run")
    (tmp_path / "run" / "records.jsonl").write_bytes(b"\xff{\n")
    outcome = command("runs", tmp_path, columns=WIDE)
    assert outcome.code == 0
    assert " none faithfulness" in outcome.words


def test_every_state_is_told(command, tmp_path):
    for name in ("finished", "running", "unreadable"):
        evaluate(SAMPLES[:1], metrics="faithfulness", judge="embedded", out=tmp_path / name)
    (tmp_path / "unreadable" / "manifest.json").write_text("{")
    export_wave(
        SAMPLES[:1],
        tmp_path / "wave.jsonl",
        out=tmp_path / "waiting",
        metrics="faithfulness",
        judge=ScriptedJudge({}),
    )
    with FolderLock(tmp_path / "running"):
        outcome = command("runs", tmp_path, columns=WIDE)
    for state in ("finished", "running", "waiting", "unreadable"):
        assert f" {state} 1" in row_of(outcome, tmp_path / state)
    assert "is not JSON" in outcome.out


def test_the_folder_is_runs_unless_it_is_named(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evaluate(SAMPLES[:1], metrics="faithfulness", judge="embedded", out="runs/first")
    assert "runs/first" in command("runs").out


def test_show_in_a_folder_above_runs_suggests_the_list_of_runs(command, tmp_path, monkeypatch):
    evaluate(SAMPLES[:1], metrics="faithfulness", judge="embedded", out=tmp_path / "runs" / "first")
    monkeypatch.chdir(tmp_path)
    for folder in (".", "runs"):
        outcome = command("show", folder)
        assert outcome.code == 2
        assert f"ragmetrics runs {folder} lists the runs in it" in outcome.err
        assert "runs/first" in command("runs", folder, columns=WIDE).out


def test_a_folder_that_is_not_there_is_not_suggested(command, tmp_path):
    assert "lists the runs" not in command("show", tmp_path / "none").err


def test_a_folder_without_runs_and_one_that_is_not_there_are_told_as_such(command, tmp_path):
    outcome, missing = (command("runs", path, columns=WIDE) for path in (tmp_path, tmp_path / "none"))
    assert (outcome.code, outcome.words) == (0, f"There are no runs in {tmp_path}.")
    assert (missing.code, missing.out) == (2, "")
    assert missing.err == f"ragmetrics: there is no folder {tmp_path / 'none'}\n"


def test_control_characters_in_a_manifest_do_not_reach_the_terminal(command, tmp_path):
    judge = ScriptedJudge({}, identity="evil\x1b[31m[red]judge")
    evaluate(SAMPLES[:1], metrics="faithfulness", judge=judge, out=tmp_path / "run")
    out = command("runs", tmp_path, columns=WIDE).out
    assert "\x1b" not in out
    assert "[red]judge" in out
