"""The audit finds every alteration; corrections and differences are shown."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

from ragmetrics_core import Run
from ragmetrics_core.runs.lock import FolderLock
from tests.lines import plain


def alter(folder: Path, sample: str, metric: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a stored record by hand."""
    file = folder / "records.jsonl"
    lines = [plain(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if (line["sample_id"], line["metric"]) == (sample, metric):
            change(line)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    file.write_text(text, encoding="utf-8")


def test_an_untouched_run_passes_the_audit(command, folder):
    # 6 samples x 3 metrics
    outcome = command("audit", folder)

    assert (outcome.code, outcome.out) == (0, "18 records checked: each score follows from its record\n")


def test_an_altered_record_fails_the_audit_with_sample_metric_field_and_both_values(command, folder):
    alter(folder, "q1", "faithfulness", lambda record: record.update(value=0.9, formula="\x1b[31m[red]"))
    outcome, as_json = command("audit", folder), command("audit", folder, "--json")

    assert (outcome.code, as_json.code) == (1, 1)
    assert "differs q1 faithfulness/strict.1 value stored 0.9 derived 0.3333333333333333" in outcome.words
    assert outcome.out.endswith("18 records checked, 1 of them differ from their replies\n")
    # what is stored cannot steer the terminal
    assert "\x1b" not in outcome.out
    assert "[red]" in outcome.out
    first = as_json.json["differences"][0]
    assert (first["sample"], first["field"], first["stored"]) == ("q1", "value", "0.9")


def test_a_record_that_lost_a_reply_fails_the_audit_and_the_others_are_still_checked(command, folder):
    alter(folder, "q1", "faithfulness", lambda record: record["steps"].pop())
    alter(folder, "q2", "faithfulness", lambda record: record.update(value=1.0))
    outcome = command("audit", folder)

    assert outcome.code == 1
    assert "differs q1 faithfulness/strict.1 steps stored" in outcome.words
    assert "differs q2 faithfulness/strict.1" in outcome.words
    assert outcome.out.endswith("18 records checked, 2 of them differ from their replies\n")


def test_correcting_prints_the_score_before_and_after_and_is_stored_with_its_author(command, folder):
    outcome = command("correct", folder, "q1", "faithfulness", 2, "yes", "--by Ada")

    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "verdict 2: not supported → supported: Einstein was born on 20 March 1879.",
        "before: 1 / 3 = 0.333",
        "after:  2 / 3 = 0.667",
    ]
    record = Run.load(folder).score("q1", "faithfulness")
    assert ([each.by for each in record.corrections], record.verdicts[1].overruled) == (["Ada"], False)
    assert command("audit", folder).code == 0


def test_correcting_a_verdict_that_is_not_there_says_which_are(command, folder):
    outcome = command("correct", folder, "q1", "faithfulness", 7, "yes")

    assert outcome.code == 2
    assert outcome.err == "ragmetrics: faithfulness/strict.1 of q1 has verdicts 1 to 3, not 7\n"


def test_the_difference_of_two_runs_shows_both_formulas_and_what_moved(command, folder, tmp_path):
    other = tmp_path / "other"
    copytree(folder, other)
    command("correct", other, "q1", "faithfulness", 2, "yes")
    page = command("diff", folder, other, "q1", "faithfulness").words

    assert "faithfulness/strict.1 of q1 +0.333" in page
    assert "before 0.333 1 / 3 = 0.333 after 0.667 2 / 3 = 0.667" in page
    assert "Verdict changed ~ not supported → supported: Einstein was born on 20 March 1879." in page


def test_the_difference_of_a_run_with_itself_is_none(command, folder):
    outcome = command("diff", folder, folder, "q1", "faithfulness")

    assert (outcome.code, "The same texts with the same verdicts." in outcome.out) == (0, True)


def test_a_metric_of_ones_own_can_be_shown_corrected_and_audited(command, tmp_path, monkeypatch):
    (tmp_path / "own_metric_here.py").write_text(
        """
from ragmetrics_core.metrics import Faithfulness
from tests.lines import plain


class Own(Faithfulness):
    \"\"\"One's own.\"\"\"

    name = "own"
""",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    sample = {"id": "q1", "question": "Where?", "contexts": ["It is in Paris."], "answer": "It is in Paris."}
    (tmp_path / "data.jsonl").write_text(json.dumps(sample), encoding="utf-8")
    mine = ("--metrics", "own_metric_here:Own")
    assert command("evaluate data.jsonl", *mine, "--judge embedded --out run").code == 0

    for words in (
        ("show", "run", "q1", "own", "--json"),
        ("show", "run", "q1", "own", "--prompts"),
        ("correct", "run", "q1", "own", "1", "no"),
        ("audit", "run"),
    ):
        outcome = command(*words, *mine)
        assert (outcome.code, outcome.err) == (0, "")


def test_no_embedder_is_made_that_no_metric_needs(command, tmp_path):
    sample = {"id": "q1", "question": "Where?", "reference": "It is in Paris.", "answer": "It is in Paris."}
    (tmp_path / "data.jsonl").write_text(json.dumps(sample), encoding="utf-8")
    run = tmp_path / "run"
    words = ("evaluate", tmp_path / "data.jsonl", "--judge", "embedded", "--out", run)
    assert command(*words, "--metrics answer_correctness(weights=1:0)").code == 0
    assert Run.load(run).manifest.embedder is None


def test_missing_records_fail_the_audit(command, folder):
    file = folder / "records.jsonl"
    kept = file.read_text(encoding="utf-8").splitlines(keepends=True)[:5]
    file.write_text("".join(kept), encoding="utf-8")
    outcome = command("audit", folder)

    assert outcome.code == 1
    assert outcome.out.endswith("5 records checked: the run's files do not match its manifest\n")
    assert "differs records.jsonl contents stored '18 entries" in outcome.words


def test_an_audit_of_a_run_that_is_still_written_passes_and_says_that_it_goes_on(command, folder):
    manifest = Run.load(folder).manifest
    going_on = manifest.model_copy(update={"finished": False, "contents": None})
    (folder / "manifest.json").write_text(going_on.stored(), encoding="utf-8")
    with FolderLock(folder):
        page = command("audit", folder)
        told = json.loads(command("audit", folder, "--json").out)
    assert page.code == 0
    assert "each score follows from its record" in page.words
    assert "another process is still writing the run: later records are not checked" in page.words
    assert (told["passed"], told["finished"], told["still_written"]) == (True, False, True)

    left = command("audit", folder)
    assert (left.code, "the run did not finish" in left.words) == (1, True)
