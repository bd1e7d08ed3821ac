"""What a stored line is about, without reading it whole: a folder may come from anywhere, and be damaged."""

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, cast

from ragmetrics_core.errors import SampleError
from ragmetrics_core.prompts import PromptText, digest_of
from ragmetrics_core.records._stored_form import outlined, unpacked
from ragmetrics_core.runs._decisions import DECIDING, decisions_in_fields, decisions_stored
from ragmetrics_core.runs._index import Key
from ragmetrics_core.runs._kept_index import remove_kept
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.shapes import is_dict

__all__ = [
    "DAMAGED",
    "StoredRecord",
    "StoredSample",
    "is_run",
    "labels_digest",
    "prompt_in",
    "record_in",
    "remove_run",
    "sample_in",
]

# What these functions raise for a line that is not as it must be.
DAMAGED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    SampleError,
)
# What a run writes, and all that overwriting one removes: a copy ("manifest.json.bak") is somebody's.
# The manifest is the last to go, so that what an overwriting that failed has left can be overwritten.
_WRITTEN = (
    "records.jsonl",
    "samples.jsonl",
    "prompts.jsonl",
    "rejected.jsonl",
    "waiting.jsonl",
    "waiting.jsonl.new",
    *(f"journal.sqlite{rest}" for rest in ("", "-journal", "-shm", "-wal")),
    "manifest.json.new",
    "manifest.json",
)


class StoredSample(NamedTuple):
    """A sample's id, the digest of its content and that of its labels."""

    id: str
    digest: str
    labels: str


class StoredRecord(NamedTuple):
    """Which score a line holds, what it came to, the line's seal, and what its verdicts decided, in short."""

    key: Key
    outcome: Outcome
    seal: str
    decided: str | None


def sample_in(line: bytes) -> StoredSample:
    """Which sample a line of `samples.jsonl` holds."""
    fields = json.loads(line)
    labels: Mapping[str, Any] = fields["sample"].get("labels") or {}
    return StoredSample(_text(fields["sample"]["id"]), _text(fields["digest"]), labels_digest(labels))


def labels_digest(labels: Mapping[str, Any]) -> str:
    """A digest of a sample's labels, which are no part of its content; "" where there are none."""
    if not labels:
        return ""
    told = {name: _finite(value) for name, value in labels.items()}
    return digest_of(json.dumps(told, sort_keys=True))


def _finite(value: Any) -> Any:
    """A number as a file has it: none for one that JSON cannot write, and no whole numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return float(value) if isfinite(value) else None


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
    return StoredRecord(
        key, outcome, _text(seal) if isinstance(seal, str) else "", _decided(fields) if decided else None
    )


def _decided(fields: Mapping[str, Any]) -> str | None:
    """What the verdicts of a record decided; None where they are not as they must be, as its reader says."""
    try:
        if fields["metric"] not in DECIDING:
            return ""
        return decisions_stored(decisions_in_fields(fields))
    except DAMAGED:
        return None


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


def is_run(path: Path) -> bool:
    """Whether a folder with a `manifest.json` holds a run: other projects have files of that name."""
    if any((path / name).exists() for name in ("samples.jsonl", "records.jsonl")):
        return True
    try:
        fields = json.loads((path / "manifest.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return is_dict(fields) and {"schema", "metrics", "versions"} <= set(fields)


def remove_run(path: Path) -> None:
    """Remove the run that a folder holds, and nothing else that stands there; the lock that is held stays."""
    remove_kept(path)
    for name in _WRITTEN:
        (path / name).unlink(missing_ok=True)
