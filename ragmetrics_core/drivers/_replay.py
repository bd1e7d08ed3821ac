"""The replay driver: recomputes a score from the raw replies in its record, without a model."""

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from ragmetrics_core.drivers._conversation import STANDALONE_PATH
from ragmetrics_core.drivers._interpreter import Drawn, Interpreter, Path, Segments, written
from ragmetrics_core.errors import ConfigError, PromptError, RecordError, StepFailed
from ragmetrics_core.measurement import Decision, Evidence
from ragmetrics_core.metrics import catalogue
from ragmetrics_core.metrics.metric import Metric, signature_of
from ragmetrics_core.parsers import READER
from ragmetrics_core.prompts import Message, Prompt, PromptText, digest_of
from ragmetrics_core.protocol import Compare, Completion, Count, Generate, Rate, Reply, Usage
from ragmetrics_core.records import (
    CompareStep,
    CountStep,
    GenerateStep,
    RateStep,
    Record,
)
from ragmetrics_core.records.packing import outlined_step
from ragmetrics_core.records.written_record import WrittenRecord

__all__ = ["Replay", "metric_of", "not_hydrated", "now", "replayed", "rewritten"]

T = TypeVar("T")


class Replay(Interpreter):
    """Answers requests from the steps of a record.

    Args:
        record: a hydrated or self-contained record.
        same_prompts: refuse a metric whose prompts differ from the record's.
        vote: use only this vote, from 0; None for all.

    Raises:
        RecordError: the record lacks its sample or its prompts.
    """

    def __init__(self, record: Record, *, same_prompts: bool = False, vote: int | None = None) -> None:
        if record.sample is None or record.prompts is None:
            raise not_hydrated(record)
        super().__init__(
            record.sample, segments=Segments(record.sample, record.segments), corrections=record.corrections
        )
        self._from = record
        self._same_prompts = same_prompts
        self._vote = vote
        self._texts: Mapping[str, PromptText] = record.prompts
        self._stored: dict[str, list[Any]] = {}
        for step in record.steps:
            self._stored.setdefault(step.path, []).append(step)
        self.messages: dict[str, tuple[Message, ...]] = {}
        reader = record.versions.get("reader")
        self._is_first = reader is None
        self._is_earlier = reader != READER
        self._finds_more = reader in (None, "2")

    def replay(self, metric: Metric[Any]) -> Record:
        """Run the metric over the stored steps."""
        return self.read(self.written(metric))

    def written(self, metric: Metric[Any]) -> WrittenRecord:
        """Record of the metric over the stored steps, with the models and versions of the stored record."""
        with self._no_surprise():
            measured = now(self.measure(metric))
        if measured.status == "metric_error" != self._from.status:
            raise RecordError(
                f"{self._from.signature} of {self._from.sample_id} cannot be derived from its steps: "
                f"{(measured.fields['reason'] or '').partition(': ')[2]}"
            )
        names = ["judge", "embedder", "scorer", "versions"]
        if self._is_first:
            # what its reader said of replies, and is in no step
            names += ["notes"] + ["reason"] * (measured.status == self._from.status == "parse_error")
            names += ["abstained"] * (not self._corrections)
        if self._is_earlier and self._unanswered is not None:
            names.append("segments")  # of the prompt that was not answered, which is not in the record
        kept = self._from.model_dump(include={*names})
        return WrittenRecord({**measured.fields, **kept})

    def read(self, derived: WrittenRecord) -> Record:
        """The written record as read."""
        with self._no_surprise():
            record = derived.read()
        return record.model_copy(update={"sample": self._from.sample, "prompts": self._from.prompts})

    @contextmanager
    def _no_surprise(self) -> Generator[None]:
        """Turn errors from impossible numbers into `RecordError`, because records are untrusted."""
        try:
            yield
        except (ArithmeticError, LookupError, ValueError) as error:
            raise RecordError(
                f"{self._from.signature} of {self._from.sample_id} cannot be derived from its steps: "
                f"{type(error).__name__}: {error}"
            ) from error

    async def complete(self, request: Generate[Any], path: Path) -> Sequence[Drawn]:
        """The stored replies."""
        steps = self._steps_at(path, GenerateStep, request.prompt.id)
        self.messages[request.digest] = request.messages
        asked = len({(step.draw, step.judge) for step in steps})
        if asked < len(steps) and not self._is_first:
            raise self._other_number(path, len(steps), asked)
        if request.follows:
            (unread,) = request.follows
            steps = [step for step in steps if (step.draw, step.judge) == (unread.draw, unread.judge)]
        elif not request.votes and len(steps) != request.draws:
            raise self._other_number(path, len(steps), request.draws)
        elif request.votes and self._vote is not None:
            steps = steps[self._vote : self._vote + 1]
        return [self._drawn(step) for step in steps]

    def _drawn(self, step: GenerateStep) -> Drawn:
        earlier = outlined_step(step.model_dump()) if self._is_earlier else None
        return Drawn(step.draw, _completion(step), step.judge, earlier, self._is_first)

    def placed(self, decisions: Sequence[Decision], place: str) -> tuple[tuple[Evidence, ...], ...]:
        """Evidence with positions; evidence that an earlier reader did not find stays without."""
        placed = super().placed(decisions, place)
        if not self._finds_more:
            return placed
        stored = [verdict for verdict in self._from.verdicts if verdict.path == place]
        if len(stored) != len(placed):
            return placed
        return tuple([_as_found(evidence, of.evidence) for evidence, of in zip(placed, stored, strict=True)])

    @property
    def knows_conversations(self) -> bool:
        """Whether the history counted when the record was made."""
        return "conversations" in self._from.versions

    @property
    def may_ask_standalone(self) -> bool:
        """Whether the record has the stand-alone question."""
        return self._has_steps(STANDALONE_PATH)

    @property
    def knows_blanks(self) -> bool:
        """Whether the record's driver did so, and its answer or reference is blank."""
        return self._from.reason in ("no_answer", "no_reference")

    def may_ask_again(self, request: Generate[Any], path: Path) -> bool:
        """Whether the record has repeated calls; earlier drivers repeated ratings as new draws."""
        steps = self._stored.get(written(path), ())
        if not steps:
            # verdicts there were put on record after a question that was asked often enough
            is_reviewed = any(verdict.path == written(path) for verdict in self._from.verdicts)
            return self._vote is None and self._failed_at(request.prompt) and not is_reviewed
        if not self._is_first:
            return all(isinstance(step, GenerateStep) and step.again for step in steps)
        first = request.follows[0].draw
        return len(steps) >= len(request.follows) and all(
            isinstance(step, GenerateStep) and (step.again or step.draw > first) for step in steps
        )

    def _failed_at(self, prompt: Prompt[Any]) -> bool:
        """Whether the record's last call, which is not in a step, may be one of a prompt."""
        if self._unanswered is None or self._is_first:  # the first driver's reasons name no prompt
            return self._unanswered is not None
        asked = {prompt.id, prompt.in_language(self.sample.language).id}
        return any(f" {each}: " in f" {self._from.reason}" for each in asked)

    async def _asked_again(self, request: Generate[Any], path: Path) -> tuple[Reply[Any], ...]:
        """The stored new replies to questions whose replies were unusable.

        Earlier drivers asked all judges, in a separate conversation.
        """
        if not self._is_first:
            return await super()._asked_again(request, path)
        steps = self._steps_at(path, GenerateStep, request.prompt.id)
        question = self._question(request._replace(follows=()), path)
        replies = self._read(question, [self._drawn(step) for step in steps], path)
        return replies[: len(request.follows)]

    async def compare(self, request: Compare, path: Path) -> CompareStep:
        """The stored cosines."""
        step = self._step_at(path, CompareStep, "a comparison")
        digests = tuple(digest_of(text) for text in (request.anchor, *request.texts))
        if len(step.cosines) != len(request.texts):
            raise RecordError(
                f"step {step.path} has {len(step.cosines)} cosines for {len(request.texts)} texts"
            )
        return step.model_copy(update={"text_digests": digests})

    async def rate(self, request: Rate, path: Path) -> RateStep:
        """The stored ratings."""
        step = self._step_at(path, RateStep, "a rating")
        digests = tuple(digest_of(*pair) for pair in request.pairs)
        if len(step.ratings) != len(request.pairs):
            raise RecordError(
                f"step {step.path} has {len(step.ratings)} ratings for {len(request.pairs)} pairs"
            )
        return step.model_copy(update={"pair_digests": digests})

    async def count(self, request: Count, path: Path) -> CountStep:
        """The stored counts, counted again if the same version of the library is installed."""
        step = self._step_at(path, CountStep, "a count")
        try:
            again = await super().count(request, path)
        except ConfigError:  # the library is not installed
            again = None
        if again is not None and again.made_by == step.made_by:
            return again
        digests = tuple(map(digest_of, (request.answer, *request.references)))
        return step.model_copy(update={"procedure": request.procedure, "text_digests": digests})

    async def in_turn(
        self, branches: Sequence[Coroutine[Any, Any, Any]], enough: Callable[[Any], bool], path: Path
    ) -> Sequence[Any]:
        """Run the branches in the record; if none is sufficient, the next one is missing.

        After a correction, or with a single vote, an earlier sufficient result may no longer be one; the
        remaining branches stay unasked.
        """
        asked = [number for number in range(1, len(branches) + 1) if self._has_steps((*path, number))]
        last = max(asked, default=0)
        as_stored = not self._corrections and self._vote is None
        try:
            results = [*await super().in_turn(branches[:last], lambda _: False, path)]
            is_enough = any(not isinstance(each, StepFailed) and enough(each) for each in results)
            if is_enough or (results and not as_stored):
                return results
            return [*results, *await super().in_turn(branches[last:], enough, path)]
        finally:
            for branch in branches:
                branch.close()

    def _has_steps(self, path: Path) -> bool:
        """Whether the record has a step below a path."""
        return any(place.startswith(f"{written(path)}.") for place in self._stored)

    def worded(self, request: Generate[Any], path: Path) -> Generate[Any]:
        """The request with the prompt of the record's step."""
        return request._replace(prompt=self._prompt_at(request.prompt, path))

    def _prompt_at(self, prompt: Prompt[Any], path: Path) -> Prompt[Any]:
        """The prompt text of the record's step."""
        steps = self._stored.get(written(path), ())
        if not steps or not isinstance(steps[0], GenerateStep):
            return prompt
        own = prompt.in_language(self.sample.language)
        stored = steps[0]
        if own.digest == stored.prompt_digest:
            return own
        text = self._texts.get(stored.prompt_digest)
        if self._same_prompts and (text is None or text.name != prompt.name):
            raise ConfigError(
                f"the record answers {stored.prompt}, not {prompt.id}: evaluate again for this variant"
            )
        if text is None:
            raise RecordError(f"the prompt {stored.prompt} (digest {stored.prompt_digest}) is missing")
        try:
            own = prompt.with_text(system=text.system, user=text.user, again=text.again)
        except PromptError as error:
            raise RecordError(f"{stored.prompt} is not what step {written(path)} asked: {error}") from error
        return replace(own, name=text.name, version=text.version, language=text.language)

    @property
    def _unanswered(self) -> StepFailed | None:
        """Failure of the record's last call, which is not in a step."""
        status = self._from.status
        if status in ("model_error", "metric_error", "timeout", "cancelled"):
            return StepFailed(status, self._from.reason or "")
        return None

    def _steps_at(self, path: Path, kind: type[T], asked: str) -> Sequence[T]:
        record = self._from
        steps = self._stored.get(written(path))
        if steps is None and self._vote is not None:
            raise StepFailed("cancelled", "one vote alone would have asked again")
        if steps is None and self._unanswered is not None:
            raise self._unanswered
        if steps is None:
            raise RecordError(
                f"{record.signature} of {record.sample_id}: the record has no step {written(path)} ({asked})"
            )
        if not all(isinstance(step, kind) for step in steps):
            raise RecordError(
                f"step {written(path)} of {record.signature} on {record.sample_id} is not {asked}"
            )
        return steps

    def _step_at(self, path: Path, kind: type[T], asked: str) -> T:
        """The only step at a place."""
        steps = self._steps_at(path, kind, asked)
        if len(steps) != 1:
            raise self._other_number(path, len(steps), 1)
        return steps[0]

    def _other_number(self, path: Path, found: int, asked: int) -> RecordError:
        record = self._from
        return RecordError(
            f"{record.signature} of {record.sample_id} has {found} steps {written(path)}, not {asked}"
        )


