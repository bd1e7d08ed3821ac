"""Walking through a metric's requests: what all drivers have in common.

An interpreter measures one metric on one sample. It renders prompts, reads replies and writes the record;
where replies, vectors and ratings come from is left to its subclasses.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from ragmetrics_core.adapting import ending
from ragmetrics_core.drivers.marked_words import placed_in
from ragmetrics_core.drivers.own_code import OwnCode, status_of
from ragmetrics_core.drivers.replies import CUT_SHORT, ended_hints, read_reply, unanswered
from ragmetrics_core.drivers.segments import Segments, Used
from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Judged, Measurement, Verdict, majority
from ragmetrics_core.metrics import catalogue
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.overlap import counted
from ragmetrics_core.parsers import Abstention, without_leading_thoughts
from ragmetrics_core.prompts import Item, Prompt, digest_of
from ragmetrics_core.protocol import (
    Compare,
    Completion,
    Count,
    Fork,
    Generate,
    Part,
    Rate,
    Reply,
    Review,
    Segment,
    Steps,
)
from ragmetrics_core.record import (
    Abstained,
    CompareStep,
    Correction,
    CountStep,
    GenerateStep,
    RateStep,
    Record,
    Status,
    outcome,
)
from ragmetrics_core.sample import Sample
from ragmetrics_core.shapes import is_sequence
from ragmetrics_core.views import MissingField

__all__ = ["Drawn", "Interpreter", "Path", "Segments", "written"]

T = TypeVar("T")
Path = tuple[int, ...]
# Each repetition of a metric has so many draws to itself.
DRAWS = 1000
AnyStep = GenerateStep | CompareStep | RateStep | CountStep


class Drawn(NamedTuple):
    """One reply to a request: its draw, and, where several judges were asked, whose it is."""

    draw: int
    completion: Completion
    judge: str | None = None


class Interpreter(ABC):
    """Measures one metric on one sample and keeps the proof.

    Args:
        sample: the sample.
        segments: how its texts are split.
        corrections: a person's decisions, which overrule verdicts.
        judge, embedder, scorer: identities of the models, for the record.
    """

    def __init__(
        self,
        sample: Sample,
        *,
        segments: Segments,
        corrections: Sequence[Correction] = (),
        judge: str | None = None,
        embedder: str | None = None,
        scorer: str | None = None,
    ) -> None:
        self.sample = sample
        self._judged, self._thought = _without_thought(sample)
        self.prompts: dict[str, Prompt[Any]] = {}
        self.useless_prompts: tuple[str, ...] = ()
        self._segments = segments
        self._corrections = {(each.path, each.item): each for each in corrections}
        self._models = {"judge": judge, "embedder": embedder, "scorer": scorer}
        self._steps: dict[Path, AnyStep] = {}
        self._reviews: dict[Path, Review] = {}
        self._used_segments: Used = {}
        self._abstentions: dict[Path, Abstained] = {}
        self._said: set[Abstention] = set()
        self._first_draw = 0
        self._own = OwnCode("", sample)

    @abstractmethod
    def complete(self, request: Generate[Any], path: Path) -> Awaitable[Sequence[Drawn]]:
        """The replies to a rendered request: one for each draw, or one for each vote."""

    @abstractmethod
    async def compare(self, request: Compare, path: Path) -> CompareStep:
        """The cosines that a request asks for, as they go on record."""

    @abstractmethod
    async def rate(self, request: Rate, path: Path) -> RateStep:
        """The ratings that a request asks for, as they go on record."""

    async def count(self, request: Count, path: Path) -> CountStep:
        """What a library counts, as it goes on record."""
        found = counted(request)
        return CountStep(
            path=written(path),
            procedure=request.procedure,
            made_by=found.made_by,
            text_digests=tuple(map(digest_of, (request.answer, *request.references))),
            counts=dict(found.counts),
        )

    @abstractmethod
    async def side_by_side(self, branches: Sequence[Coroutine[Any, Any, Any]]) -> Sequence[Any]:
        """Run branches to their ends; a branch's `StepFailed` stands in its result's place."""

    async def measure(self, metric: Metric[Any]) -> Record:
        """Measure the sample; whatever fails becomes the record's status."""
        self._first_draw = (metric.repetition - 1) * DRAWS
        self._own = OwnCode(metric.name, self._judged)
        try:
            measurement = self._own.measurement(await self._walk(self._own.steps(metric), ()))
            try:
                return self._record(metric, status_of(measurement), measurement)
            except (TypeError, ValueError) as error:  # numbers that no record holds, such as NaN
                raise self._own.failure(error) from error
        except MissingField as missing:
            return self._record(metric, "skipped", Measurement(reason=missing.field))
        except StepFailed as failed:
            self.useless_prompts = failed.prompts
            return self._record(metric, failed.status, Measurement(reason=failed.reason))

    def render(self, request: Generate[Any]) -> Generate[Any]:
        """The request with its messages, in the sample's language where there is a translation."""
        prompt = request.prompt.in_language(self.sample.language)
        rendered = self._segments.rendered(request, prompt, self.sample.language)
        self._used_segments.update(rendered.used)
        return Generate(
            prompt=prompt,
            variables=request.variables,
            hints=replace(request.hints, shown=self._shown_contexts(request.variables), form=prompt.form),
            draw=request.draw + self._first_draw,
            draws=request.draws,
            again=request.again,
            passed_on=request.passed_on,
            votes=request.votes,
            messages=rendered.messages,
            digest=rendered.digest,
        )

    async def _walk(self, steps: Steps[T], path: Path) -> T:
        """Answer the requests of a generator until it returns."""
        answer: Any = None
        failure: StepFailed | None = None
        count = 0
        try:
            while True:
                request = self._own.next(steps, failure, answer)
                count += 1
                failure = None
                try:
                    if isinstance(request, Generate):  # here: one coroutine less for a call
                        place = (*path, count)
                        rendered = self._rendered(request, place)
                        answer = self._read(rendered, await self.complete(rendered, place), place)
                    else:
                        answer = await self._answer(request, (*path, count))
                except StepFailed as error:
                    failure = error
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            steps.close()

    def worded(self, request: Generate[Any], path: Path) -> Generate[Any]:
        """The request in the words in which it is asked at a place: its own."""
        return request

    def _rendered(self, request: Generate[Any], path: Path) -> Generate[Any]:
        request = self.worded(request, path)
        try:
            return self.render(request)
        except Exception as error:  # the boundary to the user's code: variables are what he gives
            raise self._own.failure(error) from error

    async def _answer(self, request: object, path: Path) -> Any:
        match request:
            case Generate():
                raise AssertionError("answered where it is asked")
            case Compare():
                compared = self._steps[path] = await self.compare(request, path)
                return compared.cosines
            case Rate():
                rated = self._steps[path] = await self.rate(request, path)
                return rated.ratings
            case Count():
                found = self._steps[path] = await self.count(request, path)
                return found.counts
            case Segment():
                return self._sentences(request.text)
            case Review():
                return self._review(request, path)
            case Part():
                metric = catalogue.of_part(request)
                return await self._walk(self._own.part_steps(metric, request), path)
            case Fork():
                walks = [
                    self._walk(branch, (*path, number)) for number, branch in enumerate(request.branches, 1)
                ]
                results = await self.side_by_side(walks)
                StepFailed.raise_most_urgent(results)
                return tuple(results)
            case _:
                raise self._own.no_request(request)

    def _read(self, request: Generate[Any], drawn: Sequence[Drawn], path: Path) -> tuple[Reply[Any], ...]:
        prompt = request.prompt
        self.prompts[prompt.digest] = prompt
        place = written(path)
        replies: list[Reply[Any]] = []
        said: list[Abstention] = []
        for number, (draw, completion, judge) in enumerate(drawn):
            ended = ending(completion.finish_reason)
            hints = ended_hints(request.hints, ended)
            try:
                reading, value, digest = read_reply(prompt.answer.read, completion.text, hints)
            except Exception as error:  # the boundary to the user's code: an answer type may be his own
                raise self._own.failure(error) from error
            usage = completion.usage
            self._steps[(*path, number)] = GenerateStep(
                path=place,
                prompt=prompt.id,
                prompt_digest=prompt.digest,
                rendered_digest=request.digest,
                draw=draw,
                again=request.again,
                judge=judge,
                reply=completion.text,
                reply_digest=digest,
                model=completion.model,
                finish_reason=completion.finish_reason,
                prompt_tokens=usage.prompt_tokens if usage else None,
                completion_tokens=usage.completion_tokens if usage else None,
                rule=reading.rule,
                value=value,
                dropped=reading.dropped,
            )
            if reading.value is not None and (seen := reading.value.abstention()):
                said.append(seen)
            replies.append(
                Reply(
                    reading,
                    cut=reading.cut or ended in CUT_SHORT,
                    unanswered=unanswered(completion, ended, reading),
                    judge=judge,
                )
            )
        if said:
            self._said.update(said)
            declined = majority([each.declined for each in said])
            reason = next(each.reason for each in said if each.declined == declined)
            self._abstentions[path] = Abstained(declined=declined, reason=reason, path=place)
        return tuple(replies)

    def _review(self, request: Review, path: Path) -> Judged:
        place = written(path)
        corrected = self._corrected(place)
        self._reviews[path] = request
        judged = Judged(
            tuple([corrected.get(item, each.supported) for item, each in enumerate(request.decisions, 1)])
        )
        if request.declining and (declined := judged.known[0]) is not None:
            judge = request.decisions[0]
            reason = judge.reason if judge.supported == declined else None  # a person gives none
            self._abstentions[path] = Abstained(declined=declined, reason=reason, path=place)
        return judged

    @property
    def _abstained(self) -> Abstained | None:
        """What the last step says that saw whether the answer declines; the last in the order of paths."""
        return self._abstentions[max(self._abstentions)] if self._abstentions else None

    def _corrected(self, place: str) -> dict[int, bool]:
        """A person's decisions at a place, by item."""
        return {item: each.supported for (at, item), each in self._corrections.items() if at == place}

    def _verdicts(self) -> tuple[Verdict, ...]:
        """All decisions at their places in the record; a person's overrules the judge's."""
        verdicts: list[Verdict] = []
        for path in sorted(self._reviews):
            review = self._reviews[path]
            place = written(path)
            corrected = self._corrected(place)
            for item, each in enumerate(review.decisions, start=1):
                supported = corrected.get(item, each.supported)
                verdicts.append(
                    Verdict(
                        number=len(verdicts) + 1,
                        about=review.about,
                        text=each.text,
                        supported=supported,
                        label=review.labels.of(supported),
                        reason=each.reason,
                        evidence=placed_in(self._judged, each),
                        cosine=each.cosine,
                        overruled=each.supported if item in corrected else None,
                        votes=each.votes,
                        confidence=each.confidence,
                        judge=each.judge,
                        path=place,
                    )
                )
        return tuple(verdicts)

    def _sentences(self, text: str) -> tuple[str, ...]:
        return self._segments.sentences(text, self._used_segments, self.sample.language)

    def _shown_contexts(self, variables: Mapping[str, object]) -> tuple[str, ...]:
        """The variables that are context chunks, as the prompt shows them: replies are read with them."""
        return tuple(
            [
                self._numbered(cast("Sequence[str]", value))
                for value in variables.values()
                if is_sequence(value)
                and not isinstance(value, str)
                and not (value and isinstance(value[0], Item))
            ]
        )

    def _numbered(self, chunks: Sequence[str]) -> str:
        return self._segments.numbered(chunks, self._used_segments, self.sample.language)

    def _record(self, metric: Metric[Any], status: Status, measurement: Measurement) -> Record:
        return Record(
            sample_id=self.sample.id,
            sample_digest=self.sample.digest,
            metric=metric.name,
            variant=metric.variant,
            signature=metric.signature,
            settings=metric.settings,
            status=status,
            **outcome(measurement),
            verdicts=self._verdicts(),
            steps=tuple([self._steps[path] for path in sorted(self._steps)]),
            segments=self._used_segments,
            notes=(
                *self._thought,
                *[note for path in sorted(self._reviews) for note in self._reviews[path].dropped],
            ),
            corrections=tuple(self._corrections.values()),
            abstained=self._abstained,
            versions=_versions(),
            judge=self._models["judge"] if "judge" in metric.needs else None,
            embedder=self._models["embedder"] if "embedder" in metric.needs else None,
            scorer=self._models["scorer"] if "scorer" in metric.needs else None,
        )


@lru_cache(maxsize=4096)
def written(path: Path) -> str:
    """A path as the record has it: "2.1"."""
    return ".".join(map(str, path))


def _without_thought(sample: Sample) -> tuple[Sample, tuple[str, ...]]:
    """The sample as it is judged, and what the record says of it: a thought is no part of an answer."""
    answer = sample.answer
    if not answer or (said := without_leading_thoughts(answer)) == answer:
        return sample, ()
    note = f"the answer begins with a thought, which is no part of it: {len(answer) - len(said)} characters"
    return sample.model_copy(update={"answer": said}), (note,)


@cache
def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("ragmetrics", "sentencex")}
