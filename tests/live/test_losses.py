"""Whatever is not scored or not written is counted in the manifest and logged once; what can wait, waits."""

import json
import resource
import signal
import threading
import time
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")

from typer.testing import CliRunner

from ragmetrics_core import Run, Sample, evaluate
from ragmetrics_core.cli._app import app
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import CallableSink, LiveResult, LiveScorer, RunSink
from ragmetrics_core.live._breaker import Breaker
from ragmetrics_core.live._delivery import Delivery
from ragmetrics_core.models import as_judge
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs._manifest import LiveCounts, manifest_in
from tests.live.captures import capture_of, supports
from tests.live.conftest import MakeScorer

Log = pytest.LogCaptureFixture
Results = list[LiveResult]


def live_counts(folder: Path) -> dict[str, int]:
    """The counts in a run's manifest."""
    live = manifest_in(folder).live
    assert live is not None
    return live.counts


def test_dropped_captures_are_in_the_manifest_and_once_in_the_log(tmp_path: Path, caplog: Log):
    release = threading.Event()

    def judge(text: str) -> str:
        release.wait()
        return supports(text)

    with LiveScorer("faithfulness", judge=judge, out=tmp_path / "run", max_pending=5, concurrency=1) as live:
        for number in range(40):
            live.submit(capture_of(f"{number}"))
        release.set()
    # one in progress at most, and five that wait
    scored = live.stats.scored
    assert scored in (5, 6)
    assert live_counts(tmp_path / "run") == {
        "captured": 40,
        "scored": scored,
        "skipped.overflow": 40 - scored,
    }
    assert sum("captures are dropped" in record.message for record in caplog.records) == 1


def test_the_sample_rate_and_what_it_left_out_are_in_the_manifest(tmp_path: Path):
    for rate in (0.1, 0.5):
        with LiveScorer(
            "faithfulness", judge="embedded", out=tmp_path / "run", sample_rate=rate, seed=1
        ) as live:
            for number in range(100):
                live.submit(capture_of(f"{number}"))
    stored = manifest_in(tmp_path / "run").live
    assert stored is not None
    assert stored.sample_rates == (0.1, 0.5)
    assert stored.counts["captured"] + stored.counts["skipped.not_sampled"] == 200
    assert "sample rate 0.1 then 0.5" in str(stored)


def test_drops_are_in_the_manifest_though_nothing_was_scored_yet(tmp_path: Path):
    release = threading.Event()

    def judge(text: str) -> str:
        release.wait()
        return supports(text)

    folder = tmp_path / "run"
    with LiveScorer("faithfulness", judge=judge, out=folder, max_pending=5, concurrency=1) as live:
        for number in range(20):
            live.submit(capture_of(f"{number}"))
        assert not live.flush(timeout=0.1)
        dropped = live.stats.skipped["overflow"]
        live.observers.save()  # which the scorer does every five seconds
        counts = live_counts(folder)
        release.set()
    assert dropped in (14, 15)
    assert counts == {"captured": 20, "skipped.overflow": dropped}


def test_counts_of_merged_runs_add_up():
    one = LiveCounts(sample_rates=(1.0,), counts={"captured": 3, "scored": 3})
    other = LiveCounts(sample_rates=(0.5,), counts={"captured": 4, "skipped.overflow": 4})
    total = one + other
    assert total.counts == {"captured": 7, "scored": 3, "skipped.overflow": 4}
    assert str(total) == "7 captured, 3 scored, 4 skipped (overflow), sample rate 1 then 0.5"


def test_results_wait_for_a_full_disk_and_are_written_when_there_is_room(tmp_path: Path):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with LiveScorer("faithfulness", judge="embedded", out=tmp_path / "run") as live:
        try:
            live.submit(capture_of("before"))
            live.flush()
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
            for number in range(60):
                live.submit(capture_of(f"{number}"))
            live.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(Run.load(tmp_path / "run")) == 61
    assert live.stats.lost == {}
    assert any("cannot be written" in error for error in live.stats.errors)


