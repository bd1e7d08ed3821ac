"""So many seconds for a call, whatever it waited for before and in between."""

import asyncio

import pytest

from ragmetrics_core.errors import ConfigError, ModelOverloaded, ModelTimeout, TransientModelError
from ragmetrics_core.models import Batched, Limited, RateLimited, Retrying, TimeLimited
from tests.models.waits import SlowEmbedder, SlowJudge, now, request, run

LOST = TransientModelError("lost")


def test_a_call_that_takes_longer_is_cancelled_and_told():
    judge = SlowJudge(seconds=10.0)

    async def scene() -> float:
        with pytest.raises(ModelTimeout, match=r"^no answer within 2\.5 s$"):
            await TimeLimited(judge, 2.5).agenerate(request())
        return now()

    assert run(scene()) == 2.5
    assert judge.cancelled == 1


def test_a_call_that_is_fast_enough_is_answered():
    (completion,) = run(TimeLimited(SlowJudge(seconds=2.4), 2.5).agenerate(request()))

    assert completion.text == "ok"


def test_a_timeout_inside_the_model_is_the_models_own():
    model = TimeLimited(SlowJudge(failures=[TimeoutError("mine")]), 2.5)

    with pytest.raises(TimeoutError, match="mine"):
        run(model.agenerate(request()))


def test_a_cancelled_caller_is_cancelled_and_not_timed_out():
    async def scene() -> None:
        task = asyncio.create_task(TimeLimited(SlowJudge(seconds=10.0), 5).agenerate(request()))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scene())


def test_waiting_for_a_turn_does_not_count():
    # 10 calls of 2 s, one at a time: the last one waits 18 s.
    model = TimeLimited(Limited(SlowJudge(seconds=2.0), 1), 3)

    async def scene() -> float:
        await asyncio.gather(*(model.agenerate(request()) for _ in range(10)))
        return now()

    assert run(scene()) == pytest.approx(20)


def test_the_limit_holds_after_waiting_for_a_turn():
    # The second call begins at 2 s and has 3 s then.
    model = TimeLimited(Limited(SlowJudge(seconds=4.0), 1), 3)

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
    model = TimeLimited(RateLimited(SlowJudge(seconds=2.0), requests_per_minute=6, clock=now), 3)

    async def scene() -> float:
        await asyncio.gather(*(model.agenerate(request()) for _ in range(4)))
        return now()

    assert run(scene()) == pytest.approx(32)


def test_waiting_between_attempts_does_not_count():
    judge = SlowJudge(seconds=1.0, failures=[ModelOverloaded("busy", retry_after=100.0)])

    run(TimeLimited(Retrying(judge), 3).agenerate(request()))

    assert judge.begun[1] > 100


def test_around_retrying_the_limit_is_for_all_attempts_together():
    judge = SlowJudge(seconds=2.0, failures=[LOST] * 9)

    with pytest.raises(ModelTimeout):
        run(TimeLimited(Retrying(judge, 9), 5).agenerate(request()))

    # 2 + 2 s, and the third attempt is cut off after 1 s.
    assert (len(judge.begun), judge.cancelled) == (3, 1)


def test_inside_retrying_the_limit_is_for_each_attempt_and_a_timeout_is_tried_again():
    judge = SlowJudge(seconds=10.0)

    with pytest.raises(ModelTimeout, match=r"no answer within 5 s \(after 3 attempts\)"):
        run(Retrying(TimeLimited(judge, 5), 3).agenerate(request()))

    assert judge.cancelled == 3


def test_two_limits_both_stand_still_while_the_call_waits():
    model = TimeLimited(TimeLimited(Limited(SlowJudge(seconds=2.0), 1), 3), 2.5)

    async def scene() -> float:
        await asyncio.gather(*(model.agenerate(request()) for _ in range(5)))
        return now()

    assert run(scene()) == pytest.approx(10)


def test_a_limit_around_another_one_that_fails_is_not_left_standing_still():
    # The inner limit ends the second attempt while an outer one measures both: 2 s + 2 s, then 1 s is left.
    judge = SlowJudge(seconds=10.0)

    async def scene() -> float:
        with pytest.raises(ModelTimeout, match="no answer within 5 s"):
            await TimeLimited(Retrying(TimeLimited(judge, 2), 9, first_delay=0), 5).agenerate(request())
        return now()

    assert run(scene()) == pytest.approx(5)


def test_waiting_for_a_batch_to_fill_and_for_its_turn_does_not_count():
    # A batch of one text fills for 60 s, and the second batch waits for the first one.
    embedder = SlowEmbedder(seconds=2.0)
    model = TimeLimited(Batched(Limited(embedder, 1), 2, wait=60.0), 3)

    async def scene() -> float:
        await asyncio.gather(*(model.aembed([text]) for text in "abcde"))
        return now()

    # "ab" and "cd" are full at once, one after the other, "e" goes off at 60 s.
    assert run(scene()) == pytest.approx(62)
    assert embedder.asked == [["a", "b"], ["c", "d"], ["e"]]


def test_a_caller_that_joins_a_waiting_batch_is_not_timed_either():
    model = TimeLimited(Batched(SlowEmbedder(seconds=2.0), wait=60.0), 3)

    async def scene() -> float:
        first = asyncio.create_task(model.aembed(["a"]))
        await asyncio.sleep(10)
        await asyncio.gather(first, model.aembed(["a", "b"]))
        return now()

    assert run(scene()) == pytest.approx(62)


def test_the_clock_goes_on_when_a_caller_leaves_a_waiting_batch():
    class GivesUp(SlowEmbedder):
        """Leaves its batch after a second and then takes for ever."""

        async def aembed(self, texts):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await batched.aembed(texts)
            return await super().aembed(texts)

    batched = Batched(SlowEmbedder(), wait=60.0)

    async def scene() -> float:
        with pytest.raises(ModelTimeout):
            await TimeLimited(GivesUp(seconds=1_000.0), 5).aembed(["a"])
        return now()

    # The second in the batch does not count.
    assert run(scene()) == pytest.approx(6)


def test_what_a_call_leaves_behind_may_wait_after_its_end():
    limited = Limited(SlowJudge(seconds=10.0), 1)
    left: list[asyncio.Task[object]] = []

    class LeavesWork(SlowJudge):
        async def agenerate(self, request):
            left.extend(asyncio.create_task(limited.agenerate(request)) for _ in range(3))
            return await super().agenerate(request)

    async def scene() -> float:
        await TimeLimited(LeavesWork(seconds=1.0), 5).agenerate(request())
        await asyncio.gather(*left)
        return now()

    assert run(scene()) == pytest.approx(30)


def test_all_callers_of_a_batch_have_their_limit():
    model = TimeLimited(Batched(SlowEmbedder(seconds=10.0), 2), 3)

    async def scene() -> float:
        results = await asyncio.gather(*(model.aembed([text]) for text in "ab"), return_exceptions=True)
        assert [type(result) for result in results] == [ModelTimeout, ModelTimeout]
        return now()

    assert run(scene()) == pytest.approx(3)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_that_leaves_no_time_is_refused(seconds: float):
    with pytest.raises(ConfigError, match="seconds must be above 0"):
        TimeLimited(SlowJudge(), seconds)
