"""A score in the form in which it is sent to other tools: tracers, and OpenTelemetry."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, Self
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

from ragmetrics_core.records._record import FAILED, Record, Status
from ragmetrics_core.samples import Sample
from ragmetrics_core.texts.wording import number_of

__all__ = ["EVENT", "AnnotatorKind", "SentScore", "carrier_attributes", "event_attributes", "sent_score"]

AnnotatorKind = Literal["LLM", "CODE", "HUMAN"]

EVENT = "gen_ai.evaluation.result"
"""Name of OpenTelemetry's event for a score."""

# Ids of scores follow from the scored span and the metric: a score that is sent again replaces itself.
_IDS = UUID("5a0b86f8-8f1c-4d6c-9a43-8d1a2f6f8c55")


class TracedDocument(NamedTuple):
    """A document of a retriever's span: the span's id, and the position from 0."""

    span: str
    position: int


class ChunkScore(BaseModel, frozen=True):
    """The verdict on a context, or its grade.

    Attributes:
        place: the context's place in the sample, from 0.
        document: the traced document that is this context; None if there is none for certain.
        score: 1 or 0 for a verdict, or the grade.
        label: the verdict in words; None for a grade.
        explanation: the judge's reason.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    place: int
    document: TracedDocument | None = None
    score: float
    label: str | None = None
    explanation: str | None = None


class SentScore(BaseModel, frozen=True):
    """One score, its place in a trace, and the digest of the record that proves it.

    Attributes:
        name: the metric's name, or its signature if two metrics share the name.
        value: the score; None if there is none.
        status: the record's status.
        label: "pass" or "fail" if the metric has a threshold and the score a value; otherwise the status.
        explanation: the formula with its numbers, or why there is no value.
        annotator_kind: "HUMAN" if a person overruled a verdict, "LLM" if a judge gave verdicts, else "CODE".
        annotator: the person, the judge, or the embedder or scorer; "ragmetrics" if none of them.
        identifier: the metric's signature.
        trace, span, session: ids of the scored span, as the sample's labels and its session state them.
        project: the label of that name: LangSmith's id of the project.
        sample_id: id of the sample.
        digest: digest of the record; `ragmetrics show RUN --digest DIGEST` opens it.
        run: name of the run's folder.
        judge: identity of the judge.
        version: version of ragmetrics that measured.
        counts: the numbers in the formula.
        corrections: what persons decided, one line for each verdict that they overruled.
        chunks: verdicts on single contexts.
        made: when the run began.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    name: str
    value: float | None
    status: Status
    label: str
    explanation: str
    annotator_kind: AnnotatorKind
    annotator: str
    identifier: str
    trace: str | None = None
    span: str | None = None
    session: str | None = None
    project: str | None = None
    sample_id: str
    digest: str
    run: str | None = None
    judge: str | None = None
    version: str | None = None
    counts: dict[str, int | float] = Field(default_factory=dict)
    corrections: tuple[str, ...] = ()
    chunks: tuple[ChunkScore, ...] = ()
    made: datetime | None = None

    @property
    def has_failed(self) -> bool:
        """Whether measuring failed, so that it may succeed another time."""
        return self.status in FAILED

    def id_at(self, target: object) -> UUID:
        """The id of this score at the scored span or run."""
        return uuid5(_IDS, f"{target}/{self.identifier}")

    def feedback(self, run: UUID) -> dict[str, Any]:
        """Arguments of LangSmith's `create_feedback` for this score of a run."""
        return {
            "key": self.name,
            "score": self.value,
            "value": None if self.label == "ok" else self.label,
            "comment": self.explanation,
            "feedback_source_type": "api" if self.annotator_kind == "HUMAN" else "model",
            "source_info": self.metadata | {"ragmetrics_annotator_kind": self.annotator_kind},
            "feedback_id": self.id_at(run),
            "error": self.has_failed or None,
        }

    @property
    def metadata(self) -> dict[str, Any]:
        """Everything that leads to the proof, as one flat object except for the counts."""
        values = {
            "ragmetrics_signature": self.identifier,
            "ragmetrics_status": self.status,
            "ragmetrics_judge": self.judge,
            "ragmetrics_counts": self.counts,
            "ragmetrics_sample": self.sample_id,
            "ragmetrics_run": self.run,
            "ragmetrics_digest": self.digest,
            "ragmetrics_version": self.version,
        }
        return {name: value for name, value in values.items() if value is not None}

    def redacted(self, redact: Callable[[str], str]) -> Self:
        """The same score after `redact` saw each of its texts; ids of the trace and the digest stay."""
        texts = ("name", "explanation", "annotator", "identifier", "session", "sample_id", "judge")
        update: dict[str, Any] = {
            name: redact(value) for name in texts if (value := getattr(self, name)) is not None
        }
        update["corrections"] = tuple(map(redact, self.corrections))
        update["chunks"] = tuple(
            chunk.model_copy(update={"explanation": chunk.explanation and redact(chunk.explanation)})
            for chunk in self.chunks
        )
        return self.model_copy(update=update)