class Numbers:
    """A sink of numbers that refuses some."""

    def __init__(self, *refused: int, is_down: bool = False) -> None:
        self.refused = set(refused)
        self.is_down = is_down
        self.taken: list[int] = []

    def write(self, result: Any) -> None:
        if self.is_down or result in self.refused:
            raise OSError("no room")
        self.taken.append(result)

    def flush(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def results(live: MakeScorer) -> Results:
    """Results of ten captures, from a sink."""
    found: list[LiveResult] = []
    scorer = live(sinks=[CallableSink(found.append)])
    for number in range(10):
        scorer.submit(capture_of(f"{number}"))
    scorer.flush()
    return sorted(found, key=lambda result: result.sample.question or "")


def delivered(results: Results, sink: Any, *, limit: int = 1000) -> tuple[Delivery, list[object]]:
    """Deliver results; return what came out, as numbers, and how many were lost."""
    number_of = {result.sample.id: number for number, result in enumerate(results)}
    write = sink.write
    sink.write = lambda result: write(number_of[result.sample.id])
    lost: list[object] = []
    delivery = Delivery(sink, fails=lambda *_: None, loses=lost.append, limit=limit)
    return delivery, lost


def test_a_sink_that_comes_back_gets_all_results_in_order(results: Results):
    sink = Numbers(is_down=True)
    delivery, lost = delivered(results, sink)
    for result in results[:6]:
        assert delivery.write(result) == []
    sink.is_down = False
    for result in results[6:]:
        delivery.write(result)
    assert (sink.taken, lost) == (list(range(10)), [])


def test_a_result_that_a_sink_always_refuses_does_not_hold_the_others_up_and_is_counted(
    results: Results,
):
    sink = Numbers(2)
    delivery, lost = delivered(results, sink)
    for result in results:
        delivery.write(result)
    assert sink.taken == [0, 1, 3, 4, 5, 6, 7, 8, 9]
    assert len(lost) == 1


def test_no_more_results_wait_than_the_limit_and_the_rest_is_counted_as_lost(results: Results):
    sink = Numbers(is_down=True)
    delivery, lost = delivered(results, sink, limit=4)
    for result in results:
        delivery.write(result)
    assert len(lost) == 10 - 4
    delivery.give_up()
    assert len(lost) == 10


def test_what_a_sink_never_takes_is_in_the_statistics_and_in_the_manifest(tmp_path: Path):
    sink = Numbers(is_down=True)
    with LiveScorer("faithfulness", judge="embedded", out=tmp_path / "run", sinks=[sink]) as live:
        for number in range(3):
            live.submit(capture_of(f"{number}"))
    assert live.stats.lost == {"Numbers": 3}
    assert live_counts(tmp_path / "run")["lost.Numbers"] == 3


@pytest.mark.parametrize("place", ["run", "run/captures"])
def test_a_file_in_place_of_a_folder_is_refused_at_once(tmp_path: Path, place: str):
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("a file")
    with pytest.raises(ConfigError, match="is a file, not"):
        LiveScorer("faithfulness", judge="embedded", out=tmp_path / "run")


def breaker(events: list[object], now: list[float]) -> Breaker:
    return Breaker(
        opens=events.append, tries=events.append, closes=lambda: events.append("closed"), clock=lambda: now[0]
    )


def test_a_breaker_opens_at_the_fifth_failure_in_a_row_and_tries_after_5_10_20_40_60_60_seconds():
    events: list[object] = []
    now = [0.0]
    made = breaker(events, now)
    for _ in range(4):
        made.failed("down")
    made.succeeded()
    for _ in range(4):
        made.failed("down")
    assert made.admits()
    made.failed("down")
    assert events == ["down", 5.0]
    for delay in (5, 10, 20, 40, 60, 60):
        now[0] += delay - 0.1
        assert not made.admits()
        now[0] += 0.2
        assert made.admits()
        assert not made.admits()  # one capture at a time
        made.failed("down")
    assert events[2:] == [10.0, 20.0, 40.0, 60.0, 60.0, 60.0]
    made.succeeded()
    assert (made.admits(), events[-1]) == (True, "closed")


def test_captures_wait_while_the_judge_is_down_and_are_scored_when_it_answers(tmp_path: Path):
    is_down, calls = threading.Event(), Counter[bool]()
    is_down.set()

    def judge(text: str) -> str:
        calls[is_down.is_set()] += 1
        if is_down.is_set():
            raise ConnectionError("down")
        return supports(text)

    with LiveScorer("faithfulness", judge=judge, out=tmp_path / "run", concurrency=4) as live:
        live.breaker.first_delay = 0.1
        for number in range(30):
            live.submit(capture_of(f"{number}"))
        assert not live.flush()  # it does not wait for a judge that is down
        assert (live.stats.scored, live.stats.pending) == (0, 30)
        is_down.clear()
        for _ in range(100):
            if live.flush():
                break
            time.sleep(0.1)
    assert live.stats.scored == 30
    # four captures in flight, five failures; then some tries: not four attempts for each of 30 captures
    assert calls[True] < 30
    lines = (tmp_path / "run/records.jsonl").read_text().splitlines()
    statuses = Counter(json.loads(line)["status"] for line in lines)
    assert statuses == {"ok": 30}


def test_closing_while_the_judge_is_down_leaves_captures_to_the_next_process(tmp_path: Path, caplog: Log):
    def down(text: str) -> str:
        raise ConnectionError("down")

    with LiveScorer("faithfulness", judge=down, out=tmp_path / "run", concurrency=4) as live:
        for number in range(30):
            live.submit(capture_of(f"{number}"))
        live.flush()
    assert live.stats.skipped == {"closed": 30}
    assert "30 captures are not scored, because the scorer was closed" in caplog.text
    (file,) = (tmp_path / "run/captures").glob("*/captures.jsonl")
    assert sum("sample" in json.loads(line) for line in file.read_text().splitlines()) == 30


def test_waiting_for_one_score_gets_the_failure_though_the_judge_is_down(live: MakeScorer):
    def down(text: str) -> str:
        raise ConnectionError("down")

    scorer = live(judge=down)
    for _ in range(3):
        (record,) = scorer.score(capture_of()).records
        assert record.status == "model_error"


def test_the_manifest_of_a_run_without_live_scoring_does_not_change(tmp_path: Path):
    evaluate(
        [Sample(question="Who?", answer="The SMF.", contexts=("The SMF.",))],
        judge="embedded",
        out=tmp_path / "run",
    )
    assert "live" not in json.loads((tmp_path / "run/manifest.json").read_text())


def failing_then(folder: Path) -> None:
    """A run of three captures whose judge failed, in the application's folder."""

    def broken(text: str) -> str:
        raise ValueError("broken")

    with LiveScorer("faithfulness", judge=as_judge(broken, identity="j"), out=folder) as live:
        for number in range(3):
            live.submit(capture_of(f"{number}"))


def test_failed_scores_are_scored_again_in_place(tmp_path: Path):
    failing_then(tmp_path / "run")
    assert [mean.statuses for mean in Run.load(tmp_path / "run").means()] == [{"model_error": 3}]
    judge = as_judge(supports, identity="j")
    with LiveScorer("faithfulness", judge=judge, out=tmp_path / "run") as live:
        assert live.catch_up(failed=True) == 3
        assert live.flush()
        assert live.catch_up(failed=True) == 0
    run = Run.load(tmp_path / "run")
    assert [(mean.value, mean.n) for mean in run.means()] == [(1.0, 3)]
    assert not list(run.audit(processes=1))


class FailingEmbedded:
    """A judge that fails under the name of the embedded one."""

    identity = as_judge("embedded").identity
    concurrency = 4

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        raise ValueError("broken")


def test_catch_up_failed_scores_the_runs_of_all_days(tmp_path: Path):
    folder = tmp_path / "by-day"
    for day in (1, 2):
        sink = RunSink(folder, rotate="day", today=lambda day=day: date(2026, 11, day))
        with LiveScorer("faithfulness", judge=FailingEmbedded(), sinks=[sink]) as live:
            live.submit(capture_of(f"{day}"))
    result = CliRunner().invoke(app, ["catch-up", str(folder), "--failed", "--judge", "embedded"])
    assert result.exit_code == 0, result.output
    for day in (1, 2):
        (mean,) = Run.load(folder / f"2026-11-0{day}").means()
        assert mean.n == 1


def test_a_budget_gives_whole_captures_and_skips_the_rest_with_one_warning(tmp_path: Path, caplog: Log):
    with LiveScorer("faithfulness", judge=supports, out=tmp_path / "run", max_calls=10) as live:
        for number in range(20):  # each takes two calls of its own
            live.submit(capture_of(f"{number}", answer=f"{number}", contexts=[f"The SMF {number}."]))
        assert not live.flush()
        assert live.stats.scored == 5
        assert not live.submit(capture_of())
    assert live.stats.skipped == {"budget_spent": 1, "closed": 15}
    assert manifest_in(tmp_path / "run").tally["calls"] == 10
    assert sum("the budget is spent" in record.message for record in caplog.records) == 1


def test_a_budget_of_a_day_begins_anew_with_the_next_day_and_not_if_the_clock_goes_back(live: MakeScorer):
    scorer = live(judge=supports, max_calls=2, budget_period="day")
    days = [date(2026, 11, 2)]
    scorer.evaluation.today = lambda: days[-1]
    scorer.evaluation._day = days[-1]
    scored: list[bool] = []
    for day in (2, 1, 3, 3, 4):
        days.append(date(2026, 11, day))
        taken = scorer.submit(capture_of(f"{day}", contexts=[f"The SMF {len(days)}."], answer=f"{len(days)}"))
        scored.append(taken and scorer.flush())
    assert scored == [True, False, True, False, True]
    assert scorer.evaluation.tally["calls"] == 6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget_period": "day"}, "needs a limit"),
        ({"budget_period": "week", "max_calls": 1}, "must be"),
        ({"max_cost": 1.0}, "needs the judge's price"),
        ({"max_cost": 1.0, "prices": {"another": {"prompt": 1.0, "completion": 1.0}}}, "there is no price"),
        ({"max_calls": -1}, "must be 0 or more"),
    ],
)
def test_a_wrong_budget_is_refused_at_once(settings: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        LiveScorer("faithfulness", judge="embedded", **settings)
