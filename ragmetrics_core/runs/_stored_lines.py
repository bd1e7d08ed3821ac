"""Keys, seals and outcomes of stored lines; folders are untrusted and may be damaged."""

import json
from collections.abc import Mapping
from contextlib import suppress
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any, NamedTuple, cast

from ragmetrics_core.prompts import PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.records.stored_form import outlined, unpacked
from ragmetrics_core.records.written_record import WrittenRecord
from ragmetrics_core.runs._decisions import decisions_in, decisions_stored
from ragmetrics_core.runs._loading import BadRow
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.runs.append_only_lines import DAMAGED
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
    """Key of a score in a run: sample id and metric signature."""

    sample_id: str
    signature: str


class StoredSample(NamedTuple):
    """Id, content digest and labels digest of a sample, and whether its answer is blank."""

    id: str
    digest: str
    labels: str
    blank: bool


class StoredRecord(NamedTuple):
    """Key, outcome and seal of a stored record.

    Attributes:
        key, outcome: the score and its outcome.
        seal: the line's seal.
        sample_digest: digest of the measured sample.
        models: identities of judge, embedder and scorer, as JSON.
        decided: decisions of its verdicts in stored form.
    """

    key: Key
    outcome: Outcome
    seal: str
    sample_digest: str
    models: str
    decided: str | None


def sample_in(line: bytes) -> StoredSample:
    """Read a line of `samples.jsonl`."""
    fields = json.loads(line)
    sample: Mapping[str, Any] = fields["sample"]
    labels, blank = labels_digest(sample.get("labels") or {}), is_blank(sample.get("answer"))
    return StoredSample(_checked_text(sample["id"]), _checked_text(fields["digest"]), labels, blank)


class Given(NamedTuple):
    """A sample of the newest call: its id and content digest."""

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
    return Given(_checked_text(fields["id"]), _checked_text(fields["digest"]))


def is_blank(answer: object) -> bool:
    """Whether an answer is present and has no visible character."""
    return isinstance(answer, str) and all(char.isspace() or not char.isprintable() for char in answer)


def bad_row_in(line: bytes) -> BadRow:
    """Read a line of `rejected.jsonl`."""
    row = json.loads(line)
    sample_id = row.get("sample")
    where, message = str(row["where"]), str(row["message"])
    return BadRow(where=where, message=message, sample_id=None if sample_id is None else str(sample_id))


def bad_row_line(row: BadRow) -> str:
    """The line of `rejected.jsonl` for a row."""
    shared = {} if row.sample_id is None else {"sample": row.sample_id}
    return json.dumps({"where": row.where, "message": row.message, **shared})


def told_row(row: BadRow) -> str:
    """Entry of a row in `contents`; a row without an id has the entry of format 1."""
    return "\t".join(part for part in (row.where, row.message, row.sample_id) if part is not None)


def record_in(line: bytes, *, decided: bool = True) -> StoredRecord:
    """Read key, outcome and seal from a line of `records.jsonl`.

    Args:
        line: the line.
        decided: also read the verdicts' decisions, which unpacks all texts.
    """
    fields = unpacked(json.loads(line), len(line)) if decided else outlined(json.loads(line))
    outcome = Outcome.of_stored(fields)
    _checked_text(outcome.status)
    for number in (outcome.value, *(outcome.bounds or ())):
        # a whole number of hundreds of digits is no float
        is_number = number is None or type(cast("object", number)) in (int, float)
        if not is_number or (number is not None and not isfinite(float(number))):
            raise ValueError("a score is not a finite number")
    if outcome.value is not None:
        outcome = outcome._replace(value=float(outcome.value))
    if outcome.reason is not None:
        _checked_text(outcome.reason)
    seal = fields.get("digest")
    key = Key(_checked_text(fields["sample_id"]), _checked_text(fields["signature"]))
    decisions: str | None = None
    if decided:
        with suppress(*DAMAGED):  # verdicts that are not as they must be: their reader says so
            verdicts = (
                (each["about"], each["text"], each["supported"], each.get("label", ""))
                for each in fields["verdicts"]
            )
            decisions = decisions_stored(decisions_in(fields["metric"], verdicts, fields["counts"]))
    return StoredRecord(
        key, outcome, _checked_text(seal) if isinstance(seal, str) else "", *_held(fields), decisions
    )


def stored_record(record: Record | WrittenRecord, line: bytes) -> StoredRecord:
    """Same as `record_in`, from a record that a driver has just written."""
    if isinstance(record, Record):
        return record_in(line)
    decided = decisions_in(record.metric, record.decided, record.fields["counts"])
    outcome = Outcome.of_stored(record.fields)
    key = Key(record.sample_id, record.signature)
    return StoredRecord(key, outcome, line[-34:-2].decode(), *_held(record.fields), decisions_stored(decided))


def _held(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Sample digest and models of a record."""
    return str(fields.get("sample_digest")), json.dumps([fields.get(name) for name in MODELS])


def prompt_in(line: bytes) -> tuple[str, PromptText]:
    """The digest and the text of a prompt in a line of `prompts.jsonl`."""
    fields = json.loads(line)
    text = PromptText(**{name: fields[name] for name in PromptText._fields})
    for part in (text.name, text.system, text.user, text.again):
        _checked_text(part)
    if text.language is not None:
        _checked_text(text.language)
    if type(text.version) is not int:
        raise TypeError(f"the version of a prompt is {text.version!r}")
    return _checked_text(fields["digest"]), text


def _checked_text(value: Any) -> str:
    """Check a text for the index; unpaired surrogates are refused."""
    if not isinstance(value, str):
        raise TypeError(f"a text is {type(value).__name__}")
    value.encode()
    return value
