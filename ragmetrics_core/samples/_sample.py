"""The sample that is evaluated."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticSerializationError

from ragmetrics_core.errors import SampleError
from ragmetrics_core.redaction import Redact, Renamed, redacted, redacted_reply
from ragmetrics_core.samples._columns import ColumnNames, check_columns, read_row
from ragmetrics_core.samples._labels import Label
from ragmetrics_core.samples._stages import (
    Shown,
    SoughtText,
    Stage,
    StageChunk,
    Unproven,
    sought_in,
    unproven,
)
from ragmetrics_core.shapes import is_tuple

__all__ = [
    "Label",
    "Sample",
    "Turn",
    "distinct_references",
    "labels_digest",
]


Texts = list[str] | tuple[str, ...]
# An id that was derived, also for a later occurrence of the same row.
_MADE_ID = re.compile(r"s-[0-9a-f]{16}(-\d+)?")
_LENGTH_OF_ID = len("s-") + 16
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


# `frozen` stands where a type checker sees it, which then refuses an assignment too.
class Turn(BaseModel, frozen=True):
    """One message of the conversation before the question."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    role: str
    content: str


class Sample(BaseModel, frozen=True):
    """One question with what was retrieved, answered and expected; a field that is None is absent.

    An empty text or list is present: a model that answers nothing has answered "".

    Attributes:
        id: names the sample in a run. Without one it is derived: "s-" and 16 digits of a hash of content and
            labels, so that it does not depend on the row's place. A row that occurs again in a data set gets
            "-2", "-3", ... behind it.
        question: what was asked.
        answer: what the system under test answered.
        contexts: the chunks that were shown to the model that made the answer, in rank order; empty where it
            was shown none.
        reference: the expected answer; without one, the first of `references`.
        references: several acceptable answers.
        reference_contexts: the chunks that should have been retrieved.
        context_ids: ids of the retrieved chunks in rank order.
        reference_context_ids: ids of the chunks that should have been retrieved.
        reference_context_grades: how relevant each of these is, 1 where none are given; they belong to
            `reference_context_ids`, or to `reference_contexts` where there are no ids. 0 or below is "not".
        history: the conversation before the question.
        language: language of the sample, as a tag such as "en", "de-AT" or "pt_BR". What there is for the
            region is used, then what there is for the language, then English.
        stages: what became of the retrieval, in order; the stage "shown", where there is one, has the chunks
            that are `contexts`.
        request_messages: the messages of the call that made the answer, where they are known.
        labels: everything else that is known about the sample, for the study; no part of the content.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)

    id: str = ""
    question: str | None = None
    answer: str | None = None
    contexts: tuple[str, ...] | None = None
    reference: str | None = None
    references: tuple[str, ...] | None = None
    reference_contexts: tuple[str, ...] | None = None
    context_ids: tuple[str, ...] | None = None
    reference_context_ids: tuple[str, ...] | None = None
    reference_context_grades: tuple[float, ...] | None = None
    history: tuple[Turn, ...] | None = None
    language: str | None = None
    stages: tuple[Stage, ...] | None = None
    request_messages: tuple[Turn, ...] | None = None
    labels: dict[str, Label] = {}

    if TYPE_CHECKING:  # pydantic takes lists where the fields are tuples

        def __init__(
            self,
            *,
            id: str = "",
            question: str | None = None,
            answer: str | None = None,
            contexts: Texts | None = None,
            reference: str | None = None,
            references: Texts | None = None,
            reference_contexts: Texts | None = None,
            context_ids: Texts | None = None,
            reference_context_ids: Texts | None = None,
            reference_context_grades: list[float] | tuple[float, ...] | None = None,
            history: Sequence[Turn | Mapping[str, str]] | None = None,
            language: str | None = None,
            stages: Sequence[Stage | Mapping[str, object]] | None = None,
            request_messages: Sequence[Turn | Mapping[str, str]] | None = None,
            labels: Mapping[str, Label] = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Check the texts, fill in the reference and the id; the model is frozen for everyone else."""
        try:
            self.model_dump_json()
        except PydanticSerializationError:
            raise ValueError("a text is not valid Unicode: it holds half a character") from None
        if self.reference_context_grades is not None:
            graded = self.reference_context_ids or self.reference_contexts or ()
            if len(graded) != len(self.reference_context_grades):
                raise SampleError(
                    f"reference_context_grades has {len(self.reference_context_grades)} grades "
                    f"for {len(graded)} relevant chunks"
                )
        shown = None if self.contexts is None else self.shown_stage
        if shown is not None and self.contexts != tuple(chunk.text for chunk in shown.chunks):
            raise SampleError("the chunks of the stage 'shown' are not the contexts")
        if self.reference is None and self.references:
            self._fill("reference", self.references[0])
        if not self.id:
            self._fill("id", self._derived_id)
        return self

    @property
    def expected(self) -> tuple[str, ...]:
        """The expected answers that say something, each once: `reference`, then `references`.

        The numbers of references in records count these, from 1. Empty where there is no reference.
        """
        if self.reference is None:
            return ()
        return distinct_references((self.reference, *(self.references or ())))

    @property
    def shown_stage(self) -> Stage | None:
        """What the model that made the answer was shown; None where that is not known as a stage."""
        return next((stage for stage in reversed(self.stages or ()) if stage.name == "shown"), None)

    @property
    def shown(self) -> tuple[Shown, ...]:
        """Whether each of the contexts stands in the request: "unseen" for all where nobody knows it."""
        if (stage := self.shown_stage) is None:
            unseen: Shown = "unseen"
            return (unseen,) * len(self.contexts or ())
        return tuple(chunk.shown or "unseen" for chunk in stage.chunks)

    @property
    def contradicted(self) -> int:
        """How many of the contexts are not in what the model was sent, as far as that is known."""
        return self.shown.count("absent")

    @property
    def is_withheld(self) -> bool:
        """Whether the contexts were taken out because the request contradicts them; see `strict`."""
        return self.contexts is None and self.shown_stage is not None

    def strict(self) -> Self:
        """The sample without its contexts where the request contradicts one; the stages keep them."""
        return (
            self.model_copy(update={"contexts": None, "stages": self.stages}) if self.contradicted else self
        )

    @property
    def unproven(self) -> tuple[Unproven, ...]:
        """The chunks of which the request does not say what the stage "shown" does; empty is a proof."""
        if self.request_messages is None or (stage := self.shown_stage) is None:
            return ()
        messages = [message.content for message in self.request_messages]
        return tuple(unproven(stage, messages))

    def with_contexts(
        self,
        texts: Sequence[str],
        *,
        ids: Sequence[str | None] = (),
        scores: Sequence[float | None] = (),
        component: str = "",
    ) -> Self:
        """The sample with these contexts, each sought in the request.

        Args:
            texts: the contexts.
            ids: of each, in the same order, where there are any.
            scores: likewise.
            component: what showed them.
        """
        if self.request_messages is None:
            found = [SoughtText("unseen", text) for text in texts]
        else:
            messages = [message.content for message in self.request_messages]
            (found,) = sought_in(messages, [texts], besides=[self.question or ""])
        chunks = [
            StageChunk.of(one._replace(text=text), rank=1, id=id, score=score)
            for text, one, id, score in zip(
                texts, found, ids or [None] * len(texts), scores or [None] * len(texts), strict=True
            )
        ]
        return self.with_shown(chunks, component=component)

    def with_shown(
        self, chunks: Sequence[StageChunk], *, component: str = "", steps: Sequence[Stage] = ()
    ) -> Self:
        """The sample with these chunks, in order, as contexts and stage "shown", which follows `steps`."""
        ranked = tuple(chunk.model_copy(update={"rank": rank}) for rank, chunk in enumerate(chunks, start=1))
        stages = [stage for stage in self.stages or () if stage.name != "shown"]
        shown = Stage(name="shown", component=component, query=self.question, chunks=ranked)
        ids = tuple(chunk.id for chunk in ranked if chunk.id is not None)
        return self.model_copy(
            update={
                "contexts": tuple(chunk.text for chunk in ranked),
                "context_ids": ids if ids and len(ids) == len(ranked) else None,
                "stages": (*stages, *steps, shown),
            }
        )

    def _fill(self, name: str, value: str) -> None:
        object.__setattr__(self, name, value)
        self.__pydantic_fields_set__.add(name)

    @property
    def digest(self) -> str:
        """SHA-256 of the content: the canonical JSON of all fields that are set, but id and labels."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        # the underscore keeps the cached value out of `dict(sample)`
        fields = ((name, getattr(self, name)) for name in type(self).model_fields.keys() - {"id", "labels"})
        content = {name: value for name, value in fields if value is not None}
        for name in ("history", "request_messages", "stages"):
            if name in content:
                content[name] = [part.model_dump(exclude_none=True) for part in content[name]]
        return hashlib.sha256(_canonical(content).encode("ascii")).hexdigest()

    @property
    def _derived_id(self) -> str:
        digest = self.digest
        if self.labels:
            digest = hashlib.sha256(f"{digest} {labels_digest(self.labels)}".encode("ascii")).hexdigest()
        return f"s-{digest[:16]}"

    @property
    def has_derived_id(self) -> bool:
        """Whether the id comes from content, labels and occurrence, and was not given."""
        return bool(_MADE_ID.fullmatch(self.id)) and self.id[:_LENGTH_OF_ID] == self._derived_id

    def at_occurrence(self, number: int) -> Self:
        """The sample under the id of a row that occurs for the nth time in its data set."""
        return self.model_copy(update={"id": f"{self._derived_id}-{number}"})

    def __hash__(self) -> int:
        """Equal samples have equal hashes, in spite of the labels' dict."""
        return hash((self.id, self.digest))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy with changed fields, validated; a derived id or reference follows what it is derived from."""
        if not update:
            return super().model_copy(deep=deep)
        values = {name: getattr(self, name) for name in type(self).model_fields}
        is_derived = self.has_derived_id and "id" not in update
        if is_derived:
            values["id"] = ""
        if self.references and self.reference == self.references[0]:
            values["reference"] = None
        if "contexts" in update and "stages" not in update and self.stages is not None:
            values["stages"] = tuple(stage for stage in self.stages if stage.name != "shown") or None
        copy = type(self)(**{**values, **update})
        if is_derived:
            copy._fill("id", copy.id + self.id[_LENGTH_OF_ID:])
        return copy

    def redacted(self, redact: Redact) -> Self:
        """The same sample without what `redact` takes out of a text; see docs/security.md.

        It is applied to every text, to the labels' names, and to ids. Ids of chunks that it changes stay
        apart: equal ones stay equal, different ones different. An id of the sample that it changes gives way
        to the id of the content. Numbers are no texts.

        Raises:
            ConfigError: `redact` raised something or returned no text.
        """
        names = Renamed(redact)

        def applied(field: str, value: Any) -> Any:
            match value:
                case str() if field in {"context_ids", "reference_context_ids"}:
                    return names.of(value)
                case str():
                    return redacted(redact, value)
                case Turn():
                    return Turn(role=redacted(redact, value.role), content=redacted(redact, value.content))
                case Stage():
                    return value.redacted(partial(redacted, redact), names.of)
                case _ if is_tuple(value):
                    return tuple(applied(field, part) for part in value)
                case _:
                    return value

        fields = type(self).model_fields.keys() - {"id", "labels"}
        changed = {name: applied(name, getattr(self, name)) for name in sorted(fields)}
        if changed["language"] != self.language:
            changed["language"] = None
        # lists and mappings became JSON text, in which escapes may hide something
        values = (
            redacted_reply(redact, each) if isinstance(each, str) else each for each in self.labels.values()
        )
        changed["labels"] = dict(zip(map(Renamed(redact).of, self.labels), values, strict=True))
        # an id that was made of content needs no redaction, and may look like what is taken out
        is_made = self.has_derived_id or _MADE_ID.fullmatch(self.id)
        if not is_made and redacted(redact, self.id) != self.id:
            changed["id"] = ""
        return self.model_copy(update=changed)

    @classmethod
    def from_mapping(
        cls,
        row: Mapping[str, object],
        *,
        where: str = "",
        textual: bool = False,
        columns: ColumnNames | None = None,
    ) -> Self:
        """Make a sample of a row that uses our column names or those of another library.

        Known are the names of ragas (old and new), LlamaIndex, Haystack, DeepEval, AutoRAG and LangSmith
        (nested `inputs`, `outputs`, `reference_outputs`, or columns such as `inputs.question`). Case, spaces,
        hyphens and underscores do not matter. docs/data.md lists the names and the values.

        None and NaN mean absent, and so does a blank question, reference or list. A blank answer is an
        answer. Where one text is expected, a number, a date or a truth value is the text that a CSV file has
        of it (42.0 is "42"), and a chat message is its content. Where a list is expected, one text is a list
        of one. A text that prints a list is decoded if JSON or Python's literals read the whole of it
        (nothing is executed); otherwise the row is refused. Chunks may be documents or nodes of LangChain,
        Haystack and LlamaIndex, mappings with `page_content`, `content` or `text`, and (document, score)
        pairs. Ids may be whole numbers. Of messages the `role` and `content` are kept. Contexts that come
        with `request_messages` are sought in these.

        `context` means the retrieved contexts, except in DeepEval's test cases (beside `retrieval_context`,
        or beside `input` and `actual_output` alone), where it is the ideal context: `reference_contexts`.

        Every other column becomes a label: texts, numbers and truth values as they are (whole numbers that a
        float cannot hold, dates and UUIDs as text), lists and mappings as JSON text, so that nothing is lost.
        A `labels` mapping is merged in.

        Args:
            row: column names and values.
            where: place of the row, put before an error's message.
            textual: the row comes from a format that has only text (CSV): a cell that is empty, or is what
                data frames write for absent (`NA`, `N/A`, `#N/A`, `<NA>`, `nan`, `null`; not `None`), is
                absent, except an empty answer, and a label that reads `true`, `false` or a number is one.
                `007` stays text.
            columns: the column of a field, such as `{"answer": "Bot Answer"}`; it wins over the names.

        Raises:
            ConfigError: `columns` names a field that samples do not have.
            SampleError: a value cannot be read, two columns of one field disagree, a column of `columns` is
                absent, or no column is a field of a sample.
        """
        check_columns(columns)
        try:
            sample = cls(**read_row(row, textual=textual, columns=columns))
            if sample.request_messages is None or sample.contexts is None or sample.shown_stage is not None:
                return sample
            return sample.with_contexts(sample.contexts, ids=sample.context_ids or ())
        except SampleError as error:
            raise SampleError(f"{where}: {error}" if where else str(error)) from None


def labels_digest(labels: Mapping[str, Any]) -> str:
    """Digest of a sample's labels, which are not part of its content; "" without labels."""
    if not labels:
        return ""
    values = {name: _finite(value) for name, value in labels.items()}
    data = json.dumps(values, sort_keys=True).encode("ascii")
    return hashlib.sha256(len(data).to_bytes(8) + data).hexdigest()[:32]


def _finite(value: Any) -> Any:
    """A number as a file has it: None for one that JSON cannot write, and no whole numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return float(value) if isfinite(value) else None


def distinct_references(references: Sequence[str]) -> tuple[str, ...]:
    """The references that say something, each once, in order; the first where none does.

    >>> distinct_references(["Ulm", " ", "In Ulm", "Ulm "])
    ('Ulm', 'In Ulm')
    """
    by_words: dict[str, str] = {}
    for text in references:
        if text.strip():
            by_words.setdefault(" ".join(text.split()), text)
    return tuple(by_words.values()) or tuple(references[:1])
