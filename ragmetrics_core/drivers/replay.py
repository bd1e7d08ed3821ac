"""The replay driver: a record's score derived again from its raw replies, without any model."""

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from ragmetrics_core.drivers.interpreter import Drawn, Interpreter, Path, Segments, written
from ragmetrics_core.errors import ConfigError, PromptError, RecordError, StepFailed
from ragmetrics_core.metrics import catalogue
from ragmetrics_core.metrics.metric import Metric, signature_of
from ragmetrics_core.parsers import Abstention
from ragmetrics_core.prompts import Message, Prompt, PromptText, digest_of
from ragmetrics_core.protocol import Compare, Completion, Count, Generate, Rate, Request, Usage
from ragmetrics_core.record import (
    Abstained,
    CompareStep,
    Correction,
    CountStep,
    GenerateStep,
    RateStep,
    Record,
)
from ragmetrics_core.score import Score
from ragmetrics_core.shapes import is_dict, is_series

__all__ = [
    "Difference",
    "audit",
    "by_vote",
    "correct",
    "now",
    "recompute",
    "rendered",
    "rescore",
    "self_contained",
    "useless_replies",
]

T = TypeVar("T")


def recompute(record: Record, *, metric: Metric[Any] | None = None) -> Score:
    """Read the record's raw replies again and derive its score from them alone.

    Args:
        record: a record of a run that was read (hydrated), or a self-contained one.
        metric: the metric, when it is not one of the catalogue.

    Raises:
        RecordError: the record lacks its sample, a prompt or a reply; the message says which.
    """
    return Score(_replayed(record, metric))


def rescore(record: Record, *, variant: str | None = None, **settings: Any) -> Score:
    """The score that another variant, or other settings, would give for the same replies, without a call.

    Raises:
        ConfigError: the variant asks other prompts than the record answers.
        RecordError: the record lacks its sample, a prompt or a reply.
    """
    own = {name: value for name, value in record.settings.items() if variant is None and name not in settings}
    metric = catalogue.metric_class(record.metric).from_settings(
        variant or record.variant, {**own, **settings}
    )
    return Score(_Replay(record, same_prompts=True).replay(metric))


def correct(
    record: Record, *, number: int, supported: bool, by: str | None = None, metric: Metric[Any] | None = None
) -> Record:
    """Overrule one verdict and derive the score again; the record keeps the judge's decision too.

    Args:
        record: a hydrated or self-contained record.
        number: the verdict's number in the record.
        supported: the person's decision.
        by: who decided.
        metric: the metric, when it is not one of the catalogue.

    Raises:
        ConfigError: there is no verdict with this number.
    """
    if not 1 <= number <= len(record.verdicts):
        raise ConfigError(
            f"{record.signature} of {record.sample_id} has verdicts 1 to {len(record.verdicts)}, no {number}"
        )
    verdict = record.verdicts[number - 1]
    place = verdict.path
    item = 1 + sum(each.path == place for each in record.verdicts[: number - 1])
    others = tuple(each for each in record.corrections if (each.path, each.item) != (place, item))
    correction = Correction(path=place, item=item, supported=supported, by=by)
    return _replayed(record.model_copy(update={"corrections": (*others, correction)}), metric).sealed()


def rendered(record: Record, step: GenerateStep, *, metric: Metric[Any] | None = None) -> tuple[Message, ...]:
    """The exact messages that a step of the record sent.

    Raises:
        RecordError: the record lacks what rendering them needs.
    """
    if record.rendered_prompts is not None:
        return record.rendered_prompts[step.rendered_digest]
    replay = _Replay(record)
    replay.replay(metric or _metric_of(record))
    messages = replay.messages.get(step.rendered_digest)
    if messages is None:
        raise RecordError(f"step {step.path} of {record.signature} sent another prompt than its record gives")
    return messages


def self_contained(record: Record, *, metric: Metric[Any] | None = None) -> Record:
    """The record with its sample, prompts and rendered messages inside, fit for a mail."""
    replay = _Replay(record)
    replay.replay(metric or _metric_of(record))
    return record.model_copy(update={"rendered_prompts": replay.messages})


def by_vote(record: Record, *, metric: Metric[Any] | None = None) -> list[float | None]:
    """The score that each vote alone would have given: one value for a record whose verdicts have one vote.

    None where a vote left a verdict out, or where the score is undefined.

    Raises:
        RecordError: the record lacks its sample, a prompt or a reply.
    """
    votes = max((len(verdict.votes) for verdict in record.verdicts), default=0)
    if votes < 2:
        return [record.value]
    own = metric or _metric_of(record)
    return [_Replay(record, vote=number).replay(own).value for number in range(votes)]


