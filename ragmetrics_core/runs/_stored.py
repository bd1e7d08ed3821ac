"""What a stored line is about, without reading it whole: a folder may come from anywhere, and be damaged."""

import json
from collections.abc import Mapping
from contextlib import suppress
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any, NamedTuple, cast

from ragmetrics_core.prompts import PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.records._stored_form import outlined, unpacked
from ragmetrics_core.records._written_record import WrittenRecord
from ragmetrics_core.runs._decisions import decisions_in, decisions_stored
from ragmetrics_core.runs._lines import DAMAGED
from ragmetrics_core.runs._loading import BadRow
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.samples import labels_digest

__all__ = [
    "MODELS",
    "Given",
    "Key",
    "StoredRecord",
    "StoredSample",
    "bad_row_in",
    "bad_row_line",
    "given_in",
    "is_blank",
    "prompt_in",
    "record_in",
    "sample_in",
    "stored_record",
    "told_row",
]


# What measures: the fields of a manifest and of a record that name it.
MODELS = ("judge", "embedder", "scorer")


class Key(NamedTuple):
    """What names a score in a run."""

    sample_id: str
    signature: str


class StoredSample(NamedTuple):
    """A sample's id, the digest of its content and that of its labels, and whether its answer is blank."""

    id: str
    digest: str
    labels: str
    blank: bool


class StoredRecord(NamedTuple):
    """Which score a line holds, what it came to, and what it is held against.

    Attributes:
        key, outcome: which score, and what it came to.
        seal: the line's seal.
        sample_digest: of the sample that was measured.
        models: the identities of judge, embedder and scorer, as JSON.
        decided: what its verdicts decided, in short.
    """

    key: Key
    outcome: Outcome
    seal: str
    sample_digest: str
    models: str
    decided: str | None


def sample_in(line: bytes) -> StoredSample:
    """Which sample a line of `samples.jsonl` holds."""
    fields = json.loads(line)
    sample: Mapping[str, Any] = fields["sample"]
    labels, blank = labels_digest(sample.get("labels") or {}), is_blank(sample.get("answer"))
    return StoredSample(_text(sample["id"]), _text(fields["digest"]), labels, blank)


class Given(NamedTuple):
    """A sample that the newest call was given: its id and the digest of its content."""

    id: str
    digest: str

    def line(self) -> str:
        """The line of `dataset.jsonl`."""
        # what `json.dumps` gives, in a fifth of the time
        name, digest = map(encode_basestring_ascii, self)
        return f'{{"id": {name}, "digest": {digest}}}'


def given_in(line: bytes) -> Given:
    """The sample that a line of `dataset.jsonl` names."""
    fields = json.loads(line)
    return Given(_text(fields["id"]), _text(fields["digest"]))


def is_blank(answer: object) -> bool:
    """Whether an answer is there and has not a character to be seen."""
    return isinstance(answer, str) and all(char.isspace() or not char.isprintable() for char in answer)


def bad_row_in(line: bytes) -> BadRow:
    """The row that a line of `rejected.jsonl` tells of."""
    row = json.loads(line)
    sample_id = row.get("sample")
    where, message = str(row["where"]), str(row["message"])
    return BadRow(where=where, message=message, sample_id=None if sample_id is None else str(sample_id))


def bad_row_line(row: BadRow) -> str:
    """The line of `rejected.jsonl` that tells of a row."""
    shared = {} if row.sample_id is None else {"sample": row.sample_id}
    return json.dumps({"where": row.where, "message": row.message, **shared})


def told_row(row: BadRow) -> str:
    """What `contents` says of a row; of one without an id, as those of format 1 are, what it said then."""
    return "\t".join(part for part in (row.where, row.message, row.sample_id) if part is not None)


def record_in(line: bytes, *, decided: bool = True) -> StoredRecord:
    """Which score a line of `records.jsonl` holds, what it came to, and its seal.

    Args:
        line: the line.
        decided: whether what the verdicts decided is wanted, for which all texts are put together.
    """
    fields = unpacked(json.loads(line), len(line)) if decided else outlined(json.loads(line))
    outcome = Outcome.of_stored(fields)
    _text(outcome.status)
    for number in (outcome.value, *(outcome.bounds or ())):
        # a whole number of hundreds of digits is no float
        is_number = number is None or type(cast("object", number)) in (int, float)
        if not is_number or (number is not None and not isfinite(float(number))):
            raise ValueError("a score is no finite number")
    if outcome.value is not None:
        outcome = outcome._replace(value=float(outcome.value))
    if outcome.reason is not None:
        _text(outcome.reason)
    seal = fields.get("digest")
    key = Key(_text(fields["sample_id"]), _text(fields["signature"]))
    decisions: str | None = None
    if decided:
        with suppress(*DAMAGED):  # verdicts that are not as they must be: their reader says so
            verdicts = ((each["about"], each["text"], each["supported"]) for each in fields["verdicts"])
            decisions = decisions_stored(decisions_in(fields["metric"], verdicts, fields["counts"]))
    return StoredRecord(key, outcome, _text(seal) if isinstance(seal, str) else "", *_held(fields), decisions)


def stored_record(record: Record | WrittenRecord, line: bytes) -> StoredRecord:
    """What `record_in` says of the line of a record; nothing that a driver has just written is read again."""
    if isinstance(record, Record):
        return record_in(line)
    decided = decisions_in(record.metric, record.decided, record.fields["counts"])
    outcome = Outcome.of_stored(record.fields)
    key = Key(record.sample_id, record.signature)
    return StoredRecord(key, outcome, line[-34:-2].decode(), *_held(record.fields), decisions_stored(decided))


def _held(fields: Mapping[str, Any]) -> tuple[str, str]:
    """The digest of a record's sample, and its models."""
    return str(fields.get("sample_digest")), json.dumps([fields.get(name) for name in MODELS])


def prompt_in(line: bytes) -> tuple[str, PromptText]:
    """The digest and the text of a prompt in a line of `prompts.jsonl`."""
    fields = json.loads(line)
    text = PromptText(**{name: fields[name] for name in PromptText._fields})
    for part in (text.name, text.system, text.user, text.again):
        _text(part)
    if text.language is not None:
        _text(text.language)
    return _text(fields["digest"]), text


def _text(value: Any) -> str:
    """A text that the index can hold: half a character is none."""
    if not isinstance(value, str):
        raise TypeError(f"a text is {type(value).__name__}")
    value.encode()
    return value
