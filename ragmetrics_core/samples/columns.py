"""Reading the columns of a row, with the names of several libraries, into sample fields.

Used by `Sample.from_mapping`, whose docstring states the rules.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from ragmetrics_core.boundary.shapes import is_mapping
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.samples._cells import (
    Kind,
    parsed,
    plain,
    read_cell,
    shown,
    valid_text,
    whole_number,
)
from ragmetrics_core.samples._citations import Citation, CitedText, citations_of, cited_text
from ragmetrics_core.samples._labels import Label, label_of, labels_in

__all__ = [
    "COLUMNS",
    "KINDS",
    "TEXT_COLUMNS",
    "Cell",
    "ColumnNames",
    "cells_of",
    "check_columns",
    "field_named",
    "fields_of_cells",
    "is_absent",
    "is_sample_column",
    "label_of",
    "labels_in",
    "plain",
    "read_row",
    "sessions_in",
    "shown",
    "spelled",
    "valid_text",
]

ColumnNames = Mapping[str, str]
"""The column of a field, by the field's name: `{"answer": "Bot Answer"}`."""

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id",),
    "question": ("question", "questions", "user_input", "query", "input"),
    "answer": (
        "answer", "response", "predicted_answer", "predicted_answers", "actual_output", "output",
        "actual_answer", "generated_answer", "generated_text", "generated_texts",
    ),
    "citations": ("citations",),
    "contexts": (
        "contexts", "retrieved_contexts", "retrieved_context", "retrieval_context", "documents", "context",
        "retrieved_contents", "retrieved_content", "retrieved_documents", "retrieved_chunks",
        "source_documents",
    ),
    "reference": (
        "reference", "ground_truth", "ground_truth_answer", "expected_output", "reference_answer",
        "expected", "expected_answer", "expected_response", "truth", "gt_answer",
    ),
    "references": ("references", "ground_truths", "ground_truth_answers", "generation_gt"),
    "reference_contexts": ("reference_contexts", "reference_context"),
    "context_ids": ("context_ids", "retrieved_context_ids", "retrieved_ids"),
    "reference_context_ids": ("reference_context_ids", "expected_ids"),
    "reference_context_grades": ("reference_context_grades", "relevance_grades"),
    "history": ("history", "chat_history"),
    "session": ("session", "session_id", "thread_id", "conversation_id"),
    "turn": ("turn",),
    "standalone": ("standalone", "standalone_question", "rewritten_question", "condensed_question"),
    "language": ("language",),
    "stages": ("stages",),
    "request_messages": ("request_messages",),
    "labels": ("labels",),
}  # fmt: skip
"""Column names of each field."""

KINDS: Final[Mapping[str, Kind]] = {
    "id": "id",
    "language": "name",
    "question": "text",
    "answer": "answer",
    "citations": "citations",
    "reference": "text",
    "references": "texts",
    "contexts": "chunks",
    "reference_contexts": "relevant",
    "context_ids": "ids",
    "reference_context_ids": "ids",
    "reference_context_grades": "grades",
    "history": "turns",
    "session": "id",
    "turn": "number",
    "standalone": "text",
    "request_messages": "turns",
    "stages": "stages",
}
"""Kind of cell of each field."""

TEXT_COLUMNS: Final = frozenset(
    column for name, columns in COLUMNS.items() if KINDS.get(name) in {"id", "name", "text", "answer"}
    for column in columns
)  # fmt: skip

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_BETWEEN_WORDS: Final = re.compile(r"[\s_\-\u2010-\u2015]+")


@lru_cache(maxsize=4096)
def spelled(column: str) -> str:
    """Canonical form of a column's name: `actual_output` for "actualOutput" and " Actual Output"."""
    return _BETWEEN_WORDS.sub("_", _CAMEL.sub("_", column.strip())).strip("_").casefold()