def useless_replies(record: Record, *, metric: Metric[Any] | None = None) -> list[GenerateStep]:
    """The replies that a score failed on: cut, unread, or read and without anything that was asked for.

    A rating off the scale is one, and so are verdicts on numbers that nobody asked about.

    Raises:
        RecordError: the record is not hydrated.
    """
    replay = _Replay(record)
    # Of a metric that goes another way each time, only what no rule could read is known.
    with suppress(RecordError):
        replay.replay(metric or _metric_of(record))
    failed = tuple(f"{prompt}." for prompt in replay.useless_prompts)  # a translation has one part more
    return [
        step
        for step in record.generate_steps
        if step.rule == "unread" or step.finish_reason == "length" or f"{step.prompt}.".startswith(failed)
    ]


class Difference(NamedTuple):
    """A field of a record that is not what its replies give."""

    field: str
    stored: object
    derived: object

    def __str__(self) -> str:
        """The difference in one line."""
        return f"{self.field}: stored {_short(self.stored)}, derived {_short(self.derived)}"


def audit(record: Record, *, metric: Metric[Any] | None = None) -> list[Difference]:
    """Derive the record again and list every field that differs; an empty list is a proof.

    Raises:
        RecordError: the record is not hydrated.
    """
    if record.sample is None or record.prompts is None:
        raise _not_hydrated(record)
    found = [
        Difference(f"prompts[{key}]", key, digest)
        for key, text in (record.prompts or {}).items()
        if (digest := digest_of(text.system, text.user, text.again)) != key
    ]
    if record.sample.digest != record.sample_digest:
        found.append(Difference("sample", record.sample_digest, record.sample.digest))
    ignored = {"digest", "seal", "sample", "prompts", "rendered_prompts"}
    ignored |= {"versions", "judge", "embedder", "scorer"}
    replay = _Replay(record)
    try:
        derived = _replayed(record, metric, replay=replay)
    except RecordError as error:
        found.append(Difference("steps", f"{len(record.steps)} steps", str(error)))
    else:
        if replay.said(record.abstained):
            ignored.add("abstained")
        found += _compare("", record.model_dump(exclude=ignored), derived.model_dump(exclude=ignored))
    # the line as it was read, or the fields that it held: blanks and escapes are no alteration
    seals = (record.sealed().seal, record.seal)
    if record.digest and record.digest not in seals:
        found.append(Difference("digest", record.digest, seals[0]))
    return found


