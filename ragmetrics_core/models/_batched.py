"""An embedder that is asked for the texts of several callers at once."""

import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.models._per_loop import PerLoop
from ragmetrics_core.models._vectors import Vectors, of_one_length
from ragmetrics_core.models._wrapper import Wrapper, unwrapped
from ragmetrics_core.protocol import Embedder

__all__ = ["Batched"]


@dataclass(frozen=True)
class Batched(Wrapper):
    """Embeds the texts of concurrent callers together; a text that several ask for is embedded once.

    A batch goes off when it is full or when `wait` has passed since its first text. When it fails, all its
    callers get the same error. A caller that gives up takes its texts along, unless others want them.

    Attributes:
        inner: the embedder.
        size: texts in a batch at most, at least 1; a caller with more texts has several batches.
        wait: seconds that a batch waits for further texts, 0 or more.

    Raises:
        ConfigError: `inner` is no embedder, or a setting cannot be used.
    """

    size: int = 128
    wait: float = field(default=0.005, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(unwrapped(self.inner), Embedder):
            raise ConfigError(f"Batched goes around an embedder, not {type(unwrapped(self.inner)).__name__}")
        if self.size < 1:
            raise ConfigError(f"size must be at least 1, not {self.size}")
        if not self.wait >= 0:
            raise ConfigError(f"wait must not be negative, not {self.wait}")

    @property
    def concurrency(self) -> int:
        """Any number: however few calls the embedder works on, callers must come together to fill a batch."""
        return sys.maxsize

    @cached_property
    def _batches(self) -> "PerLoop[_Batches]":
        return PerLoop(lambda: _Batches(cast("Embedder", self.inner), self.size, self.wait))

    async def aembed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text.

        Raises:
            ModelError: the embedder did not answer, or not with one vector for each text.
        """
        if not texts:
            return await cast("Embedder", self.inner).aembed(texts)
        held = self._batches().hold(dict.fromkeys(texts))
        try:
            await _answered(set(held.values()))
            rows = of_one_length([batch.vector(text) for text, batch in held.items()])
        finally:
            for text, batch in held.items():
                batch.let_go(text)
        at = {text: position for position, text in enumerate(held)}
        try:
            return np.stack(rows)[[at[text] for text in texts]]
        except ValueError:
            raise ModelError(f"the embedder {self.identity} gave vectors of different lengths") from None


async def _answered(batches: Iterable["_Batch"]) -> None:
    """Wait until all batches have their vectors; the first failure is raised."""
    # Unlike gather, this leaves the batches alone when the caller is cancelled.
    tasks = [batch.task for batch in batches]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        task.result()


class _Batches:
    """The batches of one event loop.

    Attributes:
        where: the batch of each text that waits or is in flight.
        open: the batch that takes further texts.
    """

    def __init__(self, embedder: Embedder, size: int, wait: float) -> None:
        self.embedder = embedder
        self.size = size
        self.wait = wait
        self.where: dict[str, _Batch] = {}
        self.open: _Batch | None = None

    def hold(self, texts: Iterable[str]) -> dict[str, "_Batch"]:
        """Put each text into a batch, unless it is in one; the caller lets go of all of them in the end."""
        held: dict[str, _Batch] = {}
        for text in texts:
            batch = self.where.get(text)
            if batch is None:
                batch = self.open = self.open or _Batch(self)
                self.where[text] = batch
            batch.hold(text)
            held[text] = batch
        return held


class _Batch:
    """Texts that are embedded together.

    Attributes:
        task: gives the vectors.
    """

    def __init__(self, batches: _Batches) -> None:
        self._batches = batches
        self._holders: dict[str, int] = {}
        self._row: dict[str, int] = {}
        self._full = asyncio.get_running_loop().create_future()
        self.task = asyncio.get_running_loop().create_task(self._vectors())
        # A failure is told to whoever still waits; the event loop need not report it when nobody does.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    def hold(self, text: str) -> None:
        """Count a caller that waits for the text."""
        self._holders[text] = self._holders.get(text, 0) + 1
        if len(self._holders) == self._batches.size and not self._full.done():
            self._full.set_result(None)
            self._close()

    def let_go(self, text: str) -> None:
        """Count it out again; what nobody waits for is not embedded."""
        self._holders[text] -= 1
        if self.task.done() or self._holders[text]:
            return
        if not self._row:
            del self._holders[text], self._batches.where[text]
        if not any(self._holders.values()):
            self._withdraw()
            self.task.cancel()

    def vector(self, text: str) -> Vectors:
        """The text's vector, when the task is done."""
        vector: Vectors = self.task.result()[self._row[text]]
        return vector

    async def _vectors(self) -> Vectors:
        try:
            await asyncio.wait([self._full], timeout=self._batches.wait)
            self._close()
            texts = list(self._holders)
            self._row = {text: row for row, text in enumerate(texts)}
            embedder = self._batches.embedder
            vectors = np.asarray(await embedder.aembed(texts))
            if vectors.ndim != 2 or len(vectors) != len(texts):
                raise ModelError(
                    f"the embedder {embedder.identity} gave an array of shape {vectors.shape} "
                    f"for {len(texts)} texts"
                )
            return vectors
        finally:
            self._withdraw()

    def _close(self) -> None:
        if self._batches.open is self:
            self._batches.open = None

    def _withdraw(self) -> None:
        """Take no further callers."""
        self._close()
        for text in self._holders:
            if self._batches.where.get(text) is self:
                del self._batches.where[text]
