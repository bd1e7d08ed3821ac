"""The models of a live scorer: made on its own loop where asked for, and guarded."""

import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.drivers import Calls, Meter, Models, Spending, Tally, Traffic
from ragmetrics_core.errors import ModelError, ModelRefused
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import Batched, PromptChecker, as_embedder, as_judge
from ragmetrics_core.models.wrapper import A, PerLoop, Wrapper
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Narrow, Scorer, TextFunction

__all__ = ["Guarded", "MadeEmbedder", "MadeJudge", "calls_to"]

T = TypeVar("T")

# What asyncio, and clients on top of it, say when an object of another loop is awaited.
_OTHER_LOOP = (
    "different loop",
    "different event loop",
    "event loop is closed",
    "timeout context manager should be used inside a task",
)


@dataclass(frozen=True)
class Guarded(Wrapper):
    """A model whose caller cannot be harmed by it.

    A model that belongs to the application's event loop fails with what to do about it, and one that tries
    to end the interpreter fails like any other.

    Attributes:
        inner: the model.
        kind: "judge", "embedder" or "scorer", for the message.
    """

    kind: str = field(default="judge", kw_only=True)

    async def _around(self, call: Callable[[A], Awaitable[T]], asked: A) -> T:
        try:
            return await call(asked)
        except RuntimeError as error:
            if not any(each in str(error).lower() for each in _OTHER_LOOP):
                raise
            instead = f"{self.kind}_factory=..., a function that makes one; it is called on the scorer's loop"
            if self.kind == "scorer":
                instead = "one that belongs to no loop"
            raise ModelRefused(
                f"the {self.kind} {self.identity} belongs to another event loop than the one that scores: "
                f"pass {instead} ({error})"
            ) from error
        except (SystemExit, KeyboardInterrupt) as error:
            if threading.current_thread() is threading.main_thread():
                raise  # somebody pressed Ctrl-C during `ascore`
            raise ModelError(f"the {self.kind} raised {type(error).__name__}") from error


class MadeJudge:
    """A judge that is made on the loop that uses it, once for each loop.

    Args:
        make: gives a judge, a function or a name.
    """

    def __init__(self, make: Callable[[], Judge | TextFunction | str]) -> None:
        self._judge = PerLoop(lambda: as_judge(make()))

    @property
    def identity(self) -> str:
        """Of the judge that was made; known only on a running loop."""
        return self._judge().identity

    @property
    def concurrency(self) -> int:
        """How many calls it works on at a time."""
        judge = self._judge()
        return judge.concurrency if isinstance(judge, Narrow) else sys.maxsize

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` when it cannot answer one of the prompts."""
        judge = self._judge()
        if isinstance(judge, PromptChecker):
            judge.check_prompts(names)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Ask the judge of the running loop."""
        return await self._judge().agenerate(request)


class MadeEmbedder:
    """An embedder that is made on the loop that uses it, once for each loop.

    Args:
        make: gives an embedder or a name.
    """

    def __init__(self, make: Callable[[], Embedder | str]) -> None:
        self._embedder = PerLoop(lambda: as_embedder(make()))

    @property
    def identity(self) -> str:
        """Of the embedder that was made; known only on a running loop."""
        return self._embedder().identity

    @property
    def concurrency(self) -> int:
        """How many calls it works on at a time."""
        embedder = self._embedder()
        return embedder.concurrency if isinstance(embedder, Narrow) else sys.maxsize

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        """Ask the embedder of the running loop."""
        return await self._embedder().aembed(texts)


def calls_to(models: Models, traffic: Traffic) -> Calls:
    """Calls to the models with the layers of a run around each, but for the journal.

    A journal, even in memory, would keep every reply of an application that runs for months.
    """
    counts = Tally()
    meter = Meter(counts, Spending())
    journal = Journal()

    def around(model: Judge | Embedder | Scorer, kind: str) -> Judge | Embedder | Scorer:
        return traffic.around(Guarded(model, kind=kind), journal, meter).inner

    return Calls(
        replace(
            models,
            judges=tuple(cast("Judge", around(judge, "judge")) for judge in models.judges),
            embedder=models.embedder and Batched(around(models.embedder, "embedder")),
            scorer=models.scorer and cast("Scorer", around(models.scorer, "scorer")),
        ),
        counts,
    )
