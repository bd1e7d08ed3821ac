"""A thread with an event loop of its own, and threads for what would block it; the host has no part in it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context
from queue import SimpleQueue
from typing import Any, TypeVar

from ragmetrics_core.adapting import harmless, lend
from ragmetrics_core.adapting._judging import judging_context, mark_thread

__all__ = ["Background", "Threads"]

T = TypeVar("T")
_Task = tuple["Future[Any]", Callable[[], Any]]


class Threads(ThreadPoolExecutor):
    """Threads that all start together, and that the interpreter does not wait for when it ends.

    The executor of the standard library starts a thread when it is needed, which is too late once the
    interpreter shuts down; takes nothing more from then on; and lets one call that hangs keep the process
    alive for ever. This one is an instance of its class only because event loops take no other.

    Args:
        count: how many.
        name: what their names begin with.
    """

    def __init__(self, count: int, name: str) -> None:
        super().__init__(max_workers=count)  # which starts none by itself
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._count = count
        self._name = name
        self._has_none = False
        self._left_behind = 0
        self._counting = threading.Lock()

    def start(self) -> None:
        """Start the threads; what was submitted before is waiting for them."""
        for number in range(self._count):
            if not self._start(
                number
            ):  # the interpreter shuts down: from now on it is done where it is submitted
                self._has_none = number == 0
                break
        self._do_without()

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """Call the function in one of the threads."""
        future: Future[T] = Future()
        self._tasks.put((future, lambda: function(*args, **kwargs)))
        self._do_without()
        return future

    def leave_behind(self, future: "Future[Any]") -> None:
        """Start another thread in the place of one whose call is too slow; it ends with the call.

        At most as many as there are threads.
        """
        with self._counting:
            if self._left_behind == self._count or not self._start(self._count + self._left_behind):
                return
            self._left_behind += 1
        future.add_done_callback(self._came_back)

    @property
    def is_stuck(self) -> bool:
        """Whether so many calls did not return that no thread can be spared for another one."""
        return self._left_behind == self._count

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end when they have done what they were given; nobody waits for it."""
        for _ in range(self._count):
            self._tasks.put(None)

    def _start(self, number: int) -> bool:
        # not a bound method: a thread must not keep the executor alive that nobody has any more
        thread = threading.Thread(
            target=Context().run, args=(_work, self._tasks), name=f"{self._name}-{number}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # the interpreter shuts down
            return False
        return True

    def _came_back(self, _: "Future[Any]") -> None:
        with self._counting:
            self._left_behind -= 1
        self._tasks.put(None)  # one thread too many

    def _do_without(self) -> None:
        if self._has_none:
            self._tasks.put(None)
            judging_context().run(_work, self._tasks)


def _work(tasks: "SimpleQueue[_Task | None]") -> None:
    mark_thread()
    while (task := tasks.get()) is not None:
        future, function = task
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function())
            except BaseException as error:  # everything is the caller's, who gets it from the future
                future.set_exception(harmless(error))
        del task, future, function  # or the last sample would stay until the next one comes


class Background:
    """One daemon thread that runs an event loop, entered with an empty context.

    Args:
        threads: the loop's executor.
        others: further threads to start; all of them start from the new thread, which spares the hook that
            happened to be the first the millisecond that it takes.
        name: of the thread.
    """

    def __init__(self, threads: Threads, *others: Threads, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(threads)
        lend(self._loop, threads)
        # The thread holds the tasks, because a loop does not; it must not hold this object, which ends it.
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(
            target=Context().run,
            args=(_run, self._loop, self._tasks, threads, *others),
            name=name,
            daemon=True,
        )
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def call(self, function: Callable[..., Any], *args: Any) -> None:
        """Call the function on the loop, in a context that has nothing of the caller's.

        Raises:
            RuntimeError: the loop has ended.
        """
        self._loop.call_soon_threadsafe(function, *args, context=judging_context())

    def spawn(self, function: Callable[..., Coroutine[Any, Any, None]], *args: Any) -> None:
        """Begin a task, in a context of its own; to be called on the loop."""
        task = self._loop.create_task(function(*args), context=judging_context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Cancel what runs and end the thread; nobody waits for it."""
        with suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._loop.stop)


def _run(loop: asyncio.AbstractEventLoop, tasks: set[asyncio.Task[Any]], *threads: Threads) -> None:
    mark_thread()
    for each in threads:
        each.start()
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        while tasks:
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.wait(tasks))
            tasks = asyncio.all_tasks(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
