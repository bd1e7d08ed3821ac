"""The queue: what waits, what goes, and who waits for it."""

from concurrent.futures import wait

from ragmetrics_core.live._queue import Overflow, Queue, Ticket
from tests.live.captures import capture_of


def queue_of(
    *, limit: int = 10, width: int = 10, overflow: Overflow = "drop_oldest"
) -> tuple[Queue, list[str]]:
    dropped: list[str] = []
    made = Queue(
        max_pending=limit, concurrency=width, overflow=overflow, on_dropped=lambda: dropped.append("one")
    )
    return made, dropped


def begun(queue: Queue) -> Ticket:
    ticket = queue.begin()
    assert ticket is not None
    return ticket


def test_captures_come_out_in_the_order_in_which_they_came():
    queue, _ = queue_of()
    for name in ("first", "second"):
        queue.put(capture_of(name))

    assert [begun(queue).capture.question for _ in range(2)] == ["first", "second"]


def test_no_more_are_begun_than_may_be_worked_on():
    queue, _ = queue_of(width=1)
    queue.put(capture_of("first"))
    queue.put(capture_of("second"))
    first = begun(queue)

    assert queue.begin() is None
    queue.end(first)
    assert begun(queue).capture.question == "second"


def test_only_those_that_wait_count_against_the_limit():
    queue, dropped = queue_of(limit=1, width=5)
    for _ in range(3):
        queue.put(capture_of())
        begun(queue)

    assert len(queue) == 3
    assert dropped == []


def test_whoever_waits_for_what_is_there_does_not_wait_for_what_comes_later():
    queue, _ = queue_of()
    queue.put(capture_of("before"))
    settled = queue.settled()
    queue.put(capture_of("later"))
    before = begun(queue)

    assert not settled.done()
    queue.end(before)
    assert settled.done()
    assert len(queue) == 1


def test_one_that_is_dropped_is_not_waited_for():
    queue, dropped = queue_of(limit=1)
    queue.put(capture_of("goes"))
    settled = queue.settled()
    queue.put(capture_of("stays"))

    assert settled.done()
    assert dropped == ["one"]


def test_an_empty_queue_is_settled():
    queue, _ = queue_of()

    assert queue.settled().done()


def test_whoever_gave_up_is_forgotten():
    queue, _ = queue_of()
    queue.put(capture_of())
    for _ in range(100):
        queue.give_up(queue.settled())

    assert queue._settling == []


def test_a_waiter_that_was_cancelled_hinders_no_other():
    queue, _ = queue_of()
    queue.put(capture_of())
    cancelled, waiting = queue.settled(), queue.settled()
    cancelled.cancel()

    queue.end(begun(queue))

    assert wait([waiting], timeout=0).done == {waiting}