def replayed(record: Record, metric: Metric[Any] | None) -> Record:
    """The record recomputed from its replies."""
    replay = Replay(record)
    return replay.read(rewritten(record, metric, replay))


def rewritten(record: Record, metric: Metric[Any] | None, replay: Replay) -> WrittenRecord:
    """Record that a driver would write for the replies of a record."""
    if metric is not None:
        return replay.written(metric)
    derived = replay.written(metric_of(record))
    # Of prompts that were replaced, the settings have digests only, which build no prompt: so settings are
    # taken as they are stored, and what they are called must follow from them.
    named = signature_of(record.metric, record.variant, record.settings)
    return WrittenRecord({**derived.fields, "settings": record.settings, "signature": named})


def _as_found(evidence: Sequence[Evidence], stored: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Evidence; quotes in a different writing that were stored as not found stay so."""
    lost = {each.quote for each in stored if each.span is None}
    return tuple(
        [
            replace(each, span=None) if each.quote in lost and each.span and not each.span.exact else each
            for each in evidence
        ]
    )


def _completion(step: GenerateStep) -> Completion:
    """The original reply of a step."""
    tokens = step.prompt_tokens, step.completion_tokens
    usage = None if tokens[0] is None or tokens[1] is None else Usage(tokens[0], tokens[1])
    return Completion(step.reply, step.model, usage, step.finish_reason, step.held_to)


def not_hydrated(record: Record) -> RecordError:
    """Error for a record without its sample or its prompts."""
    missing = "sample" if record.sample is None else "prompts"
    return RecordError(
        f"the record of {record.signature} on {record.sample_id} lacks its {missing}; "
        "read it through its run, or save it self-contained"
    )


def metric_of(record: Record) -> Metric[Any]:
    """Catalogue metric of a record, with its settings.

    Raises:
        RecordError: there is no such metric.
    """
    try:
        if not record.settings:
            return _usual(record.metric, record.variant)
        return catalogue.metric_class(record.metric).from_settings(record.variant, record.settings)
    except ConfigError as error:
        raise RecordError(f"the record's metric cannot be built: {error}; pass metric=...") from error


@cache
def _usual(name: str, variant: str) -> Metric[Any]:
    return catalogue.metric_class(name).from_settings(variant, {})


def now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("a replay waits for nothing")
