"""So many seconds for a call, whatever it waited for before and in between."""

import asyncio

import pytest

from ragmetrics_core.errors import ConfigError, ModelOverloaded, ModelTimeout, TransientModelError
from ragmetrics_core.models import Batched
from tests.models.waits import SlowEmbedder, SlowJudge, line, now, request, run

LOST = TransientModelError("lost")


def test_a_call_that_takes_longer_is_cancelled_and_told():
    judge = SlowJudge(seconds=10.0)

    async def scene() -> float:
        with pytest.raises(ModelTimeout, match=r"^no answer within 2\.5 s$"):
            await line(judge, timeout=2.5).agenerate(request())
        return now()

    assert run(scene()) == 2.5
    assert judge.cancelled == 1


def test_a_call_that_is_fast_enough_is_answered():
    (completion,) = run(line(SlowJudge(seconds=2.4), timeout=2.5).agenerate(request()))

    assert completion.text == "ok"


def test_a_timeout_inside_the_model_is_the_models_own():
    model = line(SlowJudge(failures=[TimeoutError("mine")]), timeout=2.5)

    with pytest.raises(TimeoutError, match="mine"):
        run(model.agenerate(request()))


def test_a_cancelled_caller_is_cancelled_and_not_timed_out():
    async def scene() -> None:
        task = asyncio.create_task(line(SlowJudge(seconds=10.0), timeout=5).agenerate(request()))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scene())


def test_waiting_for_a_turn_does_not_count():
    # 10 calls of 2 s, one at a time: the last one waits 18 s.
    model = line(SlowJudge(seconds=2.0), concurrency=1, timeout=3)

    async def scene() -> float:
        await asyncio.gather(*(model.agenerate(request()) for _ in range(10)))
        return now()

    assert run(scene()) == pytest.approx(20)


def test_the_limit_holds_after_waiting_for_a_turn():
    # The second call begins at 2 s and has 3 s then.
    model = line(line(SlowJudge(seconds=4.0), concurrency=1), timeout=3)

    async def scene() -> list[float]:
        ended = []

        async def call() -> None:
            with pytest.raises(ModelTimeout):
                await model.agenerate(request())
            ended.append(now())

        await asyncio.gather(call(), call())
        return ended

    assert run(scene()) == pytest.approx([3, 6])


def test_waiting_for_the_allowance_does_not_count():
    model = line(SlowJudge(seconds=2.0), requests_per_minute=6, timeout=3)

    async def scene() -> float:
        await asyncio.gather(*(model.agenerate(request()) for _ in range(4)))
        return now()

    assert run(scene()) == pytest.approx(32)


def test_waiting_between_attempts_does_not_count():
    judge = SlowJudge(seconds=1.0, failures=[ModelOverloaded("busy", retry_after=100.0)])

    run(line(judge, attempts=4, timeout=3).agenerate(request()))

    assert judge.begun[1] > 100


def test_the_limit_is_for_each_attempt_and_a_timeout_is_tried_again():
    judge = SlowJudge(seconds=10.0)

    with pytest.raises(ModelTimeout, match=r"no answer within 5 s \(after 3 attempts\)"):
        run(line(judge, timeout=5, attempts=3).agenerate(request()))

    assert judge.cancelled == 3


def test_what_a_call_leaves_behind_may_wait_after_its_end():
    limited = line(SlowJudge(seconds=10.0), concurrency=1)
    left: list[asyncio.Task[object]] = []
    another = request

    class LeavesWork(SlowJudge):
        async def agenerate(self, request):
            left.extend(asyncio.create_task(limited.agenerate(another())) for _ in range(3))
            return await super().agenerate(request)

    async def scene() -> float:
        await line(LeavesWork(seconds=1.0), timeout=5).agenerate(request())
        await asyncio.gather(*left)
        return now()

    assert run(scene()) == pytest.approx(30)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_that_leaves_no_time_is_refused(seconds: float):
    with pytest.raises(ConfigError, match="timeout must be above 0"):
        line(SlowJudge(), timeout=seconds)


def test_an_embedder_behind_a_batch_has_its_seconds_and_the_batch_takes_none_of_them():
    # A batch of one text fills for 60 s, and the second batch waits for the first one.
    embedder = SlowEmbedder(seconds=2.0)
    model = Batched(line(embedder, concurrency=1, timeout=3), 2, wait=60.0)

    async def scene() -> float:
        await asyncio.gather(*(model.aembed([text]) for text in "abcde"))
        return now()

    # "ab" and "cd" are full at once, one after the other, "e" goes off at 60 s.
    assert run(scene()) == pytest.approx(62)
    assert embedder.asked == [["a", "b"], ["c", "d"], ["e"]]
