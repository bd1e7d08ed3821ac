"""A list of runs says of each how it stands, and touches none of them."""

from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs import ListedRun, list_runs
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.testing import ScriptedJudge

REPLIES = {
    "statements": {"statements": ["He was born in Ulm."], "declined": False},
    "verdicts": {"verdicts": [{"number": 1, "verdict": "yes"}]},
}
ROWS = [
    {"id": f"q{number}", "question": "Where?", "answer": f"In Ulm, {number}.", "contexts": ["In Ulm."]}
    for number in range(3)
]


def measured(out: Path, rows: Any = ROWS, **arguments: Any) -> None:
    evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(REPLIES), out=out, **arguments)


def only(folder: Path) -> ListedRun:
    (found,) = list_runs(folder)
    return found


def test_a_run_that_has_seen_all_its_samples_is_finished(tmp_path):
    measured(tmp_path / "run")
    found = only(tmp_path)
    assert (found.path, found.state, found.samples, found.problem) == (tmp_path / "run", "finished", 3, None)
    assert found.manifest is not None
    assert (found.started, found.manifest.judge) == (found.manifest.started, "scripted")


def test_a_run_that_is_writing_is_running(tmp_path):
    seen = []
    measured(tmp_path / "run", progress=lambda _: seen.append(only(tmp_path).state))
    assert seen == ["running"] * 3
    assert only(tmp_path).state == "finished"


def test_a_run_that_was_ended_before_its_last_sample_is_interrupted(tmp_path):
    def rows():
        yield from ROWS[:2]
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="the disk went away"):
        measured(tmp_path / "run", rows(), concurrency=1)
    assert only(tmp_path)[1:3] == ("interrupted", 2)


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("{", "is not JSON"),
        ("{}", "is not a manifest"),
        ("[]", "is not a manifest"),
        # neither can be gone through from the bad end to the good one
        (
            '{"metrics": [{"signature": "a/1", "name": "a", "low": 1, "high": 1}]}',
            "a/1 has the invalid range",
        ),
        ('{"metrics": [{"signature": "a/1", "name": "a", "high": Infinity}]}', "a/1 has the invalid range"),
        ('{"schema": 99, "metrics": []}', "has format 99; this version of ragmetrics reads up to 2"),
    ],
)
def test_a_run_whose_manifest_cannot_be_read_is_listed_with_the_reason(tmp_path, manifest, problem):
    measured(tmp_path / "run")
    (tmp_path / "run" / "manifest.json").write_text(manifest)
    found = only(tmp_path)
    assert (found.state, found.samples, found.started, found.manifest) == ("unreadable", 3, None, None)
    assert problem in found.problem


def test_runs_are_listed_by_path_from_all_folders_below(tmp_path):
    for name in ("b", "a/z", "a/b/c"):
        measured(tmp_path / name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no run")
    assert [str(found.path.relative_to(tmp_path)) for found in list_runs(tmp_path)] == ["a/b/c", "a/z", "b"]


def test_what_lies_inside_a_run_is_no_run_of_its_own(tmp_path):
    measured(tmp_path / "run")
    measured(tmp_path / "run" / "backup")
    assert only(tmp_path).path == tmp_path / "run"


def test_listing_changes_no_file(tmp_path):
    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    measured(tmp_path / "run")
    before = files()
    list(list_runs(tmp_path))
    assert files() == before


def test_a_copy_without_its_lock_gets_none_by_being_listed(tmp_path):
    measured(tmp_path / "run")
    for name in FolderLock.FILES:
        (tmp_path / "run" / name).unlink(missing_ok=True)
    assert only(tmp_path).state == "finished"
    assert not any((tmp_path / "run" / name).exists() for name in FolderLock.FILES)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"there is no folder .*missing"):
        list(list_runs(tmp_path / "missing"))
