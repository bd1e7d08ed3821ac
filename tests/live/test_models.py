"""The application's own model as judge: shared, bound to a loop, or made by a factory."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveResult
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.live.captures import NOTHING, by_context, capture_of, faithful
from tests.live.conftest import MakeScorer


class Bound:
    """A model with a connection to one event loop, as a client has that was used there."""

    identity = "bound"

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._calls = 0

    async def connect(self) -> None:
        """Two who wait for a lock bind it to their loop."""
        async with self._turn:
            waiting = asyncio.create_task(self._turn.acquire())
            await asyncio.sleep(0)
        await waiting

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        await self._turn.acquire()
        return [Completion(text=NOTHING)]


def test_a_judge_of_the_applications_loop_fails_with_what_to_do(live: MakeScorer):
    async def main() -> LiveResult:
        judge = Bound()
        await judge.connect()
        scorer = live(judge=judge)
        scorer.submit(capture_of())
        await scorer.aflush()
        return scorer.results[0]

    (record,) = asyncio.run(main()).records

    assert record.status == "model_error"
    assert "the judge bound belongs to another event loop than the one that scores" in str(record.reason)
    assert "pass judge_factory=..." in str(record.reason)


def test_a_judge_of_the_applications_loop_serves_ascore_on_that_loop(live: MakeScorer):
    async def main() -> LiveResult:
        judge = Bound()
        await judge.connect()
        judge._turn.release()
        return await live(judge=judge).ascore(capture_of())

    assert asyncio.run(main()).records[0].status == "undefined"


def test_a_factory_makes_the_judge_once_and_on_the_scorers_loop(live: MakeScorer):
    made: list[threading.Thread] = []

    def make() -> ScriptedJudge:
        asyncio.get_running_loop()
        made.append(threading.current_thread())
        return by_context()

    scorer = live(judge_factory=make)
    assert made == []
    for _ in range(10):
        scorer.submit(faithful())
    scorer.flush()

    assert [thread.name for thread in made] == ["ragmetrics-live"]
    assert {result.records[0].judge for result in scorer.results} == {"scripted"}
    assert scorer.means["faithfulness"].n == 10


def test_each_loop_of_ascore_has_a_judge_of_its_own(live: MakeScorer):
    made: list[asyncio.AbstractEventLoop] = []

    def make() -> ScriptedJudge:
        made.append(asyncio.get_running_loop())
        return by_context()

    scorer = live(judge_factory=make)
    asyncio.run(scorer.ascore(faithful()))
    asyncio.run(scorer.ascore(faithful()))

    assert len(set(made)) == 2
    assert scorer.means["faithfulness"].mean == 1.0


def test_an_embedder_may_be_made_too(live: MakeScorer):
    scorer = live(
        "answer_similarity", embedder_factory=HashEmbedder, judge_factory=by_context, references={"?": "yes"}
    )

    result = scorer.score(capture_of("?", answer="yes"))

    assert result.scores == {"answer_similarity": pytest.approx(1.0)}
    assert result.records[0].embedder == "hash-64"


def test_a_factory_that_raises_or_makes_no_model_fails_every_capture_with_its_message(live: MakeScorer):
    def raises() -> Any:
        raise OSError("no key")

    broken = live(judge_factory=raises)
    wrong = live(judge_factory=lambda: 42)
    for scorer in (broken, wrong):
        scorer.submit(capture_of())
        assert scorer.flush()
        assert scorer.stats.failed == 1

    assert "OSError: no key" in broken.stats.errors[0]
    with pytest.raises(ConfigError, match="not int"):
        wrong.score(capture_of())


def test_failures_that_may_pass_are_tried_again_as_often_as_asked_for(live: MakeScorer):
    from ragmetrics_core.errors import TransientModelError

    calls: list[str] = []

    async def judge(text: str) -> str:
        calls.append(text)
        if len(calls) == 1:
            raise TransientModelError("busy")
        return NOTHING

    assert live(judge=judge, attempts=2).score(capture_of()).records[0].status == "undefined"
    assert len(calls) == 2


def test_no_reply_is_kept_for_another_capture(live: MakeScorer):
    # a journal, even in memory, would grow for as long as the application runs
    judge = by_context()
    scorer = live(judge=judge)

    scorer.score(faithful())
    scorer.score(faithful())

    assert judge.count("statements") == 2
