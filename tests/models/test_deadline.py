"""So many seconds for a call, whatever it waited for before and in between."""

import asyncio

import pytest

from ragmetrics_core.errors import ModelTimeout
from ragmetrics_core.models import Batched
from tests.models.waits import SlowEmbedder, SlowJudge, line, now, request, run


def test_a_call_that_takes_longer_is_cancelled_and_told():
    judge = SlowJudge(seconds=10.0)

    async def scene() -> float:
        with pytest.raises(ModelTimeout, match=r"^no answer within 2\.5 s$"):
            await line(judge, timeout=2.5).agenerate(request())
        return now()

    assert run(scene()) == 2.5
    assert judge.cancelled == 1


def test_a_timeout_inside_the_model_is_the_models_own_and_is_tried_again():
    model = line(SlowJudge(failures=[TimeoutError("mine")] * 2), timeout=2.5, attempts=2)

    with pytest.raises(ModelTimeout, match=r"^TimeoutError: mine \(after 2 attempts\)$"):
        run(model.agenerate(request()))


def test_waiting_for_a_turn_does_not_count():
    # 10 calls of 2 s, one at a time: the last one waits 18 s.
    model = line(SlowJudge(seconds=2.0), concurrency=1, timeout=3)

    async def scene() -> float:
        await asyncio.gather(*(model.agenerate(request()) for _ in range(10)))
        return now()

    assert run(scene()) == pytest.approx(20)


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
