"""Methods shared by everything that scores live, in any framework."""

from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol, Self

from ragmetrics_core.adapting import in_thread
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import Capture, LiveResult, SkipReason
from ragmetrics_core.live._evaluation import LiveEvaluation
from ragmetrics_core.live._observers import Observers
from ragmetrics_core.live._queue import Queue
from ragmetrics_core.live._statistics import Alarm, Alert, LiveMean, Statistics, log_alert
from ragmetrics_core.metrics import ALIASES

__all__ = ["LiveFace"]


class Scoring(Protocol):
    """The live scorer, as far as its methods are shared; see `LiveScorer`."""

    evaluation: LiveEvaluation
    observers: Observers
    queue: Queue

    def submit(self, capture: Capture) -> bool: ...
    def skip(self, reason: SkipReason) -> None: ...
    def hook_failed(self, error: BaseException) -> None: ...
    def flush(self, timeout: float | None = None) -> bool: ...
    def close(self, timeout: float | None = None) -> bool: ...


class LiveFace:
    """The live scorer, or a part of an adapter that offers the live scorer's methods.

    An adapter provides `live`, and extends `close` if it has more to end.
    """

    @property
    @abstractmethod
    def live(self) -> Scoring:
        """The live scorer: it takes the captures and scores them."""

    @property
    def results(self) -> list[LiveResult]:
        """The newest results, oldest first, without the host's objects."""
        return self.live.observers.memory.results

    @property
    def means(self) -> dict[str, LiveMean]:
        """Mean and number of scores of each metric by name, since the scorer was made."""
        return self.live.observers.means.shown()

    @property
    def stats(self) -> Statistics:
        """Counts of captured, scored and skipped samples, and the newest errors."""
        return self.live.observers.stats(pending=len(self.live.queue))

    def alert(
        self,
        metric: str,
        *,
        below: float | None = None,
        above: float | None = None,
        window: int = 50,
        call: Callable[[Alert], None] | None = None,
    ) -> None:
        """Alert when the mean of a metric's latest scores passes a threshold.

        Alerts once, and again only after the mean has recovered; never with fewer than `window` scores.

        Args:
            metric: its name, an alias, or its signature.
            below: lowest acceptable mean; or
            above: highest acceptable mean, for metrics where lower is better.
            window: number of scores.
            call: function called with the alert in a scorer's thread. Default: log a warning.

        Raises:
            ConfigError: the metric is not measured, or not exactly one threshold is given.
        """
        names = self.live.evaluation.names
        name = ALIASES.get(metric, metric)
        name = names.get(name, name)
        if name not in names.values():
            raise ConfigError(f"{metric!r} is not measured; there is {', '.join(names.values())}")
        self.live.observers.alarms.append(Alarm(name, below, above, window, call or log_alert))

    def pause(self) -> None:
        """Accept no captures until `resume` has been called as often as this."""
        self.live.queue.pause()

    def resume(self) -> None:
        """Accept captures again."""
        self.live.queue.pause(-1)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Accept no captures during this block, from any thread; they are counted as skipped, "paused"."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything so far is scored; False on timeout."""
        return self.live.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """Like `flush`, without blocking the running loop."""
        return await in_thread(self.flush, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Stop accepting captures, finish the pending ones and end the threads; False on timeout."""
        return self.live.close(timeout)

    async def aclose(self, timeout: float | None = None) -> bool:
        """Like `close`, without blocking the running loop."""
        return await in_thread(self.close, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
