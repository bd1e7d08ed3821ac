"""The record: the proof of one score, and what differs between two of them.

A stored record names its sample and its prompts by digest. Reading a run hydrates it (attaches both), and
`self_contained` inlines everything. The format is described in docs/record.md.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny
from pydantic_core import PydanticSerializationError, to_json

from ragmetrics_core.errors import RecordError, SampleError
from ragmetrics_core.measurement import Measurement, Verdict
from ragmetrics_core.prompts import Message, PromptText, digest_of
from ragmetrics_core.records._packing import packed
from ragmetrics_core.records._sealing import seal_of, sealed_line
from ragmetrics_core.records._stored_form import PACKED, unpacked
from ragmetrics_core.samples import Sample
from ragmetrics_core.shapes import Json, is_dict

__all__ = [
    "FAILED",
    "SCHEMA",
    "Abstained",
    "CompareStep",
    "Correction",
    "CountStep",
    "GenerateStep",
    "PartResult",
    "RateStep",
    "Record",
    "Status",
    "Step",
    "outcome",
]

Status = Literal[
    "ok",
    "undefined",
    "incomplete",
    "parse_error",
    "model_error",
    "metric_error",
    "timeout",
    "skipped",
    "unverified_contexts",
    "cancelled",
]

FAILED: Final[frozenset[Status]] = frozenset(
    {"parse_error", "model_error", "metric_error", "timeout", "cancelled"}
)
"""The statuses of a score that is missing because something failed; asked again there may be one."""

SCHEMA = 1


class _Stored(BaseModel, frozen=True):
    """Data of a record: frozen, finite; fields of a later version are kept as they are."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False, defer_build=True)


class GenerateStep(_Stored, frozen=True):
    """One reply of the judge and how it was read.

    Attributes:
        path: the step's place in the measurement; it does not depend on timing.
        prompt: the prompt's name and version.
        prompt_digest: digest of the prompt's text, the key to `prompts.jsonl`.
        rendered_digest: digest of the messages that were sent.
        draw: the draw's number.
        again: whether this asked once more, after a reply that could not be used.
        judge: identity of the judge that replied, where the run has a panel or a cascade of several.
        reply: the raw reply.
        reply_digest: digest of the reply.
        model: the model that replied, as the server names it.
        finish_reason: why the reply ended.
        held_to: what the request held the reply to, as the judge says: "json_schema", "json_object", a tool.
        prompt_tokens, completion_tokens: as counted by the model.
        rule: the form in which the reply was read, "json" or "lines"; "unread" when it was in neither. In
            records of the first reader, which name none in `versions`, the name of one of its rules.
        value: what was read.
        objections: why the reply could not be used, or what was missing in it.
        dropped: what was seen in the reply and does not count.
    """

    kind: Literal["generate"] = "generate"
    path: str
    prompt: str
    prompt_digest: str
    rendered_digest: str
    draw: int = 0
    again: bool = False
    judge: str | None = None
    reply: str
    reply_digest: str
    model: str = ""
    finish_reason: str | None = None
    held_to: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    rule: str
    value: Any = None
    objections: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Why the reply could not be used, and what was read of it and does not count."""
        return self.objections + self.dropped


class CompareStep(_Stored, frozen=True):
    """Cosines between an anchor and some texts; None where a vector is zero.

    Attributes:
        path: the step's place in the measurement.
        text_digests: digests of the anchor and the texts.
        vector_digests: digests of their vectors (as little-endian float64).
        cosines: one for each text.
        vectors: the vectors themselves, when the run keeps them.
    """

    kind: Literal["compare"] = "compare"
    path: str
    text_digests: tuple[str, ...]
    vector_digests: tuple[str, ...]
    cosines: tuple[float | None, ...]
    vectors: tuple[tuple[float, ...], ...] | None = None


class RateStep(_Stored, frozen=True):
    """A scorer's numbers for pairs of texts."""

    kind: Literal["rate"] = "rate"
    path: str
    pair_digests: tuple[str, ...]
    ratings: tuple[float, ...]


class CountStep(_Stored, frozen=True):
    """What a library counted in an answer and its references.

    Attributes:
        path: the step's place in the measurement.
        procedure: what was counted: "bleu", "chrf", "rouge" or "meteor".
        made_by: the library with its version and settings, in its own notation where it has one.
        text_digests: digests of the answer and the references.
        counts: the counts, by name.
    """

    kind: Literal["count"] = "count"
    path: str
    procedure: str
    made_by: str
    text_digests: tuple[str, ...]
    counts: dict[str, tuple[int, ...]]


