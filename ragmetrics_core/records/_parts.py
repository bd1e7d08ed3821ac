"""What a record is made of: its steps, a person's corrections, and the outcomes of its metric's parts."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

from ragmetrics_core.measurement import Measurement

__all__ = [
    "Abstained",
    "CompareStep",
    "Correction",
    "CountStep",
    "GenerateStep",
    "PartResult",
    "RateStep",
    "Step",
    "Stored",
]


class Stored(BaseModel, frozen=True):
    """Data of a record: frozen, finite; fields of a later version are kept as they are."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False, defer_build=True)


class GenerateStep(Stored, frozen=True):
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


class CompareStep(Stored, frozen=True):
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


class RateStep(Stored, frozen=True):
    """A scorer's numbers for pairs of texts."""

    kind: Literal["rate"] = "rate"
    path: str
    pair_digests: tuple[str, ...]
    ratings: tuple[float, ...]


class CountStep(Stored, frozen=True):
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


class Correction(Stored, frozen=True):
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


class Abstained(Stored, frozen=True):
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


class PartResult(Stored, frozen=True):
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
        """The stored form of a part's measurement.

        Raises:
            ValueError: it has numbers that no record holds, such as NaN, or no numbers at all.
        """
        return cls(
            metric=name,
            value=measurement.value,
            bounds=measurement.bounds,
            reason=measurement.reason,
            counts=dict(measurement.counts),
            formula=measurement.formula,
            parts=tuple([cls.of(inner, part) for inner, part in measurement.parts.items()]),
        )
