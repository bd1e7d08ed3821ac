"""Conversations in a row: which messages belong to which answer, and which columns are about it."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel

from ragmetrics_core.boundary.shapes import is_mapping, is_series, is_tuple
from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples._cells import parsed, plain, read_messages, shown
from ragmetrics_core.samples._citations import cited_text
from ragmetrics_core.samples._documents import document_text
from ragmetrics_core.samples._labels import label_of
from ragmetrics_core.samples._messages import ChatMessage, UnreadableMessage, has_role, messages_in
from ragmetrics_core.samples.columns import (
    Cell,
    ColumnNames,
    cells_of,
    fields_of_cells,
    is_absent,
    read_row,
    sessions_in,
    spelled,
)

__all__ = [
    "MADE_SESSION",
    "RowConversation",
    "conversation_in",
    "holds_conversation",
    "is_conversation_column",
    "mapping_of",
]

# A session that was derived from the messages, also for a later occurrence of the same conversation.
MADE_SESSION: Final = re.compile(r"c-[0-9a-f]{16}(-\d+)?")
# Each answer is stored with its whole history, so that size and time grow with the square of the length.
_MOST_MESSAGES: Final = 1000

_COLUMNS: Final = frozenset({
    "messages", "turns", "conversation", "conversations", "dialog", "dialogue", "chat", "transcript",
})  # fmt: skip
# Mappings whose entries are columns if one of them holds a conversation: states of LangGraph, Azure's form.
_HOLDERS: Final = frozenset({"values", "state", "conversation"})
_LANGSMITH_PARTS: Final = ("inputs.", "outputs.")
# Fields that are the same for each answer of a conversation.
_SHARED: Final = frozenset({"id", "language", "session", "labels"})
_OF_SNAPSHOTS: Final = frozenset({"values", "config", "metadata"})
# Columns of mtrag, which are lists of texts.
_OF_MTRAG: Final = {"targets": "references", "predictions": "answer"}


class ConversationAnswer(NamedTuple):
    """An answer with the place of its question.

    Attributes:
        start: number of the messages before the question; None if the row may lack earlier ones.
        fields: further fields of the sample.
    """

    start: int | None
    fields: dict[str, Any]


class RowConversation(NamedTuple):
    """The messages of a row, and its answers."""

    messages: tuple[ChatMessage, ...]
    answers: tuple[ConversationAnswer, ...]


class _Exchange(NamedTuple):
    """A message of the user with everything up to the next one.

    Attributes:
        question: place of the user's message.
        reply: the messages that are the answer; empty without an answer.
        contexts: chunks that its messages name; None if they name none.
        tools: texts of the results of tools; None if the conversation has none at all.
    """

    question: int
    reply: tuple[ChatMessage, ...]
    contexts: tuple[str, ...] | None
    tools: tuple[str, ...] | None


def mapping_of(row: object) -> Mapping[str, object] | None:
    """The fields of an object that stands for a row, such as a test case of DeepEval; None if it has none."""
    if is_mapping(row):
        return row
    if isinstance(row, BaseModel):
        return dict(row)
    if is_tuple(row) and hasattr(row, "_asdict"):  # LangGraph's snapshot of a state
        return {name: part for name, part in cast("Any", row)._asdict().items() if name in _OF_SNAPSHOTS}
    if is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in fields(row)}
    return None


def holds_conversation(row: Mapping[Any, object]) -> bool:
    """Whether a row has a column of messages."""
    try:
        return any(_is_list_of_messages(name, cell) for name, cell in _cells(row))
    except SampleError:
        return True


def is_dialogue(values: Iterable[object]) -> bool:
    """Whether these are messages of a user and of an application, not cells of a column."""
    try:
        roles = {message.role for value in values for message in messages_in(value)}
    except UnreadableMessage:
        return False
    return {"user", "assistant"} <= roles


def conversation_in(
    row: Mapping[str, object], *, textual: bool, columns: ColumnNames | None = None
) -> RowConversation | None:
    """The conversation in a row; None if no column holds one.

    Raises:
        SampleError: it cannot be read, has no message of a user, or a column can be about several answers.
    """
    cells = list(_cells(row))
    by_field = fields_of_cells(cells, columns)
    lists = {
        name: messages
        for name, cell in cells
        if (by_field[name] == "question" or is_conversation_column(name))
        and (messages := _message_list(name, cell)) is not None
    }
    if not lists:
        return None
    is_run = any(name.startswith(_LANGSMITH_PARTS) for name in lists)
    replies = {name: reply for name, cell in cells if (reply := _reply(name, cell)) is not None}
    column = next(iter(lists))
    messages = _joined(
        [read_messages(repr(name), each) for name, each in lists.items()],
        [read_messages(repr(name), each) for name, each in replies.items()],
        " and ".join(map(repr, lists)),
    )
    exchanges = _exchanges(column, messages)
    beside = {
        name: cell
        for name, cell in cells
        if name not in lists and name not in replies and not is_absent(cell, textual=textual)
    }
    columns = {field: name for field, name in (columns or {}).items() if name in beside}
    labels: dict[str, object] = {}
    of_mtrag = _read_mtrag(beside)
    about = fields_of_cells(beside.items(), columns)
    for name in list(about):
        is_label = name in by_field and by_field[name] is None
        # DeepEval's test cases of conversations have a context of the whole conversation
        if is_label or (spelled(name) == "context" and spelled(column) == "turns"):
            labels[name] = beside.pop(name)
            del about[name]
    about = {name: field for name, field in about.items() if field is not None and field not in _SHARED}
    is_one = is_run or of_mtrag or not {"question", "answer"}.isdisjoint(about.values())
    if not exchanges[-1].reply and not all(map(_is_reference, about.values())):
        is_one = True
    if len(exchanges) > 1 and not is_one:
        for name, field in about.items():
            if not _is_reference(field):
                raise SampleError(
                    f"{name!r} can be about any of the {len(exchanges)} answers in {column!r}; write it into "
                    "the message, or give each answer a row with its question and its 'history'"
                )
            labels[name] = beside.pop(name)
        if len(messages) > _MOST_MESSAGES:
            raise SampleError(
                f"{column!r} holds {len(messages):,} messages, and each answer is stored with all before it; "
                f"split conversations of more than {_MOST_MESSAGES:,} messages"
            )
    kept = {name: label_of(name, value, textual=textual) for name, value in labels.items()}
    if is_one:
        answers = [_only_answer(column, beside, messages, exchanges, textual, columns, is_run=is_run)]
    else:
        answers = list(_answers(column, beside, messages, exchanges, textual, columns))
    for answer in answers:
        answer.fields["labels"] = kept | answer.fields["labels"]
    return RowConversation(messages, tuple(answers))


def _only_answer(
    column: str,
    beside: Mapping[str, object],
    messages: Sequence[ChatMessage],
    exchanges: Sequence[_Exchange],
    textual: bool,
    columns: ColumnNames,
    *,
    is_run: bool,
) -> ConversationAnswer:
    """The last answer, with the other columns of the row."""
    last = exchanges[-1]
    values = _values(column, beside, messages, last, textual, columns)
    session = values.get("session")
    # the input of a run of LangSmith may be the new message alone
    start = None if is_run and last.question == 0 else last.question
    if session is not None and start is not None:
        values.setdefault("turn", len(exchanges))
    if session is not None and "turn" in values:
        values.setdefault("id", f"{session}#{values['turn']}")
    return ConversationAnswer(start, values)


def _answers(
    column: str,
    beside: Mapping[str, object],
    messages: Sequence[ChatMessage],
    exchanges: Sequence[_Exchange],
    textual: bool,
    columns: ColumnNames,
) -> Iterator[ConversationAnswer]:
    """All answers of a conversation."""
    derived = _session_of(messages)
    for number, exchange in enumerate(exchanges, start=1):
        values = _values(column, beside, messages, exchange, textual, columns)
        row_id = values.pop("id", None)
        session = values.setdefault("session", derived if row_id is None else row_id)
        if row_id not in (None, session):
            values["labels"].setdefault("row_id", row_id)
        values |= {"turn": number, "id": f"{session}#{number}"}
        yield ConversationAnswer(exchange.question, values)


def _values(
    column: str,
    beside: Mapping[str, object],
    messages: Sequence[ChatMessage],
    exchange: _Exchange,
    textual: bool,
    columns: ColumnNames,
) -> dict[str, Any]:
    """Fields of an answer, from its messages and the other columns of the row."""
    said: dict[str, Any] = {"question": messages[exchange.question].content}
    cells = dict(beside)
    if exchange.reply:
        raw = exchange.reply[0].raw
        if len(exchange.reply) == 1 and (cited := cited_text(raw)) is not None and cited.citations:
            cells[column] = raw
            columns = {**columns, "answer": column}
        else:
            said["answer"] = "\n\n".join(str(message.content) for message in exchange.reply)
    if exchange.contexts is not None:
        said["contexts"] = exchange.contexts
    said = {name: value for name, value in said.items() if name == "question" or name not in columns}
    values = read_row(cells, textual=textual, columns=columns, given=said, source=column)
    if exchange.tools is not None:
        values.setdefault("contexts", exchange.tools)
    if values.pop("history", None):
        raise SampleError(f"'history' and {column!r} both hold the earlier messages; keep one")
    return values


def _read_mtrag(cells: dict[str, object]) -> bool:
    """Replace mtrag's columns of texts by the columns of a sample; whether there were any."""
    names = [name for name in _OF_MTRAG if is_series(texts := plain(cells.get(name))) and texts]
    for name in names:
        texts = [document_text(each) for each in cast("list[object]", plain(cells[name]))]
        if None not in texts and _OF_MTRAG[name] not in cells and (name == "targets" or len(texts) == 1):
            del cells[name]
            cells[_OF_MTRAG[name]] = texts if name == "targets" else texts[0]
    return bool(names)


