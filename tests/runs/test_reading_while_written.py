"""A run that is read while another process writes it: what is seen is whole, and nothing in it differs."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import evaluate
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs import Run, list_runs, merge
from ragmetrics_core.runs.lock import FolderLock, is_held

PARTS = (10, 20, 30)


class LeisurelyJudge(LocalJudge):
    """A judge that lets others have their turn."""

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        await asyncio.sleep(0.001)
        return await super().agenerate(request)


@contextmanager
def written(out: Path) -> Iterator[Callable[[], bool]]:
    """A thread that writes a run in parts, each of which finishes it; says whether it still does."""

    def write() -> None:
        for count in PARTS:
            evaluate(samples(count, contexts=1), metrics="faithfulness", judge=LeisurelyJudge(), out=out)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while thread.is_alive() and not (out / "manifest.json").exists():
            thread.join(0.001)
        yield thread.is_alive
    finally:
        thread.join()


def test_every_look_at_a_run_that_grows_finds_records_that_prove_themselves_and_nothing_that_differs(
    tmp_path,
):
    looks = 0
    with written(tmp_path / "run") as is_alive:
        while is_alive():
            run = Run.load(tmp_path / "run")
            assert list(run.audit()) == []
            assert {key.sample_id for key in run.keys} <= set(run.sample_ids)
            looks += 1
    run = Run.load(tmp_path / "run")
    assert looks > 0
    assert (list(run.audit()), len(run), run.finished, run.is_written) == ([], PARTS[-1], True, False)


def test_a_run_that_grows_can_be_merged_and_the_merged_run_is_whole(tmp_path):
    evaluate(samples(3, contexts=1), metrics="faithfulness", judge=LocalJudge(), out=tmp_path / "other")
    merged = 0
    with written(tmp_path / "run") as is_alive:
        while is_alive():
            out = tmp_path / f"merged {merged}"
            assert list(merge(tmp_path / "other", tmp_path / "run", out=out).audit()) == []
            merged += 1
    assert merged > 0


def test_a_person_who_corrects_a_finished_run_is_seen_before_or_after_but_not_between(tmp_path):
    evaluate(samples(5, contexts=1), metrics="faithfulness", judge=LocalJudge(), out=tmp_path / "run")
    (sample_id, *_) = Run.load(tmp_path / "run").sample_ids

    def correct() -> None:
        for number in range(40):
            Run.load(tmp_path / "run").correct(sample_id, "faithfulness", 1, number % 2 == 0)

    thread = threading.Thread(target=correct)
    thread.start()
    while thread.is_alive():
        assert list(Run.load(tmp_path / "run").audit()) == []
    thread.join()
    run = Run.load(tmp_path / "run")
    assert (list(run.audit()), run.finished, run.manifest.altered) == ([], True, ())


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """A run that did not finish, and whose last record is not whole."""
    evaluate(samples(3, contexts=1), metrics="faithfulness", judge=LocalJudge(), out=tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    run = Run.load(tmp_path / "run")
    going_on = run.manifest.model_copy(update={"finished": False, "contents": None})
    manifest.write_text(going_on.stored(), encoding="utf-8")
    with (tmp_path / "run" / "records.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"schema": 1, "sam')
    return tmp_path / "run"


def test_half_a_line_is_one_that_is_being_written_or_one_that_was_cut(unfinished):
    with FolderLock(unfinished):
        run = Run.load(unfinished)
        assert (run.is_written, list(run.audit())) == (True, [])
    run = Run.load(unfinished)
    assert run.is_written is False
    assert [(key.sample_id, differences[0].field) for key, differences in run.audit()] == [
        ("records.jsonl", "last line")
    ]


def looking(run: Path, looks: int, states: set[str]) -> list[threading.Thread]:
    """Threads that look at the state of a run, over and over."""

    def look() -> None:
        for _ in range(looks):
            states.update(listed.state for listed in list_runs(run))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    return threads


def test_who_looks_whether_a_run_is_written_is_taken_for_no_writer(unfinished):
    states = set[str]()
    for thread in looking(unfinished, 100, states):
        thread.join()
    assert states == {"interrupted"}


def test_who_looks_whether_a_run_is_written_keeps_no_writer_out(unfinished):
    threads = looking(unfinished, 100, set())
    while any(thread.is_alive() for thread in threads):
        FolderLock(unfinished).acquire().release()
    assert not is_held(unfinished)
