"""The queue: what waits, what goes, and who waits for it."""

import threading
from collections.abc import Iterator

from ragmetrics_core.live import LiveSettings
from ragmetrics_core.live._queue import Queue, Ticket
from tests.live.captures import capture_of


def queue_of(*names: str, limit: int = 10, width: int = 10) -> Queue:
    queue = Queue(LiveSettings(max_pending=limit).but(concurrency=width))
    for name in names:
        queue.put(ticket(name))
    return queue


def ticket(name: str) -> Ticket:
    return Ticket(capture_of(name))


def begun(queue: Queue) -> Iterator[str]:
    while (ticket := queue.begin()) is not None:
        yield ticket.capture.question


def test_captures_come_out_in_the_order_in_which_they_came_and_those_of_earlier_processes_last():
    queue = queue_of("first", "second")
    queue.put_left([ticket("left")])
    queue.put(ticket("third"))

    assert list(begun(queue)) == ["first", "second", "third", "left"]


def test_no_more_are_begun_than_may_be_worked_on():
    queue = queue_of("first", "second", width=1)
    first = queue.begin()
    assert first is not None

    assert queue.begin() is None
    queue.leave(first)
    assert list(begun(queue)) == ["second"]


def test_only_those_that_wait_and_are_its_own_count_against_the_limit():
    queue = queue_of(limit=1, width=5)
    queue.put_left(map(ticket, "ab"))
    for _ in range(3):
        assert queue.put(ticket("own")) is None
        assert queue.begin() is not None

    assert len(queue) == 5


def test_whoever_waits_for_what_is_there_waits_neither_for_what_comes_later_nor_for_what_goes():
    queue = queue_of("goes", limit=1)
    settled: list[bool] = []
    waiting = threading.Thread(target=lambda: settled.append(queue.settle(30)))
    waiting.start()
    while not queue._changed._waiters:  # type: ignore[attr-defined]  # of the standard library
        threading.Event().wait(0.001)

    assert not queue.settle(0)
    queue.put(ticket("later"))
    waiting.join(30)
    assert settled == [True]
    assert len(queue) == 1


def test_an_empty_queue_is_settled_and_so_is_one_that_was_given_up():
    assert queue_of().settle(0)
    queue = queue_of("one", "two")

    assert queue.give_up() == 2
    assert queue.settle(0)