def _key(column: str) -> str:
    """The letters of a column's name: "groundtruth" for "Ground-Truth"."""
    return _BETWEEN_WORDS.sub("", column).casefold()


_FIELD_OF: Final = {_key(column): name for name, columns in COLUMNS.items() for column in columns}
# Fields that alone are nothing to evaluate.
_ABOUT: Final = frozenset({"id", "language", "session", "turn"})
# Names that DeepEval alone gives, and all that its test cases have beside `context`.
_DEEPEVAL_OUTPUTS: Final = frozenset({"actualoutput", "expectedoutput"})
_DEEPEVAL_FIELDS: Final = frozenset({"input", *_DEEPEVAL_OUTPUTS})
_DEEPEVAL_RETRIEVED: Final = "retrievalcontext"
# Both are used in files of DeepEval: it writes the one, and by default reads the other.
_DEEPEVAL_SEPARATORS: Final = "|;"

# LangSmith: the parts of an example, and what the columns inside of each mean
_CONTENT: Final = {c: name for c, name in _FIELD_OF.items() if name not in {"id", "labels"}}
_EXPECTED: Final = {"answer": "reference"} | {
    name.removeprefix("reference_"): name for name in ("reference_contexts", "reference_context_ids")
}
_LANGSMITH: Final[Mapping[str, Mapping[str, str]]] = {
    "inputs": _CONTENT,
    "outputs": _CONTENT,
    "reference_outputs": {
        column: _EXPECTED.get(name, name)
        for column, name in _FIELD_OF.items()
        if name in {*_EXPECTED, *_EXPECTED.values(), "references"}
    },
}

# LangSmith's names of a thread in the metadata of a run, and the column of a run's project.
_SESSIONS: Final = frozenset({"sessionid", "threadid", "conversationid"})
_PROJECT: Final = "sessionid"

# Content of what is absent in a file whose cells are text, as pandas reads it, but for "None", which can be
# an answer.
_ABSENT: Final = frozenset({
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
})  # fmt: skip


def is_sample_column(column: str) -> bool:
    """Whether a column of this name is a sample field; otherwise it becomes a label."""
    return field_named(column) is not None


@lru_cache(maxsize=4096)
def field_named(column: str) -> str | None:
    """Sample field for a column of this name; None for a label."""
    part, dot, inner = column.partition(".")
    if dot and (part := spelled(part)) in _LANGSMITH:
        return _LANGSMITH[part].get(_key(inner))
    if dot and part == "metadata" and _key(inner) in _SESSIONS:
        return "session"
    return _FIELD_OF.get(_key(column))


def check_columns(columns: Mapping[str, object] | None) -> None:
    """Raise `ConfigError` for a field that samples do not have."""
    for name, column in (columns or {}).items():
        if name not in KINDS:
            raise ConfigError(f"columns: a sample has no field {name!r}; its fields are {', '.join(KINDS)}")
        if not isinstance(column, str):
            raise ConfigError(f"columns: {name} takes the name of a column, not {shown(column)}")


class _Column(NamedTuple):
    name: str
    field: str | None
    kind: Kind | None
    separators: str = ""


Cell = tuple[str, object]
"""Name and value of a column."""


def fields_of_cells(cells: Iterable[Cell], columns: ColumnNames | None) -> dict[str, str | None]:
    """Sample field of each column; None for labels.

    Raises:
        SampleError: a column of `columns` is missing, or `context` is ambiguous.
    """
    names = tuple(name for name, _ in cells)
    return {column.name: column.field for column in _layout(names, tuple((columns or {}).items()))}


def is_absent(cell: object, *, textual: bool) -> bool:
    """Whether a cell has no value."""
    return plain(cell) is None or (textual and isinstance(cell, str) and cell in _ABSENT)


