"""The threads behind a live scorer."""

import asyncio
import threading

import pytest

from ragmetrics_core.live import is_judging
from ragmetrics_core.live._background import Threads


@pytest.mark.parametrize(
    "error", [SystemExit(1), KeyboardInterrupt(), StopIteration(), asyncio.CancelledError()]
)
def test_what_would_end_or_stall_a_loop_reaches_it_as_an_error(error: BaseException):
    threads = Threads(1, "test")
    threads.start()

    def fails() -> None:
        raise error

    async def main() -> None:
        with pytest.raises(RuntimeError, match=type(error).__name__):
            await asyncio.get_running_loop().run_in_executor(threads, fails)

    asyncio.run(main())
    threads.shutdown()


def test_work_is_done_at_once_where_no_thread_can_be_started_any_more(monkeypatch: pytest.MonkeyPatch):
    # as in an interpreter that shuts down, from Python 3.12 on
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    threads = Threads(2, "test")
    early = threads.submit(is_judging)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    threads.start()
    late = threads.submit(is_judging)

    assert (early.result(timeout=0), late.result(timeout=0)) == (True, True)
    assert not is_judging()