# Written as the step that it is: a union would try its members, which takes twice as long.
Step = SerializeAsAny[
    Annotated[GenerateStep | CompareStep | RateStep | CountStep, Field(discriminator="kind")]
]


class Correction(_Stored, frozen=True):
    """A person's decision that overrules a verdict.

    Attributes:
        path: where in the measurement the verdict stands.
        item: which of the verdicts at that place, from 1.
        supported: the person's decision.
        by: who decided.
    """

    path: str
    item: int
    supported: bool
    by: str | None = None


class Abstained(_Stored, frozen=True):
    """Whether the answer declines to answer, as a step saw it.

    Of several draws or judges of a step more than half decide; of several steps the last one counts, in the
    order of their paths. A person's correction of a verdict on it counts before the judge's.

    Attributes:
        declined: whether it declines.
        reason: why, in the words of the first reply that says so.
        path: the step's place in the measurement; empty in records of versions that kept whatever reply came
            last.
    """

    declined: bool
    reason: str | None = None
    path: str = ""


class PartResult(_Stored, frozen=True):
    """The outcome of a metric that is a part of the record's metric."""

    metric: str
    value: float | None = None
    bounds: tuple[float, float] | None = None
    reason: str | None = None
    counts: dict[str, int | float] = Field(default_factory=dict)
    formula: str = ""
    parts: tuple["PartResult", ...] = ()

    @classmethod
    def of(cls, name: str, measurement: Measurement) -> "PartResult":
        """The stored form of a part's measurement."""
        return cls(metric=name, **outcome(measurement))


