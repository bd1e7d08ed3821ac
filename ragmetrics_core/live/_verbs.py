"""The verbs of live scoring: what everything that scores live can be asked to do, in whichever framework."""

from abc import abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from ragmetrics_core.adapting import in_thread
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._statistics import Alarm, Alert, LiveMean, Statistics, log_alert
from ragmetrics_core.metrics import ALIASES

if TYPE_CHECKING:
    from ragmetrics_core.live._scorer import LiveScorer

__all__ = ["LiveFace"]


class LiveFace:
    """What users hold: a live scorer, or the part of an adapter with the verbs of the live scorer behind it.

    An adapter gives `live`, and extends `close` where it has more to end.
    """

    @property
    @abstractmethod
    def live(self) -> "LiveScorer":
        """The live scorer: it takes the captures and scores them."""

    @property
    def results(self) -> list[LiveResult]:
        """The newest results, oldest first; their captures hold nothing of the host's any more."""
        return self.live.observers.memory.results

    @property
    def means(self) -> dict[str, LiveMean]:
        """Mean and number of scores of each metric since the scorer was made, by name."""
        return self.live.observers.means.shown()

    @property
    def stats(self) -> Statistics:
        """What was captured, scored and skipped, and what went wrong."""
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
        """Tell when the mean of a metric's last scores passes a threshold.

        It is told once, and again only after the mean was back again; not before there are `window` scores.

        Args:
            metric: its name, an alias, or its signature.
            below: the threshold that the mean must not fall below; or
            above: the one that it must not exceed, for metrics where lower is better.
            window: how many scores.
            call: told, in a thread of the scorer's; by default a warning is logged.

        Raises:
            ConfigError: this metric is not measured, or not exactly one threshold is given.
        """
        names = self.live.evaluation.names
        name = ALIASES.get(metric, metric)
        name = names.get(name, name)
        if name not in names.values():
            raise ConfigError(f"{metric!r} is not measured; there is {', '.join(names.values())}")
        self.live.observers.alarms.append(Alarm(name, below, above, window, call or log_alert))

    def pause(self) -> None:
        """Take nothing until `resume` was called as often as this."""
        self.live.queue.pause()

    def resume(self) -> None:
        """Take what comes again."""
        self.live.queue.pause(-1)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Take nothing in this block, from no thread; it is counted as skipped, "paused"."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything so far is scored; False when the seconds ran out."""
        return self.live.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """`flush` that does not block the running loop."""
        return await in_thread(self.flush, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Take nothing more, finish what was taken and end the threads; False when the seconds ran out."""
        return self.live.close(timeout)

    async def aclose(self, timeout: float | None = None) -> bool:
        """`close` that does not block the running loop."""
        return await in_thread(self.close, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
