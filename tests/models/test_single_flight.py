"""A call that is in flight is not made again, whatever happens to those who wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from ragmetrics_core.errors import ModelRefused, TransientModelError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import Line
from tests.models import waits
from tests.models.slow_model import Slow, request, settle, texts
from tests.models.waits import SlowJudge, line, run

Ask = Callable[[Line], Awaitable[Any]]

# The same call of each kind of model, and its answer.
CALLS: list[Any] = [
    pytest.param(lambda model: model.agenerate(request()), id="judge"),
    pytest.param(lambda model: model.aembed(["a", "bb", "a"]), id="embedder"),
    pytest.param(lambda model: model.arate([("a", "b"), ("a", "bb")]), id="scorer"),
]


def plain(answer: Any) -> Any:
    return answer.tolist() if isinstance(answer, np.ndarray) else answer


@pytest.mark.parametrize("stable", [True, False], ids=["stored", "not stored"])
@pytest.mark.parametrize("ask", CALLS)
def test_a_call_in_flight_is_not_made_again(ask: Ask, stable: bool):
    async def run() -> None:
        model = Slow(cacheable=stable)
        cached = line(model, journal=Journal())
        tasks = [asyncio.ensure_future(ask(cached)) for _ in range(3)]
        await settle()
        model.answer()
        answers = [plain(answer) for answer in await asyncio.gather(*tasks)]

        assert answers[0] == answers[1] == answers[2]
        assert len(model.asked) == 1

    asyncio.run(run())


@pytest.mark.parametrize("ask", CALLS)
def test_an_error_goes_to_all_who_wait(ask: Ask):
    async def run() -> None:
        model = Slow()
        cached = line(model, journal=Journal())
        tasks = [asyncio.ensure_future(ask(cached)) for _ in range(3)]
        await settle()
        error = ModelRefused("no")
        model.answer(error)
        assert await asyncio.gather(*tasks, return_exceptions=True) == [error] * 3
        assert len(model.asked) == 1

        again = asyncio.ensure_future(ask(cached))
        await settle()
        model.answer()
        await again
        assert len(model.asked) == 2

    asyncio.run(run())


@pytest.mark.parametrize("ask", CALLS)
def test_when_the_one_who_asks_is_cancelled_another_asks(ask: Ask):
    async def run() -> None:
        model = Slow()
        cached = line(model, journal=Journal())
        first, second, third = (asyncio.ensure_future(ask(cached)) for _ in range(3))
        await settle()
        first.cancel()
        await settle()
        assert first.cancelled()
        assert len(model.asked) == 2
        model.answer()
        model.answer()
        assert plain(await second) == plain(await third)
        assert len(model.asked) == 2

    asyncio.run(run())


def test_when_the_one_who_asks_is_cancelled_between_two_attempts_another_asks():
    async def scene() -> None:
        judge = SlowJudge(failures=[TransientModelError("lost", retry_after=60)])
        model = line(judge, attempts=2)
        first, second = (asyncio.ensure_future(model.agenerate(waits.request(digest="a"))) for _ in range(2))
        await asyncio.sleep(30)
        first.cancel()
        assert texts(await second) == ["ok"]

    run(scene())


@pytest.mark.parametrize("ask", CALLS)
def test_when_all_are_cancelled_nothing_is_left(ask: Ask):
    async def run() -> None:
        model = Slow()
        cached = line(model, journal=Journal())
        tasks = [asyncio.ensure_future(ask(cached)) for _ in range(3)]
        await settle()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert cached._flights() == {}

        again = asyncio.ensure_future(ask(cached))
        await settle()
        model.answer()
        model.answer()
        await again

    asyncio.run(run())


@pytest.mark.parametrize("ask", CALLS)
def test_an_unstable_model_is_never_stored(ask: Ask):
    model = Slow(cacheable=False)
    journal = Journal()
    # the wrapper in between has no `cacheable` of its own
    cached = line(model, journal=journal)

    async def run() -> None:
        task = asyncio.ensure_future(ask(cached))
        await settle()
        model.answer()
        await task

    asyncio.run(run())
    asyncio.run(run())
    assert (len(model.asked), len(journal), cached.meter.tally.cached) == (2, 0, 0)


def test_overlapping_draws_in_flight_are_asked_once():
    async def run() -> None:
        model = Slow(cacheable=False)
        cached = line(model, journal=Journal())
        last, all_three, first = (
            asyncio.ensure_future(cached.agenerate(asked))
            for asked in (request(draw=2), request(draws=3), request(draws=1))
        )
        await settle()
        # the first asked for draw 2, so the second asks for 0 and 1 only, and the third waits for the second
        assert model.asked == [("a", 2), ("a", 0, 1)]
        model.answer()
        model.answer()
        assert len(await last) == 1
        assert texts(await all_three) == [*texts(await first), "a1 of call 2", *texts(await last)]

    asyncio.run(run())


def test_a_draw_that_the_call_in_flight_left_out_is_asked_for():
    async def run() -> None:
        model = Slow(most=1)
        cached = line(model, journal=Journal())
        both = asyncio.ensure_future(cached.agenerate(request(draws=2)))
        await settle()
        second = asyncio.ensure_future(cached.agenerate(request(draw=1)))
        await settle()
        model.answer()
        await settle()
        model.answer()
        assert (len(await both), len(await second)) == (2, 1)
        assert model.asked == [("a", 0), ("a", 1)]

    asyncio.run(run())


def test_texts_that_another_call_embeds_are_waited_for():
    async def run() -> None:
        model = Slow()
        cached = line(model, journal=Journal())
        one = asyncio.ensure_future(cached.aembed(["a", "bb"]))
        other = asyncio.ensure_future(cached.aembed(["bb", "ccc"]))
        await settle()
        assert model.asked == [("a", "bb"), ("ccc",)]
        model.answer()
        await settle()
        model.answer()
        assert (await one).tolist() == [[1, 1], [2, 1]]
        assert (await other).tolist() == [[2, 1], [3, 1]]

    asyncio.run(run())
