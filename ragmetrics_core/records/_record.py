"""The record: the proof of one score.

A stored record names its sample and its prompts by digest. Reading a run hydrates it (attaches both), and
`self_contained` inlines everything. The format is described in docs/record.md.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field
from pydantic_core import PydanticSerializationError, to_json

from ragmetrics_core.boundary.shapes import Json, is_dict
from ragmetrics_core.errors import RecordError, SampleError
from ragmetrics_core.measurement import Verdict
from ragmetrics_core.package.lazy import NOTEBOOK_PAGES
from ragmetrics_core.prompts import Message, PromptText, digest_of
from ragmetrics_core.records._parts import Abstained, Correction, GenerateStep, PartResult, Step, Stored
from ragmetrics_core.records.packing import packed
from ragmetrics_core.records.sealing import seal_of, sealed_line
from ragmetrics_core.records.stored_form import PACKED, VERDICT, unpacked
from ragmetrics_core.samples import Sample
from ragmetrics_core.texts.wording import number_of, quoted

__all__ = [
    "COVERAGE",
    "FAILED",
    "SCHEMA",
    "Record",
    "Status",
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
"""Statuses of scores that failed and may succeed if measured again."""

SCHEMA = 1


COVERAGE: Final = ("sentences", "without_claim", "uncovered")
"""Counts of the numbered sentences of an answer; those of a reference have `reference_` before them."""


class Record(Stored, frozen=True):
    """One score and everything it was made from.

    Attributes:
        schema_: version of the format, rises only when a meaning changes (stored as `schema`).
        sample_id, sample_digest: which sample, and the digest of its content.
        metric, variant, settings: what was measured; `signature` names all three in short.
        status: "ok" exactly if `value` is a number.
        reason: why there is no value: a code ("no_statements"), a field ("reference"), or a message.
        value, bounds, counts, formula, parts: the outcome.
        verdicts: what was decided about each text, numbered from 1.
        steps: every reply and comparison, in the order of their paths.
        segments: how texts were split, by the texts' digests: [start, end] of each sentence.
        notes: content of replies that did not count.
        corrections: a person's decisions, which overrule verdicts.
        abstained: whether the answer declines to answer, if a step checked it.
        judge, embedder, scorer: identities of the models used.
        versions: of ragmetrics and the sentence splitter.
        digest: seal of the stored line: digest of everything before it.
        seal: the right seal of the line that was read; empty if no stored line was read.
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
        """The stored line: without sample and prompts, with its seal."""
        return self.line().decode()

    def line(self) -> bytes:
        """The stored line in UTF-8."""
        return sealed_line(self.body().encode())

    def body(self) -> str:
        """The stored line without its seal."""
        columns = {name: tuple([getattr(verdict, name) for verdict in self.verdicts]) for name in VERDICT}
        return _json(packed({**self._fields(), "verdicts": columns if self.verdicts else ()}))

    def sealed(self) -> "Record":
        """The same record with its own digest."""
        seal = digest_of(self.body())
        return self.model_copy(update={"digest": seal, "seal": seal})

    def seals(self) -> tuple[str, str]:
        """Seals of these fields in the stored form and in the full form."""
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
        """Remarks on the score: why calls were repeated, and what did not count."""
        said = ((step.prompt, text) for step in self.generate_steps for text in step.remarks)
        return list(dict.fromkeys([*self.notes, *(f"{prompt}: {text}" for prompt, text in said)]))

    @property
    def coverage(self) -> list[str]:
        """The numbers of sentences with statements, without a claim and left out, for each split text."""
        lines: list[str] = []
        for name, prefix in (("answer", ""), ("reference", "reference_")):
            count, without, left = (int(self.counts.get(prefix + what, 0)) for what in COVERAGE)
            if count:
                line = (
                    f"statements of {count - without - left} of {number_of(count, 'sentence')} of the {name}"
                )
                line += f"; {without} without a claim" if without else ""
                lines.append(line + (f"; the judge gave none of {left}" if left else ""))
        return lines

    @property
    def standalone(self) -> str | None:
        """The question as it can be understood without the history, which the prompts showed.

        None if the question has no history, or if no prompt shows it.
        """
        for step in reversed(list(self.generate_steps)):
            if step.path.startswith("0.") and is_dict(step.value):
                return str(step.value.get("question"))
        if self.sample is None or "conversations" not in self.versions:
            return None
        return self.sample.rewritten

    @property
    def ratings(self) -> Iterator[tuple[float, str]]:
        """Ratings in the order of their steps, with the judge's reasons."""
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
        question = self.sample.question if self.sample else None
        if self.standalone not in (None, question):
            lines += [f"  question: {question}"] if question else []
            lines.append(f"  stand-alone question: {self.standalone}")
        lines += [f"  {line}" for part in self.parts for line in _part_lines(part)]
        lines += [line for verdict in self.verdicts for line in _verdict_lines(verdict)]
        lines += [f"  rated {rating:g}: {reason or 'no reason given'}" for rating, reason in self.ratings]
        lines += [f"  {line}" for line in self.coverage]
        lines += [f"  not counted: {note}" for note in self.notes]
        if self.abstained and self.abstained.declined:
            lines.append(f"  the answer declines: {self.abstained.reason or 'no reason given'}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """The score in one line."""
        return f"Record({self.sample_id!r}, {self.signature!r}, {self.headline})"

    def _repr_html_(self) -> str:
        """The score with its verdicts, for a notebook."""
        return NOTEBOOK_PAGES["record"](self)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Record":
        """Read a stored or self-contained record.

        Raises:
            RecordError: the text is not a record, or has a newer format.
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
            problem = " ".join(str(error).split("\n")[:3])
            raise RecordError(f"not a record: {problem}") from error


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    cosine = "" if verdict.cosine is None else f" (cosine {verdict.cosine:.3f})"
    probability = f" ({verdict.probability})" if verdict.probability else ""
    yield f"{verdict.number:>3}. {verdict.label}: {verdict.text}{cosine}{probability}"
    if verdict.overruled is not None:
        did = "confirmed" if verdict.overruled == verdict.supported else "overruled"
        yield f"     a person {did} the judge's {'yes' if verdict.overruled else 'no'}"
    if verdict.tally:
        yield f"     {verdict.tally}"
    if verdict.unsure:
        yield f"     {verdict.unsure}"
    if verdict.reason:
        yield f"     {verdict.reason}"
    for evidence in verdict.evidence:
        where = f"chunk {evidence.span.chunk}" if evidence.span else evidence.place
        yield f"     {quoted(evidence.quote)} ({where})"


def _part_lines(part: PartResult) -> list[str]:
    inner = [f"  {line}" for each in part.parts for line in _part_lines(each)]
    return [f"{part.metric}: {part.formula or part.reason or 'undefined'}", *inner]


def _json(fields: Mapping[str, Any]) -> str:
    try:
        return to_json(fields, inf_nan_mode="null").decode()
    except PydanticSerializationError:
        # half characters (lone surrogates) in a reply have no UTF-8 form, but can be escaped
        return json.dumps(fields, separators=(",", ":"))
