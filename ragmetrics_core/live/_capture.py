"""Captures from hooks, their results, and the reasons for not scoring something."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Literal, NamedTuple, cast
from uuid import uuid4

from ragmetrics_core.adapting import Chunk, Skip, as_now
from ragmetrics_core.boundary.redaction import Redact, Renamed, redacted, redacted_reply
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.records import Record
from ragmetrics_core.samples import Label, Sample

__all__ = [
    "Capture",
    "LiveResult",
    "Skip",
    "SkipReason",
    "by_name",
    "capture_of",
    "reason_of",
    "released",
    "translated",
    "without_texts",
]

SkipReason = Literal[
    # how a run ended, of which there is no answer to score
    "run_failed",
    "cancelled",
    "abandoned",
    "never_ended",
    "interrupted",
    # what a run has not
    "no_question",
    "media_in_question",
    "no_answer",
    "several_answers",
    "no_contexts",
    # what became of the capture
    "not_sampled",
    "paused",
    "overflow",
    "budget_spent",
    "closed",
    # what is wrong with the hooks
    "hook_failed",
    "not_traced",
]
"""The vocabulary shared by the core and all adapters."""

# Up to here a float holds every whole number; a label is text or a float.
_LARGEST_WHOLE = 2**53


@dataclass(slots=True, eq=False, kw_only=True)
class Capture:
    """One answered question of a running application, with the host's objects.

    A hook fills and submits it. Question, contexts, answer and history are copied at that moment (see
    `ragmetrics_core.adapting.as_now`); `translate` makes the sample from them in the background.

    Attributes:
        translate: makes the sample from the fields below; may raise `Skip`.
        needs_contexts: skip a sample without contexts, counted as "no_contexts".
        id: unique name of the sample and its records.
        name: the application's name.
        question, contexts, answer, history: the host's objects.
        noted: contexts noted by the application (`note_contexts`); they replace all others, or are added.
        data: anything else that `translate` needs; the hook copies its texts.
        labels: labels for the sample, such as the rule that found a field.
        session: id of the conversation, for the sample.
        parent: the host's handle, for sinks: a span context, a tracer's run.
        draw: number from 0 to 1 that decides whether the capture is sampled, if below `sample_rate`. Default:
            drawn at random.
    """

    translate: Callable[["Capture"], Sample]
    needs_contexts: bool = False
    id: str = field(default_factory=lambda: uuid4().hex)
    name: str | None = None
    question: Any = None
    contexts: Any = None
    answer: Any = None
    history: Any = None
    noted: tuple[Chunk, ...] | None = None
    data: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    session: str | None = None
    parent: Any = None
    draw: float | None = None

    def hold(self) -> None:
        """Copy the texts now, so that later changes by the host have no effect."""
        self.question = as_now(self.question)
        self.contexts = as_now(self.contexts)
        self.answer = as_now(self.answer)
        self.history = as_now(self.history)


class LiveResult(NamedTuple):
    """The scores of one capture.

    Attributes:
        sample: the judged sample, with its reference; redacted if `redact` is set.
        records: one per metric, with sample and prompts attached, ready for `recompute`.
        capture: the hook's capture; without the host's objects if `redact` is set.
    """

    sample: Sample
    records: tuple[Record, ...]
    capture: Capture

    @property
    def scores(self) -> dict[str, float | None]:
        """The values by metric name (by signature if several metrics share a name)."""
        return {name: record.value for name, record in by_name(self.records).items()}


def reason_of(error: BaseException | None) -> SkipReason:
    """The reason for not scoring a run that ended with this error.

    >>> reason_of(ValueError()), reason_of(asyncio.CancelledError()), reason_of(GeneratorExit())
    ('run_failed', 'cancelled', 'abandoned')
    """
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    # a generator that its reader closed before the end
    return "abandoned" if isinstance(error, GeneratorExit) else "run_failed"


def by_name(records: tuple[Record, ...]) -> dict[str, Record]:
    """Records by metric name, or by signature if several metrics share the name."""
    names = [record.metric for record in records]
    return {
        record.metric if names.count(record.metric) == 1 else record.signature: record for record in records
    }


def translated(capture: Capture) -> Sample:
    """The capture's sample, with the capture's id and labels.

    Raises:
        Skip: the capture is not a sample, or lacks contexts that it needs.
    """
    sample = capture.translate(capture)
    given = ({} if capture.name is None else {"app": capture.name}) | capture.labels
    labels = {name: _label(value) for name, value in given.items()} | sample.labels
    if capture.noted is not None:
        sample = _with_notes(sample, capture.noted)
        labels["found_contexts"] = sample.labels["found_contexts"]
    was_searched = sample.contexts is not None and any(stage.name != "shown" for stage in sample.stages or ())
    if capture.needs_contexts and not sample.contexts and not was_searched:
        raise Skip("no_contexts")
    session = sample.session if sample.session is not None else capture.session
    return sample.model_copy(update={"id": capture.id, "session": session, "labels": labels})


def _with_notes(sample: Sample, noted: Sequence[Chunk]) -> Sample:
    """The sample with the application's notes."""
    found = sample.labels.get("found_contexts", "")
    for is_added in (False, True):
        chunks = [chunk for chunk in noted if chunk.is_added == is_added]
        if not chunks and (is_added or noted):
            continue
        texts = [chunk.text for chunk in chunks]
        ids, scores = [chunk.id for chunk in chunks], [chunk.score for chunk in chunks]
        if is_added:
            sample, found = (
                sample.with_more_contexts(texts, ids=ids, scores=scores),
                f"{found}, and note_contexts",
            )
        else:
            sample = sample.with_contexts(texts, ids=ids, scores=scores, component="note_contexts")
            found = "note_contexts"
    return sample.model_copy(update={"labels": sample.labels | {"found_contexts": found}})


def capture_of(sample: Sample) -> Capture:
    """The capture of an earlier process, rebuilt from its sample."""
    name = sample.labels.get("app")
    return Capture(
        translate=lambda _: sample,
        id=sample.id,
        name=name if isinstance(name, str) else None,
        session=sample.session,
    )


def released(capture: Capture) -> Capture:
    """The capture without the host's objects, which are not needed after translation."""
    return Capture(
        translate=_nothing, id=capture.id, name=capture.name, labels=capture.labels, session=capture.session
    )


def without_texts(capture: Capture, redact: Redact) -> Capture:
    """The capture for sinks when texts are redacted: id, labels, and the host's handle.

    Raises:
        ConfigError: `redact` raised an error or did not return text.
    """
    span = capture.data.get("span_context")
    labels = map(_label, capture.labels.values())
    values = [redacted_reply(redact, label) if isinstance(label, str) else label for label in labels]
    return replace(
        released(capture),
        name=capture.name and redacted(redact, capture.name),
        labels=dict(zip(map(Renamed(redact).of, capture.labels), values, strict=True)),
        session=capture.session and redacted(redact, capture.session),
        data={} if span is None else {"span_context": span},
        parent=capture.parent,
    )


def _nothing(capture: Capture) -> Sample:
    raise ConfigError("a capture's objects are released once its sample is made: see LiveResult.sample")


def _label(value: Any) -> Label:
    is_whole = isinstance(value, int) and abs(value) <= _LARGEST_WHOLE
    if value is None or isinstance(value, str) or is_whole or (isinstance(value, float) and isfinite(value)):
        return cast("Label", value)
    return str(value)