def read_row(
    row: Mapping[str, object],
    *,
    textual: bool,
    columns: ColumnNames | None = None,
    given: Mapping[str, Any] | None = None,
    source: str = "",
) -> dict[str, Any]:
    """Read a row with any supported library's column names into sample fields.

    Args:
        row: column names and values.
        textual: as for `Sample.from_mapping`.
        columns: as for `Sample.from_mapping`.
        given: fields that were read from the messages of the row.
        source: column of these messages.

    Raises:
        SampleError: as `Sample.from_mapping`, without the place of the row.
    """
    cells = list(cells_of(row))
    layout = _layout(tuple([name for name, _ in cells]), tuple(columns.items()) if columns else ())
    values: dict[str, Any] = dict(given or {})
    labels: dict[str, Label] = {}
    sources = dict.fromkeys(values, source)
    cited: list[CitedText] = []
    for column, (_, cell) in zip(layout, cells, strict=True):
        name, raw = column.name, cell
        if (column.kind == "answer" or _key(name) == "statements") and (reply := _reply(raw)) is not None:
            cited.append(reply)
            if column.kind is None:  # statements may be a part of the answer
                continue
            raw = reply.text
        is_blank = textual and isinstance(raw, str) and raw in _ABSENT
        is_number = whole_number(raw) or is_absent(raw, textual=textual)
        is_other = column.kind == "number" and column.field not in (columns or {}) and not is_number
        if column.kind is None or is_other:
            value = None if is_blank else plain(raw)
            is_many = column.field and not is_other
            for label, content in (labels_in(name, value) if is_many else {name: value}).items():
                read = label_of(label, content, textual=textual)
                if labels.setdefault(valid_text("a label's name", label), read) != read:
                    raise SampleError(f"label {label!r} appears twice with different values")
            continue
        field = column.field or ""
        if is_blank and not (column.kind == "answer" and raw == ""):
            continue
        value = read_cell(repr(name), raw, column.kind, separators=column.separators)
        if value is None:
            continue
        earlier = values.get(field)
        if earlier is None or earlier == "":  # a blank answer gives way to one that says something
            values[field], sources[field] = value, name
        elif value not in ("", earlier):
            advice = f"keep one, or choose it: columns={{{field!r}: {sources[field]!r}}}"
            if field in (given or {}):
                advice = "keep one; messages before the question belong in the column 'history'"
            raise SampleError(f"{sources[field]!r} and {name!r} both mean {field} and disagree; {advice}")
    drafts = values.pop("citations", ())
    if cited:
        values.setdefault("answer", cited[0].text)
    if drafts or cited:
        values["citations"] = _citations(values, drafts, cited)
    is_nothing = textual and not any(value for name, value in values.items() if name not in _ABOUT)
    if is_nothing or not values.keys() - _ABOUT:
        raise SampleError(f"no sample field, only the columns {[column for column, _ in cells]}")
    return {**values, "labels": labels}


def _reply(raw: object) -> CitedText | None:
    """A reply with citations, also as the text of its JSON."""
    if isinstance(raw, str) and raw.lstrip()[:1] not in ("{", "["):
        return None
    reply = cited_text(parsed(plain(raw)))
    return None if isinstance(raw, str) and reply is not None and not reply.citations else reply


def _citations(values: Mapping[str, Any], drafts: Any, cited: list[CitedText]) -> tuple[Citation, ...] | None:
    """Citations of the answer, from a column of their own or from the reply that has them."""
    answer = values.get("answer") or ""
    place = partial(
        citations_of,
        answer=answer,
        contexts=values.get("contexts") or (),
        ids=values.get("context_ids") or (),
    )
    found = {place(reply.citations, text=reply.text) for reply in cited}
    if drafts:
        found.add(place(drafts))
    found.discard(())
    if len(found) > 1:
        raise SampleError("'citations' and the citations in the answer disagree; keep one of them")
    return next(iter(found), None)


