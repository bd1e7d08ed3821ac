"""A live application that runs for months: a run for each day or size, of which so many stay."""

import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Run, Sample, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveScorer, RunSink
from ragmetrics_core.live._kept_captures import KeptCaptures
from ragmetrics_core.live.places import Places
from ragmetrics_core.runs import merge
from ragmetrics_core.runs.lock import FolderLock
from tests.lines import plain
from tests.live.captures import ANSWER, by_context, capture_of, faithful, supports, unfaithful
from tests.live.suite import ROOT, scored_in


class Calendar:
    """A day that the test sets."""

    def __init__(self) -> None:
        self.day = date(2026, 11, 1)

    def __call__(self) -> date:
        return self.day

    def next(self, days: int = 1) -> None:
        self.day += timedelta(days=days)


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@contextmanager
def daily(folder: Path, calendar: Calendar, keep: int | None = None, **options: Any) -> Iterator[LiveScorer]:
    sink = RunSink(folder, rotate="day", keep=keep, today=calendar)
    options.setdefault("judge", "embedded")
    with LiveScorer("faithfulness", sinks=[sink], **options) as live:
        yield live


def questions(folder: Path) -> dict[str, set[str]]:
    """What was scored, by the name of the run."""
    return {path.parent.name: scored_in(Run.load(path.parent)) for path in folder.glob("*/manifest.json")}


def audited(folder: Path) -> list[object]:
    """All that is wrong with the runs of a folder."""
    return [finding for path in folder.glob("*/manifest.json") for finding in Run.load(path.parent).audit()]


def test_each_day_is_a_run_that_is_finished_and_audits_clean(tmp_path: Path, calendar: Calendar):
    with daily(tmp_path / "live", calendar) as live:
        for question in ("Monday", "Tuesday", "Wednesday"):
            live.score(capture_of(question))
            live.score(capture_of(f"{question} again"))
            calendar.next()
        before = Run.load(tmp_path / "live" / "2026-11-01")

    assert questions(tmp_path / "live") == {
        "2026-11-01": {"Monday", "Monday again"},
        "2026-11-02": {"Tuesday", "Tuesday again"},
        "2026-11-03": {"Wednesday", "Wednesday again"},
    }
    assert before.finished
    assert audited(tmp_path / "live") == []
    # a statement and its verdict are asked for: two calls for each of six samples
    runs = [Run.load(path.parent) for path in sorted((tmp_path / "live").glob("*/manifest.json"))]
    assert sum(run.tally["calls"] for run in runs) == 12


def test_a_day_is_that_of_utc_and_a_run_says_when_it_began(tmp_path: Path):
    before = datetime.now(UTC)
    with LiveScorer("faithfulness", judge="embedded", out=tmp_path / "live", rotate="day") as live:
        live.score(capture_of())
    after = datetime.now(UTC)

    (run,) = (tmp_path / "live").glob("*/manifest.json")
    assert run.parent.name in {f"{before:%Y-%m-%d}", f"{after:%Y-%m-%d}"}
    assert before.replace(microsecond=0) <= Run.load(run.parent).manifest.started <= after


def test_means_and_alarms_go_on_over_the_turn_of_the_day(tmp_path: Path, calendar: Calendar):
    alerts: list[object] = []
    with daily(tmp_path / "live", calendar, judge=by_context()) as live:
        live.alert("faithfulness", below=0.6, window=4, call=alerts.append)
        for make in (faithful, faithful):
            live.score(make())
        calendar.next()
        for make in (unfaithful, unfaithful):
            live.score(make())
        live.flush()

        # 1, 1, 0, 0: a mean of 0.5 over a window of four, two of each day
        assert live.means["faithfulness"] == (0.5, 4)
        assert len(alerts) == 1


def test_what_waits_at_the_turn_of_the_day_is_scored_into_the_new_one(tmp_path: Path, calendar: Calendar):
    release = threading.Event()

    def judge(text: str) -> str:
        release.wait()
        return supports(text)

    with daily(tmp_path / "live", calendar, judge=judge, timeout=None) as live:
        for number in range(3):
            live.submit(capture_of(f"{number}"))
        calendar.next()
        release.set()

    assert questions(tmp_path / "live") == {"2026-11-02": {"0", "1", "2"}}


