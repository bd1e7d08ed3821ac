"""`ragmetrics evaluate`: what it measures, what it says about failures, and how it exits."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from ragmetrics_core import Run, as_judge, evaluate
from ragmetrics_core.cli._progress import PlainLines, count_rows, told
from ragmetrics_core.errors import ConfigError, ModelTimeout
from ragmetrics_core.models import Tally
from ragmetrics_core.report import _terminal as terminal
from ragmetrics_core.runs import Progress
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


def test_without_a_judge_the_embedded_one_is_used_and_says_that_it_is_a_baseline(command, data):
    outcome = command("evaluate", "--judge", "embedded", data, "--metrics", "faithfulness")

    assert outcome.code == 0
    assert "judge embedded:support.2+vectors a small model trained on labelled claims: " in outcome.words


def test_the_run_is_kept_in_the_folder_and_the_next_commands_are_named(command, data, tmp_path):
    outcome = command(
        "evaluate", "--judge", "embedded", data, "--metrics", "faithfulness", "--out", tmp_path / "run"
    )

    assert set(Run.load(tmp_path / "run").sample_ids) == {"q1", "q2", "q3"}
    assert f"ragmetrics show {tmp_path / 'run'}" in outcome.words
    assert f"ragmetrics audit {tmp_path / 'run'}" in outcome.words


def test_the_next_commands_can_be_pasted_where_the_folder_has_a_space(command, data, tmp_path):
    outcome = command(
        "evaluate", "--judge", "embedded", data, "--metrics", "faithfulness", "--out", tmp_path / "my run"
    )

    assert f"ragmetrics show '{tmp_path / 'my run'}'" in outcome.words


def test_without_a_folder_it_says_that_nothing_is_kept(command, data):
    assert (
        "give --out FOLDER"
        in command("evaluate", "--judge", "embedded", data, "--metrics", "faithfulness").words
    )


def test_a_row_that_is_no_sample_is_named_with_its_line(command, data):
    page = command("evaluate", "--judge", "embedded", data, "--metrics", "faithfulness").words

    assert "1 row was left out · line 2: not valid JSON" in page


def test_a_limit_takes_the_first_rows_and_still_names_the_bad_ones(command, data, tmp_path):
    # the first three rows are q1, a broken line, and q2
    outcome = command(
        "evaluate",
        "--judge",
        "embedded",
        data,
        "--metrics",
        "faithfulness",
        "--limit",
        3,
        "--out",
        tmp_path / "run",
    )

    assert set(Run.load(tmp_path / "run").sample_ids) == {"q1", "q2"}
    assert "line 2: not valid JSON" in outcome.words


def test_without_metrics_the_recommended_two_are_measured(command, data, tmp_path):
    command("evaluate", "--judge", "embedded", data, "--out", tmp_path / "run")

    assert [each.name for each in Run.load(tmp_path / "run").metrics] == [
        "faithfulness",
        "factual_correctness",
    ]


def test_a_metric_may_carry_its_variant(command, data, tmp_path):
    command(
        "evaluate",
        "--judge",
        "embedded",
        data,
        "--metrics",
        "faithfulness/ragas-0.4",
        "--out",
        tmp_path / "run",
    )

    assert Run.load(tmp_path / "run").metrics[0].signature == "faithfulness/ragas-0.4"


def test_a_variant_holds_for_the_metrics_that_carry_none(command, data, tmp_path):
    names = "context_precision,context_recall/strict"
    command(
        "evaluate",
        "--judge",
        "embedded",
        data,
        "--metrics",
        names,
        "--variant",
        "ragas-0.4",
        "--out",
        tmp_path / "run",
    )

    signatures = [each.signature for each in Run.load(tmp_path / "run").metrics]
    assert signatures == ["context_precision/ragas-0.4", "context_recall/strict.1"]


def test_a_variant_that_a_metric_lacks_is_refused_with_those_it_has(command, data):
    outcome = command(
        "evaluate", "--judge", "embedded", data, "--metrics", "context_precision", "--variant", "paper"
    )

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "ragmetrics: context_precision has no variant 'paper', only strict.1, ragas-0.1, ragas-0.4\n"
    )


def test_a_folder_with_another_run_is_only_replaced_when_told_so(command, data, tmp_path):
    options = ["--out", tmp_path / "run", "--metrics"]
    assert command("evaluate", "--judge", "embedded", data, *options, "faithfulness").code == 0
    refused = command("evaluate", "--judge", "embedded", data, *options, "context_recall")

    assert refused.code == 2
    assert (
        "it does not measure context_recall/strict.1; it also measures faithfulness/strict.1" in refused.err
    )
    assert (
        command("evaluate", "--judge", "embedded", data, *options, "context_recall", "--overwrite").code == 0
    )


def test_a_run_without_a_single_score_exits_with_1_and_says_what_is_missing(command, tmp_path):
    file = tmp_path / "data.jsonl"
    rows = [{"id": str(number), "question": "q?", "contexts": ["c"]} for number in range(40)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = command("evaluate", "--judge", "embedded", file, "--metrics", "faithfulness")

    assert outcome.code == 1
    assert "faithfulness/strict.1 skipped for 40 of 40: no answer" in outcome.words


def test_a_bad_row_stops_a_run_that_is_told_to_stop(command, data):
    outcome = command(
        "evaluate", "--judge", "embedded", data, "--metrics", "faithfulness", "--on-error", "raise"
    )

    assert outcome.code == 2
    assert outcome.err.startswith("ragmetrics: line 2: not valid JSON")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--metrics", "faithfulnes"], "there is no metric 'faithfulnes'; did you mean 'faithfulness'?"),
        (["--metrics", ","], "--metrics names no metric; ragmetrics metrics lists them all"),
        (["--metrics", ""], "--metrics names no metric; ragmetrics metrics lists them all"),
        (["--concurrency", "0"], "concurrency must be at least 1, not 0"),
        (["--judge", "gpt"], "there is no judge 'gpt'; "),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_is_asked(command, data, options, sentence):
    outcome = command("evaluate", "--judge", "embedded", data, *options)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"ragmetrics: {sentence}")
    assert outcome.err.count("\n") == 1


def test_failures_are_counted_by_cause_the_most_frequent_first():
    samples = [{"id": str(n), "question": "q?", "answer": str(n), "contexts": ["c"]} for n in range(5)]
    judge = ScriptedJudge(
        lambda request: (
            ModelTimeout("no answer within 3 s") if request.variables["answer"] < "3" else "mumble"
        )
    )
    run = evaluate(samples, metrics="faithfulness", judge=judge)
    causes = terminal.Causes.of(run.outcomes())
    page = printed(*terminal.remarks(run, causes))

    assert causes.measured == 0
    assert "5 of 5 scores failed · 3 × timeout: statements.v3: no answer within 3 s" in page
    assert "· 2 × parse error: statements.v3: the reply could not be read" in page


def test_of_many_rejected_rows_five_are_listed_and_the_rest_counted():
    rows = [{"id": "a", "question": "q?"}, *({"nothing": number} for number in range(8))]
    run = evaluate(rows, metrics="faithfulness", judge=ScriptedJudge({}))
    page = printed(*terminal.remarks(run, terminal.Causes.of(run.outcomes())))

    assert "8 rows were left out · row 2: " in page
    assert "row 6: " in page
    assert "row 7: " not in page
    assert "and 3 more rows" in page


def test_notes_of_the_run_are_shown():
    run = evaluate([{"question": "q?"}], judge=ScriptedJudge({}))

    assert "the first sample has no reference, so only faithfulness is measured" in printed(
        *terminal.remarks(run, terminal.Causes.of(run.outcomes()))
    )


def test_the_cost_counts_calls_shared_calls_and_tokens():
    run = evaluate(str(TELECOM), metrics="faithfulness", judge="embedded")
    tally = run.tally

    assert f"{tally['calls']:,} calls" in printed(terminal.cost(run))


def test_progress_is_told_in_words():
    line = told(progress(12, 2, 3, calls=1200, prompt_tokens=40_000, completion_tokens=5_400), 52)

    assert line == "14 of 52 samples, 2 rejected, 3 failed, 1,200 calls, 45k tokens"
    assert told(progress(1), None) == "1 sample, 0 calls"
    assert told(progress(1, prompt_tokens=2_340_000), 9).endswith("2.3M tokens")


def test_without_a_terminal_progress_is_a_line_every_five_seconds_at_most():
    # reports after 1, 5, 6, 9 and 10.5 seconds: the second and the last are five seconds after a line
    times = iter([0.0, 1.0, 5.0, 6.0, 9.0, 10.5])
    console = Console(file=io.StringIO(), width=100)
    report = PlainLines(console, 9, clock=lambda: next(times))
    for samples in range(1, 6):
        report(progress(samples))

    assert console.file.getvalue().splitlines() == ["2 of 9 samples, 0 calls", "5 of 9 samples, 0 calls"]


@pytest.mark.parametrize(
    ("name", "content", "count"),
    [
        ("a.jsonl", '{"question": "1"}\n\n{"question": "2"}\n{broken', 3),
        ("a.csv", 'question,answer\n"two\nlines",x\n\n"3",y\n', 2),
        ("a.json", '[{"question": "1"}, {"question": "2"}]', 2),
        ("a.json", "{broken", None),
        ("a.txt", "x", None),
    ],
)
def test_the_rows_of_a_file_are_counted_for_the_bar(tmp_path, name, content, count):
    (tmp_path / name).write_text(content)

    assert count_rows(tmp_path / name) == count


def test_what_cannot_be_counted_is_unknown_and_a_limit_holds(tmp_path):
    assert count_rows(tmp_path / "missing.jsonl") is None
    assert count_rows(TELECOM, at_most=7) == 7


@pytest.mark.parametrize("words", [("evaluate",), ("plan",), ("batch", "export"), ("probe",)], ids=" ".join)
def test_the_help_names_every_form_of_a_judge(command, words):
    with pytest.raises(ConfigError) as refused:
        as_judge("nobody")
    forms = re.findall(r'"([^"]+)"', str(refused.value).replace("BASE_URL", "URL"))

    told = command(*words, "--help", columns=250).words

    assert len(forms) == 7
    assert [form for form in forms if form not in told] == []
