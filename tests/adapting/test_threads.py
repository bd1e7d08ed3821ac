"""Calls of a framework's synchronous interface, in threads."""

import asyncio
import threading
from contextvars import ContextVar, copy_context

import pytest

from ragmetrics_core.adapting import in_thread, is_judging
from ragmetrics_core.errors import ModelError
from ragmetrics_core.live._background import Background, Threads

SPAN = ContextVar("SPAN", default="none")


def on_background(work, *, threads: int = 2):
    """What `work(...)` gives on the loop of a live scorer."""
    background = Background("test", threads=threads)
    outcome: list[object] = []
    done = threading.Event()

    async def main() -> None:
        try:
            outcome.append(await work(background.threads))
        except Exception as error:
            outcome.append(error)
        done.set()

    background.begin(main)
    assert done.wait(30)
    background.stop()
    return outcome[0]


def test_the_call_sees_nothing_of_the_applications_context():
    SPAN.set("the application's")

    assert asyncio.run(in_thread(SPAN.get)) == "none"


def test_the_context_goes_along_where_it_is_handed_over():
    async def main() -> str:
        SPAN.set("the application's")
        return await in_thread(copy_context().run, SPAN.get)

    assert asyncio.run(main()) == "the application's"


def test_our_own_work_stays_marked_as_such():
    assert on_background(lambda _: in_thread(is_judging)) is True


def test_a_live_scorers_calls_run_in_its_own_threads():
    def name() -> str:
        return threading.current_thread().name

    assert str(on_background(lambda _: in_thread(name))).startswith("test-")
    assert asyncio.run(in_thread(name)) == "ragmetrics-call"


@pytest.mark.parametrize("error", [SystemExit(1), StopIteration(), ValueError("no")])
def test_whatever_the_call_raises_is_an_error_that_the_loop_survives(error: BaseException):
    def fails() -> None:
        raise error

    with pytest.raises(ValueError if isinstance(error, ValueError) else RuntimeError):
        asyncio.run(in_thread(fails))


def test_more_calls_run_side_by_side_than_a_loops_own_pool_has_threads():
    together = threading.Barrier(64, timeout=30)

    async def main() -> None:
        await asyncio.gather(*(in_thread(together.wait) for _ in range(64)))

    asyncio.run(main())


def test_calls_that_hang_do_not_keep_others_from_being_made():
    release = threading.Event()

    async def work(pool: Threads) -> tuple[str, bool]:
        for _ in range(2):  # as many as there are threads
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(in_thread(release.wait), timeout=0.01)
        refused = ""
        try:
            await in_thread(str)
        except ModelError as error:
            refused = str(error)
        assert await asyncio.get_running_loop().run_in_executor(None, str) == ""  # translations go on
        release.set()
        while pool.is_stuck:
            await asyncio.sleep(0)
        return refused, await in_thread(is_judging)

    refused, later = on_background(work)

    assert "still run" in refused
    assert later is True


def test_a_call_that_is_cancelled_before_its_turn_is_never_made():
    release, called = threading.Event(), []

    async def work(_: Threads) -> None:
        first = asyncio.ensure_future(in_thread(release.wait))
        second = asyncio.ensure_future(in_thread(called.append, "second"))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        release.set()
        await first

    on_background(work, threads=1)

    assert called == []