def _exchanges(column: str, messages: Sequence[ChatMessage]) -> list[_Exchange]:
    """Each message of the user with what follows it; of several in a row, the last is the question."""
    starts: list[int] = []
    for place, message in enumerate(messages):
        if message.role not in ("user", "assistant", "tool", "system", "developer"):
            raise SampleError(
                f"{column!r} item {place + 1} has the role {message.role!r}; the roles of a conversation are "
                "user, assistant, tool, system and developer"
            )
        if message.role == "user":
            if starts and not any(
                each.role in ("assistant", "tool") for each in messages[starts[-1] : place]
            ):
                starts.pop()
            starts.append(place)
    if not starts:
        raise SampleError(f"{column!r} has no message of a user, so that nothing was asked")
    ends = [*starts[1:], len(messages)]
    # where results of tools are among the messages, a turn without any looked nothing up
    has_tools = any(message.role == "tool" for message in messages)
    return [
        _exchange(start, messages[start:end], has_tools=has_tools)
        for start, end in zip(starts, ends, strict=True)
    ]


def _exchange(question: int, messages: Sequence[ChatMessage], *, has_tools: bool) -> _Exchange:
    """The exchange of these messages, the first of which is the question.

    The answer is what the application says after its last step; what it says before a tool is not.
    """
    reply: list[ChatMessage] = []
    for message in messages:
        if message.role == "tool" or message.is_step:
            reply.clear()
        elif message.role == "assistant":
            reply.append(message)
    named = [cast("tuple[str, ...]", each.contexts) for each in messages if each.contexts is not None]
    chunks = dict.fromkeys(chunk for each in named for chunk in each)
    tools = tuple(str(message.content) for message in messages if message.role == "tool")
    return _Exchange(question, tuple(reply), tuple(chunks) if named else None, tools if has_tools else None)


