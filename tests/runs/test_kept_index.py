"""The index of a long run: kept beside the records, never in their place."""

import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import evaluate
from ragmetrics_core.errors import RecordError
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.report._side_by_side import SideBySide
from ragmetrics_core.runs import Run, diagnose
from ragmetrics_core.study import read_scores

# Its records are longer than what is read in the time that it takes to look for an index.
COUNT = 200
METRICS = ["faithfulness", "factual_correctness"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    evaluate(samples(COUNT, contexts=1), metrics=METRICS, judge=LocalJudge(), out=out)
    return out


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy, as one that somebody sent: the index that came with it is of other files."""
    return shutil.copytree(whole, tmp_path / "run")


def kept(run: Path) -> Sequence[Path]:
    return sorted(run.glob(".index*"))


def told(run: Path) -> object:
    """What the commands that list a run read of it."""
    opened = Run.load(run)
    scores = read_scores(opened)
    rows = SideBySide([opened]).rows
    return opened.means(), list(opened.outcomes()), list(opened.sample_ids), scores, rows, opened.to_rows()


def indexed(run: Path) -> Path:
    """The index of a run; none is kept of files that were changed this very moment."""
    while not Run.load(run)._folder.index.is_kept:
        pass
    (index,) = kept(run)
    return index


def without_kept(run: Path) -> None:
    for path in kept(run):
        path.unlink()


def test_a_long_run_that_was_written_has_an_index_and_a_short_one_has_none(whole: Path, tmp_path: Path):
    assert len(kept(whole)) == 1
    evaluate(samples(3, contexts=1), metrics="faithfulness", judge=LocalJudge(), out=tmp_path / "short")
    Run.load(tmp_path / "short")
    assert kept(tmp_path / "short") == []


def test_what_is_read_of_a_run_is_the_same_with_the_index_and_without(whole: Path, run: Path):
    assert Run.load(whole)._folder.index.is_kept
    without_kept(run)
    opened = Run.load(run)
    assert not opened._folder.index.is_kept
    assert told(whole) == told(run)


def test_the_diagnosis_that_the_index_gives_is_that_of_the_records(whole: Path):
    run = Run.load(whole)
    codes = {
        each: tuple(finding.code for finding in diagnose(run.scores(each).values()))
        for each in run.sample_ids
    }
    assert run.diagnoses() == codes
    assert len(set(codes.values())) > 1


def test_an_index_that_came_with_a_folder_is_not_opened_and_makes_room_for_one_that_fits(run: Path):
    (came,) = kept(run)
    came.write_bytes(b"SQLite format 3\0, and whatever somebody wants to be believed")
    assert [mean.total for mean in Run.load(run).means()] == [COUNT, COUNT]
    own = indexed(run)
    assert own.name != came.name
    assert Run.load(run)._folder.index.is_kept


@pytest.mark.parametrize("same_size", [True, False])
def test_records_that_were_changed_are_read_and_not_what_was_noted_of_them(run: Path, same_size: bool):
    indexed(run)
    file = run / "records.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    fields = json.loads(lines[0])
    key = fields["sample_id"], fields["signature"]
    assert fields["status"] == "ok"
    changed = lines[0].replace('"status":"ok"', '"status":"no"' if same_size else '"status":"timeout"')
    before = file.stat()
    with file.open("r+b") as opened:
        opened.write("\n".join([changed, *lines[1:], ""]).encode())
        opened.truncate()
    # also when its time is set back
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size == before.st_size) is same_size

    statuses = {tuple(key): outcome.status for key, outcome in Run.load(run).outcomes()}
    assert statuses[key] == ("no" if same_size else "timeout")


def test_what_came_after_the_index_was_kept_is_read_and_nothing_else(whole: Path, run: Path):
    file = run / "records.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    with file.open("r+b") as opened:
        opened.truncate(sum(map(len, lines[:-20])))
    indexed(run)
    with file.open("ab") as opened:
        opened.writelines(lines[-20:])
    assert not Run.load(run)._folder.index.is_read
    assert told(run) == told(whole)


def test_a_run_that_is_killed_has_an_index_of_nearly_all_that_it_wrote(tmp_path: Path):
    class Stops(LocalJudge):
        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            if (tmp_path / "copy").exists() or len(kept(tmp_path / "run")) == 0:
                return await super().agenerate(request)
            # as after `kill -9`: the files as they are in the middle of the run
            (tmp_path / "copy").mkdir()
            for path in (tmp_path / "run").iterdir():
                os.link(path, tmp_path / "copy" / path.name)
            return await super().agenerate(request)

    evaluate(samples(COUNT, contexts=1), metrics=METRICS, judge=Stops(), out=tmp_path / "run")
    assert not Run.load(tmp_path / "copy")._folder.index.is_read
    copy, run = Run.load(tmp_path / "copy"), Run.load(tmp_path / "run")
    assert (copy.means(), list(copy.outcomes())) == (run.means(), list(run.outcomes()))


def test_an_audit_reads_the_files_and_no_index(run: Path):
    index = indexed(run)
    # the worst: an index of the right name that says otherwise than the records
    with sqlite3.connect(index) as rows:
        rows.execute("UPDATE records SET value = 1.0, status = 'ok', seal = ''")
        rows.execute("DELETE FROM records WHERE number > 10")
    rows.close()
    opened = Run.load(run)
    assert list(opened.audit(processes=1)) == []
    assert len(opened.keys) == 2 * COUNT


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100, None], ids=["empty", "text", "cut"])
def test_an_index_that_is_not_whole_is_as_none(run: Path, damage: bytes | None):
    indexed(run)
    expected = Run.load(run).means()
    (index,) = kept(run)
    index.write_bytes(index.read_bytes()[:5000] if damage is None else damage)
    opened = Run.load(run)
    assert opened.means() == expected
    assert not opened._folder.index.is_kept


def test_a_correction_and_a_run_that_goes_on_are_in_the_index_afterwards(run: Path):
    indexed(run)
    opened = Run.load(run)
    record = next(each for each in opened.records("faithfulness") if each.verdicts)
    decision = not record.verdicts[0].supported
    opened.correct(record.sample_id, "faithfulness", 1, decision, by="Ada")
    again = Run.load(run)
    assert again.score(record.sample_id, "faithfulness").corrections[0].by == "Ada"
    assert list(again.audit(processes=1)) == []

    more = evaluate(samples(COUNT + 2, contexts=1), metrics=METRICS, judge=LocalJudge(), out=run)
    assert len(more) == COUNT + 2
    last = Run.load(run)
    assert (len(last), len(kept(run)), list(last.audit(processes=1))) == (COUNT + 2, 1, [])


def test_a_link_in_the_place_of_an_index_is_not_written_through(run: Path):
    without_kept(run)
    (run / f".index-{'0' * 32}.sqlite").symlink_to(run / "manifest.json")
    before = (run / "manifest.json").read_bytes()
    assert not indexed(run).is_symlink()
    assert (run / "manifest.json").read_bytes() == before


def test_overwriting_a_run_removes_its_index(run: Path):
    indexed(run)
    evaluate(samples(2, contexts=1), metrics="faithfulness", judge=LocalJudge(), out=run, overwrite=True)
    assert kept(run) == []


def test_a_record_that_was_edited_in_the_middle_is_seen_though_the_kept_index_is_used(run):
    indexed(run)
    path = run / "records.jsonl"
    stored = path.read_bytes().splitlines(keepends=True)
    edited = stored[9].replace(b'"value":', b'"value":0.0', 1)
    # the end of what was indexed still stands, and the file has grown
    path.write_bytes(b"".join([*stored[:9], edited[: len(stored[9]) - 1] + b"\n", *stored[10:], stored[0]]))
    opened = Run.load(run)
    assert (opened._folder.index.is_kept, opened.is_written) == (False, False)
    with pytest.raises(RecordError, match=r"records\.jsonl in .* was changed"):
        read_scores(opened)
