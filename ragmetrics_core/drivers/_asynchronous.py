"""The asynchronous driver: answers requests with concurrent calls to the models."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ragmetrics_core import scoring
from ragmetrics_core.drivers._interpreter import Drawn, Interpreter, Path, Segments, outcome_of, written
from ragmetrics_core.errors import (
    AccessRefused,
    BudgetSpent,
    ModelError,
    ModelTimeout,
    RecordError,
    StepFailed,
)
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.models import Line
from ragmetrics_core.models.branches import together
from ragmetrics_core.models.identity import known_as
from ragmetrics_core.models.meter import Meter, Tally
from ragmetrics_core.models.wrapper import Decider, decider_of
from ragmetrics_core.prompts import Prompt, digest_of
from ragmetrics_core.protocol import Compare, Completion, Embedder, Generate, Judge, Rate, Scorer
from ragmetrics_core.records import CompareStep, Correction, RateStep
from ragmetrics_core.records.written_record import WrittenRecord
from ragmetrics_core.samples import Sample

__all__ = ["Calls", "Models", "measure_sample"]

T = TypeVar("T")
_NONE: Mapping[str, Sequence[Correction]] = {}


@dataclass(frozen=True, kw_only=True)
class Models:
    """Models that answer a metric's requests.

    Attributes:
        judges: one judge or a panel; all give verdicts, and the first answers all other prompts.
        embedder, scorer: None if no metric needs one.
        repeats: number of draws of each verdict by each judge.
        keep_vectors: store the vectors in the records.
    """

    judges: tuple[Judge, ...] = ()
    embedder: Embedder | None = None
    scorer: Scorer | None = None
    repeats: int = 1
    keep_vectors: bool = False

    @property
    def judge(self) -> Judge | None:
        """The judge, or the first of a panel; None if no metric needs one."""
        return self.judges[0] if self.judges else None

    @cached_property
    def deciders(self) -> tuple[Decider | None, ...]:
        """For each composite judge the function that picks the sub-judge; None for others."""
        return tuple(map(decider_of, self.judges))

    @cached_property
    def judge_identity(self) -> str | None:
        """Identity of the judge or panel: "panel(A | B)"."""
        names = list(map(known_as, self.judges))
        return f"panel({' | '.join(names)})" if len(names) > 1 else names[0] if names else None

    @cached_property
    def identities(self) -> Mapping[str, str | None]:
        """Identities of judge, embedder and scorer."""
        named = {"embedder": self.embedder, "scorer": self.scorer}
        return {"judge": self.judge_identity} | {
            kind: known_as(model) if model else None for kind, model in named.items()
        }


@dataclass
class Calls:
    """Calls to the models; any failure becomes a `StepFailed`.

    Attributes:
        models: the models, each with its own line.
        meter: counts their calls and limits the spending.
        ends_when_refused: raise `AccessRefused` instead of `StepFailed` if a model refuses every call.
        form_attempts: maximum number of attempts to get a reply in the right form.
        lines: lines of the judges; the load of the first decides if another sample can begin.
    """

    models: Models
    form_attempts: int = 2
    meter: Meter = field(default_factory=Meter)
    ends_when_refused: bool = False
    lines: tuple[Line, ...] = ()

    def __post_init__(self) -> None:
        self._open = self._done = 0
        self._ended = asyncio.Event()

    @property
    def counts(self) -> Tally:
        """Counts of calls so far, which go on."""
        return self.meter.tally

    @property
    def tally(self) -> Tally:
        """Snapshot of the counts so far."""
        return replace(self.counts)

    async def room(self) -> None:
        """Wait until another sample may begin; pending calls come first.

        Samples that begin earlier would only wait, so as few as possible are open at a time. Under a budget,
        a sample begins if what the open samples and itself take on average is left, so that the budget is
        spent on whole samples. The first is measured alone.
        """
        await asyncio.sleep(0)
        while not self._is_affordable:
            self._ended.clear()
            await self._ended.wait()
        if self.lines:
            await self.lines[0].turns.room()

    @contextmanager
    def open_sample(self) -> Generator[None]:
        """Count a sample as open during this block."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            self._done += 1
            self._ended.set()

    @property
    def _is_affordable(self) -> bool:
        if not self._open or not self.meter.is_limited:
            return True
        return self._done > 0 and self.meter.spent * (1 + (self._open + 1) / self._done) <= 1


def _failed(about: str, error: Exception) -> StepFailed:
    """Status of an abandoned call."""
    if isinstance(error, BudgetSpent):
        return StepFailed("cancelled", str(error))
    if isinstance(error, TimeoutError | ModelTimeout):
        return StepFailed("timeout", f"{about}: {str(error) or 'no answer in time'}")
    said = str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"
    return StepFailed("model_error", f"{about}: {said}")


async def measure_sample(
    sample: Sample,
    metrics: Sequence[Metric[Any]],
    calls: Calls,
    *,
    prompts: dict[str, Prompt[Any]],
    corrections: Mapping[str, Sequence[Correction]] = _NONE,
) -> list[WrittenRecord]:
    """Measure all metrics on one sample concurrently; shared calls are made once.

    Args:
        sample: the sample.
        metrics: the metrics.
        calls: the models.
        prompts: receives the prompts that were asked, by digest.
        corrections: a person's decisions on earlier records of the sample, by signature.
    """
    segments = Segments(sample)
    answers: dict[Hashable, Any] = {}
    interpreters = [
        _Live(
            sample,
            segments=segments,
            calls=calls,
            answers=answers,
            corrections=corrections.get(metric.signature, ()),
        )
        for metric in metrics
    ]
    walks = [each.measure(metric) for each, metric in zip(interpreters, metrics, strict=True)]
    with calls.open_sample():
        records = [await walks[0]] if len(walks) == 1 else await together(walks)
    for each in interpreters:
        prompts.update(each.prompts)
    return records