def _session_of(messages: Sequence[ChatMessage]) -> str:
    """Id of a conversation without one: a hash of its messages."""
    content = json.dumps([message.turn for message in messages], sort_keys=True)
    return f"c-{hashlib.sha256(content.encode('ascii')).hexdigest()[:16]}"


def _joined(
    lists: Sequence[tuple[ChatMessage, ...]], replies: Sequence[tuple[ChatMessage, ...]], names: str
) -> tuple[ChatMessage, ...]:
    """The messages of a row; the output of a run holds those of its input, or only new ones."""
    messages, *others = lists
    for other in others:
        if other == messages:
            continue
        if " and " in names and "'outputs." not in names:
            raise SampleError(f"{names} hold different conversations; keep one of them")
        messages = other if _contains(other, messages) else (*messages, *other)
    for reply in replies:
        messages = (*messages, *reply)
    return messages


def _contains(messages: Sequence[ChatMessage], part: Sequence[ChatMessage]) -> bool:
    """Whether the messages of a part follow one another in these."""
    texts = [(message.role, message.content) for message in messages]
    wanted = [(message.role, message.content) for message in part]
    return any(
        texts[start : start + len(wanted)] == wanted
        for start, text in enumerate(texts)
        if wanted and text == wanted[0]
    )


def _cells(row: Mapping[Any, object]) -> Iterator[Cell]:
    """Columns and values, with those of a state in the place of the state."""
    for name, cell in cells_of(row):
        inner = parsed(cell) if isinstance(cell, str) and cell.lstrip()[:1] == "{" else cell
        if spelled(name) in _HOLDERS and is_mapping(inner) and any(map(is_conversation_column, inner)):
            yield from ((key, value) for key, value in inner.items() if key not in row)
        else:
            yield name, cell
    if not any(name.startswith(_LANGSMITH_PARTS) for name, _ in cells_of(row)):
        yield from sessions_in(row)


