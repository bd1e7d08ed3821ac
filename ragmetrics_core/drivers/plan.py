"""The plan driver: counts what a run would ask, without asking it."""

from collections.abc import Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragmetrics_core.drivers.asynchronous import Models
from ragmetrics_core.drivers.interpreter import Drawn, Interpreter, Path, Segments, written
from ragmetrics_core.drivers.replay import now
from ragmetrics_core.errors import StepFailed
from ragmetrics_core.journal import call_address
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Compare, Completion, Fork, Generate, Judge, Rate, Request
from ragmetrics_core.record import CompareStep, RateStep
from ragmetrics_core.sample import Sample

__all__ = ["Estimate", "Known", "plan_sample"]

# A token is about four characters of English; other languages need up to three times as many.
CHARACTERS_PER_TOKEN = 4

Known = Callable[[Judge, Generate[Any]], Completion | None]


@dataclass
class Estimate:
    """What one metric would ask.

    Attributes:
        exact: calls that follow from the samples alone.
        estimated: calls whose number or text depends on replies that are not there yet.
        shared: calls that another metric before it in the list makes.
        cached: replies that are in a journal.
        prompt_tokens, completion_tokens: of `exact` and `estimated` calls; about four characters a token.
        embedded: texts that would be embedded.
        rated: pairs of texts that would be rated.
    """

    exact: int = 0
    estimated: int = 0
    shared: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedded: int = 0
    rated: int = 0

    @property
    def calls(self) -> int:
        """All calls that would be paid."""
        return self.exact + self.estimated

    def __add__(self, other: "Estimate") -> "Estimate":
        """Both together."""
        return Estimate(**{name: count + getattr(other, name) for name, count in vars(self).items()})


def plan_sample(
    sample: Sample,
    metrics: Sequence[Metric[Any]],
    models: Models,
    *,
    stand_in: Judge,
    known: Known,
    asked: set[Hashable],
) -> list[Estimate]:
    """What each metric would ask about one sample.

    Args:
        sample: the sample.
        metrics: the metrics, in the order in which they pay for shared calls.
        models: the models that would be asked; only their identities are used.
        stand_in: answers in their place, without waiting.
        known: gives a reply that is there already.
        asked: the calls that were counted; those of this sample are added.
    """
    segments = Segments()
    estimates = []
    for metric in metrics:
        planned = _Planned(
            sample, segments=segments, models=models, stand_in=stand_in, known=known, asked=asked
        )
        now(planned.measure(metric))
        estimates.append(planned.estimate)
    return estimates


class _Planned(Interpreter):
    """Answers requests with replies that are known, else with those of a stand-in, and counts."""

    def __init__(
        self,
        sample: Sample,
        *,
        segments: Segments,
        models: Models,
        stand_in: Judge,
        known: Known,
        asked: set[Hashable],
    ) -> None:
        super().__init__(sample, segments=segments)
        self.estimate = Estimate()
        self._asks = models
        self._stand_in = stand_in
        self._known = known
        self._asked = asked
        self._forks: set[Path] = set()
        self._guessed: list[Path] = []

    async def complete(self, request: Generate[Any], path: Path) -> Sequence[Drawn]:
        judges = self._asks.judges if request.votes else self._asks.judges[:1]
        draws = self._asks.repeats if request.votes else request.draws
        return [
            Drawn(draw, await self._reply(judge, replace(request, draw=draw, draws=1), path))
            for judge in judges
            for draw in range(request.draw, request.draw + draws)
        ]

    async def compare(self, request: Compare, path: Path) -> CompareStep:
        texts = (request.anchor, *request.texts)
        for text in texts:
            if self._is_first(digest_of("embed", text)):
                self.estimate.embedded += 1
        # any number does: no metric decides by a cosine what it asks next
        cosines = (1.0,) * len(request.texts)
        return CompareStep(path=written(path), text_digests=(), vector_digests=(), cosines=cosines)

    async def rate(self, request: Rate, path: Path) -> RateStep:
        self.estimate.rated += sum(self._is_first(digest_of("rate", *pair)) for pair in request.pairs)
        return RateStep(path=written(path), pair_digests=(), ratings=(0.5,) * len(request.pairs))

    async def side_by_side(self, branches: Sequence[Coroutine[Any, Any, Any]]) -> Sequence[Any]:
        results: list[Any] = []
        for branch in branches:
            try:
                results.append(await branch)
            except StepFailed as failed:
                results.append(failed)
        return results

    async def _answer(self, request: Request, path: Path) -> Any:
        if isinstance(request, Fork):
            self._forks.add(path)
        return await super()._answer(request, path)

    async def _reply(self, judge: Judge, request: Generate[Any], path: Path) -> Completion:
        """The reply that is known, or the one that the stand-in gives; counted either way."""
        is_first = self._is_first(call_address(judge.identity, request.digest, str(request.draw)))
        known = self._known(judge, request)
        if not is_first:
            self.estimate.shared += 1
        elif known is not None:
            self.estimate.cached += 1
        if known is not None:
            return known
        (guess,) = await self._stand_in.agenerate(request)
        if is_first:
            self._count(request, guess, is_exact=not any(self._follows(path, each) for each in self._guessed))
        self._guessed.append(path)
        return guess

    def _count(self, request: Generate[Any], guess: Completion, *, is_exact: bool) -> None:
        estimate = self.estimate
        if is_exact:
            estimate.exact += 1
        else:
            estimate.estimated += 1
        estimate.prompt_tokens += _tokens(sum(len(message.content) for message in request.messages))
        estimate.completion_tokens += _tokens(len(guess.text))

    def _follows(self, path: Path, other: Path) -> bool:
        """Whether what is asked at a path comes after the reply at another one.

        Paths that part at a fork are side by side; elsewhere the higher number comes later.
        """
        shared = next((i for i, (one, two) in enumerate(zip(path, other, strict=False)) if one != two), None)
        return shared is not None and path[:shared] not in self._forks and path[shared] > other[shared]

    def _is_first(self, address: Hashable) -> bool:
        if address in self._asked:
            return False
        self._asked.add(address)
        return True


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)
