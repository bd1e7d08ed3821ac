"""Coroutines side by side: one that has nothing to wait for gets no task, and nothing else is different."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.errors import ModelTimeout
from ragmetrics_core.models import Line, Traffic
from ragmetrics_core.models.branches import own_task, together
from ragmetrics_core.testing import ScriptedJudge
from tests.models.waits import request


def counting(main: Callable[[], Coroutine[Any, Any, Any]]) -> tuple[Any, int]:
    """What it returns, and how many tasks were made for it."""
    made: list[asyncio.Task[Any]] = []

    async def counted() -> tuple[Any, int]:
        def make(loop: asyncio.AbstractEventLoop, work: Any, **settings: Any) -> "asyncio.Task[Any]":
            made.append(asyncio.Task(work, loop=loop, **settings))
            return made[-1]

        asyncio.get_running_loop().set_task_factory(make)
        return await main(), len(made)

    return asyncio.run(counted())


async def value(number: int, waits: int = 0) -> int:
    for _ in range(waits):
        await asyncio.sleep(0)
    return number


def test_branches_that_wait_for_nothing_need_no_task():
    async def nested() -> list[int]:
        return await together([value(3), value(4)])

    assert counting(lambda: together([value(1), value(2), nested()])) == ([1, 2, [3, 4]], 0)


def test_of_those_that_wait_all_but_one_get_a_task():
    works = [value(1), value(2, waits=1), value(3, waits=3), value(4), value(5, waits=2)]

    assert counting(lambda: together(works)) == ([1, 2, 3, 4, 5], 2)


def test_no_branches_give_no_results():
    assert counting(lambda: together([])) == ([], 0)


def test_branches_wait_for_one_another():
    async def scene() -> list[str]:
        asked, answered = asyncio.Event(), asyncio.Event()

        async def asks() -> str:
            asked.set()
            await answered.wait()
            return "heard"

        async def answers() -> str:
            await asked.wait()
            answered.set()
            return "said"

        return await together([asks(), answers()])

    assert asyncio.run(asyncio.wait_for(scene(), 60)) == ["heard", "said"]


@given(st.recursive(st.integers(0, 3), lambda inner: st.lists(inner, max_size=4), max_leaves=12))
def test_results_are_those_of_tasks_for_all(tree):
    async def by(join: Callable[..., Any], node: Any) -> Any:
        if isinstance(node, int):
            return await value(node, waits=node)
        return list(await join([by(join, each) for each in node]))

    async def gathered(works: Any) -> Any:
        return await asyncio.gather(*works)

    assert asyncio.run(by(together, tree)) == asyncio.run(by(gathered, tree))


@pytest.mark.parametrize("waits", [0, 2])
def test_when_one_fails_the_others_have_ended_before_its_error_goes_on(waits):
    ended: list[str] = []

    async def long(name: str) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(name)

    async def fails() -> None:
        await value(0, waits)
        raise LookupError("the disk is full")

    async def scene() -> None:
        with pytest.raises(LookupError, match="the disk is full"):
            await together([long("first"), fails(), long("last")])
        # one after a failure that comes at once has not even begun
        assert sorted(ended) == (["first", "last"] if waits else ["first"])

    asyncio.run(asyncio.wait_for(scene(), 60))


@pytest.mark.parametrize("steps", range(1, 6))
def test_a_cancellation_ends_all_branches_wherever_they_are(steps):
    begun: list[int] = []
    ended: list[int] = []

    async def long(number: int) -> None:
        begun.append(number)
        try:
            await own_task()
            await asyncio.sleep(3600)
        finally:
            ended.append(number)

    async def nested() -> None:
        await together([long(2), long(3)])

    async def scene() -> None:
        task = asyncio.create_task(together([long(0), long(1), nested()]))
        await value(0, waits=steps)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(ended) == sorted(begun)

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_who_asks_for_a_task_of_his_own_keeps_it():
    seen: list[set[Any]] = []

    async def foreign() -> None:
        await own_task()
        tasks = set()
        for _ in range(3):
            tasks.add(asyncio.current_task())
            await asyncio.sleep(0)
        seen.append(tasks)

    async def nested() -> None:
        await together([foreign(), foreign()])

    asyncio.run(together([foreign(), nested(), foreign()]))  # type: ignore[list-item]

    # as a client must find it that cancels its own task when time is up
    assert [len(tasks) for tasks in seen] == [1, 1, 1, 1]
    assert len(set.union(*seen)) == 4


def test_a_time_limit_of_foreign_code_ends_its_own_branch_only():
    async def hasty() -> str:
        await own_task()
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(3600)
        except TimeoutError:
            return "gave up"
        return "never"

    async def patient() -> str:
        await own_task()
        await asyncio.sleep(0.05)
        return "waited"

    async def nested() -> list[str]:
        return await together([hasty(), patient()])

    assert asyncio.run(together([patient(), hasty(), nested()])) == [
        "waited",
        "gave up",
        ["gave up", "waited"],
    ]  # type: ignore[list-item]


def test_a_task_that_is_there_already_is_not_left():
    async def main() -> bool:
        before = asyncio.current_task()
        await own_task()
        return asyncio.current_task() is before

    assert counting(main) == (True, 0)


class Late(ScriptedJudge):
    """A judge that is derived from one that answers at once, and waits."""

    async def agenerate(self, request):
        await asyncio.sleep(3600)
        return []


def test_a_judge_derived_from_one_that_answers_at_once_may_wait_and_has_its_seconds():
    model = Line(Late({}), Traffic(timeout=0.01, attempts=1))

    async def scene() -> list[object]:
        return await together([timed(model, "one"), value(1), timed(model, "two")])  # type: ignore[list-item]

    async def timed(model: Line, name: str) -> object:
        try:
            return await model.agenerate(request(name))
        except ModelTimeout as late:
            return str(late).partition(":")[0]

    assert asyncio.run(asyncio.wait_for(scene(), 60)) == [
        "no answer within 0.01 s",
        1,
        "no answer within 0.01 s",
    ]