def is_conversation_column(name: object) -> bool:
    """Whether a column of this name can hold a conversation."""
    return (
        isinstance(name, str) and spelled(name.removeprefix("inputs.").removeprefix("outputs.")) in _COLUMNS
    )


def _is_list_of_messages(name: str, cell: object) -> bool:
    return is_conversation_column(name) and _message_list(name, cell) is not None


def _message_list(name: str, cell: object) -> Sequence[object] | None:
    """The messages in a cell; None for other cells, such as a number of messages."""
    value = plain(cell)
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        value = parsed(value)
        if isinstance(value, str) and is_conversation_column(name):
            raise SampleError(f"{name!r} must be a list of messages, got {shown(value)}; write it as JSON")
    if is_mapping(value) and (columns := [plain(each) for each in value.values()]):
        if not all(map(is_series, columns)) or len({len(cast("list[object]", each)) for each in columns}) > 1:
            return None
        rows = zip(*cast("list[list[object]]", columns), strict=True)  # as `datasets` keeps lists of objects
        value = [dict(zip(value, row, strict=True)) for row in rows]
    if not is_series(value) or not value:
        return None
    if len(value) == 1 and is_series(value[0]) and not any(isinstance(each, str) for each in value[0]):
        value = value[0]  # the batch of one of a chat model
    if is_conversation_column(name) or any(map(has_role, value)):
        return value
    return None


def _reply(name: str, cell: object) -> Sequence[object] | None:
    """The reply of a chat model in the outputs of a run; None for other cells."""
    if name not in ("outputs.choices", "outputs.generations"):
        return None
    value = plain(cell)
    while is_series(value) and len(value) == 1:
        value = value[0]
    message = value.get("message") if is_mapping(value) else None
    return None if message is None else [message]


def _is_reference(field: str | None) -> bool:
    return field in ("reference", "references")
