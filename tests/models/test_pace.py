"""Calls in flight: how many, in which order, and how the limit follows the server."""

import asyncio
from dataclasses import dataclass

import pytest

from ragmetrics_core.errors import ModelOverloaded
from ragmetrics_core.models import Line
from tests.models.waits import SlowJudge, line, now, request, run

BUSY = ModelOverloaded("busy")


async def ask_many(model: Line, count: int) -> list[object]:
    calls = (model.agenerate(request(str(number))) for number in range(count))
    return await asyncio.gather(*calls, return_exceptions=True)


def test_no_more_calls_than_the_limit_are_in_flight_and_no_fewer():
    judge = SlowJudge(seconds=1.0)

    async def scene() -> float:
        await ask_many(line(judge, concurrency=4), 20)
        return now()

    # 20 calls of 1 s, 4 at a time.
    assert run(scene()) == pytest.approx(5.0)
    assert judge.most == 4


def test_a_newcomer_does_not_overtake_those_who_wait():
    judge = SlowJudge(seconds=1.0)
    model = line(judge, concurrency=1)

    async def scene() -> None:
        first = asyncio.create_task(model.agenerate(request("first")))
        await asyncio.sleep(0)
        second = asyncio.create_task(model.agenerate(request("second")))
        # In the very step in which the first call ends, before the second one has woken up.
        first.add_done_callback(lambda _: late.append(asyncio.create_task(model.agenerate(request("late")))))
        late: list[asyncio.Task[object]] = []
        await asyncio.gather(first, second)
        await asyncio.gather(*late)

    run(scene())

    assert judge.answers == ["first", "second", "late"]


def test_a_waiter_that_is_cancelled_as_its_turn_comes_gives_it_on():
    waiters: list[asyncio.Task[object]] = []

    def cancel_the_next(_: float) -> None:
        # Runs right after the first call has handed its turn over and before the waiter has noticed.
        asyncio.get_running_loop().call_soon(waiters[0].cancel)

    judge = SlowJudge(seconds=1.0, fails=cancel_the_next)
    model = line(judge, concurrency=1)

    async def scene() -> None:
        first = asyncio.create_task(model.agenerate(request("first")))
        await asyncio.sleep(0)
        waiters.extend(asyncio.create_task(model.agenerate(request(name))) for name in ("second", "third"))
        await asyncio.gather(first, *waiters, return_exceptions=True)

    run(scene())

    assert waiters[0].cancelled()
    assert judge.answers == ["first", "third"]


def test_calls_that_fail_together_halve_the_limit_once():
    model = line(SlowJudge(failures=[BUSY] * 16), concurrency=16)

    run(ask_many(model, 16))

    assert model.pace.limit == 8


def test_the_limit_rises_by_one_for_as_many_successes_as_it_is():
    # From 8 it takes 2 successes at 2, 3 at 3, and so on: 2 + 3 + 4 + 5 + 6 + 7 = 27 until 8.
    model = line(SlowJudge(failures=[BUSY, BUSY]), concurrency=8)
    limits = []

    async def scene() -> None:
        for _ in range(2):
            await ask_many(model, 1)
        for _ in range(30):
            limits.append(model.pace.limit)
            await ask_many(model, 1)

    run(scene())

    assert limits == [2] * 2 + [3] * 3 + [4] * 4 + [5] * 5 + [6] * 6 + [7] * 7 + [8] * 3


def test_the_limit_finds_what_a_server_takes_and_hovers_about_there():
    @dataclass
    class Server(SlowJudge):
        """Takes 5 calls at a time and turns the others away."""

        async def agenerate(self, request):
            if self.in_flight >= 5:
                self.turned_away = getattr(self, "turned_away", 0) + 1
                await asyncio.sleep(self.seconds)
                raise BUSY
            return await super().agenerate(request)

    server = Server(seconds=1.0)
    model = line(server, concurrency=64, attempts=50, first_delay=0.1, longest_delay=0.5)

    async def scene() -> float:
        await ask_many(model, 400)
        return now()

    # 400 calls at 5 a second would take 80 s; a sawtooth between half and all of it takes about 4/3 of that.
    assert run(scene()) < 80 * 1.6
    assert server.turned_away < 150


def test_new_calls_are_held_back_as_long_as_the_server_asked():
    judge = SlowJudge(seconds=1.0, failures=[ModelOverloaded("busy", retry_after=20.0)])
    model = line(judge, concurrency=2)

    run(ask_many(model, 3))

    # The first fails at 1 s; the third, for which there is room at once, begins 20 s later.
    assert judge.begun == pytest.approx([0, 0, 21])


def test_the_longest_of_several_holds_counts():
    holds = [ModelOverloaded("busy", retry_after=seconds) for seconds in (5.0, 20.0, 10.0)]
    judge = SlowJudge(seconds=1.0, failures=holds)
    model = line(judge, concurrency=3)

    run(ask_many(model, 4))

    assert judge.begun[3] == pytest.approx(21)


def test_a_server_that_names_tomorrow_does_not_stop_the_run_until_then():
    judge = SlowJudge(seconds=1.0, failures=[ModelOverloaded("quota", retry_after=86_400.0)])

    run(ask_many(line(judge, concurrency=1), 2))

    assert judge.begun == pytest.approx([0, 61])


def test_a_model_that_works_on_one_call_at_a_time_is_not_given_more():
    @dataclass
    class Narrow(SlowJudge):
        concurrency = 1

    judge = Narrow()
    model = line(judge, concurrency=16)

    run(ask_many(model, 5))

    assert judge.most == 1
    assert (model.concurrency, model.pace.limit) == (1, 1)


def test_what_was_learned_holds_in_the_next_event_loop():
    model = line(SlowJudge(failures=[BUSY]), concurrency=8)

    run(ask_many(model, 1))
    run(ask_many(model, 1))

    assert model.pace.limit == 4


def test_there_is_room_when_nobody_waits_and_a_call_could_begin():
    async def scene() -> list[float]:
        model = line(SlowJudge(seconds=2.0), concurrency=1)
        seen: list[float] = []
        await model.turns.room()
        seen.append(now())
        calls = [asyncio.create_task(model.agenerate(request())) for _ in range(2)]
        await asyncio.sleep(0.5)
        # at 2 s the first gives its place to the one that waits
        await model.turns.room()
        seen.append(now())
        await asyncio.gather(*calls)
        return seen

    assert run(scene()) == [0.0, 4.0]


def test_a_server_that_asks_for_a_pause_has_no_room_until_it_is_over():
    judge = SlowJudge(seconds=1.0, failures=[ModelOverloaded("busy", retry_after=5)])

    async def scene() -> float:
        model = line(judge, concurrency=4)
        with pytest.raises(ModelOverloaded):
            await model.agenerate(request())
        await model.turns.room()
        return now()

    assert run(scene()) == pytest.approx(6.0)
