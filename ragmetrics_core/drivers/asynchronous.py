"""The asynchronous driver: answers requests by asking the models, many at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core import scoring
from ragmetrics_core.drivers.interpreter import Interpreter, Path, Segments, written
from ragmetrics_core.errors import ModelError, ModelTimeout, StepFailed
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.prompts import Prompt, digest_of
from ragmetrics_core.protocol import Compare, Completion, Embedder, Generate, Judge, Narrow, Rate, Scorer
from ragmetrics_core.record import CompareStep, RateStep, Record
from ragmetrics_core.sample import Sample

__all__ = ["Calls", "Models", "Tally", "measure_sample"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Models:
    """The models of a run.

    Attributes:
        judge, embedder, scorer: the models; None where no metric needs one.
        concurrency: how many calls may be in flight.
        timeout: seconds for one call, not counting the time it waits for its turn; None for no limit.
        keep_vectors: put the vectors themselves into the records.
    """

    judge: Judge | None = None
    embedder: Embedder | None = None
    scorer: Scorer | None = None
    concurrency: int = 16
    timeout: float | None = 120.0
    keep_vectors: bool = False


@dataclass
class Tally:
    """What a run has done so far."""

    calls: int = 0
    shared: int = 0
    embedded: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class Calls:
    """Calls to the models: bounded in number, timed, counted; any failure becomes a `StepFailed`."""

    models: Models
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        judge = self.models.judge
        own = judge.concurrency if isinstance(judge, Narrow) else self.models.concurrency
        self._turn = asyncio.Semaphore(min(own, self.models.concurrency))

    async def generate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The judge's replies, as many as there are draws."""
        judge = self.models.judge
        assert judge is not None, "checked before the run"
        completions: list[Completion] = []
        while (wanted := request.draws - len(completions)) > 0:
            asked = request
            if completions:
                asked = replace(request, draw=request.draw + len(completions), draws=wanted)
            self.tally.calls += 1
            replies = await self._call(partial(judge.agenerate, asked), f"{request.prompt.id}: ")
            if not replies:
                raise StepFailed(
                    "model_error", f"{request.prompt.id}: the judge {judge.identity} returned no reply"
                )
            completions += replies[:wanted]
        for completion in completions:
            if completion.usage:
                self.tally.prompt_tokens += completion.usage.prompt_tokens
                self.tally.completion_tokens += completion.usage.completion_tokens
        return completions

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One vector for each text."""
        embedder = self.models.embedder
        assert embedder is not None, "checked before the run"
        self.tally.embedded += len(texts)
        found = await self._call(lambda: embedder.aembed(texts), "embedding: ")
        vectors = np.asarray(found, dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise StepFailed(
                "model_error",
                f"the embedder {embedder.identity} gave an array of shape {vectors.shape} "
                f"for {len(texts)} texts, or one with numbers that are not finite",
            )
        return vectors

    async def rate(self, pairs: Sequence[tuple[str, str]]) -> tuple[float, ...]:
        """One number for each pair."""
        scorer = self.models.scorer
        assert scorer is not None, "checked before the run"
        ratings = tuple(map(float, await self._call(lambda: scorer.arate(pairs), "rating: ")))
        if len(ratings) != len(pairs) or not np.isfinite(ratings).all():
            raise StepFailed(
                "model_error",
                f"the scorer {scorer.identity} gave {len(ratings)} ratings for {len(pairs)} pairs",
            )
        return ratings

    async def _call(self, call: Callable[[], Awaitable[T]], asked: str) -> T:
        async with self._turn:
            try:
                async with asyncio.timeout(self.models.timeout):
                    return await call()
            except (TimeoutError, ModelTimeout) as error:
                limit = (
                    f"no answer within {self.models.timeout:g} s"
                    if self.models.timeout
                    else "no answer in time"
                )
                raise self._failed("timeout", asked + (str(error) or limit)) from error
            except ModelError as error:
                raise self._failed("model_error", asked + str(error)) from error
            except Exception as error:  # the boundary to foreign code: a model may raise anything
                raise self._failed("model_error", f"{asked}{type(error).__name__}: {error}") from error

    def _failed(self, status: Any, reason: str) -> StepFailed:
        self.tally.failed += 1
        return StepFailed(status, reason)


async def measure_sample(
    sample: Sample, metrics: Sequence[Metric[Any]], calls: Calls, *, prompts: dict[str, Prompt[Any]]
) -> list[Record]:
    """Measure all metrics on one sample, side by side; calls that several metrics make are made once.

    Args:
        sample: the sample.
        metrics: the metrics.
        calls: the models.
        prompts: takes the prompts that were asked, by digest.
    """
    segments = Segments()
    shared = _Shared(calls)
    interpreters = [_Live(sample, segments=segments, shared=shared) for _ in metrics]
    walks = [each.measure(metric) for each, metric in zip(interpreters, metrics, strict=True)]
    records = [await walks[0]] if len(walks) == 1 else await asyncio.gather(*walks)
    for each in interpreters:
        prompts.update(each.prompts)
    return records


class _Shared:
    """The calls of one sample, by content; the same call is made once, also while in flight."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self._answers: dict[Hashable, asyncio.Future[Any]] = {}

    async def once(self, address: Hashable, call: Callable[[], Awaitable[T]]) -> T:
        """The answer to a call, which is made unless it was made already."""
        known: asyncio.Future[T] | None = self._answers.get(address)
        if known is not None:
            self.calls.tally.shared += 1
            return await asyncio.shield(known)
        known = self._answers[address] = asyncio.get_running_loop().create_future()
        try:
            answer = await call()
        except StepFailed as failed:
            known.set_exception(failed)
            known.exception()
            raise
        except asyncio.CancelledError:
            known.cancel()
            raise
        known.set_result(answer)
        return answer


