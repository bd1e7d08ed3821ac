"""Whatever goes wrong is one sentence that says what to do, and an exit code."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragmetrics_core import Run, __version__

ROOT = Path(__file__).resolve().parents[2]
TELECOM = ROOT / "examples" / "data" / "telecom.jsonl"
RUN_COMMANDS = ("show", "audit", "verdicts")

WITHOUT = """
import sys
sys.modules["{package}"] = None
from ragmetrics_core.cli import main
main()
"""


def ragmetrics(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as its user does, in a process of its own."""
    command = [sys.executable, "-m", "ragmetrics_core.cli", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_evaluate_show_and_audit_work_as_commands(tmp_path):
    options = ["--metrics", "faithfulness,context_precision", "--limit", 4, "--out", "run"]
    evaluated = ragmetrics("evaluate", "--judge", "embedded", TELECOM, *options, cwd=tmp_path)
    shown = ragmetrics("show", "run", "tc-01", "faithfulness", cwd=tmp_path)
    audited = ragmetrics("audit", "run", cwd=tmp_path)

    assert (evaluated.returncode, evaluated.stderr) == (0, "")
    assert "ragmetrics show run " in evaluated.stdout
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "faithfulness/strict.1 of tc-01" in shown.stdout
    # 4 samples x 2 metrics
    assert (audited.returncode, audited.stdout) == (
        0,
        "8 records checked: each score follows from its record\n",
    )


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("missing.jsonl", "'missing.jsonl' does not exist"),
        ("folder.jsonl", "'folder.jsonl' is a folder; give a file"),
        (
            "data.txt",
            "cannot read 'data.txt': a file of samples ends in .jsonl, .ndjson, .json, .csv, .tsv, .xlsx, "
            ".parquet",
        ),
        (
            "binary.jsonl",
            "'binary.jsonl', line 1, has a NUL byte: it is a binary file, or UTF-16 without a byte order "
            "mark; a file of samples is UTF-8 text",
        ),
        ("empty.csv", "'empty.csv' is empty"),
        (
            "data.txt/x.jsonl",
            "cannot read 'data.txt/x.jsonl': [Errno 20] Not a directory: 'data.txt/x.jsonl'",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(command, tmp_path, monkeypatch, file, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "data.txt").write_text("a")
    (tmp_path / "binary.jsonl").write_bytes(b"\0\1")
    (tmp_path / "empty.csv").touch()
    outcome = command("evaluate --judge embedded", file)

    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"ragmetrics: {sentence}\n")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_a_missing_extra_is_one_sentence(package):
    command = [sys.executable, "-c", WITHOUT.format(package=package)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "the command line needs: pip install 'ragmetrics-core[cli]'\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_ctrl_c_ends_with_a_sentence(tmp_path):
    replies = tmp_path / "replies.jsonl"
    os.mkfifo(replies)
    open_request = json.dumps({"address": "0" * 32, "judge": "somebody"})
    (tmp_path / "waiting.jsonl").write_text(open_request + "\n", encoding="utf-8")
    # a test run in the background hands on an ignored SIGINT; in a terminal, and here, it is not ignored
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    start = f"{heeding}; from ragmetrics_core.cli import main; main()"
    command = [sys.executable, "-c", start, "batch", "import", str(tmp_path), str(replies)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        writer = open_when_read(replies, process)
        # the command now waits for what never comes
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    os.close(writer)

    assert (process.returncode, err) == (130, "ragmetrics: interrupted\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("words", [("plan",), ("evaluate",)], ids=" ".join)
def test_a_pipe_in_place_of_samples_is_refused_and_not_waited_for(command, tmp_path, words):
    os.mkfifo(tmp_path / "data.jsonl")

    outcome = command(*words, tmp_path / "data.jsonl", "--judge embedded")

    assert outcome.code == 2
    assert outcome.err.endswith("data.jsonl' is not a regular file; write the samples to one first\n")


def open_when_read(pipe: Path, process: subprocess.Popen[str]) -> int:
    """Open a named pipe for writing once the process reads it; fails when the process ends before."""
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
                raise AssertionError(process.stderr and process.stderr.read()) from None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "foo",
            "there is no command 'foo': there are evaluate, plan, show, report, audit, verdicts, diff, "
            "correct, runs, merge, metrics, probe, train-judge, catch-up, compare, send, batch, cache, live, "
            "study, questions (see: ragmetrics --help)",
        ),
        ("metrics faithfulnes", "there is no metric 'faithfulnes'; did you mean 'faithfulness'?"),
        *((f"{verb} no/run", "there is no run in no/run (no manifest.json)") for verb in RUN_COMMANDS),
        ("show", "Missing argument 'RUN' (see: ragmetrics show --help)"),
    ],
)
def test_wrong_use_is_one_sentence(command, words, sentence):
    outcome = command(words)

    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"ragmetrics: {sentence}\n")


