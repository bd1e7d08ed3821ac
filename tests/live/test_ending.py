"""The end of a scorer: flushing, closing, and scorers that nobody holds any more."""

import asyncio
import gc
import threading
import weakref

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveScorer
from tests.live.captures import NOTHING, capture_of, hangs
from tests.live.conftest import MakeScorer


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("ragmetrics-live")}


# Flushing


def test_a_scorer_that_did_nothing_has_no_threads_and_nothing_to_flush(live: MakeScorer):
    before = threads()
    scorer = live()

    assert scorer.flush(timeout=0)
    assert asyncio.run(scorer.aflush())
    assert scorer.close(timeout=0)
    assert threads() <= before


def test_aclose_does_not_block_the_loop_and_closes(live: MakeScorer):
    release = threading.Event()

    def waits(text: str) -> str:
        release.wait()
        return "{}"

    scorer = live(judge=waits)

    async def closing() -> bool:
        scorer.submit(capture_of())
        done = asyncio.create_task(scorer.aclose())
        await asyncio.sleep(0)
        release.set()  # a loop that stood still would not come here
        return await done

    assert asyncio.run(closing())
    assert scorer.stats.scored == 1
    assert not scorer.submit(capture_of())


def test_flush_from_a_sink_is_false_and_does_not_wait_for_itself(live: MakeScorer):
    said: list[bool] = []
    scorer = live(on_result=lambda result: said.append(scorer.flush()))

    scorer.score(capture_of())

    assert said == [False]


# Closing


def test_a_closed_scorer_takes_nothing_and_can_still_be_read(live: MakeScorer):
    with live() as scorer:
        scorer.submit(capture_of())

    assert not scorer.submit(capture_of())
    with pytest.raises(ConfigError, match="closed"):
        scorer.score(capture_of())
    assert scorer.stats.skipped == {"closed": 1}
    assert len(scorer.results) == scorer.stats.scored == 1
    assert scorer.close()


def test_what_is_not_done_when_closing_runs_out_of_time_is_counted(live: MakeScorer):
    before = threads()
    scorer = live(judge=hangs, concurrency=1, timeout=None)
    for _ in range(3):
        scorer.submit(capture_of())
    ours = threads() - before

    assert not scorer.close(timeout=0.01)
    for thread in ours:
        thread.join(timeout=30)

    assert not threads() & ours
    stats = scorer.stats
    assert (stats.captured, stats.scored, stats.pending) == (3, 0, 0)
    assert stats.skipped == {"closed": 3}


def test_somebody_who_waits_for_a_score_is_not_left_waiting_by_close(live: MakeScorer):
    asked = threading.Event()

    async def judge(text: str) -> str:
        asked.set()
        return await hangs(text)

    scorer = live(judge=judge, timeout=None)
    raised: list[str] = []

    def wait() -> None:
        try:
            scorer.score(capture_of())
        except Exception as error:
            raised.append(str(error))

    waiter = threading.Thread(target=wait)
    waiter.start()
    asked.wait()
    scorer.close(timeout=0.01)
    waiter.join(timeout=30)

    assert raised == ["the scorer was closed before this was scored"]


def test_a_sink_may_close_the_scorer(live: MakeScorer):
    said: list[bool] = []
    scorer = live(on_result=lambda result: said.append(scorer.close()))

    scorer.submit(capture_of())
    settled = threading.Event()
    threading.Thread(target=lambda: (scorer.flush(timeout=30), settled.set())).start()

    assert settled.wait(timeout=60)
    assert said == [False]
    assert not scorer.submit(capture_of())


def test_a_scorer_that_nobody_holds_ends_its_threads():
    # handlers that are made for each request come and go by the thousand
    before = threads()
    scorer = LiveScorer("faithfulness", judge="embedded")
    scorer.submit(capture_of())
    scorer.flush()
    ours = threads() - before
    gone = weakref.ref(scorer)

    del scorer
    gc.collect()
    for thread in ours:
        thread.join(timeout=30)

    assert gone() is None
    assert not threads() & ours


def test_a_scorer_that_is_dropped_with_work_to_do_finishes_it():
    release = threading.Event()
    scored = threading.Event()

    def judge(text: str) -> str:
        release.wait()
        return NOTHING

    scorer = LiveScorer("faithfulness", judge=judge, on_result=lambda result: scored.set())
    scorer.submit(capture_of())
    del scorer
    gc.collect()
    release.set()

    assert scored.wait(timeout=30)
