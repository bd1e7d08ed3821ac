"""No command decides on a run that was changed, nor in silence on one with rows that were left out."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import Run, evaluate
from ragmetrics_core.runs import merge
from tests.cli.conftest import judged_by

ROWS = [
    {"id": f"q{n}", "question": "Who?", "answer": f"right {n}", "contexts": ["It was Ann."]}
    for n in range(40)
]
BAD = [{**row, "answer": f"wrong {n}"} for n, row in enumerate(ROWS[:20])]


def run(out: Path, rows: list[dict[str, Any]]) -> Path:
    judge = judged_by(lambda text: text.startswith("right"), lambda answer: [answer])
    evaluate(rows, metrics="faithfulness", judge=judge, out=out)
    return out


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return run(tmp_path_factory.mktemp("whole") / "main", ROWS)


@pytest.fixture
def branch(whole, tmp_path) -> Path:
    return shutil.copytree(whole, tmp_path / "branch")


def lines(folder: Path) -> list[bytes]:
    return (folder / "records.jsonl").read_bytes().splitlines(keepends=True)


def edited(stored: list[bytes]) -> list[bytes]:
    fields = json.loads(stored[3])
    fields["value"] = 0.5
    stored[3] = json.dumps(fields, separators=(",", ":")).encode() + b"\n"
    return stored


def under_another_id(stored: list[bytes]) -> list[bytes]:
    stored[4] = stored[3].replace(b'"q3"', b'"q4"')
    return stored


CHANGES = {
    "edited": edited,
    "copied": under_another_id,
    "removed": lambda stored: stored[5:],
    "edited-and-appended": lambda stored: [*edited(stored), stored[-1]],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("words", ["study compare", "study groups", "study trend", "diff"])
def test_a_changed_run_is_refused_with_a_word_for_what_to_do(command, whole, branch, change, words):
    (branch / "records.jsonl").write_bytes(b"".join(change(lines(branch))))
    which = ("q1", "faithfulness") if words == "diff" else ()
    for pair in ((whole, branch), (branch, whole)):
        outcome = command(words, *pair, *which)
        assert outcome.code == 2
        assert f"records.jsonl in {branch} was changed after it was written" in outcome.err
        assert f"ragmetrics audit {branch}" in outcome.err
    assert command("audit", branch).code == 1


def test_a_run_with_an_edited_prompt_is_refused(command, whole, branch):
    prompts = (branch / "prompts.jsonl").read_text(encoding="utf-8")
    (branch / "prompts.jsonl").write_text(prompts.replace("Judge", "Guess"), encoding="utf-8")
    outcome = command("study compare", whole, branch)
    assert outcome.code == 2
    assert f"prompts.jsonl in {branch} was changed after it was written" in outcome.err
    assert command("audit", branch).code == 1


def test_a_finished_run_that_no_longer_says_what_it_holds_is_refused(command, whole, branch):
    manifest = Run.load(branch).manifest.model_copy(update={"contents": None})
    (branch / "manifest.json").write_text(manifest.stored(), encoding="utf-8")
    (branch / "records.jsonl").write_bytes(b"".join(lines(branch)[5:]))
    outcome = command("study compare", whole, branch)
    assert outcome.code == 2
    assert f"manifest.json in {branch} was changed after it was written" in outcome.err


def test_a_record_of_another_run_is_refused(command, whole, branch, tmp_path):
    other = run(tmp_path / "other", [{**row, "answer": "right"} for row in ROWS[:1]])
    (branch / "records.jsonl").write_bytes(b"".join([*lines(branch), *lines(other)]))
    assert command("study compare", whole, branch).code == 2


def test_a_record_of_another_judge_in_a_run_that_did_not_finish_is_refused(command, whole, branch, tmp_path):
    def gone():
        yield from ROWS[:8]
        raise OSError("the disk went away")

    judge = judged_by(lambda text: text.startswith("right"), lambda answer: [answer])
    with pytest.raises(OSError, match="the disk"):
        evaluate(gone(), metrics="faithfulness", judge=judge, out=tmp_path / "killed")
    assert command("study compare", whole, tmp_path / "killed").code == 0
    kind = judged_by(lambda text: True, lambda answer: [answer])
    kind.identity = "kind"
    evaluate(ROWS[:1], metrics="faithfulness", judge=kind, out=tmp_path / "kind")
    with (tmp_path / "killed" / "records.jsonl").open("ab") as file:
        file.write(lines(tmp_path / "kind")[0])
    assert command("study compare", whole, tmp_path / "killed").code == 2


def test_merging_does_not_wash_an_edited_record_clean(command, whole, branch, tmp_path):
    (branch / "records.jsonl").write_bytes(b"".join(edited(lines(branch))))
    other = run(tmp_path / "other", [{**ROWS[0], "id": "other"}])
    merge(branch, other, out=tmp_path / "merged")
    assert command("study compare", whole, tmp_path / "merged").code == 2
    assert list(Run.load(tmp_path / "merged").audit()) != []


# -- rows that were left out


@pytest.fixture(scope="module")
def doubled(tmp_path_factory) -> Path:
    """A good row before each of 20 bad ones: 20 of 60 rows are left out, and every score is 1."""
    out = run(tmp_path_factory.mktemp("doubled") / "branch", [*ROWS, *BAD])
    assert Run.load(out).mean("faithfulness").value == 1.0
    return out


def test_a_good_row_before_each_bad_one_passes_no_gate(command, whole, doubled):
    outcome = command("study compare", whole, doubled, "--fail-if", "worse")
    assert (outcome.code, "faithfulness/strict.1 is worse by 0.500" in outcome.err) == (1, True)
    assert command("study compare", whole, doubled, "--margin", "0.05", "--fail-if", "inferior").code == 1
    assert command("study compare", whole, doubled, "--min", "faithfulness=0.7").code == 1


@pytest.mark.parametrize(
    "options", [(), ("--format", "json"), ("--format", "junit"), ("--format", "markdown")]
)
def test_every_form_says_how_many_rows_were_left_out(command, whole, doubled, options):
    outcome = command("study compare", whole, doubled, *options)
    told = " ".join(outcome.out.split())
    assert "of the data of branch, 20 rows were left out: 20 under an id that a sample has" in told


def test_the_comment_says_how_many_rows_were_left_out(command, whole, doubled, tmp_path):
    command("study compare", whole, doubled, "--comment", tmp_path / "comment.md")
    assert "20 rows were left out" in (tmp_path / "comment.md").read_text(encoding="utf-8")


def test_groups_and_one_score_say_it_too(command, whole, doubled):
    assert "20 rows were left out" in " ".join(command("study groups", whole, doubled).out.split())
    told = command("diff", whole, doubled, "q3", "faithfulness").err
    assert "row 44: id 'q3' was already used by another sample" in told
    assert "left out" not in command("diff", whole, doubled, "q30", "faithfulness").err