def test_a_setting_of_the_wrong_type_is_one_sentence(command):
    outcome = command("evaluate", TELECOM, "--metrics answer_relevance(n_questions=abc)")

    sentence = "answer_relevance: n_questions must be a whole number, not 'abc'"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"ragmetrics: {sentence}\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("q", "the run has no sample 'q'; 6 ids start with it: q6, q5, q4"),
        (
            "q1 faithfulnes",
            "the run has no metric 'faithfulnes'; there is faithfulness, faithfulness/strict.1",
        ),
        ("zzz faithfulness", "the run has no sample 'zzz'; there is "),
    ],
)
def test_an_unknown_sample_or_metric_is_answered_with_the_nearest(command, folder, words, sentence):
    outcome = command("show", folder, *words.split())

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"ragmetrics: {sentence}")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        "evaluate x.jsonl --on-error ignore",
        "evaluate x.jsonl --limit 0",
        "evaluate x.jsonl --nothing",
        "show run --width wide",
        "verdicts run --format xml",
        "correct run q1 faithfulness 1 maybe",
        "correct run q1 faithfulness one yes",
        "diff run",
    ],
)
def test_a_wrong_option_is_one_line_that_points_to_the_help(command, words):
    outcome = command(words)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("ragmetrics: ")
    assert outcome.err.endswith(f"(see: ragmetrics {words.split()[0]} --help)\n")
    assert outcome.err.count("\n") == 1


def test_an_unreadable_record_is_named_with_file_and_line(command, folder):
    records = folder / "records.jsonl"
    lines = records.read_text(encoding="utf-8").splitlines()
    records.write_text("\n".join([lines[0], "{broken", *lines[2:]]) + "\n", encoding="utf-8")

    outcome = command("show", folder)

    assert outcome.code == 2
    assert outcome.err.startswith(f"ragmetrics: {records}, line 2: ")
    assert outcome.err.count("\n") == 1


def test_an_error_cannot_steer_the_terminal(command):
    outcome = command("metrics", "\x1b[31m[red]faith\nfulness")

    assert outcome.err.startswith("ragmetrics: there is no metric '\\x1b[31m[red]faith")
    assert "\x1b" not in command("show", "no\x1b[31mrun").err


def test_without_a_command_the_help_is_shown_and_the_version_is_that_of_the_package(command):
    outcome, told = command(), command("--version")

    assert outcome.code == 0
    for name in ("evaluate", "show", "audit", "verdicts", "diff", "correct", "metrics"):
        assert f"\n  {name} " in outcome.out
    assert (told.code, told.out) == (0, f"ragmetrics {__version__}\n")


def test_a_folder_that_cannot_be_written_is_named(command, folder):
    outcome = command("verdicts", folder, "--out", folder / "no" / "file.csv")

    assert (outcome.code, outcome.err) == (
        2,
        f"ragmetrics: {folder / 'no' / 'file.csv'} cannot be written: No such file or directory\n",
    )


def test_looking_at_a_run_changes_nothing_in_it(command, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for words in ("show", "audit", "verdicts"):
        assert command(words, folder).code == 0
    assert command("show", folder, "q1", "faithfulness").code == 0

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert len(Run.load(folder)) == 6