def test_what_a_killed_process_left_before_the_turn_is_scored_once_after_it(
    tmp_path: Path, calendar: Calendar
):
    with daily(tmp_path / "live", calendar) as live:
        live.score(capture_of("scored, and not noted as done"))
        scored = live.results[0].sample
    killed = KeptCaptures(Places(tmp_path / "live", "day"))
    killed.keep(scored)
    killed.keep(scored.model_copy(update={"id": "b", "question": "left"}))
    killed.close()
    calendar.next()

    with daily(tmp_path / "live", calendar) as live:
        assert live.catch_up() == 1

    assert questions(tmp_path / "live") == {
        "2026-11-01": {"scored, and not noted as done"},
        "2026-11-02": {"left"},
    }


def test_a_clock_that_is_set_back_goes_on_with_the_folder_of_that_day(tmp_path: Path, calendar: Calendar):
    with daily(tmp_path / "live", calendar, keep=2) as live:
        for days in (0, 1, -1, 1):
            calendar.next(days)
            live.score(capture_of(f"{calendar.day} {days}"))

    assert questions(tmp_path / "live") == {
        "2026-11-01": {"2026-11-01 0", "2026-11-01 -1"},
        "2026-11-02": {"2026-11-02 1"},
    }
    assert audited(tmp_path / "live") == []


def test_a_clock_that_leaps_ten_years_ahead_removes_one_folder_and_not_all(
    tmp_path: Path, calendar: Calendar
):
    with daily(tmp_path / "live", calendar, keep=3) as live:
        for _ in range(3):
            live.score(capture_of())
            calendar.next()
        calendar.next(3650)
        live.score(capture_of())

    # November 4 of 2026 and 3,650 days, of which two are the 29th of a February before 2036
    assert set(questions(tmp_path / "live")) == {"2026-11-02", "2026-11-03", "2036-11-01"}


def test_beyond_its_bytes_a_run_is_finished_and_the_next_part_begins(tmp_path: Path):
    folder = tmp_path / "live"
    with LiveScorer("faithfulness", judge="embedded", out=folder, rotate=20_000, keep=3) as live:
        for number in range(60):
            live.score(capture_of(f"{number}"))
    names = sorted(questions(folder))

    assert len(names) == 3
    assert int(names[-1].removeprefix("part-")) > 3
    sizes = [sum(file.stat().st_size for file in (folder / name).glob("*.jsonl")) for name in names]
    # a part ends with the line that takes it beyond
    assert all(20_000 <= size < 30_000 for size in sizes[:-1])
    assert all(Run.load(folder / name).finished for name in names)
    assert audited(folder) == []

    with LiveScorer("faithfulness", judge="embedded", out=folder, rotate=10**9) as live:
        live.score(capture_of("the last part goes on"))
    assert "the last part goes on" in questions(folder)[names[-1]]


# Retention


def test_only_the_newest_days_stay(tmp_path: Path, calendar: Calendar):
    with daily(tmp_path / "live", calendar, keep=2) as live:
        for _ in range(5):
            live.score(capture_of())
            calendar.next()

    assert set(questions(tmp_path / "live")) == {"2026-11-04", "2026-11-05"}
    assert sorted(path.name for path in (tmp_path / "live").iterdir()) == [
        "2026-11-04",
        "2026-11-05",
        "rotation.json",
    ]


def test_without_keep_all_days_stay(tmp_path: Path, calendar: Calendar):
    with daily(tmp_path / "live", calendar) as live:
        for _ in range(5):
            live.score(capture_of())
            calendar.next()

    assert len(questions(tmp_path / "live")) == 5


def test_nothing_is_removed_that_is_not_its_own(
    tmp_path: Path, calendar: Calendar, caplog: pytest.LogCaptureFixture
):
    folder = tmp_path / "live"
    with daily(folder, calendar) as live:
        live.score(capture_of("with notes"))
        calendar.next()
        live.score(capture_of("of a writer"))
        calendar.next()
        live.score(capture_of("plain"))
    (folder / "2026-11-01" / "notes.txt").write_text("mine")
    sample = Sample(id="a", question="?", contexts=(ANSWER,), answer=ANSWER)
    evaluate([sample], metrics="faithfulness", judge="embedded", out=folder / "2026-01-01")
    shutil.copytree(folder / "2026-11-03", tmp_path / "elsewhere")
    (folder / "2026-01-02").symlink_to(tmp_path / "elsewhere")
    (folder / "2026-01-03").mkdir()
    shutil.copytree(folder / "2026-11-03", folder / "2026-01-04 copy")
    merge(folder / "2026-11-03", out=folder / "2026-01-05")
    shutil.copytree(folder / "2026-11-03", folder / "2026-01-06" / "2026-11-03")
    before = {path for path in folder.iterdir() if path.name != "2026-11-03"}

    calendar.next()
    with FolderLock(folder / "2026-11-02"), daily(folder, calendar, keep=1) as live:
        live.score(capture_of())

    assert set(folder.iterdir()) == before | {folder / "2026-11-04"}
    assert len(Run.load(tmp_path / "elsewhere")) == 1
    assert "2026-11-01 holds notes.txt, which does not belong to its run" in caplog.text


