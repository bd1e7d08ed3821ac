"""Waiting for a score: `score`, `ascore`, and the inline mode."""

import asyncio

import pytest

from ragmetrics_core.live import LiveMean, LiveResult, LiveScorer, Skip
from tests.live.captures import NOTHING, capture_of, hangs, raising
from tests.live.conftest import MakeScorer


def test_score_works_inside_a_running_loop(live: MakeScorer):
    scorer = live()

    async def main() -> LiveResult:
        return scorer.score(capture_of())

    assert asyncio.run(main()).scores == {"faithfulness": 1.0}


def test_ascore_judges_on_the_callers_loop(live: MakeScorer):
    used: set[asyncio.AbstractEventLoop] = set()

    async def judge(text: str) -> str:
        used.add(asyncio.get_running_loop())
        return NOTHING

    scorer = live(judge=judge)

    async def main() -> asyncio.AbstractEventLoop:
        await scorer.ascore(capture_of())
        return asyncio.get_running_loop()

    own = asyncio.run(main())
    assert used == {own}


def test_score_tells_its_caller_that_there_is_nothing_to_score(live: MakeScorer):
    scorer = live()

    with pytest.raises(Skip, match="no_retrieval"):
        scorer.score(capture_of(translate=raising(Skip("no_retrieval"))))
    assert scorer.stats.skipped == {"no_retrieval": 1}


def test_score_raises_what_translating_raises(live: MakeScorer):
    scorer = live()
    late = capture_of(translate=raising(TimeoutError("the database is slow")))

    with pytest.raises(TimeoutError, match="database"):
        scorer.score(late)
    with pytest.raises(TimeoutError, match="database"):
        asyncio.run(scorer.ascore(late))
    assert scorer.stats.failed == 2


def test_a_judge_that_waits_for_a_score_is_told_that_it_cannot(live: MakeScorer):
    made: list[LiveScorer] = []
    scorer = live(judge=lambda text: str(made[0].score(capture_of())))
    made.append(scorer)

    (record,) = scorer.score(capture_of()).records

    assert record.status == "model_error"
    assert "cannot wait for a score" in str(record.reason)


def test_ascore_that_is_cancelled_leaves_nothing_pending(live: MakeScorer):
    async def judge(text: str) -> str:
        asked.set()
        return await hangs(text)

    scorer = live(judge=judge)

    async def main() -> None:
        task = asyncio.create_task(scorer.ascore(capture_of()))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asked = asyncio.Event()
    asyncio.run(main())

    assert scorer.stats.pending == 0
    assert scorer.flush()


def test_in_the_inline_mode_submit_waits_for_the_scores(live: MakeScorer):
    scorer = live(mode="inline")

    assert scorer.submit(capture_of())
    assert scorer.means == {"faithfulness": LiveMean(1.0, 1)}
