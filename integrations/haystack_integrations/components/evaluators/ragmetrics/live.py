"""What all live components share: one live scorer, made when it is first needed."""

import asyncio
import threading
from typing import Any, Literal

from haystack_integrations.components.evaluators.ragmetrics.configured import Configured
from ragmetrics_core import Metric
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveMean, LiveScorer, Statistics

__all__ = ["Live", "Overflow"]

Overflow = Literal["drop_oldest", "drop_newest"]

# A pipeline may be run by many threads before its first run has made the scorer. Not one lock for each
# component, which could not be copied then.
_MAKING = threading.RLock()


class Live(Configured):
    """Hands what the application answers to a live scorer.

    The scorer's own thread asks the generator, by its `run`, whatever loop the pipeline uses.
    """

    metrics: Any
    name: str | None
    out: str | None
    references: dict[str, str] | None
    sample_rate: float
    concurrency_limit: int
    timeout: float | None
    attempts: int
    max_pending: int
    overflow: Overflow

    def _prepare(self, metrics: tuple[Metric[Any], ...]) -> None:
        """Check what needs no model; called at the end of a constructor."""
        if self.concurrency_limit < 1:
            raise ConfigError(f"concurrency_limit must be at least 1, not {self.concurrency_limit}")
        self._metrics = metrics
        self._live: LiveScorer | None = None
        self._is_open = False

    @property
    def live(self) -> LiveScorer:
        """The live scorer: `results`, `means`, `stats`, `alert`, `flush`; made when it is first asked for.

        A closed one can still be read; the next `warm_up` makes another.
        """
        return self._live or self._opened()

    @property
    def means(self) -> dict[str, LiveMean]:
        """Mean and number of scores of each metric."""
        return self.live.means

    @property
    def stats(self) -> Statistics:
        """What was captured, scored and skipped, and what went wrong."""
        return self.live.stats

    def _opened(self) -> LiveScorer:
        with _MAKING:
            if self._live is None or not self._is_open:
                self._live = self._made()
                self._is_open = True
            return self._live

    def _made(self) -> LiveScorer:
        return LiveScorer(
            self._metrics,
            judge=self._judge(),
            embedder=self._embedder(parallel=self.concurrency_limit),
            out=self.out,
            references=self.references,
            sample_rate=self.sample_rate,
            concurrency=self.concurrency_limit,
            timeout=self.timeout,
            attempts=self.attempts,
            max_pending=self.max_pending,
            overflow=self.overflow,
            redact=self.redact,
        )

    def warm_up(self) -> None:
        """Warm up the chat generator and the text embedder, and make the scorer."""
        self._warm_up_models()
        self._opened()

    async def warm_up_async(self) -> None:
        """Warm up like `warm_up`: the models are used by the scorer's thread, not on this loop."""
        await self._warm_up_models_async()
        # what `run` uses, which the scorer calls in its threads
        self._warm_up_models()
        self._opened()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything captured so far is scored and written.

        :param timeout: Seconds to wait at most.
        :returns: False when time ran out.
        """
        return self._live is None or not self._is_open or self._live.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """Wait like `flush` without blocking the loop.

        :param timeout: Seconds to wait at most.
        :returns: False when time ran out.
        """
        return self._live is None or not self._is_open or await self._live.aflush(timeout)

    def close(self) -> None:
        """Finish what is pending, then release what the models hold; a further run opens everything again."""
        self._close_live()
        self._close_models()

    async def close_async(self) -> None:
        """Finish what is pending without blocking the loop, then release what the models hold."""
        await asyncio.to_thread(self._close_live)
        self._close_models()
        await self._close_models_async()

    def _close_live(self) -> None:
        if self._live is not None and self._is_open:
            self._is_open = False
            self._live.close()