class Record(_Stored, frozen=True):
    """One score and everything it was made from.

    Attributes:
        schema_: version of the format, rises only when a meaning changes (stored as `schema`).
        sample_id, sample_digest: which sample, and the digest of its content.
        metric, variant, settings: what was measured; `signature` names all three in short.
        status: "ok" exactly when `value` is a number.
        reason: why there is no value: a code ("no_statements"), a field ("reference"), or a message.
        value, bounds, counts, formula, parts: the outcome.
        verdicts: what was decided about each text, numbered from 1.
        steps: every reply and comparison, in the order of their paths.
        segments: how texts were split, by the texts' digests: [start, end] of each sentence.
        notes: what was read and did not count when verdicts were put together.
        corrections: a person's decisions that overrule verdicts.
        abstained: whether the answer declines to answer, once a step has seen it.
        judge, embedder, scorer: identities of the models used.
        versions: of ragmetrics and of what splits sentences.
        digest: seal of the stored line: digest of everything before it.
        seal: what the seal should be for the line that was read; empty when no stored line was read.
        sample, prompts: attached when hydrated; None in a stored record.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_: int = Field(default=SCHEMA, alias="schema")
    sample_id: str
    sample_digest: str
    metric: str
    variant: str
    signature: str
    settings: dict[str, Any] = Field(default_factory=dict)
    status: Status
    reason: str | None = None
    value: float | None = None
    bounds: tuple[float, float] | None = None
    counts: dict[str, int | float] = Field(default_factory=dict)
    formula: str = ""
    parts: tuple[PartResult, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    steps: tuple[Step, ...] = ()
    segments: dict[str, tuple[tuple[int, int], ...]] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    abstained: Abstained | None = None
    judge: str | None = None
    embedder: str | None = None
    scorer: str | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    digest: str = ""
    seal: str = ""
    sample: Sample | None = None
    prompts: dict[str, PromptText] | None = None
    rendered_prompts: dict[str, tuple[Message, ...]] | None = None

    def stored(self) -> str:
        """The line that is stored: without sample and prompts, sealed with its own digest."""
        return self.line().decode()

    def line(self) -> bytes:
        """The line that is stored, in UTF-8."""
        return sealed_line(self.body().encode())

    def body(self) -> str:
        """The stored line without its seal."""
        return _json(packed(self._fields()))

    def sealed(self) -> "Record":
        """The same record with the digest that belongs to it."""
        seal = digest_of(self.body())
        return self.model_copy(update={"digest": seal, "seal": seal})

    def seals(self) -> tuple[str, str]:
        """The seals that these fields have in the stored form, and written out."""
        fields = self._fields()
        if "reader" not in self.versions:  # its steps were written before they had these fields
            for step in fields["steps"]:
                step.pop("held_to", None)
                step.pop("objections", None)
        return digest_of(self.body()), digest_of(_json(fields))

    def _fields(self) -> dict[str, Any]:
        attached = {"digest", "seal", "sample", "prompts", "rendered_prompts"}
        return self.model_dump(by_alias=True, exclude=attached)

    def hydrated(self, sample: Sample, prompts: Mapping[str, PromptText]) -> "Record":
        """The same record with its sample and the prompts that its steps name."""
        used = dict.fromkeys(step.prompt_digest for step in self.generate_steps)
        return self.model_copy(
            update={"sample": sample, "prompts": {key: prompts[key] for key in used if key in prompts}}
        )

    @property
    def generate_steps(self) -> Iterator[GenerateStep]:
        """The steps that asked the judge."""
        return (step for step in self.steps if isinstance(step, GenerateStep))

    @property
    def remarks(self) -> list[str]:
        """What the score passed over: why replies were asked for again, and what did not count."""
        said = ((step.prompt, text) for step in self.generate_steps for text in step.remarks)
        return list(dict.fromkeys([*self.notes, *(f"{prompt}: {text}" for prompt, text in said)]))

    @property
    def ratings(self) -> Iterator[tuple[float, str]]:
        """The ratings that were read, in the order of their steps, each with the judge's reason."""
        for step in self.generate_steps:
            value = step.value if is_dict(step.value) else {}
            if isinstance(rating := value.get("rating"), int | float):
                yield float(rating), str(value.get("reason") or "")

    @property
    def headline(self) -> str:
        """The outcome in one line: the formula, or the status with its reason."""
        if self.status == "ok":
            return self.formula
        text = f"{self.status} ({self.reason})" if self.reason else self.status
        return f"{text}, {self.formula}" if self.formula else text

    def explain(self) -> str:
        """The statements, verdicts, reasons and the formula as readable text."""
        lines = [f"{self.signature} of {self.sample_id}: {self.headline}"]
        lines += [f"  {line}" for part in self.parts for line in _part_lines(part)]
        lines += [line for verdict in self.verdicts for line in _verdict_lines(verdict)]
        lines += [f"  rated {rating:g}: {reason or 'no reason given'}" for rating, reason in self.ratings]
        lines += [f"  not counted: {note}" for note in self.notes]
        if self.abstained and self.abstained.declined:
            lines.append(f"  the answer declines: {self.abstained.reason or 'no reason given'}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """The score in one line."""
        return f"Record({self.sample_id!r}, {self.signature!r}, {self.headline})"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Record":
        """Read a stored or self-contained record.

        Raises:
            RecordError: the text is no record, or one of a later format.
        """
        try:
            fields: Json = json.loads(text)
            schema = fields.get("schema") if isinstance(fields, dict) else None
            if isinstance(schema, int) and schema > PACKED:
                raise RecordError(
                    f"the record has format {schema}; this version of ragmetrics reads up to {PACKED}"
                )
            if isinstance(fields, dict):
                return cls.model_validate({**unpacked(fields, len(text)), "seal": seal_of(text)})
            return cls.model_validate(fields)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, SampleError) as error:
            raise RecordError(f"not a record: {_first_line(error)}") from error


def outcome(measurement: Measurement) -> dict[str, Any]:
    """The fields that a measurement gives to a record or to a part of one."""
    return {
        "reason": measurement.reason,
        "value": measurement.value,
        "bounds": measurement.bounds,
        "counts": dict(measurement.counts),
        "formula": measurement.formula,
        "parts": tuple([PartResult.of(name, part) for name, part in measurement.parts.items()]),
    }


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    cosine = "" if verdict.cosine is None else f" (cosine {verdict.cosine:.3f})"
    yield f"{verdict.number:>3}. {verdict.label}: {verdict.text}{cosine}"
    if verdict.overruled is not None:
        did = "confirmed" if verdict.overruled == verdict.supported else "overruled"
        yield f"     a person {did} the judge's {'yes' if verdict.overruled else 'no'}"
    if verdict.tally:
        yield f"     {verdict.tally}"
    if verdict.reason:
        yield f"     {verdict.reason}"
    for evidence in verdict.evidence:
        where = f"chunk {evidence.span.chunk}" if evidence.span else "found nowhere"
        yield f"     “{evidence.quote}” ({where})"


def _part_lines(part: PartResult) -> list[str]:
    inner = [f"  {line}" for each in part.parts for line in _part_lines(each)]
    return [f"{part.metric}: {part.formula or part.reason or 'undefined'}", *inner]


def _json(fields: Mapping[str, Any]) -> str:
    try:
        return to_json(fields, inf_nan_mode="null").decode()
    except PydanticSerializationError:
        # half characters (lone surrogates) in a reply have no UTF-8 form, but can be escaped
        return json.dumps(fields, separators=(",", ":"))


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split("\n")[:3])
