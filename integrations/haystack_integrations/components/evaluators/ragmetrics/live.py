"""Common parts of all live components: one live scorer, made on first use."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

from haystack import logging
from ragmetrics_core.boundary import names_in
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LiveFace, LiveScorer, LiveSettings, SharedLiveArgs

from haystack_integrations.components.evaluators.ragmetrics.configured import Configured
from haystack_integrations.components.evaluators.ragmetrics.settings import MakeSink
from haystack_integrations.components.evaluators.ragmetrics.tracer import RagMetricsTracer
from haystack_integrations.components.evaluators.ragmetrics.watching import WatchedRun, Watcher

__all__ = ["Live"]

logger = logging.getLogger(__name__)

# A pipeline may be run by many threads before its first run has made the scorer. Not one lock for each
# component, which could not be copied then.
_MAKING = threading.RLock()


class Live(LiveFace, Configured):
    """
    Submit the application's answers to a live scorer.

    The scorer's own thread calls the generator's `run`, whatever loop the pipeline uses.
    """

    name: str | None
    sinks: list[MakeSink] | None
    concurrency: int

    def _prepare(self) -> None:
        """Check the settings that need no model; called at the end of a constructor."""
        LiveSettings().replacing(**self._live_settings())  # which says what is wrong with one
        for each in self.sinks or ():
            if not callable(each):
                msg = f"sinks takes functions that make a sink, so that the pipeline can be saved, not {each!r}"
                raise ConfigError(msg)
        self._live: LiveScorer | None = None
        self._is_open = False
        self._is_told = False

    @property
    def live(self) -> LiveScorer:
        """
        The live scorer, made on first use.

        A closed scorer can still be read; the next `warm_up` makes a new one, without alerts and pauses.
        """
        return self._live or self._opened()

    def _opened(self) -> LiveScorer:
        with _MAKING:
            if self._live is None or not self._is_open:
                self._live = LiveScorer(
                    self._metrics,
                    **self._models_by_name(),
                    scorer=self.scorer,
                    sinks=[make() for make in self.sinks or ()],
                    **self._live_settings(),
                )
                self._is_open = True
            return self._live

    def _live_settings(self) -> dict[str, Any]:
        """The settings that can be used as they are; the metrics already have their prompts."""
        return {name: getattr(self, name) for name in ("out", *names_in(SharedLiveArgs))}

    def _models_by_name(self) -> dict[str, Any]:
        """Judge and embedder by name; those that need a key or a file are made on first use, and fail there."""
        models: dict[str, Any] = {}
        for kind, given, make in (
            ("judge", self.chat_generator, self._judge),
            ("embedder", self.text_embedder, partial(self._embedder, parallel=self.concurrency)),
        ):
            if isinstance(given, str) and given != "embedded":
                models[f"{kind}_factory"] = make
            else:
                models[kind] = make()
        return models

    def warm_up(self) -> None:
        """
        Make the scorer, warm up the chat generator and the text embedder, and enable the tracer.

        If a model cannot be warmed up (missing key, server down), a warning is logged once and its scores
        fail; the application continues.

        :raises ConfigError: The pipeline does not have a place of a connector's `extract`.
        """
        with self._warming():
            Configured.warm_up(self)

    async def warm_up_async(self) -> None:
        """Like `warm_up`; the scorer's threads call `run`, not `run_async` on this loop."""
        with self._warming():
            await Configured.warm_up_async(self)
            Configured.warm_up(self)

    @contextmanager
    def _warming(self) -> Generator[None]:
        self._opened()
        RagMetricsTracer.install().retain(self)
        try:
            yield
        except Exception as error:  # the boundary to the host: a component that raises ends its pipeline
            if not self._is_told:
                self._is_told = True
                told = error if self.redact is None else type(error).__name__
                logger.warning("A model that judges cannot be warmed up, so scores will fail: {error}", error=told)

    def watcher_of(self, run: WatchedRun) -> Watcher | None:  # noqa: ARG002  (a connector's does)
        """
        Whether the component scores a run by itself; called by the tracer.

        :param run: The run.
        :returns: None: only a connector does.
        """
        return None

    def flush(self, timeout: float | None = None) -> bool:
        """
        Wait until everything captured so far is scored and written.

        :param timeout: Maximum seconds to wait.
        :returns: False on timeout.
        """
        return self._live is None or not self._is_open or self._live.flush(timeout)

    def close(self, timeout: float | None = None) -> bool:
        """
        Finish pending captures, close the models, and remove the unused tracer.

        Another run opens everything again.

        :param timeout: Maximum seconds to wait for pending captures.
        :returns: False on timeout.
        """
        RagMetricsTracer.release(self)
        with _MAKING:
            closing = self._live if self._is_open else None
            self._is_open = False
        done = closing is None or closing.close(timeout)
        self._release()
        return done

    async def aclose(self, timeout: float | None = None) -> bool:
        """
        Like `close`, without blocking the loop.

        :param timeout: Maximum seconds to wait for pending captures.
        :returns: False on timeout.
        """
        done = await super().aclose(timeout)
        await self._release_async()
        return done

    async def close_async(self) -> None:
        """Like `aclose`; the name that a pipeline calls."""
        await self.aclose()
