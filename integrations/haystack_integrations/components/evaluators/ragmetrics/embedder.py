"""Haystack's text embedders as embedders."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from haystack.components.embedders.types import TextEmbedder
from numpy.typing import NDArray
from ragmetrics_core.adapting import ForeignModel, ForeignName
from ragmetrics_core.boundary import checked
from ragmetrics_core.errors import ModelError

from haystack_integrations.components.evaluators.ragmetrics.calling import call, identity_of

__all__ = ["HaystackEmbedder"]


@checked
@dataclass(frozen=True, repr=False)
class HaystackEmbedder(ForeignModel):
    """
    A text embedder of Haystack as a ragmetrics embedder.

    A text embedder takes one text at a time, so the texts of a call are embedded in parallel.

    :param text_embedder: The embedder.
    :param parallel: Maximum number of texts in flight.
    :param asynchronous: Await the embedder's `run_async`, if it has one; see `HaystackJudge`.
    :param executor: Threads in which `run` is called. Default: those of the running loop.
    :param name: The embedder's name in records. Default: its class, model, server and settings.
    """

    text_embedder: TextEmbedder
    parallel: int = field(default=4, kw_only=True)
    asynchronous: bool = field(default=False, kw_only=True)
    executor: Executor | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    @property
    def concurrency(self) -> int:
        """One call at a time, because each already has `parallel` texts in flight."""
        return 1

    @cached_property
    def foreign_name(self) -> ForeignName:
        """Class, model and server, and a digest of the settings."""
        return identity_of(self.text_embedder)

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """
        Embed each text.

        :param texts: The texts.
        :returns: One row per text.
        :raises ModelError: The embedder failed or returned no vector.
        """
        free = asyncio.Semaphore(self.parallel)

        async def embedded(text: str) -> Any:
            async with free:
                output = await call(
                    self.text_embedder, asynchronous=self.asynchronous, executor=self.executor, text=text
                )
            vector = output.get("embedding")
            if not isinstance(vector, Sequence | np.ndarray):
                msg = f"{type(self.text_embedder).__name__} returned no embedding"
                raise ModelError(msg)
            return output["embedding"]

        return np.array(await asyncio.gather(*map(embedded, texts)), dtype=np.float64)
