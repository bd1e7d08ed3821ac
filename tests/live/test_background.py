"""The threads behind a live scorer."""

import threading

import pytest

from ragmetrics_core.live import is_judging
from ragmetrics_core.live._background import Threads


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