def test_folders_of_others_count_neither_as_days_nor_as_parts(tmp_path: Path, calendar: Calendar):
    for name in ("2030-01-01", "2030-01-02", "part-000007", "part-000007-worker-2"):
        (tmp_path / "days" / name).mkdir(parents=True)
        (tmp_path / "parts" / name).mkdir(parents=True)
    with daily(tmp_path / "days", calendar, keep=2) as live:
        live.score(capture_of())
        calendar.next()
        live.score(capture_of())
    with LiveScorer("faithfulness", judge="embedded", out=tmp_path / "parts", rotate=10**6, keep=1) as live:
        live.score(capture_of())

    assert set(questions(tmp_path / "days")) == {"2026-11-01", "2026-11-02"}
    assert set(questions(tmp_path / "parts")) == {"part-000001"}


def test_nothing_is_removed_while_captures_of_a_process_that_is_gone_wait(tmp_path: Path, calendar: Calendar):
    folder = tmp_path / "live"
    with daily(folder, calendar) as live:
        live.score(capture_of("scored, and not noted as done"))
        sample = live.results[0].sample
    calendar.next()
    sink = RunSink(folder, rotate="day", keep=1, today=calendar)
    with LiveScorer("faithfulness", judge="embedded", sinks=[sink]) as live:
        live.score(capture_of("the next day"))
        live.flush()
        assert set(questions(folder)) == {"2026-11-02"}
    calendar.next()
    killed = KeptCaptures(Places(folder, "day"))
    killed.keep(sample)
    killed.close()
    other = RunSink(folder, rotate="day", keep=1, today=calendar)
    other.begin(Run.load(folder / "2026-11-02").manifest)
    other.write(live.results[0])
    assert set(questions(folder)) == {"2026-11-02", "2026-11-03"}

    shutil.rmtree(folder / "captures")
    other.flush()
    assert set(questions(folder)) == {"2026-11-03"}
    other.close()


def test_a_run_of_a_killed_process_is_finished_when_its_day_is_over(tmp_path: Path, calendar: Calendar):
    folder = tmp_path / "live"
    with daily(folder, calendar) as live:
        live.score(capture_of("a"))
    # as a kill leaves it: not finished, the last line cut
    manifest = folder / "2026-11-01" / "manifest.json"
    fields = {**json.loads(manifest.read_text()), "finished": False, "contents": None}
    manifest.write_text(json.dumps(fields))
    with (folder / "2026-11-01" / "records.jsonl").open("a") as file:
        file.write('{"sample_id":"cut in the mid')
    calendar.next()
    with daily(folder, calendar) as live:
        live.score(capture_of("b"))

    assert Run.load(folder / "2026-11-01").finished
    assert audited(folder) == []


# What is refused


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rotate": "week"}, "rotate must be \"day\" or a number of bytes, not 'week'"),
        ({"rotate": 0}, 'rotate must be "day" or a number of bytes, not 0'),
        ({"rotate": True}, 'rotate must be "day" or a number of bytes, not True'),
        ({"rotate": "day", "keep": 0}, "keep must be at least 1 and needs rotate, not 0"),
        ({"keep": 30}, "keep must be at least 1 and needs rotate, not 30"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path: Path, settings: dict[str, Any], words: str):
    with pytest.raises(ConfigError) as refused:
        LiveScorer("faithfulness", judge="embedded", out=tmp_path / "live", **settings)
    assert str(refused.value) == words


def test_rotating_needs_a_folder():
    with pytest.raises(ConfigError, match="rotate needs a folder"):
        LiveScorer("faithfulness", judge="embedded", rotate="day")


