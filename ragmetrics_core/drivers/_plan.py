"""The plan driver: counts the calls of a run without making them."""

from collections.abc import Callable, Coroutine, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragmetrics_core.drivers._asynchronous import Models
from ragmetrics_core.drivers._interpreter import Drawn, Interpreter, Path, Segments, written
from ragmetrics_core.drivers._replay import now
from ragmetrics_core.journal import call_address
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.models import Cascade
from ragmetrics_core.models.meter import tokens_in
from ragmetrics_core.models.wrapper import decider, unwrapped
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Compare, Completion, Fork, Generate, Judge, Rate
from ragmetrics_core.records import CompareStep, RateStep
from ragmetrics_core.samples import Sample

__all__ = ["Known", "MetricEstimate", "plan_sample"]

Known = Callable[[Judge, Generate[Any]], Completion | None]


@dataclass
class MetricEstimate:
    """Calls that one metric would make.

    Several draws of one question count as one call, for judges that return several replies at once; a server
    without that option (`n`) needs one call per draw.

    Attributes:
        exact: calls that follow from the samples alone.
        estimated: calls whose number or text depends on future replies.
        shared: replies from calls of an earlier metric in the list, or of another sample.
        cached: replies in a journal.
        prompt_tokens, completion_tokens: of `exact` and `estimated` calls; about four characters a token.
        embedded: texts that would be embedded.
        rated: pairs of texts that would be rated.
        in_turn: measurements that ask about several references in turn. A run stops at the first reference
            with the full score, so their counts are upper limits.
    """

    exact: int = 0
    estimated: int = 0
    shared: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedded: int = 0
    rated: int = 0
    in_turn: int = 0

    @property
    def calls(self) -> int:
        """Number of calls to pay."""
        return self.exact + self.estimated

    def __add__(self, other: "MetricEstimate") -> "MetricEstimate":
        """Both together."""
        return MetricEstimate(**{name: count + getattr(other, name) for name, count in vars(self).items()})


def plan_sample(
    sample: Sample,
    metrics: Sequence[Metric[Any]],
    models: Models,
    *,
    form_attempts: int,
    stand_in: Judge,
    known: Known,
    asked: set[Hashable],
) -> list[MetricEstimate]:
    """Count the calls of each metric for one sample.

    Args:
        sample: the sample.
        metrics: the metrics, in the order in which they pay for shared calls.
        models: the models; only their identities are used.
        form_attempts: maximum number of attempts to get a reply in the right form.
        stand_in: replies instead of the models, without waiting.
        known: returns a cached reply, if there is one.
        asked: the calls counted so far; those of this sample are added.
    """
    segments = Segments(sample)
    given = _Given(models, form_attempts, stand_in, known, asked)
    interpreters = [_Planned(sample, segments, given) for _ in metrics]
    for interpreter, metric in zip(interpreters, metrics, strict=True):
        now(interpreter.measure(metric))
    return [interpreter.estimate for interpreter in interpreters]


class _Given(NamedTuple):
    """Arguments of a plan; see `plan_sample`."""

    models: Models
    form_attempts: int
    stand_in: Judge
    known: Known
    asked: set[Hashable]


class _Planned(Interpreter):
    """Answers requests with cached replies, else with those of a stand-in, and counts them."""

    def __init__(self, sample: Sample, segments: Segments, given: _Given) -> None:
        super().__init__(sample, segments=segments)
        self.estimate = MetricEstimate()
        self._given = given
        self._forks: set[Path] = set()
        self._guessed: list[Path] = []

    async def complete(self, request: Generate[Any], path: Path) -> Sequence[Drawn]:
        has_votes = request.votes and not request.follows
        judges = self._given.models.judges if has_votes else self._given.models.judges[:1]
        asked = request._replace(draws=self._given.models.repeats) if has_votes else request
        return [
            Drawn(draw, completion)
            for judge in judges
            for draw, completion in await self._draws(judge, asked, path)
        ]

    def may_ask_again(self, request: Generate[Any], path: Path) -> bool:
        return request.again < (request.attempts or self._given.form_attempts)

    async def compare(self, request: Compare, path: Path) -> CompareStep:
        texts = (request.anchor, *request.texts)
        self.estimate.embedded += sum(self._is_first(digest_of("embed", text)) for text in texts)
        # any number does: no metric decides by a cosine what it asks next
        cosines = (1.0,) * len(request.texts)
        return CompareStep(path=written(path), text_digests=(), vector_digests=(), cosines=cosines)

    async def rate(self, request: Rate, path: Path) -> RateStep:
        self.estimate.rated += sum(self._is_first(digest_of("rate", *pair)) for pair in request.pairs)
        return RateStep(path=written(path), pair_digests=(), ratings=(0.5,) * len(request.pairs))

    async def in_turn(
        self, branches: Sequence[Coroutine[Any, Any, Any]], enough: Callable[[Any], bool], path: Path
    ) -> Sequence[Any]:
        """Run all branches, which gives an upper limit; only replies show how many are needed."""
        first = await self.side_by_side(branches[:1])
        asked = self._asked_for()
        others = await self.side_by_side(branches[1:])
        if self._asked_for() > asked:
            self.estimate.in_turn = 1
        return [*first, *others]

    async def _answer(self, request: object, path: Path) -> Any:
        if isinstance(request, Fork) and request.enough is None:
            self._forks.add(path)
        return await super()._answer(request, path)

    async def _draws(self, judge: Judge, request: Generate[Any], path: Path) -> list[tuple[int, Completion]]:
        """The reply to each draw, cached or from the stand-in; both are counted."""
        estimate, given, model = self.estimate, self._given, unwrapped(judge)
        # Of a judge that does not say so it is not known before it is asked.
        at_once = getattr(model, "draws_at_once", False)
        identity = decider(judge, request) or judge.identity
        is_exact = not any(self._follows(path, each) for each in self._guessed)
        replies: list[tuple[int, Completion]] = []
        is_call = True  # whether the next draw that is asked for is a call of its own
        for draw in range(request.draw, request.draw + request.draws):
            one = request._replace(draw=draw, draws=1)
            is_first = self._is_first(call_address(identity, request.digest, str(draw)))
            reply = given.known(judge, one)
            estimate.shared += not is_first
            estimate.cached += is_first and reply is not None
            is_asked = is_first and reply is None
            if reply is None:
                (reply,) = await given.stand_in.agenerate(one)
                if isinstance(model, Cascade) and model.is_first(one):
                    reply = model.sure(one, reply)
                self._guessed.append(path)
            if is_asked:
                estimate.completion_tokens += tokens_in(len(reply.text))
            if is_asked and is_call:
                estimate.exact += is_exact
                estimate.estimated += not is_exact
                estimate.prompt_tokens += tokens_in(sum(len(each.content) for each in request.messages))
            is_call = not (at_once and is_asked)
            replies.append((draw, reply))
        return replies

    def _asked_for(self) -> int:
        """All counted requests so far."""
        return self.estimate.calls + self.estimate.embedded + self.estimate.rated

    def _follows(self, path: Path, other: Path) -> bool:
        """Whether the request at one path comes after the reply at another.

        Paths of different branches are concurrent; otherwise the higher number comes later.
        """
        shared = next((i for i, (one, two) in enumerate(zip(path, other, strict=False)) if one != two), None)
        return shared is not None and path[:shared] not in self._forks and path[shared] > other[shared]

    def _is_first(self, address: Hashable) -> bool:
        is_new = address not in self._given.asked
        self._given.asked.add(address)
        return is_new