class _Live(Interpreter):
    """Answers requests with calls to the models.

    Args:
        sample: the sample.
        segments: its split and rendered texts.
        calls: the models.
        answers: answers for this sample so far, by content, shared by its metrics. The line to a model shares
            calls in flight.
        corrections: a person's decisions, which overrule verdicts.
    """

    def __init__(
        self,
        sample: Sample,
        *,
        segments: Segments,
        calls: Calls,
        answers: dict[Hashable, Any],
        corrections: Sequence[Correction] = (),
    ) -> None:
        super().__init__(sample, segments=segments, corrections=corrections, models=calls.models.identities)
        self._calls = calls
        self._answers = answers

    def complete(self, request: Generate[Any], path: Path) -> Coroutine[Any, Any, Sequence[Drawn]]:
        models = self._calls.models
        if request.follows:
            return self._drawn(self._judge_of(request.follows[0].judge), request)
        if not request.votes or (len(models.judges) == 1 and models.repeats == 1):
            return self._drawn(0, request)
        return self._votes(request._replace(draws=models.repeats))

    def may_ask_again(self, request: Generate[Any], path: Path) -> bool:
        return request.again < (request.attempts or self._calls.form_attempts)

    def _judge_of(self, name: str | None) -> int:
        """Identity of the judge that gave a reply; a composite judge contains several."""
        judges = enumerate(self._calls.models.judges)
        return next((number for number, judge in judges if name and name in judge.identity), 0)

    async def _votes(self, request: Generate[Any]) -> Sequence[Drawn]:
        judges = range(len(self._calls.models.judges))
        # Each judge's reply is waited for, though another one fails: it is paid for, and kept for next time.
        votes = await together([outcome_of(self._drawn(number, request)) for number in judges])
        StepFailed.raise_most_urgent(votes)
        return [each for judge in votes for each in judge]

    async def _drawn(self, judge_number: int, request: Generate[Any]) -> Sequence[Drawn]:
        judges = self._calls.models.judges
        judge = judges[judge_number]
        address = (judge_number, request.digest, request.draw, request.draws, request.passed_on)
        completions: Sequence[Completion] | None = self._known(address)
        if completions is None:
            try:
                completions = await judge.agenerate(request)
                while len(completions) < request.draws:
                    draw, left = request.draw + len(completions), request.draws - len(completions)
                    more = await judge.agenerate(request._replace(draw=draw, draws=left))
                    completions = [*completions, *more]
            except Exception as error:  # the boundary to foreign code: a model may raise anything
                raise self._failed(address, request.prompt.id, error) from error
            self._answers[address] = completions
        decider = self._calls.models.deciders[judge_number]
        name = (decider and decider(request)) or (judge.identity if len(judges) > 1 else None)
        return [Drawn(draw, each, name) for draw, each in enumerate(completions, start=request.draw)]

    async def compare(self, request: Compare, path: Path) -> CompareStep:
        embedder = self._calls.models.embedder
        assert embedder is not None, "checked before the run"
        texts = (request.anchor, *request.texts)
        vectors = np.asarray(await self._once(texts, "embedding", embedder.aembed), dtype=np.float64)
        return CompareStep(
            path=written(path),
            text_digests=tuple(map(digest_of, texts)),
            vector_digests=tuple(digest_of(vector.astype("<f8").tobytes().hex()) for vector in vectors),
            cosines=tuple(scoring.cosine(vectors[0], vector) for vector in vectors[1:]),
            vectors=tuple(tuple(map(float, vector)) for vector in vectors)
            if self._calls.models.keep_vectors
            else None,
        )

    async def rate(self, request: Rate, path: Path) -> RateStep:
        scorer = self._calls.models.scorer
        assert scorer is not None, "checked before the run"
        ratings = tuple(await self._once(request.pairs, "rating", scorer.arate))
        digests = tuple(digest_of(*pair) for pair in request.pairs)
        return RateStep(path=written(path), pair_digests=digests, ratings=ratings)

    async def _once(self, asked: Any, about: str, call: Callable[[Any], Awaitable[T]]) -> T:
        """Answer of the model, or its earlier answer for another metric of the sample."""
        answer: T | None = self._known(asked)
        if answer is None:
            try:
                answer = self._answers[asked] = await call(asked)
            except Exception as error:  # the boundary to foreign code: a model may raise anything
                raise self._failed(asked, about, error) from error
        return answer

    def _known(self, address: Hashable) -> Any:
        """The answer to another metric of the sample; None if none has asked.

        Raises:
            StepFailed: that call failed.
        """
        known = self._answers.get(address)
        if known is None:
            return None
        self._calls.counts.shared += 1
        if isinstance(known, StepFailed):
            raise known
        return known

    def _failed(self, address: Hashable, about: str, error: Exception) -> Exception:
        """Error of an abandoned call, also for other steps that need the same call."""
        if isinstance(error, RecordError):
            return error  # the journal failed, which no sample is to blame for: the run ends
        if self._calls.ends_when_refused and isinstance(error, AccessRefused) and error.is_lasting:
            return error
        failed = self._answers[address] = _failed(about, error)
        return failed

    async def side_by_side(self, branches: Sequence[Coroutine[Any, Any, Any]]) -> Sequence[Any]:
        try:
            return await together([outcome_of(branch) for branch in branches])
        finally:
            for branch in branches:
                branch.close()  # one that was cancelled before it began would complain that nobody awaited it
