"""The verbs of live scoring: what everything that scores live can be asked to do, in whichever framework."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragmetrics_core.adapting import in_thread
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._statistics import Alert, LiveMean, Statistics

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
        """The newest results, oldest first."""
        return self.live.results

    @property
    def means(self) -> dict[str, LiveMean]:
        """Mean and number of scores of each metric so far."""
        return self.live.means

    @property
    def stats(self) -> Statistics:
        """What was captured, scored and skipped, and what went wrong."""
        return self.live.stats

    def alert(
        self,
        metric: str,
        *,
        below: float | None = None,
        above: float | None = None,
        window: int = 50,
        call: Callable[[Alert], None] | None = None,
    ) -> None:
        """Tell when the mean of a metric's last scores passes a threshold; see `LiveScorer.alert`."""
        self.live.alert(metric, below=below, above=above, window=window, call=call)

    def pause(self) -> None:
        """Take nothing until `resume` was called as often as this."""
        self.live.pause()

    def resume(self) -> None:
        """Take what comes again."""
        self.live.resume()

    def paused(self) -> AbstractContextManager[None]:
        """Take nothing in this block, from no thread; it is counted as skipped, "paused"."""
        return self.live.paused()

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
