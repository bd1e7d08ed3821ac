"""Interpreter of a metric's requests, shared by all drivers.

An interpreter measures one metric on one sample. It renders prompts, reads replies and writes the record.
Subclasses supply replies, vectors and ratings.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, TypeVar

from ragmetrics_core.drivers._conversation import (
    CONVERSATIONS,
    STANDALONE_PATH,
    Conversation,
    conversation_of,
)
from ragmetrics_core.drivers._counting import counted
from ragmetrics_core.drivers._marked_words import placed_in
from ragmetrics_core.drivers._own_code import OwnCode, blank_text, status_of
from ragmetrics_core.drivers._questions import Drawn, SharedRequest
from ragmetrics_core.drivers._segments import Segments, Used
from ragmetrics_core.errors import StepFailed
from ragmetrics_core.measurement import Decision, Evidence, Judged, Measurement, majority, undefined
from ragmetrics_core.metrics import catalogue
from ragmetrics_core.metrics.metric import Metric
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.parsers import READER, WITH_CLAIM, Answer, Declined
from ragmetrics_core.prompts import Prompt, digest_of
from ragmetrics_core.protocol import (
    Compare,
    Count,
    Fork,
    Generate,
    Part,
    Rate,
    Reply,
    Request,
    Review,
    Segment,
    Steps,
)
from ragmetrics_core.records import (
    SCHEMA,
    CompareStep,
    Correction,
    CountStep,
    RateStep,
    Status,
)
from ragmetrics_core.records.stored_form import VERDICT
from ragmetrics_core.records.written_record import WrittenRecord, checked_outcome
from ragmetrics_core.samples import MissingField, Sample, UnverifiedContexts

__all__ = ["Drawn", "Interpreter", "Path", "Segments", "outcome_of", "written"]

T = TypeVar("T")
Path = tuple[int, ...]
# Each repetition of a metric has so many draws to itself.
DRAWS = 1000
_NO_MODELS: Mapping[str, str | None] = dict.fromkeys(("judge", "embedder", "scorer"))
AnyStep = dict[str, Any] | CompareStep | RateStep | CountStep


class Interpreter(ABC):
    """Measures one metric on one sample and writes its record.

    Args:
        sample: the sample.
        segments: its split and rendered texts.
        corrections: a person's decisions, which overrule verdicts.
        models: identities of judge, embedder and scorer, for the record.
    """

    def __init__(
        self,
        sample: Sample,
        *,
        segments: Segments,
        corrections: Sequence[Correction] = (),
        models: Mapping[str, str | None] = _NO_MODELS,
    ) -> None:
        self.sample = sample
        self._judged = segments.judged
        self.prompts: dict[str, Prompt[Any]] = {}
        self.useless_prompts: tuple[str, ...] = ()
        self._segments = segments
        self._corrections = {(each.path, each.item): each for each in corrections}
        self._models = models
        self._steps: dict[Path, AnyStep] = {}
        self._reviews: dict[Path, Review] = {}
        self._used_segments: Used = {}
        self._abstentions: dict[Path, dict[str, Any]] = {}
        self._covered: dict[tuple[str, str], tuple[int, Answer]] = {}
        self._first_draw = 0
        self._has_conversation = False
        self._own: OwnCode

    @abstractmethod
    def complete(self, request: Generate[Any], path: Path) -> Coroutine[Any, Any, Sequence[Drawn]]:
        """Replies to a rendered request: one for each draw or vote."""

    def may_ask_again(self, request: Generate[Any], path: Path) -> bool:
        """Whether to repeat a call whose reply could not be read."""
        return False

    @abstractmethod
    async def compare(self, request: Compare, path: Path) -> CompareStep:
        """Cosines for a request, as recorded."""

    @abstractmethod
    async def rate(self, request: Rate, path: Path) -> RateStep:
        """Ratings for a request, as recorded."""

    async def count(self, request: Count, path: Path) -> CountStep:
        """Counts of a library, as recorded."""
        found = counted(request)
        return CountStep(
            path=written(path),
            procedure=request.procedure,
            made_by=found.made_by,
            text_digests=tuple(map(digest_of, (request.answer, *request.references))),
            counts=dict(found.counts),
        )

    async def side_by_side(self, branches: Sequence[Coroutine[Any, Any, Any]]) -> Sequence[Any]:
        """Run all branches; a failed branch's result is its `StepFailed`."""
        return await Interpreter.in_turn(self, branches, lambda _: False, ())

    async def in_turn(
        self, branches: Sequence[Coroutine[Any, Any, Any]], enough: Callable[[Any], bool], path: Path
    ) -> Sequence[Any]:
        """Run branches one after the other until a result is sufficient; failures as in `side_by_side`."""
        results: list[Any] = []
        try:
            for branch in branches:
                results.append(await outcome_of(branch))
                if not isinstance(results[-1], StepFailed) and enough(results[-1]):
                    break
        finally:
            for branch in branches:
                branch.close()
        return results

    @property
    def knows_conversations(self) -> bool:
        """Whether the history of a sample counts, as in new measurements."""
        return True

    @property
    def may_ask_standalone(self) -> bool:
        """Whether to ask for the stand-alone question of a sample with a history."""
        return True

    @property
    def knows_blanks(self) -> bool:
        """Whether blank answers and references are treated specially, as in new measurements."""
        return True

    async def measure(self, metric: Metric[Any]) -> WrittenRecord:
        """Measure the sample; any failure becomes the record's status."""
        self._first_draw = (metric.repetition - 1) * DRAWS
        conversation = conversation_of(metric, self._judged, is_known=self.knows_conversations)
        self._own = OwnCode(metric.name, self._judged, conversation.fields)
        try:
            steps = self._own.steps(metric)
            if self.knows_blanks and (reason := blank_text(metric, self._judged)):
                steps.close()
                return self._record(metric, "undefined", undefined(reason))
            if conversation.is_read:
                self._has_conversation = True
                question = await self._standalone(metric, conversation)
                steps.close()
                self._own = OwnCode(metric.name, self._judged, conversation.asking(question))
                steps = self._own.steps(metric)
            measurement = self._own.measurement(await self._walk(steps, ()))
            try:
                return self._record(metric, status_of(measurement), measurement)
            except (TypeError, ValueError) as error:  # numbers that no record holds, such as NaN
                raise self._own.failure(error) from error
        except UnverifiedContexts as contradicted:
            return self._record(metric, "unverified_contexts", Measurement(reason=str(contradicted)))
        except MissingField as missing:
            return self._record(metric, "skipped", Measurement(reason=missing.field))
        except StepFailed as failed:
            self.useless_prompts = failed.prompts
            return self._record(metric, failed.status, Measurement(reason=failed.reason))

    async def _standalone(self, metric: Metric[Any], conversation: Conversation) -> str | None:
        """The question as it can be understood without the history; None for the sample's own."""
        if not (conversation.is_asked and self.may_ask_standalone):
            return self._judged.rewritten
        return await self._walk(conversation.steps(metric), STANDALONE_PATH)

    async def _walk(self, steps: Steps[T], path: Path) -> T:
        """Answer the requests of a generator until it returns."""
        resume: Callable[[], Request] = partial(steps.send, None)
        count = 0
        try:
            while True:
                request = self._resumed(resume)
                place = (*path, count + 1)
                again = isinstance(request, Generate) and request.follows
                if isinstance(request, Generate) and again and not self.may_ask_again(request, place):
                    resume = partial(steps.send, ())  # asked often enough
                    continue
                count += 1
                try:
                    if isinstance(request, Generate) and not again:  # here: one coroutine less for a call
                        question = self._question(request, place)
                        answer = self._read(question, await self.complete(question.request, place), place)
                    else:
                        answer = await self._answer(request, place)
                    resume = partial(steps.send, answer)
                except StepFailed as error:
                    resume = partial(steps.throw, error)
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            steps.close()

    def _resumed(self, resume: Callable[[], Request]) -> Request:
        """The next request of a generator."""
        try:
            return resume()
        except (StopIteration, StepFailed):
            raise
        except Exception as error:  # the boundary to the user's code
            raise self._own.failure(error) from error

    async def _asked_again(self, request: Generate[Any], path: Path) -> tuple[Reply[Any], ...]:
        """A new reply to each question whose reply was unusable."""
        questions = [
            self._question(
                request._replace(follows=(unread,), draw=unread.draw - self._first_draw, draws=1), path
            )
            for unread in request.follows
        ]
        drawn = await self.side_by_side([self.complete(each.request, path) for each in questions])
        StepFailed.raise_most_urgent(drawn)
        replies: list[Reply[Any]] = []
        for question, completed in zip(questions, drawn, strict=True):
            replies += self._read(question, completed, path, first=len(replies))
        return tuple(replies)

    def worded(self, request: Generate[Any], path: Path) -> Generate[Any]:
        """The request with the prompt used at a place; by default its own."""
        return request

    def _question(self, request: Generate[Any], path: Path) -> SharedRequest:
        """The request as sent, in the sample's language if there is a translation."""
        request = self.worded(request, path)
        prompt = request.prompt.in_language(self.sample.language)
        try:
            question = self._segments.question(request, prompt, self._first_draw)
        except Exception as error:  # the boundary to the user's code: variables are what he gives
            raise self._own.failure(error) from error
        self.prompts[prompt.digest] = prompt
        self._used_segments.update(question.used)
        return question

    async def _answer(self, request: object, path: Path) -> Any:
        match request:
            case Generate():
                return await self._asked_again(request, path)
            case Review():
                return self._review(request, path)
            case Segment():
                return self._segments.sentences(request.text, self._used_segments)
            case Compare():
                compared = self._steps[path] = await self.compare(request, path)
                return compared.cosines
            case Rate():
                rated = self._steps[path] = await self.rate(request, path)
                return rated.ratings
            case Count():
                found = self._steps[path] = await self.count(request, path)
                return found.counts
            case Part():
                metric = catalogue.of_part(request)
                return await self._walk(self._own.part_steps(metric, request), path)
            case Fork():
                walks = [
                    self._walk(branch, (*path, number)) for number, branch in enumerate(request.branches, 1)
                ]
                results = await (
                    self.in_turn(walks, request.enough, path) if request.enough else self.side_by_side(walks)
                )
                StepFailed.raise_most_urgent(results)
                return tuple(results)
            case _:
                raise self._own.no_request(request)

    def _read(
        self, question: SharedRequest, drawn: Sequence[Drawn], path: Path, first: int = 0
    ) -> tuple[Reply[Any], ...]:
        place = written(path)
        replies: list[Reply[Any]] = []
        said: list[Declined] = []
        for number, each in enumerate(drawn, start=first):
            try:
                read = question.read(each)
            except Exception as error:  # the boundary to the user's code: an answer type may be his own
                raise self._own.failure(error) from error
            self._steps[(*path, number)] = {**read.step, "path": place}
            replies.append(read.reply)
            if question.request.prompt.numbered is not None:
                self._cover(question.request, read.reply)
            if read.abstention is not None:
                said.append(read.abstention)
        if said:
            declined = majority([each.declined for each in said])
            reason = next(each.reason for each in said if each.declined == declined)
            self._abstentions[path] = {"declined": declined, "reason": reason, "path": place}
        return tuple(replies)

    def _cover(self, request: Generate[Any], reply: Reply[Any]) -> None:
        """Keep what the replies say about the numbered sentences of a text, with their number."""
        value, name, expected = reply.reading.value, request.prompt.numbered or "", request.expected
        if value is not None and value.answered() is not None:
            key = name, str(request.variables.get(name))
            if expected.known and key in self._covered:
                value = self._covered[key][1].with_more(value)
            self._covered[key] = len(expected.numbers) + len(expected.known), value

    @property
    def _coverage(self) -> Counter[str]:
        """Counts of the numbered sentences; the name of a text other than the answer precedes its counts."""
        counts: Counter[str] = Counter()
        for (name, _), (count, value) in sorted(self._covered.items(), key=lambda item: item[0]):
            prefix, kinds = "" if name == "answer" else f"{name}_", value.answered() or {}
            counts[f"{prefix}sentences"] += count
            counts[f"{prefix}without_claim"] += sum(kind not in WITH_CLAIM for kind in kinds.values())
            counts[f"{prefix}uncovered"] += count - len(kinds)
        return counts

    def _review(self, request: Review, path: Path) -> Judged:
        place = written(path)
        corrected = self._corrected(place)
        self._reviews[path] = request
        known = [each.supported for each in request.decisions]
        probabilities = [each.confidence for each in request.decisions]
        stances = [each.stance for each in request.decisions] if _has_stances(request) else []
        for item, supported in corrected.items():
            if 1 <= item <= len(known):
                known[item - 1] = supported
                probabilities[item - 1] = float(supported)
                stances[item - 1 : item] = [None] * bool(stances)
        judged = Judged(tuple(known), tuple(probabilities), stances=tuple(stances))
        if request.declining and (declined := judged.known[0]) is not None:
            judge = request.decisions[0]
            reason = judge.reason if judge.supported == declined else None  # a person gives none
            self._abstentions[path] = {"declined": declined, "reason": reason, "path": place}
        return judged

    @property
    def _abstained(self) -> dict[str, Any] | None:
        """Decision of the last step, in the order of paths, that checked whether the answer declines."""
        return self._abstentions[max(self._abstentions)] if self._abstentions else None

    def _corrected(self, place: str) -> dict[int, bool]:
        """A person's decisions at a place, by item."""
        if not self._corrections:
            return {}
        return {item: each.supported for (at, item), each in self._corrections.items() if at == place}

    def _verdicts(self) -> dict[str, Sequence[Any]] | tuple[()]:
        """All decisions in columns; a person's overrules the judge's."""
        reviews = [self._columns(path) for path in sorted(self._reviews) if self._reviews[path].decisions]
        if not reviews:
            return ()
        columns = [tuple(chain.from_iterable(parts)) for parts in zip(*reviews, strict=True)]
        return dict(zip(VERDICT, [tuple(range(1, len(columns[0]) + 1)), *columns], strict=True))

    def _columns(self, path: Path) -> Sequence[tuple[Any, ...]]:
        """Decisions at a place, in the columns after the numbers."""
        review, place = self._reviews[path], written(path)
        decisions = review.decisions
        text, judged, reason, evidence, cosine, votes, confidence, judge, _, names = zip(
            *decisions, strict=True
        )
        count = len(text)
        supported, overruled = judged, (None,) * count
        if corrected := self._corrected(place):
            numbered = list(enumerate(judged, start=1))
            supported = tuple([corrected.get(item, each) for item, each in numbered])
            overruled = tuple([each if item in corrected else None for item, each in numbered])
        if any(evidence):
            evidence = self.placed(decisions, place)
        label = tuple(map(review.labels.of, supported))
        if any(names) or _has_stances(review):
            # a negative verdict says which one it is, unless a person made it
            kept = zip(label, decisions, supported, overruled, strict=True)
            label = tuple(
                [
                    each.label or each.stance or name if now is False and before is None else name
                    for name, each, now, before in kept
                ]
            )
        about, places = (review.about,) * count, (place,) * count
        return (
            about, text, supported, label, reason, evidence,
            cosine, overruled, votes, confidence, judge, places,
        )  # fmt: skip

    def placed(self, decisions: Sequence[Decision], place: str) -> tuple[tuple[Evidence, ...], ...]:
        """Evidence of the decisions at a place, with positions in its texts."""
        return tuple([placed_in(self._judged, each) for each in decisions])

    def _record(self, metric: Metric[Any], status: Status, measurement: Measurement) -> WrittenRecord:
        """Stored fields, in the order of `Record`."""
        if self._covered:
            measurement = replace(measurement, counts={**measurement.counts, **self._coverage})
        noted = [note for path in sorted(self._reviews) for note in self._reviews[path].notes]
        return WrittenRecord(
            {
                "schema": SCHEMA,
                "sample_id": self.sample.id,
                "sample_digest": self.sample.digest,
                "metric": metric.name,
                "variant": metric.variant,
                "signature": metric.signature,
                "settings": metric.settings,
                "status": status,
                **checked_outcome(measurement),
                "verdicts": self._verdicts(),
                "steps": [self._steps[path] for path in sorted(self._steps)],
                "segments": self._used_segments,
                "notes": (*self._segments.thought, *noted),
                "corrections": tuple(self._corrections.values()),
                "abstained": self._abstained,
                **{name: each if name in metric.needs else None for name, each in self._models.items()},
                "versions": {**_versions(), **(CONVERSATIONS if self._has_conversation else {})},
            }
        )


def _has_stances(review: Review) -> bool:
    return any(each.stance for each in review.decisions)


@lru_cache(maxsize=4096)
def written(path: Path) -> str:
    """A path in the record's notation: "2.1"."""
    return ".".join(map(str, path))


@cache
def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {"reader": READER, "ragmetrics": VERSION, "sentencex": version("sentencex")}


async def outcome_of(branch: Coroutine[Any, Any, Any]) -> Any:
    """The branch's result, or the `StepFailed` that ended it."""
    try:
        return await branch
    except StepFailed as failed:
        return failed
