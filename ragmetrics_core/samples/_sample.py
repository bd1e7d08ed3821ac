"""Samples to evaluate."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticSerializationError

from ragmetrics_core.boundary.redaction import Redact, Renamed, redacted, redacted_reply
from ragmetrics_core.boundary.shapes import is_tuple
from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples._citations import Citation
from ragmetrics_core.samples._conversations import MADE_SESSION, conversation_in
from ragmetrics_core.samples._history import Earlier, ToolCall, Turn, earlier_in
from ragmetrics_core.samples._labels import Label
from ragmetrics_core.samples._stages import (
    Shown,
    Stage,
    StageChunk,
    UnaccountedText,
    Unproven,
    unproven,
)
from ragmetrics_core.samples._tiling import tile
from ragmetrics_core.samples.columns import ColumnNames, check_columns, read_row

__all__ = [
    "Label",
    "Sample",
    "ToolCall",
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
class Sample(BaseModel, frozen=True):
    """A question with its contexts, answer and reference; None means absent.

    An empty text or list is present: a model that answers nothing has answered "".

    Attributes:
        id: the sample's id in a run. Default: "s-" and 16 digits of a hash of content and labels, independent
            of the row's place; repeated rows of a data set get "-2", "-3", ... at the end.
        question: the question.
        answer: the answer of the system under test.
        citations: the answer's citations, if they are known apart from markers in its text.
        contexts: the chunks that the answering model received, in rank order; empty if it received none.
        reference: the expected answer. Default: the first of `references`.
        references: acceptable answers.
        reference_contexts: the chunks that should have been retrieved.
        context_ids: ids of the retrieved chunks in rank order.
        reference_context_ids: ids of the chunks that should have been retrieved.
        reference_context_grades: relevance grades of `reference_context_ids`, or of `reference_contexts` if
            there are no ids. Default: 1. Grades of 0 or below mean not relevant.
        history: the conversation before the question.
        session: id of the conversation.
        turn: number of the answer in its conversation, from 1.
        standalone: the question as the application rewrote it, so that it can be understood without the
            history.
        language: language tag, such as "en", "de-AT" or "pt_BR". Resources for the region are preferred, then
            for the language, then English.
        stages: retrieval stages in order; the chunks of the stage "shown", if any, equal `contexts`.
        request_messages: messages of the call that made the answer, if known.
        labels: further data on the sample, for studies; not part of the content.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)

    id: str = ""
    question: str | None = None
    answer: str | None = None
    citations: tuple[Citation, ...] | None = None
    contexts: tuple[str, ...] | None = None
    reference: str | None = None
    references: tuple[str, ...] | None = None
    reference_contexts: tuple[str, ...] | None = None
    context_ids: tuple[str, ...] | None = None
    reference_context_ids: tuple[str, ...] | None = None
    reference_context_grades: tuple[float, ...] | None = None
    history: tuple[Turn, ...] | None = None
    session: str | None = None
    turn: int | None = Field(default=None, ge=1)
    standalone: str | None = None
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
            citations: Sequence[Citation | Mapping[str, object]] | None = None,
            contexts: Texts | None = None,
            reference: str | None = None,
            references: Texts | None = None,
            reference_contexts: Texts | None = None,
            context_ids: Texts | None = None,
            reference_context_ids: Texts | None = None,
            reference_context_grades: list[float] | tuple[float, ...] | None = None,
            history: Sequence[Turn | Mapping[str, object]] | None = None,
            session: str | None = None,
            turn: int | None = None,
            standalone: str | None = None,
            language: str | None = None,
            stages: Sequence[Stage | Mapping[str, object]] | None = None,
            request_messages: Sequence[Turn | Mapping[str, object]] | None = None,
            labels: Mapping[str, Label] = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _complete(self) -> Self:
        """Check the texts, and fill in the reference and the id."""
        try:
            self.model_dump_json()
        except PydanticSerializationError:
            raise ValueError("a text is not valid Unicode: it contains an unpaired surrogate") from None
        if self.reference_context_grades is not None:
            graded = self.reference_context_ids or self.reference_contexts or ()
            if len(graded) != len(self.reference_context_grades):
                raise SampleError(
                    f"reference_context_grades has {len(self.reference_context_grades)} grades "
                    f"for {len(graded)} relevant chunks"
                )
        end = len(self.answer or "")
        for number, citation in enumerate(self.citations or (), start=1):
            if not 0 <= citation.start <= citation.end <= end:
                raise SampleError(
                    f"citation {number} has the place {citation.start} to {citation.end}, "
                    f"but the answer has {end} characters"
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
        """Distinct expected answers that are not blank: `reference`, then `references`.

        Records number these from 1. Empty if there is no reference.
        """
        if self.reference is None:
            return ()
        return distinct_references((self.reference, *(self.references or ())))

    @property
    def earlier(self) -> Earlier | None:
        """The turns before the question by their value as evidence; None if there is no history."""
        return None if self.history is None else earlier_in(self.history, self.question, self.turn)

    @property
    def rewritten(self) -> str | None:
        """The question as the application rewrote it; None if it did not, or wrote nothing."""
        return self.standalone if (self.standalone or "").strip() else None

    @property
    def shown_stage(self) -> Stage | None:
        """The stage "shown", with the chunks that the answering model received; None if unknown."""
        return next((stage for stage in reversed(self.stages or ()) if stage.name == "shown"), None)

    @property
    def unaccounted(self) -> tuple[str, ...]:
        """Texts in the model's request that come from no known source."""
        stretches = self.shown_stage.unaccounted if self.shown_stage is not None else None
        return tuple(dict.fromkeys(each.text for each in stretches or ()))

    @property
    def shown(self) -> tuple[Shown, ...]:
        """Whether the request contains each context; "unseen" if the request is unknown."""
        if (stage := self.shown_stage) is None:
            unseen: Shown = "unseen"
            return (unseen,) * len(self.contexts or ())
        return tuple(chunk.shown or "unseen" for chunk in stage.chunks)

    @property
    def contradicted(self) -> int:
        """Number of contexts that are known to be missing from the request."""
        return self.shown.count("absent")

    @property
    def is_withheld(self) -> bool:
        """Whether the contexts were removed because the request contradicts them; see `strict`."""
        return self.contexts is None and self.shown_stage is not None and bool(self.shown_stage.chunks)

    def strict(self) -> Self:
        """The sample without its contexts if the request lacks one or was not seen; the stages keep them."""
        is_unproven = self.shown_stage is not None and {"absent", "unseen"} & set(self.shown)
        return self.model_copy(update={"contexts": None, "stages": self.stages}) if is_unproven else self

    @property
    def unproven(self) -> tuple[Unproven, ...]:
        """Chunks of the stage "shown" that differ from the request; an empty result is a proof."""
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
        """The sample with these contexts, which are looked up in the request.

        Args:
            texts: the contexts.
            ids: their ids in the same order, if any.
            scores: their scores in the same order, if any.
            component: name of the component that inserted them.
        """
        return self.with_account(self._sought(texts, ids, scores), Stage(name="shown", component=component))

    def with_more_contexts(
        self,
        texts: Sequence[str],
        *,
        ids: Sequence[str | None] = (),
        scores: Sequence[float | None] = (),
    ) -> Self:
        """The sample with these contexts after its own; arguments as for `with_contexts`.

        What they account for in the request is no longer of unknown origin.
        """
        stage = self.shown_stage or Stage(name="shown")
        kept: list[UnaccountedText] = []
        words = 0
        for stretch in stage.unaccounted or ():
            tiling = tile([stretch.text], texts)
            words += tiling.accounted
            if not tiling.accounted:
                kept.append(stretch)
        accounted = None if stage.accounted is None else stage.accounted + words
        changed = {"accounted": accounted, "unaccounted": tuple(kept) or None}
        there = {chunk.text for chunk in stage.chunks}
        more = [chunk for chunk in self._sought(texts, ids, scores) if chunk.text not in there]
        derived = [each for each in self.stages or () if each.name == "derived"]
        return self.with_account((*stage.chunks, *more), stage.model_copy(update=changed), derived)

    def _sought(
        self, texts: Sequence[str], ids: Sequence[str | None], scores: Sequence[float | None]
    ) -> list[StageChunk]:
        """Texts as chunks with their places in the request."""
        ids, scores = ids or [None] * len(texts), scores or [None] * len(texts)
        chunks = [
            StageChunk(text=text, id=id, score=score, rank=rank, shown="unseen")
            for rank, (text, id, score) in enumerate(zip(texts, ids, scores, strict=True), start=1)
        ]
        if self.request_messages is None:
            return chunks
        said = [self.question or "", *(turn.content for turn in self.history or ())]
        tiling = tile([message.content for message in self.request_messages], [*texts, *said])
        return [
            chunk.standing_at(tiling.places(number), tiling.share(number))
            for number, chunk in enumerate(chunks)
        ]

    def with_account(
        self, chunks: Sequence[StageChunk] | None, shown: Stage, derived: Sequence[Stage] = ()
    ) -> Self:
        """The sample with these chunks as contexts and as the stage "shown".

        Args:
            chunks: the chunks; None if it is unknown which ones the model received.
            shown: the stage, without chunks.
            derived: stages before it, with texts that models wrote.
        """
        ranked = tuple(
            chunk.model_copy(update={"rank": rank}) for rank, chunk in enumerate(chunks or (), start=1)
        )
        stages = [stage for stage in self.stages or () if stage.name not in ("derived", "shown")]
        shown = shown.model_copy(update={"query": self.question, "chunks": ranked})
        ids = tuple(chunk.id for chunk in ranked if chunk.id is not None)
        return self.model_copy(
            update={
                "contexts": None if chunks is None else tuple(chunk.text for chunk in ranked),
                "context_ids": ids if ids and len(ids) == len(ranked) else None,
                "stages": (*stages, *derived, shown),
            }
        )

    def _fill(self, name: str, value: str) -> None:
        object.__setattr__(self, name, value)
        self.__pydantic_fields_set__.add(name)

    @property
    def digest(self) -> str:
        """SHA-256 of the content: the canonical JSON of all set fields except id and labels."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        # the underscore keeps the cached value out of `dict(sample)`
        fields = ((name, getattr(self, name)) for name in type(self).model_fields.keys() - {"id", "labels"})
        content = {name: value for name, value in fields if value is not None}
        for name in ("citations", "history", "request_messages", "stages"):
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
        """Whether the id is derived from content, labels and occurrence."""
        return bool(_MADE_ID.fullmatch(self.id)) and self.id[:_LENGTH_OF_ID] == self._derived_id

    @property
    def has_derived_session(self) -> bool:
        """Whether session and id are derived from the messages of the conversation."""
        is_made = MADE_SESSION.fullmatch(self.session or "") is not None
        return is_made and self.id == f"{self.session}#{self.turn}"

    def at_occurrence(self, number: int) -> Self:
        """The sample with the id of the nth equal row of its data set."""
        if self.has_derived_session:
            session = f"{self.session}-{number}"
            return self.model_copy(update={"session": session, "id": f"{session}#{self.turn}"})
        return self.model_copy(update={"id": f"{self._derived_id}-{number}"})

    def __hash__(self) -> int:
        """Hash of the sample; equal samples have equal hashes."""
        return hash((self.id, self.digest))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Validated copy with changed fields; a derived id or reference is derived again."""
        if not update:
            return super().model_copy(deep=deep)
        values = {name: getattr(self, name) for name in type(self).model_fields}
        is_derived = self.has_derived_id and "id" not in update
        if is_derived:
            values["id"] = ""
        if self.references and self.reference == self.references[0]:
            values["reference"] = None
        if self.citations and "answer" in update and "citations" not in update:
            values["citations"] = self._citations_in(update["answer"])
        if "contexts" in update and "stages" not in update and self.stages is not None:
            values["stages"] = tuple(stage for stage in self.stages if stage.name != "shown") or None
        copy = type(self)(**{**values, **update})
        if is_derived:
            copy._fill("id", copy.id + self.id[_LENGTH_OF_ID:])
        return copy

    def _citations_in(self, answer: str | None) -> tuple[Citation, ...] | None:
        """The citations of an answer that is the end of this one; None for any other answer."""
        if not answer or not (self.answer or "").endswith(answer):
            return None
        left = len(self.answer or "") - len(answer)
        kept = [citation for citation in self.citations or () if citation.end > left]
        return tuple(
            citation.model_copy(update={"start": max(0, citation.start - left), "end": citation.end - left})
            for citation in kept
        )

    def redacted(self, redact: Redact) -> Self:
        """The sample with `redact` applied to its texts; see docs/security.md.

        It is applied to every text, to names of labels, and to ids, but not to numbers. Chunk ids that were
        equal stay equal, and different ones stay different. If the sample's id changes, the id of the content
        replaces it.


        Raises:
            ConfigError: `redact` raised an error or did not return text.
        """
        names = Renamed(redact)

        def applied(field: str, value: Any) -> Any:
            match value:
                case str() if field in {"context_ids", "reference_context_ids"}:
                    return names.of(value)
                case str():
                    return redacted(redact, value)
                case Citation():
                    return value.model_copy(
                        update={
                            "start": _redacted_place(redact, self.answer or "", value.start, -1),
                            "end": _redacted_place(redact, self.answer or "", value.end, 1),
                            "chunks": tuple(
                                names.of(each) if isinstance(each, str) else each for each in value.chunks
                            ),
                        }
                    )
                case Turn() | ToolCall():
                    parts = {name: applied(name, part) for name, part in value}
                    return value.model_copy(update=parts)
                case Stage():
                    return value.redacted(partial(redacted, redact), names.of)
                case _ if is_tuple(value):
                    return tuple(applied(field, part) for part in value)
                case _:
                    return value

        fields = type(self).model_fields.keys() - {"id", "labels"}
        changed = {name: applied(name, getattr(self, name)) for name in sorted(fields)}
        if self.has_derived_session:
            changed["session"] = self.session
        if changed["language"] != self.language:
            changed["language"] = None
        # lists and mappings became JSON text, in which escapes may hide something
        values = (
            redacted_reply(redact, each) if isinstance(each, str) else each for each in self.labels.values()
        )
        changed["labels"] = dict(zip(map(Renamed(redact).of, self.labels), values, strict=True))
        # an id that was made of content needs no redaction, and may look like what is taken out
        is_made = self.has_derived_id or self.has_derived_session or _MADE_ID.fullmatch(self.id)
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
        """Make a sample from a row with the column names of ragmetrics or another library.

        Supported are the names of ragas (old and new), LlamaIndex, Haystack, DeepEval, AutoRAG and LangSmith
        (nested `inputs`, `outputs`, `reference_outputs`, or columns such as `inputs.question`). Case, spaces,
        hyphens and underscores do not matter. docs/data.md lists the names and the values.

        None and NaN mean absent, and so does a blank question, reference or list. A blank answer is an
        answer. For a text, numbers, dates and truth values become their text in a CSV file (42.0 is "42"),
        and a chat message its content. For a list, a single text is a list of one. A text that prints a list
        is decoded if JSON or Python's literals read all of it (nothing is executed); otherwise the row is
        refused. Chunks may be documents or nodes of LangChain, Haystack and LlamaIndex, mappings with
        `page_content`, `content` or `text`, and (document, score) pairs. Ids may be whole numbers. Messages
        keep their `role` and `content`. If there are `request_messages`, contexts are looked up in them.

        `context` means the retrieved contexts, except in DeepEval's test cases (with `retrieval_context`, or
        with `input` and `actual_output` alone), where it is the ideal context: `reference_contexts`.

        Any other column becomes a label: texts, numbers and truth values unchanged (dates, UUIDs and whole
        numbers that a float cannot hold as text), lists and mappings as JSON text. A `labels` mapping is
        merged in.

        Args:
            row: column names and values.
            where: place of the row, for error messages.
            textual: the row comes from a text format (CSV). Empty cells, except an empty answer, and markers
                of data frames (`NA`, `N/A`, `#N/A`, `<NA>`, `nan`, `null`; not `None`) are absent. Labels
                that read `true`, `false` or a number are converted; `007` stays text.
            columns: columns of fields, such as `{"answer": "Bot Answer"}`, which override the known names.

        Raises:
            ConfigError: `columns` has an unknown field.
            SampleError: a value cannot be read, two columns of one field disagree, a column of `columns` is
                missing, or no column is a sample field.
        """
        samples = list(cls.from_conversation(row, where=where, textual=textual, columns=columns))
        if len(samples) > 1:
            problem = (
                f"the row holds a conversation with {len(samples)} answers; use Sample.from_conversation"
            )
            raise SampleError(f"{where}: {problem}" if where else problem)
        return samples[0]

    @classmethod
    def from_conversation(
        cls,
        row: Mapping[str, object],
        *,
        where: str = "",
        textual: bool = False,
        columns: ColumnNames | None = None,
    ) -> tuple[Self, ...]:
        """Make a sample of each answer in a row that holds a conversation; of any other row, one sample.

        A sample has the user's last message as its question, the application's reply as its answer, the
        messages before the question as its history, and the id `SESSION#N`. A question without a reply has
        no answer. docs/data.md lists the forms that are read, and which columns count for which answer.

        Args:
            row: column names and values.
            where: place of the row, for error messages.
            textual: as for `from_mapping`.
            columns: as for `from_mapping`; the field of a column of messages is `question`.

        Raises:
            ConfigError: `columns` has an unknown field.
            SampleError: as `from_mapping`; a message cannot be read, nothing was asked, or a column can be
                about several answers.
        """
        check_columns(columns)
        try:
            conversation = conversation_in(row, textual=textual, columns=columns)
            if conversation is None:
                return (cls._of_fields(read_row(row, textual=textual, columns=columns)),)
            turns = tuple(Turn.model_validate(message.turn) for message in conversation.messages)
            return tuple(
                cls._of_fields(
                    answer.fields
                    if answer.start is None
                    else {**answer.fields, "history": turns[: answer.start]}
                )
                for answer in conversation.answers
            )
        except SampleError as error:
            raise SampleError(f"{where}: {error}" if where else str(error)) from None

    @classmethod
    def _of_fields(cls, fields: Mapping[str, Any]) -> Self:
        """The sample with these fields; contexts are looked up in the request, if there is one."""
        sample = cls(**fields)
        if sample.request_messages is None or sample.contexts is None or sample.shown_stage is not None:
            return sample
        return sample.with_contexts(sample.contexts, ids=sample.context_ids or ())


def _redacted_place(redact: Redact, text: str, place: int, step: int) -> int:
    """A place of a text after redaction; a place inside of something redacted moves to its end."""
    whole = redacted(redact, text)
    while 0 < place < len(text) and not whole.startswith(redacted(redact, text[:place])):
        place += step
    return len(whole) if place >= len(text) else len(redacted(redact, text[:place]))


def labels_digest(labels: Mapping[str, Any]) -> str:
    """Digest of a sample's labels, which are not part of its content; "" without labels."""
    if not labels:
        return ""
    values = {name: _finite(value) for name, value in labels.items()}
    data = json.dumps(values, sort_keys=True).encode("ascii")
    return hashlib.sha256(len(data).to_bytes(8) + data).hexdigest()[:32]


def _finite(value: Any) -> Any:
    """A number as a JSON float; None if JSON cannot write it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return float(value) if isfinite(value) else None


def distinct_references(references: Sequence[str]) -> tuple[str, ...]:
    """Distinct references that are not blank, in order; the first if all are blank.

    >>> distinct_references(["Ulm", " ", "In Ulm", "Ulm "])
    ('Ulm', 'In Ulm')
    """
    by_words: dict[str, str] = {}
    for text in references:
        if text.strip():
            by_words.setdefault(" ".join(text.split()), text)
    return tuple(by_words.values()) or tuple(references[:1])