class _Replay(Interpreter):
    """Answers requests from the steps of a record."""

    def __init__(self, record: Record, *, same_prompts: bool = False, vote: int | None = None) -> None:
        if record.sample is None or record.prompts is None:
            raise _not_hydrated(record)
        super().__init__(record.sample, segments=Segments(record.segments), corrections=record.corrections)
        self._from = record
        self._same_prompts = same_prompts
        self._vote = vote
        self._texts: Mapping[str, PromptText] = record.prompts
        self._stored: dict[str, list[Any]] = {}
        for step in record.steps:
            self._stored.setdefault(step.path, []).append(step)
        self.messages: dict[str, tuple[Message, ...]] = {}
        self._place = ""

    def replay(self, metric: Metric[Any]) -> Record:
        """Run the metric over the stored steps."""
        try:
            record = now(self.measure(metric))
        except (ArithmeticError, LookupError, ValueError) as error:
            # numbers that no measurement gives: a record is whatever somebody made of it
            raise RecordError(
                f"{self._from.signature} of {self._from.sample_id} cannot be derived from its steps: "
                f"{type(error).__name__}: {error}"
            ) from error
        kept = {
            name: getattr(self._from, name)
            for name in ("judge", "embedder", "scorer", "versions", "sample", "prompts")
        }
        return record.model_copy(update=kept)

    def said(self, abstained: Abstained | None) -> bool:
        """Whether a version that did not note the place kept this: some reply's word, or that of none."""
        if abstained is None:
            return not self._said
        return not abstained.path and Abstention(abstained.declined, abstained.reason) in self._said

    async def complete(self, request: Generate[Any], path: Path) -> Sequence[Drawn]:
        steps = self._steps_at(path, GenerateStep, request.prompt.id)
        self.messages[request.digest] = request.messages
        if not request.votes and len(steps) != request.draws:
            raise self._other_number(path, len(steps), request.draws)
        if request.votes and self._vote is not None:
            steps = steps[self._vote : self._vote + 1]
        return [Drawn(step.draw, _completion(step), step.judge) for step in steps]

    async def compare(self, request: Compare, path: Path) -> CompareStep:
        step = self._step_at(path, CompareStep, "a comparison")
        digests = tuple(digest_of(text) for text in (request.anchor, *request.texts))
        if len(step.cosines) != len(request.texts):
            raise RecordError(
                f"step {step.path} has {len(step.cosines)} cosines for {len(request.texts)} texts"
            )
        return step.model_copy(update={"text_digests": digests})

    async def rate(self, request: Rate, path: Path) -> RateStep:
        step = self._step_at(path, RateStep, "a rating")
        digests = tuple(digest_of(*pair) for pair in request.pairs)
        if len(step.ratings) != len(request.pairs):
            raise RecordError(
                f"step {step.path} has {len(step.ratings)} ratings for {len(request.pairs)} pairs"
            )
        return step.model_copy(update={"pair_digests": digests})

    async def count(self, request: Count, path: Path) -> CountStep:
        """The stored counts; where the same library is at hand, in the same version, it counts again."""
        step = self._step_at(path, CountStep, "a count")
        try:
            again = await super().count(request, path)
        except ConfigError:  # the library is not installed
            again = None
        if again is not None and again.made_by == step.made_by:
            return again
        digests = tuple(map(digest_of, (request.answer, *request.references)))
        return step.model_copy(update={"procedure": request.procedure, "text_digests": digests})

    async def side_by_side(self, branches: Sequence[Coroutine[Any, Any, Any]]) -> Sequence[Any]:
        results: list[Any] = []
        with ExitStack() as stack:
            for branch in branches:
                stack.callback(branch.close)
            for branch in branches:
                try:
                    results.append(await branch)
                except StepFailed as failed:
                    results.append(failed)
        return results

    async def _answer(self, request: Request, path: Path) -> Any:
        if isinstance(request, Generate):
            request = replace(request, prompt=self._prompt_at(request.prompt, path))
        return await super()._answer(request, path)

    def _prompt_at(self, prompt: Prompt[Any], path: Path) -> Prompt[Any]:
        """The prompt in the words that the record's step used."""
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

    def _steps_at(self, path: Path, kind: type[T], asked: str) -> Sequence[T]:
        record = self._from
        steps = self._stored.get(written(path))
        if steps is None and self._vote is not None:
            raise StepFailed("cancelled", "one vote alone would have asked again")
        if steps is None and record.status in ("model_error", "timeout", "cancelled"):
            raise StepFailed(record.status, record.reason or "")
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


def _replayed(record: Record, metric: Metric[Any] | None, *, replay: "_Replay | None" = None) -> Record:
    """The record as its replies give it again."""
    derived = (replay or _Replay(record)).replay(metric or _metric_of(record))
    if metric is not None:
        return derived
    # Of prompts that were replaced, the settings have digests only, which build no prompt: so settings are
    # taken as they are stored, and what they are called must follow from them.
    named = signature_of(record.metric, record.variant, record.settings)
    return derived.model_copy(update={"settings": record.settings, "signature": named})


def _completion(step: GenerateStep) -> Completion:
    """The reply of a step, as it came."""
    tokens = step.prompt_tokens, step.completion_tokens
    usage = None if tokens[0] is None or tokens[1] is None else Usage(tokens[0], tokens[1])
    return Completion(text=step.reply, model=step.model, usage=usage, finish_reason=step.finish_reason)


def _not_hydrated(record: Record) -> RecordError:
    missing = "sample" if record.sample is None else "prompts"
    return RecordError(
        f"the record of {record.signature} on {record.sample_id} lacks its {missing}; "
        "read it through its run, or save it self-contained"
    )


def _metric_of(record: Record) -> Metric[Any]:
    try:
        return catalogue.metric_class(record.metric).from_settings(record.variant, record.settings)
    except ConfigError as error:
        raise RecordError(f"the record's metric cannot be built: {error}; pass metric=...") from error


def now(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("a replay waits for nothing")


def _compare(name: str, stored: object, derived: object) -> list[Difference]:
    """The innermost fields in which two dumped values differ."""
    if is_dict(stored) and is_dict(derived):
        keys = [*stored, *(key for key in derived if key not in stored)]
        return [
            found
            for key in keys
            for found in _compare(f"{name}.{key}" if name else str(key), stored.get(key), derived.get(key))
        ]
    if is_series(stored) and is_series(derived):
        if len(stored) == len(derived):
            pairs = enumerate(zip(stored, derived, strict=True), start=1)
            return [
                found for number, (one, other) in pairs for found in _compare(f"{name}[{number}]", one, other)
            ]
        return [] if list(stored) == list(derived) else [Difference(name, stored, derived)]
    return [] if stored == derived else [Difference(name, stored, derived)]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