class _Live(Interpreter):
    """Answers requests by asking the models."""

    def __init__(self, sample: Sample, *, segments: Segments, shared: _Shared) -> None:
        models = shared.calls.models
        super().__init__(
            sample,
            segments=segments,
            judge=models.judge.identity if models.judge else None,
            embedder=models.embedder.identity if models.embedder else None,
            scorer=models.scorer.identity if models.scorer else None,
        )
        self._shared = shared

    async def complete(self, request: Generate[Any], path: Path) -> Sequence[Completion]:
        address = (request.digest, request.draw, request.draws)
        return await self._shared.once(address, lambda: self._shared.calls.generate(request))

    async def compare(self, request: Compare, path: Path) -> CompareStep:
        texts = (request.anchor, *request.texts)
        vectors = await self._shared.once(texts, lambda: self._shared.calls.embed(texts))
        keep = self._shared.calls.models.keep_vectors
        return CompareStep(
            path=written(path),
            text_digests=tuple(map(digest_of, texts)),
            vector_digests=tuple(digest_of(vector.astype("<f8").tobytes().hex()) for vector in vectors),
            cosines=tuple(scoring.cosine(vectors[0], vector) for vector in vectors[1:]),
            vectors=tuple(tuple(map(float, vector)) for vector in vectors) if keep else None,
        )

    async def rate(self, request: Rate, path: Path) -> RateStep:
        ratings = await self._shared.once(request.pairs, lambda: self._shared.calls.rate(request.pairs))
        digests = tuple(digest_of(*pair) for pair in request.pairs)
        return RateStep(path=written(path), pair_digests=digests, ratings=ratings)

    async def side_by_side(self, branches: Sequence[Coroutine[Any, Any, Any]]) -> Sequence[Any]:
        return await asyncio.gather(*(_settled(branch) for branch in branches))


async def _settled(branch: Coroutine[Any, Any, Any]) -> Any:
    """The branch's result, or the `StepFailed` that ended it."""
    try:
        return await branch
    except StepFailed as failed:
        return failed