@lru_cache(maxsize=1024)
def _layout(names: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> tuple[_Column, ...]:
    """Field of each column of a row."""
    mapped = {column: field for field, column in columns}
    if absent := [column for column in mapped if column not in names]:
        raise SampleError(f"there is no column {absent[0]!r}; there is {', '.join(map(repr, names))}")
    fields = {name: field_named(name) for name in names}
    for name, field in fields.items():
        if name in mapped or field in dict(columns):
            fields[name] = mapped.get(name)
    if "session" not in fields.values():  # a turn of no conversation is some other column
        fields |= {name: None for name in names if fields[name] == "turn" and name not in mapped}
    contexts = {name for name in names if name not in mapped and _key(name) == "context"}
    if contexts and fields[next(iter(contexts))] is not None:
        ideal = _is_ideal_context({_key(name): field for name, field in fields.items()}, names)
        fields |= dict.fromkeys(contexts, "reference_contexts") if ideal else {}
    layout: list[_Column] = []
    for name in names:
        field = fields[name]
        is_deepeval = _key(name) == _DEEPEVAL_RETRIEVED or (name in contexts and field != "contexts")
        separators = _DEEPEVAL_SEPARATORS if is_deepeval and name not in mapped else ""
        layout.append(_Column(name, field, KINDS.get(field or ""), separators))
    return tuple(layout)


def _is_ideal_context(fields: Mapping[str, str | None], names: tuple[str, ...]) -> bool:
    """Whether `context` is the ideal context, as in DeepEval's test cases, not the retrieved one.

    Raises:
        SampleError: both are possible.
    """
    if fields.get(_DEEPEVAL_RETRIEVED) == "contexts":
        return True
    outputs = _DEEPEVAL_OUTPUTS & fields.keys()
    if not outputs:
        return False
    others = [
        name
        for name, field in fields.items()
        if field in {"question", "answer", "reference"} and name not in _DEEPEVAL_FIELDS
    ]
    if not others and {"input", "actualoutput"} <= fields.keys():
        return True
    if others and len(outputs) == 1:
        return False
    raise SampleError(
        "'context' may hold the retrieved contexts or, as in DeepEval, the ideal ones, "
        f"together with {list(names)}; "
        "choose: columns={'contexts': 'context'} or columns={'reference_contexts': 'context'}"
    )


def cells_of(row: Mapping[Any, object]) -> Iterator[Cell]:
    """Columns and values; LangSmith's nested parts become `inputs.question`."""
    is_run = any(_is_part(column, value) for column, value in row.items())
    for column, value in row.items():
        if not isinstance(column, str):
            raise SampleError(f"column names must be text, got {shown(column)}")
        if column in _LANGSMITH and is_mapping(value):
            yield from ((f"{column}.{inner}", content) for inner, content in value.items())
        elif is_run and _key(column) == _PROJECT:
            yield "langsmith_project", value
        else:
            yield column, value
    if is_run:
        yield from sessions_in(row)


def _is_part(column: object, value: object) -> bool:
    """Whether it is a part of a run or an example of LangSmith, or a column of one."""
    if not isinstance(column, str):
        return False
    return column.partition(".")[0] in _LANGSMITH and ("." in column or is_mapping(value))


def sessions_in(row: Mapping[Any, object]) -> Iterator[Cell]:
    """Ids of the conversation in the metadata of a run of LangSmith or a state of LangGraph.

    A column of the row takes precedence, but not a run's `session_id`, which is its tracing project.
    """
    is_run = any(_is_part(column, value) for column, value in row.items())
    named = [column for column in row if field_named(str(column)) == "session"]
    if any(not is_run or _key(column) != _PROJECT for column in named):
        return
    for holder, part in (("metadata", ""), ("extra", "metadata"), ("config", "configurable")):
        values = row.get(holder)
        values = values.get(part) if part and is_mapping(values) else values
        if is_mapping(values):
            for name, value in values.items():
                if _key(str(name)) in _SESSIONS and value is not None:
                    yield f"metadata.{name}", value
            return
