"""So much in a minute: requests and tokens, evenly, and nobody waits for ever."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.models import Line
from ragmetrics_core.models._pace import Allowance, Pace
from ragmetrics_core.protocol import Usage
from tests.models.waits import SlowJudge, line, now, request, run

# The prompt around the answer, in characters; 4 of them are counted as a token.
FRAME = sum(len(message.content) for message in request("").messages)


def of_tokens(tokens: int) -> str:
    """An answer with which the prompt is estimated at so many tokens."""
    assert 4 * tokens >= FRAME, "less than the prompt itself"
    return "x" * (4 * tokens - FRAME)


async def ask_many(model: Line, answers: Sequence[str]) -> None:
    await asyncio.gather(*(model.agenerate(request(answer)) for answer in answers))


def of_clock(judge: SlowJudge, clock: Callable[[], float]) -> Line:
    """60 requests a minute, as another clock measures it."""
    return Line(judge, pace=Pace(1000, Allowance(60, None, clock)))


def test_requests_come_evenly():
    judge = SlowJudge()

    run(ask_many(line(judge, requests_per_minute=30), ["x"] * 5))

    # 30 a minute is one every two seconds.
    assert judge.begun == pytest.approx([0, 2, 4, 6, 8])


@pytest.mark.parametrize("limit", [1, 7, 60, 90, 500])
def test_no_minute_has_more_requests_than_allowed_and_the_allowance_is_nearly_used(limit: int):
    judge = SlowJudge(seconds=0.0)

    async def scene() -> None:
        model = line(judge, requests_per_minute=limit)
        await asyncio.sleep(100)  # idle time before must not be saved up
        await ask_many(model, ["x"] * (3 * limit))

    run(scene())

    for begin in judge.begun:
        assert sum(begin <= at < begin + 59.999 for at in judge.begun) <= limit
    # Three minutes' worth: the last call would be made just before 3 min, and 4 % are left on the table.
    assert judge.begun[-1] - 100 <= 180 * 1.04


def test_tokens_are_estimated_from_the_length_of_the_prompt():
    judge = SlowJudge(seconds=0.0)

    # 60,000 a minute: 1,000 are saved up, and (60,000 - 1,000 + 1) / 60 = 983.35 come in each second.
    run(ask_many(line(judge, tokens_per_minute=60_000), [of_tokens(1000)] * 4))

    assert judge.begun == pytest.approx([1000 * n / 983.35 for n in range(4)])


def test_what_the_prompt_really_used_is_settled_afterwards():
    # Each prompt uses only 600 of the estimated 1,000 tokens, and each completion 100.
    judge = SlowJudge(seconds=0.0, usage=Usage(600, 100))
    model = line(judge, tokens_per_minute=60_000)

    async def scene() -> None:
        for _ in range(20):
            await model.agenerate(request(of_tokens(1000)))

    run(scene())

    # A call is estimated at 1,100 once the mean is known, which is more than can be saved up: it is made
    # when 1,000 are there, and 400 of them come back. So all but the first wait for 700 tokens.
    gaps = [later - earlier for earlier, later in zip(judge.begun, judge.begun[1:], strict=False)]
    assert gaps == pytest.approx([700 / 983.35] * 19)


def test_the_length_of_completions_is_learned():
    # Prompts of 400 tokens, completions of 100: calls that come together are counted at 500 from the second
    # one on, so no more than two go at once.
    judge = SlowJudge(seconds=60.0, usage=Usage(400, 100))
    model = line(judge, tokens_per_minute=60_000)

    async def scene() -> None:
        await model.agenerate(request(of_tokens(400)))
        await ask_many(model, [of_tokens(400)] * 5)

    run(scene())

    assert judge.begun[1:] == pytest.approx([60, 60] + [60 + 500 * n / 983.35 for n in (1, 2, 3)])


def test_a_call_larger_than_the_allowance_is_made_and_paid_for_by_those_after_it():
    judge = SlowJudge(seconds=0.0)
    model = line(judge, tokens_per_minute=6_000)

    run(ask_many(model, [of_tokens(10_000), of_tokens(300)]))

    # 100 are saved up, 98.35 come in each second: 9,900 are owed and 100 must be there again.
    assert judge.begun == pytest.approx([0, 10_000 / 98.35], rel=1e-3)


def test_a_large_call_is_not_starved_by_small_ones():
    judge = SlowJudge(seconds=0.0)
    model = line(judge, tokens_per_minute=60_000)

    async def small() -> None:
        for _ in range(60):
            await model.agenerate(request(of_tokens(350)))

    async def scene() -> None:
        flood = [asyncio.create_task(small()) for _ in range(8)]
        await asyncio.sleep(5)
        await model.agenerate(request(of_tokens(5_000)))
        served = now()
        await asyncio.gather(*flood)
        # Eight small ones were before it, and it needs a full bucket: 8 x 350 + 1,000 tokens.
        assert served <= 5 + 3_800 / 983.35 + 1e-6

    run(scene())


def test_both_allowances_hold_together():
    judge = SlowJudge(seconds=0.0)
    model = line(judge, requests_per_minute=60, tokens_per_minute=60_000)

    run(ask_many(model, [of_tokens(300), of_tokens(3_000), of_tokens(300), of_tokens(300)]))

    # The second call waits for a request. It leaves 2,000 of the 1,000 saved tokens owed, and the third one
    # needs 300 beyond that. Then the fourth waits for a request again.
    gaps = [later - earlier for earlier, later in zip(judge.begun, judge.begun[1:], strict=False)]
    assert gaps == pytest.approx([1, 2_300 / 983.35, 1])


def test_a_cancelled_waiter_takes_nothing_and_blocks_nobody():
    judge = SlowJudge(seconds=0.0)
    model = line(judge, requests_per_minute=60)

    async def scene() -> None:
        tasks = [asyncio.create_task(model.agenerate(request(str(number)))) for number in range(5)]
        await asyncio.sleep(0.5)
        tasks[1].cancel()  # the first in the queue
        tasks[3].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(scene())

    assert judge.answers == ["0", "2", "4"]
    assert judge.begun == pytest.approx([0, 1, 2])


def test_the_allowance_outlives_an_event_loop():
    seconds = 0.0
    judge = SlowJudge(seconds=0.0)
    model = of_clock(judge, lambda: seconds + now())

    run(model.agenerate(request()))
    seconds = 0.25  # passed between the loops, the second of which begins at 0 again
    run(model.agenerate(request()))

    assert judge.begun == pytest.approx([0, 0.75])


@given(
    limit=st.integers(600, 100_000),
    calls=st.lists(st.tuples(st.integers(200, 20_000), st.floats(0, 30)), min_size=1, max_size=12),
)
def test_no_minute_has_more_tokens_than_allowed_but_for_its_last_call(
    limit: int, calls: list[tuple[int, float]]
):
    judge = SlowJudge(seconds=0.0)
    model = line(judge, tokens_per_minute=limit)

    async def later(tokens: int, at: float) -> None:
        await asyncio.sleep(at)
        await model.agenerate(request(of_tokens(tokens + FRAME)))

    async def scene() -> None:
        await asyncio.gather(*(later(*call) for call in calls))

    run(scene())

    made = [(at, (len(answer) + FRAME) / 4) for at, answer in zip(judge.begun, judge.answers, strict=True)]
    assert len(made) == len(calls)
    for first, (begin, _) in enumerate(made):
        window = [tokens for at, tokens in made[first:] if at < begin + 59.999]
        assert sum(window[:-1]) <= limit + 1
