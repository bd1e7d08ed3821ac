"""An embedder that combines the texts of concurrent callers."""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.models.per_loop import PerLoop
from ragmetrics_core.models.wrapper import Wrapper, unwrapped
from ragmetrics_core.protocol import Embedder

__all__ = ["Batched", "Vectors", "in_rows"]

Vectors = NDArray[np.floating[Any]]
"""One vector, or one in each row."""


@dataclass(frozen=True)
class Batched(Wrapper):
    """Embed the texts of concurrent callers together; a text that several callers request is embedded once.

    A batch is sent when it is full, or `wait` seconds after its first text. If it fails, all its callers get
    the same error. A cancelled caller's texts are dropped unless other callers need them.

    Attributes:
        inner: the embedder. Wrap it in a `Line` to share texts in flight.
        size: maximum texts per batch, at least 1; more texts from one caller fill several batches.
        wait: seconds a batch waits for more texts, 0 or more.

    Raises:
        ConfigError: `inner` is not an embedder, or a setting is invalid.
    """

    size: int = 128
    wait: float = field(default=0.005, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(unwrapped(self.inner), Embedder):
            raise ConfigError(f"Batched wraps an embedder, not {type(unwrapped(self.inner)).__name__}")
        if self.size < 1:
            raise ConfigError(f"size must be at least 1, not {self.size}")
        if not self.wait >= 0:
            raise ConfigError(f"wait must not be negative, not {self.wait}")

    @property
    def concurrency(self) -> int:
        """Unlimited: however few calls the embedder takes at once, callers must meet here to fill a batch."""
        return sys.maxsize

    @cached_property
    def _open(self) -> "PerLoop[list[_Batch]]":
        """The running loop's batch that accepts more texts, or None."""
        return PerLoop(list)

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """One row per text.

        Raises:
            ModelError: the embedder failed, or did not return one vector per text.
        """
        if not texts:
            return await cast("Embedder", self.inner).aembed(texts)
        open_batches = self._open()
        batch_of: dict[str, _Batch] = {}
        for text in dict.fromkeys(texts):
            batch = batch_of[text] = open_batches[0] if open_batches else _Batch(self, open_batches)
            batch.callers[text] += 1
            if len(batch.callers) == self.size:
                batch.close()
        try:
            # shielded, since a caller that is cancelled leaves a batch to the others
            await asyncio.gather(*(asyncio.shield(batch.task) for batch in set(batch_of.values())))
        finally:
            for text, batch in batch_of.items():
                batch.leave(text)
        rows = [batch.task.result()[text] for text, batch in batch_of.items()]
        vectors = in_rows(rows, f"the embedder {self.identity} gave vectors of different lengths")
        at = {text: position for position, text in enumerate(batch_of)}
        return vectors[[at[text] for text in texts]]


class _Batch:
    """Texts that are embedded together.

    Attributes:
        callers: how many callers wait for each text.
        task: gives the vector of each text.
    """

    def __init__(self, model: Batched, open_batches: "list[_Batch]") -> None:
        self.callers: Counter[str] = Counter()
        self._model = model
        self._open = open_batches
        self._open.append(self)
        self._is_closed = asyncio.Event()
        self.task = asyncio.create_task(self._vectors())
        # A failure is told to whoever still waits; the event loop need not report it when nobody does.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    def close(self) -> None:
        """Take no further callers."""
        self._is_closed.set()
        if self in self._open:
            self._open.remove(self)

    def leave(self, text: str) -> None:
        """Remove a caller; texts that nobody waits for are not embedded."""
        self.callers[text] -= 1
        if not self.callers.total():
            self.close()
            self.task.cancel()

    async def _vectors(self) -> dict[str, Vectors]:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._model.wait):
                await self._is_closed.wait()
        self.close()
        texts = [text for text, callers in self.callers.items() if callers]
        vectors = np.asarray(await cast("Embedder", self._model.inner).aembed(texts))
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ModelError(
                f"the embedder {self._model.identity} gave an array of shape {vectors.shape} "
                f"for {len(texts)} texts"
            )
        return dict(zip(texts, vectors, strict=True))


def in_rows(vectors: Sequence[Vectors], otherwise: str) -> Vectors:
    """The vectors of several calls as rows; a zero vector gets the length of the longest.

    An embedder that does not send blank texts to its server cannot know the length if a call has no other
    text.

    Raises:
        ModelError: the lengths differ; the message is `otherwise`.
    """
    longest = max(map(len, vectors))
    try:
        return np.stack([row if len(row) == longest or row.any() else np.zeros(longest) for row in vectors])
    except ValueError:
        raise ModelError(otherwise) from None
