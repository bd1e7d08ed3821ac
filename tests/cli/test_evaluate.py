"""`ragmetrics evaluate`: what it measures, what it says about failures, and how it exits."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from ragmetrics_core import Run, as_judge, evaluate
from ragmetrics_core.cli._progress import PlainLines
from ragmetrics_core.errors import ConfigError, ModelTimeout
from ragmetrics_core.models import Tally
from ragmetrics_core.report import terminal
from ragmetrics_core.runs import Progress
from ragmetrics_core.runs.progress_bar import in_words
from ragmetrics_core.runs.row_counts import count_rows
from ragmetrics_core.testing import ScriptedJudge

TELECOM = Path(__file__).resolve().parents[2] / "examples" / "data" / "telecom.jsonl"


def printed(*parts) -> str:
    """What parts of a page say, in one line."""
    console = Console(file=io.StringIO(), width=100, markup=False)
    for part in parts:
        console.print(part)
    return " ".join(console.file.getvalue().split())


def progress(samples=0, rejected=0, failed=0, **tally) -> Progress:
    return Progress(samples, rejected, failed, Tally(**tally))


def test_the_page_names_the_judge_the_bad_rows_and_the_next_commands_that_can_be_pasted(
    command, data, tmp_path
):
    run = tmp_path / "my run"
    outcome = command("evaluate --judge embedded --metrics faithfulness", data, "--out", run)
    assert (outcome.code, set(Run.load(run).sample_ids)) == (0, {"q1", "q2", "q3"})
    assert "judge embedded:support.5+vectors a small model trained on labelled claims: " in outcome.words
    assert "1 row was left out · line 2: not valid JSON" in outcome.words
    assert f"ragmetrics show '{run}'" in outcome.words
    assert f"ragmetrics audit '{run}'" in outcome.words
    assert "give --out FOLDER" in command("evaluate --judge embedded --metrics faithfulness", data).words


def test_a_limit_takes_the_first_rows_and_still_names_the_bad_ones(command, data, tmp_path):
    # the first three rows are q1, a broken line, and q2
    outcome = command(
        "evaluate --judge embedded", data, "--metrics faithfulness --limit 3 --out", tmp_path / "run"
    )

    assert set(Run.load(tmp_path / "run").sample_ids) == {"q1", "q2"}
    assert "line 2: not valid JSON" in outcome.words


@pytest.mark.parametrize(
    ("words", "signatures"),
    [
        ("--limit 3", ["faithfulness/strict.1", "factual_correctness/strict.1"]),
        ("--metrics faithfulness/ragas-0.4", ["faithfulness/ragas-0.4"]),
        (
            "--metrics context_precision,context_recall/strict --variant ragas-0.4",
            ["context_precision/ragas-0.4", "context_recall/strict.1"],
        ),
    ],
)
def test_the_recommended_two_are_measured_or_those_named_each_with_its_variant(
    command, data, tmp_path, words, signatures
):
    command("evaluate --judge embedded", data, words, "--out", tmp_path / "run")
    assert [entry.signature for entry in Run.load(tmp_path / "run").metrics] == signatures


def test_a_folder_with_another_run_is_only_replaced_when_told_so(command, data, tmp_path):
    options = ["--out", tmp_path / "run", "--metrics"]
    assert command("evaluate --judge embedded", data, *options, "faithfulness").code == 0
    refused = command("evaluate --judge embedded", data, *options, "context_recall")

    assert refused.code == 2
    assert (
        "it does not measure context_recall/strict.1; it also measures faithfulness/strict.1" in refused.err
    )
    assert command("evaluate --judge embedded", data, *options, "context_recall", "--overwrite").code == 0


def test_a_run_without_a_single_score_exits_with_1_and_says_what_is_missing(command, tmp_path):
    file = tmp_path / "data.jsonl"
    rows = [{"id": str(number), "question": "q?", "contexts": ["c"]} for number in range(40)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = command("evaluate --judge embedded", file, "--metrics faithfulness")

    assert outcome.code == 1
    assert "faithfulness/strict.1 skipped for 40 of 40: no answer" in outcome.words


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--metrics", "faithfulnes"], "there is no metric 'faithfulnes'; did you mean 'faithfulness'?"),
        (["--metrics", ","], "--metrics is empty: name a metric; ragmetrics metrics lists them"),
        (["--metrics", ""], "--metrics is empty: name a metric; ragmetrics metrics lists them"),
        (["--concurrency", "0"], "concurrency must be at least 1, not 0"),
        (["--judge", "gpt"], "there is no judge 'gpt'; "),
        (["--on-error", "raise"], "line 2: not valid JSON"),
        (
            ["--metrics", "context_precision", "--variant", "paper"],
            "context_precision has no variant 'paper', only strict.1, ragas-0.1, ragas-0.4",
        ),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_is_asked(command, data, options, sentence):
    outcome = command("evaluate --judge embedded", data, *options)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"ragmetrics: {sentence}")
    assert outcome.err.count("\n") == 1


def test_failures_are_counted_by_cause_and_of_many_bad_rows_five_are_listed():
    samples = [{"id": str(n), "question": "q?", "answer": str(n), "contexts": ["c"]} for n in range(5)]
    judge = ScriptedJudge(
        lambda request: (
            ModelTimeout("no answer within 3 s") if request.variables["answer"] < "3" else "mumble"
        )
    )
    run = evaluate([*samples, *({"nothing": n} for n in range(8))], judge=judge)
    causes = terminal.Causes.of(run.outcomes())
    page = printed(*terminal.remarks(run, causes))

    assert causes.measured == 0
    assert "no sample has a reference: faithfulness is measured" in page
    assert "5 of 5 scores failed · 3 × timeout: statements.v5: no answer within 3 s" in page
    assert "· 2 × parse error: statements.v5: the reply could not be read" in page
    text, name = " ".join(page.split()), "faithfulness/strict.1"
    assert f"Parse error: 3 {name}, 4 {name}; ragmetrics show RUN 3 {name} --replies; to ask more" in text
    assert "set --form-attempts higher" in text
    assert f"Timeout: 0 {name}, 1 {name}, 2 {name}; ragmetrics show RUN 0 {name} --replies; set --tim" in text
    assert "8 rows were left out · 8 × no sample field, only the columns ['nothing']: row 6, row 7, " in page
    assert "row 10 and 3 more rows" in page
    assert "row 11" not in page


def test_the_cost_counts_calls_shared_calls_and_tokens():
    run = evaluate(str(TELECOM), metrics="faithfulness", judge="embedded")
    tally = run.tally

    assert f"{tally['calls']:,} calls" in printed(terminal.cost(run))


def test_progress_is_told_in_words():
    line = in_words(progress(12, 2, 3, calls=1200, prompt_tokens=40_000, completion_tokens=5_400), 52)

    assert line == "14 of 52 samples, 2 rejected, 3 failed, 1,200 calls, 45k tokens"
    assert in_words(progress(1), None) == "1 sample, 0 calls"
    assert in_words(progress(1, prompt_tokens=2_340_000), 9).endswith("2.3M tokens")


def test_without_a_terminal_progress_is_a_line_every_five_seconds_at_most():
    # reports after 1, 5, 6, 9 and 10.5 seconds: the second and the last are five seconds after a line
    times = iter([0.0, 1.0, 5.0, 6.0, 9.0, 10.5])
    console = Console(file=io.StringIO(), width=100)
    report = PlainLines(console, 9, clock=lambda: next(times))
    for samples in range(1, 6):
        report(progress(samples))

    assert console.file.getvalue().splitlines() == ["2 of 9 samples, 0 calls", "5 of 9 samples, 0 calls"]


@pytest.mark.parametrize(
    ("name", "content", "at_most", "count"),
    [
        ("a.jsonl", '{"question": "1"}\n\n{"question": "2"}\n{broken', None, 3),
        ("a.jsonl", '{"question": "1"}\n\n{"question": "2"}\n{broken', 2, 2),
        ("a.csv", 'question,answer\n"two\nlines",x\n\n"3",y\n', None, 2),
        ("a.json", '[{"question": "1"}, {"question": "2"}]', None, 2),
        ("a.json", "{broken", None, None),
        ("a.txt", "x", None, None),
        ("a/missing.jsonl", None, None, None),
    ],
)
def test_the_rows_of_a_file_are_counted_for_the_bar(tmp_path, name, content, at_most, count):
    if content is not None:
        (tmp_path / name).write_text(content)
    assert count_rows(tmp_path / name, at_most=at_most) == count


@pytest.mark.parametrize("words", [("evaluate",), ("plan",), ("batch", "export"), ("probe",)], ids=" ".join)
def test_the_help_names_every_form_of_a_judge(command, words):
    with pytest.raises(ConfigError) as refused:
        as_judge("nobody")
    forms = re.findall(r'"([^"]+)"', str(refused.value).replace("BASE_URL", "URL"))

    told = command(*words, "--help", columns=250).words

    assert len(forms) == 9
    assert [form for form in forms if form not in told] == []
