"""The asynchronous driver: answers requests by asking the models, many at a time."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core import scoring
from ragmetrics_core.drivers.interpreter import Drawn, Interpreter, Path, Segments, written
from ragmetrics_core.errors import (
    AccessRefused,
    BudgetSpent,
    ModelError,
    ModelTimeout,
    RecordError,
    StepFailed,
)
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.prompts import Prompt, digest_of
from ragmetrics_core.protocol import Compare, Completion, Embedder, Generate, Judge, Rate, Scorer
from ragmetrics_core.record import CompareStep, RateStep, Record
from ragmetrics_core.sample import Sample

__all__ = ["Calls", "Models", "measure_sample"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Models:
    """The models that answer a metric's requests.

    Attributes:
        judges: one, or a panel of several; all give verdicts, and the first answers every other prompt.
        embedder, scorer: None where no metric needs one.
        repeats: how often each judge gives each verdict.
        keep_vectors: put the vectors themselves into the records.
    """

    judges: tuple[Judge, ...] = ()
    embedder: Embedder | None = None
    scorer: Scorer | None = None
    repeats: int = 1
    keep_vectors: bool = False

    @property
    def judge(self) -> Judge | None:
        """The judge, or the first of a panel; None where no metric needs one."""
        return self.judges[0] if self.judges else None

    @property
    def judge_identity(self) -> str | None:
        """The judge's identity, or those of a panel: "panel(A | B)"."""
        names = [judge.identity for judge in self.judges]
        return f"panel({' | '.join(names)})" if len(names) > 1 else names[0] if names else None

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Identities that may be another model's tomorrow (`cacheable` is False), such as a function's."""
        models = [each for each in (*self.judges, self.embedder, self.scorer) if each]
        return tuple(each.identity for each in models if not getattr(each, "cacheable", True))


@dataclass
class Tally:
    """What a run has done so far.

    Attributes:
        calls: how often the judge was really asked, further attempts included.
        retried: how often a call of any model was made again.
        shared: calls that another metric of the sample, or another sample, had in flight or answered.
        cached: replies that were read from the journal.
        embedded: texts that were really embedded.
        failed: calls that failed for good.
        prompt_tokens, completion_tokens: as the judge counted them.
    """

    calls: int = 0
    retried: int = 0
    shared: int = 0
    cached: int = 0
    embedded: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass
class Calls:
    """Calls to the models, checked; any failure becomes a `StepFailed`.

    Attributes:
        models: the models.
        counts: what has been counted so far; `tally` adds what the models count themselves.
        ends_when_refused: raise `AccessRefused` when a model refuses every call, instead of `StepFailed`.
    """

    models: Models
    counts: Tally = field(default_factory=Tally)
    ends_when_refused: bool = False

    def __post_init__(self) -> None:
        # A model may have been used before, and goes on counting.
        self._before = self._counted()

    @property
    def tally(self) -> Tally:
        """What has been asked so far."""
        now = self._counted()
        retried, cached, shared = (count - before for count, before in zip(now, self._before, strict=True))
        return replace(self.counts, retried=retried, cached=cached, shared=self.counts.shared + shared)

    def _counted(self) -> tuple[int, ...]:
        """What the models count themselves, over their lifetime: retries, hits and shared calls."""
        models = [each for each in (*self.models.judges, self.models.embedder, self.models.scorer) if each]
        return tuple(
            sum(getattr(model, name, 0) for model in models) for name in ("retries", "hits", "shared")
        )

    async def generate(self, request: Generate[Any], judge_number: int = 0) -> Sequence[Completion]:
        """A judge's replies, as many as there are draws."""
        judge = self.models.judges[judge_number]
        about = request.prompt.id
        completions: list[Completion] = []
        asked = request
        while asked.draws > 0:
            # As in `_answer`, which would be one more coroutine for each call to go through.
            try:
                replies = await judge.agenerate(asked)
            except RecordError:
                raise
            except Exception as error:  # the boundary to foreign code: a model may raise anything
                raise self._failed(about, error) from error
            if not replies:
                raise StepFailed("model_error", f"{about}: the judge {judge.identity} returned no reply")
            for reply in cast("Sequence[object]", replies):
                if not isinstance(reply, Completion) or not isinstance(cast("object", reply.text), str):
                    given = type(getattr(reply, "text", reply)).__name__
                    told = f"the judge {judge.identity} replied with {given}, not with text"
                    raise self._failed(about, ModelError(told))
            completions += replies[: asked.draws]
            if len(completions) == request.draws:
                break
            asked = replace(
                request, draw=request.draw + len(completions), draws=request.draws - len(completions)
            )
        return completions

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One vector for each text."""
        embedder = self.models.embedder
        assert embedder is not None, "checked before the run"
        found = await self._answer(embedder.aembed(texts), "embedding")
        vectors = np.asarray(found, dtype=np.float64)
        is_whole = vectors.ndim == 2 and len(vectors) == len(texts) and vectors.size
        if not is_whole or not np.isfinite(vectors).all():
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
        ratings = tuple(map(float, await self._answer(scorer.arate(pairs), "rating")))
        if len(ratings) != len(pairs) or not np.isfinite(ratings).all():
            raise StepFailed(
                "model_error",
                f"the scorer {scorer.identity} gave {len(ratings)} ratings for {len(pairs)} pairs",
            )
        return ratings

    async def _answer(self, call: Awaitable[T], about: str) -> T:
        try:
            return await call
        except RecordError:
            raise  # the journal failed, which no sample is to blame for: the run ends
        except Exception as error:  # the boundary to foreign code: a model may raise anything
            raise self._failed(about, error) from error

    def _failed(self, about: str, error: Exception) -> StepFailed:
        """The status of a call that was given up.

        Raises:
            AccessRefused: the model refuses every call, and the run is to end with that.
        """
        if isinstance(error, BudgetSpent):
            return StepFailed("cancelled", str(error))
        self.counts.failed += 1
        if self.ends_when_refused and isinstance(error, AccessRefused) and error.is_lasting:
            raise error
        if isinstance(error, TimeoutError | ModelTimeout):
            return StepFailed("timeout", f"{about}: {str(error) or 'no answer in time'}")
        said = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
        return StepFailed("model_error", f"{about}: {said}")


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
    records = [await walks[0]] if len(walks) == 1 else await _together(walks)
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
            self.calls.counts.shared += 1
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
            judge=models.judge_identity,
            embedder=models.embedder.identity if models.embedder else None,
            scorer=models.scorer.identity if models.scorer else None,
        )
        self._shared = shared

    def complete(self, request: Generate[Any], path: Path) -> Coroutine[Any, Any, Sequence[Drawn]]:
        models = self._shared.calls.models
        if not request.votes or (len(models.judges) == 1 and models.repeats == 1):
            return self._drawn(0, request)
        return self._votes(request.with_votes(models.repeats))

    async def _votes(self, request: Generate[Any]) -> Sequence[Drawn]:
        judges = range(len(self._shared.calls.models.judges))
        # Each judge's reply is waited for, though another one fails: it is paid for, and kept for next time.
        votes = await _together([_settled(self._drawn(number, request)) for number in judges])
        StepFailed.raise_most_urgent(votes)
        return [each for judge in votes for each in judge]

    async def _drawn(self, judge: int, request: Generate[Any]) -> Sequence[Drawn]:
        calls = self._shared.calls
        address = (judge, request.digest, request.draw, request.draws)
        completions = await self._shared.once(address, lambda: calls.generate(request, judge))
        judges = calls.models.judges
        name = judges[judge].identity if len(judges) > 1 else None
        return [Drawn(draw, each, name) for draw, each in enumerate(completions, start=request.draw)]

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
        try:
            return await _together([_settled(branch) for branch in branches])
        finally:
            for branch in branches:
                # One that was cancelled before it began would complain that nobody awaited it.
                if inspect.getcoroutinestate(branch) == inspect.CORO_CREATED:
                    branch.close()


async def _together(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All results. When one fails, the others have ended before its error goes on: nobody asks any more."""
    if not works:
        return []
    first, *others = works
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in others]
            result = await first  # here, while the others run: it needs no task of its own
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [result, *(task.result() for task in tasks)]


async def _settled(branch: Coroutine[Any, Any, Any]) -> Any:
    """The branch's result, or the `StepFailed` that ended it."""
    try:
        return await branch
    except StepFailed as failed:
        return failed