def sent_score(
    record: Record,
    *,
    name: str | None = None,
    passed: bool | None = None,
    run: str | None = None,
    made: datetime | None = None,
) -> SentScore:
    """The score of a record in the form in which it is sent.

    Args:
        record: the record; its sample, if attached, gives the place in the trace.
        name: replaces the metric's name.
        passed: whether the value passes the metric's threshold; None if there is no threshold.
        run: name of the run.
        made: when the run began.
    """
    labels = {} if record.sample is None else record.sample.labels
    kind, annotator = _annotator(record)
    label: str = record.status
    if record.value is not None and passed is not None:
        label = "pass" if passed else "fail"
    corrections = tuple(_corrections(record))
    overruled = f"; a person overruled {number_of(len(corrections), 'verdict')}" if corrections else ""
    return SentScore(
        name=name or record.metric,
        value=record.value,
        status=record.status,
        label=label,
        explanation=(record.headline or record.status) + overruled,
        annotator_kind=kind,
        annotator=annotator,
        identifier=record.signature,
        trace=_text(labels.get("trace")),
        span=_text(labels.get("span")),
        project=_text(labels.get("project")),
        session=None if record.sample is None else record.sample.session,
        sample_id=record.sample_id,
        digest=record.digest or record.sealed().digest,
        run=run,
        judge=record.judge,
        version=record.versions.get("ragmetrics"),
        counts=record.counts,
        corrections=corrections,
        chunks=tuple(_chunks(record)),
        made=made,
    )


def event_attributes(score: SentScore) -> dict[str, Any]:
    """Attributes of the event of OpenTelemetry's conventions, and this library's under `ragmetrics.`."""
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": score.name,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.explanation": score.explanation,
        "error.type": score.status if score.has_failed else None,
        "ragmetrics.sample.id": score.sample_id,
        "ragmetrics.metric.signature": score.identifier,
        "ragmetrics.status": score.status,
        "ragmetrics.annotator.kind": score.annotator_kind,
        "ragmetrics.judge": score.judge,
        "ragmetrics.run": score.run,
        "ragmetrics.record.digest": score.digest,
        "ragmetrics.version": score.version,
        **{f"ragmetrics.counts.{name}": count for name, count in score.counts.items()},
    }
    return {name: value for name, value in attributes.items() if value is not None}


def carrier_attributes(scores: Iterable[SentScore]) -> dict[str, Any]:
    """Attributes of OpenInference's carrier span, which holds all scores of one other span."""
    attributes: dict[str, Any] = {"openinference.span.kind": "EVALUATOR"}
    for number, score in enumerate(scores):
        fields: Mapping[str, Any] = {
            "name": score.name,
            "score": score.value,
            "label": score.label,
            "explanation": score.explanation,
            "annotator_kind": score.annotator_kind,
            "identifier": score.identifier,
            "metadata": json.dumps(score.metadata, ensure_ascii=False),
        }
        prefix = f"evaluations.{number}.evaluation"
        attributes |= {f"{prefix}.{name}": value for name, value in fields.items() if value is not None}
        if score.session is not None:
            attributes["session.id"] = score.session
    return attributes


def _annotator(record: Record) -> tuple[AnnotatorKind, str]:
    """Kind and name of whoever decided; without any step, the judge if measuring failed."""
    if record.corrections:
        return "HUMAN", next((each.by for each in reversed(record.corrections) if each.by), "a person")
    kinds = {step.kind for step in record.steps}
    if record.judge and ("generate" in kinds or (record.status in FAILED and not kinds)):
        return "LLM", record.judge
    if "rate" in kinds and record.scorer:
        return "CODE", record.scorer
    return "CODE", (record.embedder if "compare" in kinds else None) or "ragmetrics"


def _corrections(record: Record) -> Iterator[str]:
    for verdict in record.verdicts:
        if verdict.overruled is not None and verdict.overruled != verdict.supported:
            yield f"{verdict.number}. {verdict.label}: {verdict.text}"


def _chunks(record: Record) -> Iterator[ChunkScore]:
    """Verdicts on the contexts, or their grades, if each context has exactly one."""
    contexts = () if record.sample is None else record.sample.contexts or ()
    verdicts = [verdict for verdict in record.verdicts if verdict.about == "chunk"]
    documents = {} if record.sample is None else _documents(record.sample)
    for place, text in enumerate(contexts):
        document = documents.get(text)
        grade = record.counts.get(f"grade_{place + 1}")
        if grade is not None:
            yield ChunkScore(place=place, document=document, score=float(grade))
        elif len(verdicts) == len(contexts) and (supported := verdicts[place].supported) is not None:
            yield ChunkScore(
                place=place,
                document=document,
                score=float(supported),
                label=verdicts[place].label,
                explanation=verdicts[place].reason or None,
            )


def _documents(sample: Sample) -> dict[str, TracedDocument]:
    """The document of each text, if the sample names the one span that retrieved them.

    A text that two documents or two contexts share belongs to none of them.
    """
    span = _text(sample.labels.get("retriever"))
    retrieved = [stage for stage in sample.stages or () if stage.name == "retrieved"]
    if span is None or len(retrieved) != 1:
        return {}
    texts = [chunk.text for chunk in retrieved[0].chunks]
    counts, shown = Counter(texts), Counter(sample.contexts or ())
    return {
        text: TracedDocument(span, position)
        for position, text in enumerate(texts)
        if counts[text] == 1 and shown[text] == 1
    }


def _text(label: object) -> str | None:
    return label if isinstance(label, str) and label else None
