"""A thread with its own event loop, and threads for blocking calls, separate from the host."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import Context
from queue import SimpleQueue
from typing import Any, TypeVar

from ragmetrics_core.adapting import harmless, lend
from ragmetrics_core.adapting.judging import judging_context, mark_thread
from ragmetrics_core.errors import ModelError

__all__ = ["Background", "Threads"]

T = TypeVar("T")
_Task = tuple["Future[Any]", Callable[[], Any]]


class Threads(ThreadPoolExecutor):
    """Threads that start together and do not keep the interpreter from exiting.

    The standard library's executor starts threads on demand, which fails while the interpreter shuts down,
    and a single hanging call keeps the process alive. This class derives from it only because event loops
    accept nothing else.

    Args:
        count: number of threads.
        name: prefix of their names.
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
        """Start the threads, which then process what was already submitted."""
        # where the interpreter shuts down none starts, and what is submitted is done where that happens
        started = [self._start(number) for number in range(self._count)]
        self._has_none = not any(started)
        self._do_without()

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """Call the function in one of the threads."""
        future: Future[T] = Future()
        self._tasks.put((future, lambda: function(*args, **kwargs)))
        self._do_without()
        return future

    def leave_behind(self, future: "Future[Any]") -> None:
        """Start a replacement for a thread with a slow call; the slow thread ends with its call.

        There are at most as many replacements as threads.
        """
        with self._counting:
            if self._left_behind == self._count or not self._start(self._count + self._left_behind):
                return
            self._left_behind += 1
        future.add_done_callback(self._came_back)

    @property
    def is_stuck(self) -> bool:
        """Whether too many calls hang to replace another thread."""
        return self._left_behind == self._count

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the threads end after their submitted work, without waiting for them."""
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
    """One daemon thread that runs an event loop with an empty context, and threads for blocking calls.

    Args:
        name: name of the thread.
        threads: number of threads for blocking calls.

    Attributes:
        threads: the loop's executor.
        sinks: one thread for work that must run in order.
    """

    def __init__(self, name: str, *, threads: int) -> None:
        self.threads = Threads(threads, name)
        self.sinks = Threads(1, f"{name}-sinks")
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(self.threads)
        lend(self._loop, self.threads)
        self._begun: set[Future[Any]] = set()  # a loop does not hold its tasks
        # All threads at once: when the interpreter shuts down, none can be started any more. They start from
        # this one, which spares the hook that happened to be the first the millisecond that it takes.
        self._thread = threading.Thread(
            target=Context().run, args=(_run, self._loop, self.threads, self.sinks), name=name, daemon=True
        )
        self._thread.start()

    def call(self, function: Callable[..., Any], *args: Any) -> None:
        """Call the function on the loop, without the caller's context.

        Raises:
            RuntimeError: the loop has ended.
        """
        self._loop.call_soon_threadsafe(function, *args, context=judging_context())

    def later(self, seconds: float, function: Callable[[], object]) -> None:
        """Call the function on the loop after a number of seconds; not if the loop has ended."""
        with suppress(RuntimeError):
            self.call(self._loop.call_later, seconds, function)

    def begin(self, work: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> "Future[T]":
        """Start a task in its own context, from any thread; return its future."""
        done = judging_context().run(asyncio.run_coroutine_threadsafe, work(*args), self._loop)
        self._begun.add(done)
        done.add_done_callback(self._begun.discard)
        return done

    def wait_for(self, work: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Wait for a task's result.

        Raises:
            ModelError: the loop ended first.
            Exception: whatever the task raises.
        """
        done = self.begin(work, *args)
        while not done.done() and self._thread.is_alive():
            wait([done], timeout=1)
        if not done.done() or done.cancelled():
            raise ModelError("the scorer was closed before this was scored")
        return done.result()

    def stop(self) -> None:
        """Cancel running tasks and end the threads, without waiting for them."""
        with suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._loop.stop)


def _run(loop: asyncio.AbstractEventLoop, *pools: Threads) -> None:
    mark_thread()
    for pool in pools:
        pool.start()
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        while tasks := asyncio.all_tasks(loop):
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.wait(tasks))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
        for pool in pools:
            pool.shutdown()
