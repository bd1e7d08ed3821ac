"""Parts of a record: steps, corrections, and outcomes of its metric's parts."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
        again: whether this call repeats one with an unusable reply.
        judge: identity of the judge that replied, if the run has a panel or a cascade.
        reply: the raw reply.
        reply_digest: digest of the reply.
        model: the model that replied, as the server names it.
        finish_reason: why the reply ended.
        held_to: constraint on the reply's form, as the judge states it: "json_schema", "json_object", a tool.
        prompt_tokens, completion_tokens: as counted by the model.
        rule: form of the reply: "json", "lines", or "unread" if it was neither. In records of
            the first reader, which is not in `versions`, the name of one of its rules.
        value: the value that was read.
        objections: why the reply could not be used, or what it lacked.
        dropped: parts of the reply that do not count.
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
        """Objections to the reply, and parts of it that do not count."""
        return self.objections + self.dropped


class CompareStep(Stored, frozen=True):
    """Cosines between an anchor and some texts; None for a zero vector.

    Attributes:
        path: the step's place in the measurement.
        text_digests: digests of the anchor and the texts.
        vector_digests: digests of their vectors (as little-endian float64).
        cosines: one for each text.
        vectors: the vectors, if the run keeps them.
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
    """Counts that a library made in an answer and its references.

    Attributes:
        path: the step's place in the measurement.
        procedure: "bleu", "chrf", "rouge" or "meteor".
        made_by: the library with its version and settings, in its own notation if it has one.
        text_digests: digests of the answer and the references.
        counts: the counts, by name.
    """

    kind: Literal["count"] = "count"
    path: str
    procedure: str
    made_by: str
    text_digests: tuple[str, ...]
    counts: dict[str, tuple[int, ...]]


Step = Annotated[GenerateStep | CompareStep | RateStep | CountStep, Field(discriminator="kind")]


class Correction(Stored, frozen=True):
    """A person's decision that overrules a verdict.

    Attributes:
        path: the verdict's place in the measurement.
        item: number of the verdict at that place, from 1.
        supported: the person's decision.
        by: who decided.
    """

    path: str
    item: int
    supported: bool
    by: str | None = None


class Abstained(Stored, frozen=True):
    """Whether the answer declines to answer, according to a step.

    The majority of a step's draws or judges decides; of several steps the last one, in the order of paths. A
    correction of the verdict overrules the judge.

    Attributes:
        declined: whether it declines.
        reason: the reason of the first such reply.
        path: the step's place in the measurement; empty in old records, which kept the last reply.
    """

    declined: bool
    reason: str | None = None
    path: str = ""


class PartResult(Stored, frozen=True):
    """Outcome of a metric that is part of the record's metric."""

    metric: str
    value: float | None = None
    bounds: tuple[float, float] | None = None
    reason: str | None = None
    counts: dict[str, int | float] = Field(default_factory=dict)
    formula: str = ""
    parts: tuple["PartResult", ...] = ()

    @classmethod
    def of(cls, name: str, measurement: Measurement) -> "PartResult":
        """Stored form of a part's measurement.

        Raises:
            ValueError: a number is not finite, or is not a number.
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