def test_one_folder_is_used_in_one_way(tmp_path: Path):
    by_day, by_size, neither = {"rotate": "day"}, {"rotate": 10**6}, dict[str, Any]()
    ways: list[tuple[str, dict[str, Any]]] = [("days", by_day), ("parts", by_size), ("run", neither)]
    for name, settings in ways:
        with LiveScorer("faithfulness", judge="embedded", out=tmp_path / name, **settings) as live:
            live.score(capture_of())

    ways = [("days", neither), ("days", by_size), ("parts", by_day)]
    for name, settings in ways:
        with pytest.raises(ConfigError, match="holds a run for each day or size: give rotate="):
            LiveScorer("faithfulness", judge="embedded", out=tmp_path / name, **settings)
    with pytest.raises(ConfigError, match="run is a run: choose another folder"):
        LiveScorer("faithfulness", judge="embedded", out=tmp_path / "run", rotate="day")
    with pytest.raises(ConfigError, match="holds another run"):
        LiveScorer("context_relevance", judge="embedded", out=tmp_path / "days", rotate="day")
    with pytest.raises(ConfigError, match="exists and does not hold a run"):
        evaluate([], metrics="faithfulness", judge="embedded", out=tmp_path / "days")


# Workers

WORKER = """
import os, signal, sys
from ragmetrics_core.live import LiveScorer
from tests.live.captures import capture_of, supports

folder, rotate, deploys, workers = sys.argv[1], sys.argv[2] or None, int(sys.argv[3]), int(sys.argv[4])
for deploy in range(deploys):
    told, tell = os.pipe()
    go, start = os.pipe()
    children = []
    for number in range(workers):
        children.append(os.fork())
        if children[-1] == 0:
            os.close(start)
            live = LiveScorer("faithfulness", judge=supports, out=folder, rotate=rotate)
            live.score(capture_of(f"{deploy} {number}"))
            os.write(tell, b".")
            os.read(go, 1)
            if number % 2:
                os.kill(os.getpid(), signal.SIGKILL)
            live.close()
            os._exit(0)
    for _ in range(workers):
        os.read(told, 1)
    os.close(start)
    for child in children:
        os.waitpid(child, 0)
"""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@needs_fork
@pytest.mark.parametrize("rotate", ["", "day"])
def test_workers_of_many_deploys_share_as_many_folders_as_there_are_at_a_time(tmp_path: Path, rotate: str):
    folder = tmp_path / "live"
    done = subprocess.run(
        [sys.executable, "-c", WORKER, folder, rotate, "5", "4"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    runs = sorted(path.parent for path in tmp_path.glob("**/manifest.json"))
    days = {path.name.partition("-worker-")[0] for path in runs} if rotate else {"live"}

    assert len(runs) == 4 * len(days)
    assert {path.name for path in runs} == {
        f"{day}{worker}" for day in days for worker in ("", "-worker-2", "-worker-3", "-worker-4")
    }
    lines = [plain(line) for path in runs for line in (path / "records.jsonl").read_text().splitlines()]
    assert len(lines) == 20

    # what was killed is not finished; a process that comes and goes without a kill finishes all
    with LiveScorer("faithfulness", judge=supports, out=tmp_path / "other") as live:
        assert live.catch_up() == 0
    merged = merge(*runs, out=tmp_path / "merged")
    assert scored_in(merged) == {f"{deploy} {number}" for deploy in range(5) for number in range(4)}
    assert [finding for finding in merged.audit() if "finish" not in str(finding)] == []


def test_a_worker_beside_others_says_once_where_it_writes(
    tmp_path: Path, calendar: Calendar, caplog: pytest.LogCaptureFixture
):
    with daily(tmp_path / "live", calendar) as first, daily(tmp_path / "live", calendar) as second:
        for _ in range(3):
            first.score(capture_of())
            second.score(capture_of())
            calendar.next()

    told = [each.message for each in caplog.records if each.levelno == logging.WARNING]
    assert len([message for message in told if "live records go to" in message]) == 1
    assert set(questions(tmp_path / "live")) == {
        f"2026-11-0{day}{worker}" for day in (1, 2, 3) for worker in ("", "-worker-2")
    }
    days = [path.parent for path in sorted((tmp_path / "live").glob("2026-11-02*/manifest.json"))]
    merged = merge(*days, out=tmp_path / "merged")
    assert len(merged) == 2
    assert merged.finished
    assert list(merged.audit()) == []
    # nobody's part of a rotation any more
    assert merged.manifest.rotation is None
