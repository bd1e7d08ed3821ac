"""Attempts to change a finished run so that its audit does not see it: each is seen."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Record, Run, evaluate
from ragmetrics_core.errors import ModelError, RecordError
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.runs import merge
from ragmetrics_core.testing import ScriptedJudge
from tests.lines import plain

ROWS: list[dict[str, Any]] = [
    {
        "id": f"q{number}",
        "question": "Where?",
        "answer": f"In Paris {number}.",
        "contexts": ["It is in Paris."],
        "right": number % 2 == 0,
    }
    for number in range(8)
]


def reply(request: Any) -> Any:
    if request.prompt.name == "statements":
        return {"statements": [str(request.variables["answer"])], "declined": False}
    if "items" in request.variables:
        return {
            "verdicts": [
                {"number": each.number, "reason": "", "verdict": "yes"} for each in request.variables["items"]
            ]
        }
    return {"rating": 2, "reason": "so"}


def judge(**replies: Any) -> ScriptedJudge:
    return ScriptedJudge(lambda request: replies.get(request.prompt.name, reply(request)))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("template") / "run"
    run = evaluate([*ROWS, {"id": "no sample"}], metrics="faithfulness", judge=judge(), out=folder)
    assert list(run.audit()) == []
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".json", ".jsonl")}


@pytest.fixture
def folder(tmp_path: Path, template: dict[str, bytes]) -> Path:
    (tmp_path / "run").mkdir()
    for name, content in template.items():
        (tmp_path / "run" / name).write_bytes(content)
    assert list(Run.load(tmp_path / "run").audit()) == []
    return tmp_path / "run"


def found(folder: Path) -> set[str]:
    """What differs: the samples and files. Where anything does, nothing is decided on the run."""
    differing = {key.sample_id for key, _ in Run.load(folder).audit()}
    with pytest.raises(RecordError, match="ragmetrics audit") if differing else nullcontext():
        Run.load(folder).refuse_altered()
    return differing


def lines(folder: Path, name: str) -> list[str]:
    return (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)


def rewrite(folder: Path, name: str, kept: list[str]) -> None:
    (folder / name).write_text("".join(kept), encoding="utf-8")


def manifest(folder: Path, **changes: Any) -> None:
    """Change the manifest by hand; None takes a field out."""
    fields = json.loads((folder / "manifest.json").read_text(encoding="utf-8")) | changes
    fields = {name: value for name, value in fields.items() if value is not None}
    (folder / "manifest.json").write_text(json.dumps(fields), encoding="utf-8")


def resealed(folder: Path, number: int, **changes: Any) -> None:
    """Replace a record by one that is sealed as it should be."""
    stored = lines(folder, "records.jsonl")
    record = Record.model_validate({**plain(stored[number]), **changes})
    stored[number] = record.stored() + "\n"
    rewrite(folder, "records.jsonl", stored)


def replaced(old: str, new: str) -> Any:
    return lambda stored: [line.replace(old, new) for line in stored]


@pytest.mark.parametrize(
    ("name", "edit", "told"),
    [
        ("records.jsonl", lambda stored: [], {"records.jsonl"}),
        ("records.jsonl", lambda stored: stored[:7], {"records.jsonl"}),
        ("records.jsonl", lambda stored: [*stored, stored[0].replace('"q0"', '"q1"')], {"q1"}),
        ("samples.jsonl", replaced('"right":false', '"right":true'), {"samples.jsonl"}),
        ("samples.jsonl", replaced("In Paris 3.", "In Rome 3."), {"q3"}),
        ("prompts.jsonl", lambda stored: stored[:-1], {"prompts.jsonl"}),
        ("rejected.jsonl", lambda stored: [], {"rejected.jsonl"}),
    ],
    ids=["none", "one-less", "appended", "labels", "answer", "prompt", "rejected"],
)
def test_lines_that_were_taken_out_added_or_edited_are_seen(folder, name, edit, told):
    rewrite(folder, name, edit(lines(folder, name)))
    assert found(folder) == told


# -- records


def test_a_score_that_was_replaced_by_a_sealed_failure_is_seen(folder):
    failed = {"status": "model_error", "reason": "down", "value": None, "formula": "", "counts": {}}
    # the sentences of the answer are numbered in the prompt that was not answered
    asked = {digest_of("In Paris 3."): [(0, 11)]}
    resealed(folder, 3, **failed, verdicts=[], steps=[], segments=asked, abstained=None)
    assert "records.jsonl" in found(folder)


def test_a_score_that_was_replaced_by_a_sealed_skipping_is_seen(folder):
    skipped = {"status": "skipped", "reason": "contexts", "value": None, "formula": "", "counts": {}}
    resealed(folder, 3, **skipped, verdicts=[], steps=[], segments={}, abstained=None)
    assert found(folder) == {"q3"}


def test_a_correction_that_was_added_and_sealed_by_hand_is_seen(folder):
    run = Run.load(folder)
    other = plain(run.score("q1", "faithfulness").stored())
    assert other["corrections"] == []
    resealed(folder, 1, corrections=[{"path": "2", "item": 1, "supported": True, "by": "nobody"}])
    assert "records.jsonl" in found(folder)


def test_a_correction_that_was_taken_away_is_seen(folder):
    Run.load(folder).correct("q1", "faithfulness", 1, False, by="Ada")
    assert found(folder) == set()
    rewrite(folder, "records.jsonl", lines(folder, "records.jsonl")[:-1])
    assert found(folder) == {"records.jsonl"}


def test_a_cut_last_line_is_seen(folder):
    content = (folder / "records.jsonl").read_bytes()
    (folder / "records.jsonl").write_bytes(content[:-40])
    told = [difference.field for _, each in Run.load(folder).audit() for difference in each]
    assert told == ["last line", "contents"]
    # what was cut off is measured again
    evaluate(ROWS, metrics="faithfulness", judge=judge(), out=folder)
    assert found(folder) == set()


def test_a_record_without_its_seal_is_seen(folder):
    stored = [json.loads(each) for each in lines(folder, "records.jsonl")]
    del stored[2]["digest"]
    rewrite(folder, "records.jsonl", [json.dumps(each) + "\n" for each in stored])
    assert found(folder) == {"q2"}


def test_blanks_and_the_order_of_lines_are_no_change(folder):
    stored = [json.loads(each) for each in lines(folder, "records.jsonl")][::-1]
    rewrite(folder, "records.jsonl", [json.dumps(each) + "\n" for each in stored])
    assert found(folder) == set()


# -- samples, prompts and rows


def test_labels_of_every_kind_are_proved_as_they_were_written(tmp_path):
    kinds = {"i": 3, "f": 1e22, "n": None, "t": "é\u2028", "b": True, "z": -0.0, "x": 0.1}
    run = evaluate(
        [{**ROWS[0], "labels": kinds, **{f"_{k}": v for k, v in kinds.items()}}],
        metrics="faithfulness",
        judge=judge(),
        out=tmp_path / "run",
    )
    assert list(Run.load(tmp_path / "run").audit()) == list(run.audit()) == []


def test_a_missing_sample_with_its_record_is_seen(folder):
    rewrite(folder, "samples.jsonl", lines(folder, "samples.jsonl")[:-1])
    rewrite(folder, "records.jsonl", lines(folder, "records.jsonl")[:-1])
    assert found(folder) == {"samples.jsonl", "records.jsonl"}


# -- the manifest


@pytest.mark.parametrize("changes", [{"judge": "openai:a-good-one"}, {"metrics": []}])
def test_a_manifest_of_another_judge_or_without_the_metrics_is_seen(folder, changes):
    manifest(folder, **changes)
    assert found(folder) == {"manifest.json", *(row["id"] for row in ROWS)}


@pytest.mark.parametrize(
    "changes",
    [
        {"finished": False},
        {"finished": False, "contents": None},
        {"contents": None},
        {"repeats": 5},
        {"redacted": True},
        {"tally": {"calls": 1}},
        {"notes": ["all is well"]},
        {"source": "other.jsonl"},
        {"started": "2020-01-01T00:00:00Z"},
        {"versions": {"ragmetrics": "99"}},
        {"of_tomorrow": 1},
        {"seal": None},
        {"seal": ""},
    ],
)
def test_every_field_of_the_manifest_is_under_its_seal(folder, changes):
    manifest(folder, **changes)
    assert "manifest.json" in found(folder)


def test_a_manifest_of_another_run_is_seen(folder, tmp_path):
    evaluate(ROWS[:3], metrics="faithfulness", judge=judge(), out=tmp_path / "other")
    (folder / "manifest.json").write_bytes((tmp_path / "other" / "manifest.json").read_bytes())
    assert found(folder) >= {"samples.jsonl", "records.jsonl"}


# -- going on does not wash it clean


def test_a_changed_run_that_goes_on_stays_a_changed_one(folder):
    skipped = {"status": "skipped", "reason": "contexts", "value": None, "formula": "", "counts": {}}
    resealed(folder, 3, **skipped, verdicts=[], steps=[], segments={}, abstained=None)
    evaluate(ROWS, metrics="faithfulness", judge=judge(), out=folder)
    assert "records.jsonl" in found(folder)


def test_a_changed_run_that_is_corrected_stays_a_changed_one(folder):
    rewrite(folder, "records.jsonl", lines(folder, "records.jsonl")[:5])
    Run.load(folder).correct("q1", "faithfulness", 1, False)
    assert "records.jsonl" in found(folder)


def test_a_changed_run_that_is_merged_stays_a_changed_one(folder, tmp_path):
    rewrite(folder, "records.jsonl", lines(folder, "records.jsonl")[:5])
    other = {**ROWS[0], "id": "other"}
    evaluate([other], metrics="faithfulness", judge=judge(), out=tmp_path / "other")
    merge(folder, tmp_path / "other", out=tmp_path / "merged")
    assert found(tmp_path / "merged") == {"records.jsonl"}


def test_a_run_that_goes_on_by_itself_is_a_whole_one(tmp_path):
    out = tmp_path / "run"
    evaluate(ROWS[:4], metrics="faithfulness", judge=judge(verdicts=ModelError("down")), out=out)
    evaluate(ROWS, metrics="faithfulness", judge=judge(), out=out)
    assert found(out) == set()
    # the eight samples once each, though four were written twice
    contents = Run.load(out).manifest.contents
    assert contents is not None
    assert contents["records.jsonl"].count == 8


def test_an_unfinished_run_says_nothing_of_what_it_lacks(tmp_path):
    def rows():
        yield ROWS[0]
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="the disk"):
        evaluate(rows(), metrics="faithfulness", judge=judge(), out=tmp_path / "run", concurrency=1)
    run = Run.load(tmp_path / "run")
    assert (run.finished, run.manifest.contents, list(run.audit())) == (False, None, [])
