"""What a hook hands over, what becomes of it, and why something is not scored."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Literal, NamedTuple, cast
from uuid import uuid4

from ragmetrics_core.adapting import Chunk, Skip, as_now
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.records import Record
from ragmetrics_core.redaction import Redact, Renamed, redacted, redacted_reply
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
    "closed",
    # what is wrong with the hooks
    "hook_failed",
    "not_traced",
]
"""One vocabulary for the core and all adapters."""

# Up to here a float holds every whole number; a label is text or a float.
_LARGEST_WHOLE = 2**53


@dataclass(slots=True, eq=False, kw_only=True)
class Capture:
    """One answered question of a running application, in the host's objects.

    A hook fills it and hands it over. Question, contexts, answer and history are held as they are then (see
    `ragmetrics_core.adapting.as_now`); the sample is made of them in the background, by `translate`.

    Attributes:
        translate: makes the sample of the fields below; may raise `Skip`.
        needs_contexts: leave out a sample that has no contexts, counted as "no_contexts".
        id: names the sample and its records, unique for each capture.
        name: what the application calls itself.
        question, contexts, answer, history: the host's objects.
        noted: what the application said that it retrieved (`note_contexts`); these are the contexts then.
        data: anything else that `translate` needs; its texts are held by the hook.
        labels: become labels of the sample, e.g. by which rule a field was found.
        session: the conversation that the question belongs to.
        parent: the host's own handle, for sinks: a span context, a run of a tracer.
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

    def hold(self) -> None:
        """Hold the texts of this moment: what the host changes from now on changes nothing here."""
        self.question = as_now(self.question)
        self.contexts = as_now(self.contexts)
        self.answer = as_now(self.answer)
        self.history = as_now(self.history)


class LiveResult(NamedTuple):
    """The scores of one capture.

    Attributes:
        sample: what was scored, as it was judged: with its reference, and redacted where that was asked for.
        records: one for each metric, with sample and prompts attached: `recompute` takes them.
        capture: what the hook had handed over; without the host's objects where redaction was asked for.
    """

    sample: Sample
    records: tuple[Record, ...]
    capture: Capture

    @property
    def scores(self) -> dict[str, float | None]:
        """The values by the metric's name (its signature where two metrics share a name)."""
        return {name: record.value for name, record in by_name(self.records).items()}


def reason_of(error: BaseException | None) -> SkipReason:
    """Why a run that ended with this error is not scored.

    >>> reason_of(ValueError()), reason_of(asyncio.CancelledError()), reason_of(GeneratorExit())
    ('run_failed', 'cancelled', 'abandoned')
    """
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    # a generator that its reader closed before the end
    return "abandoned" if isinstance(error, GeneratorExit) else "run_failed"


def by_name(records: tuple[Record, ...]) -> dict[str, Record]:
    """Records by the metric's name, or by its signature where several have the name."""
    names = [record.metric for record in records]
    return {
        record.metric if names.count(record.metric) == 1 else record.signature: record for record in records
    }


def translated(capture: Capture) -> Sample:
    """The capture's sample, under the capture's id and with its labels.

    Raises:
        Skip: it is none, or has no contexts and needs them.
    """
    sample = capture.translate(capture)
    given: dict[str, Any] = {"app": capture.name, "session": capture.session}
    given = {name: value for name, value in given.items() if value is not None} | capture.labels
    labels = {name: _label(value) for name, value in given.items()} | sample.labels
    if (noted := capture.noted) is not None:
        sample = sample.with_contexts(
            [chunk.text for chunk in noted],
            ids=[chunk.id for chunk in noted],
            scores=[chunk.score for chunk in noted],
            component="note_contexts",
        )
        labels["found_contexts"] = "note_contexts"
    was_searched = sample.contexts is not None and any(stage.name != "shown" for stage in sample.stages or ())
    if capture.needs_contexts and not sample.contexts and not was_searched:
        raise Skip("no_contexts")
    return sample.model_copy(update={"id": capture.id, "labels": labels})


def capture_of(sample: Sample) -> Capture:
    """What an earlier process had captured, of the sample that it made of it."""
    texts = {name: value for name, value in sample.labels.items() if isinstance(value, str)}
    return Capture(
        translate=lambda _: sample, id=sample.id, name=texts.get("app"), session=texts.get("session")
    )


def released(capture: Capture) -> Capture:
    """The capture without the host's objects, which nobody needs once they are translated."""
    return Capture(
        translate=_nothing, id=capture.id, name=capture.name, labels=capture.labels, session=capture.session
    )


def without_texts(capture: Capture, redact: Redact) -> Capture:
    """The capture as sinks may see it when texts are redacted: id, labels, and the host's handle for its run.

    Raises:
        ConfigError: `redact` raised something or returned no text.
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
    raise ConfigError("the objects of a capture are let go once its sample is made: see LiveResult.sample")


def _label(value: Any) -> Label:
    is_whole = isinstance(value, int) and abs(value) <= _LARGEST_WHOLE
    if value is None or isinstance(value, str) or is_whole or (isinstance(value, float) and isfinite(value)):
        return cast("Label", value)
    return str(value)
