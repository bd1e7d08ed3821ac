"""Stored form of a record: each text once, without default values.

A reply, the value read from it and the verdicts repeat the same texts. On disk the reply is verbatim; every
other occurrence of one of its texts is a number ("@3"). Rows with the same fields become columns, and default
values are left out. Unpacking needs only the line, so later parsers do not change what a reply meant when it
was read. docs/record.md describes the form, `packing` writes it.
"""

# A line of JSON may hold anything.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING
from dataclasses import fields as dataclass_fields
from itertools import repeat
from typing import Any, Final

from ragmetrics_core.measurement import Verdict
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records._parts import GenerateStep

__all__ = [
    "LONGEST",
    "PACKED",
    "READINGS",
    "RECORD",
    "SHORTEST",
    "STEP",
    "VERDICT",
    "outlined",
    "texts_of",
    "unpacked",
]

PACKED: Final = 2
"""Format number of a packed line; unpacked, it is a record of format 1."""

# Texts of these lengths are written once. Shorter ones are not worth a number; and were longer ones, a
# folder from anywhere could hold a line that unpacks to thousands of times its size.
SHORTEST, LONGEST = 8, 1000
# The texts of a reply in JSON. Outside of them a backslash takes the next character with it, so that
# no reply has this search begin again and again.
_QUOTED = re.compile(r'"([^"]*)"')
_QUOTED_WITH_ESCAPES = re.compile(r'\\.|"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
# What stands before a text in a list.
_MARKS = "0123456789.)-*• \t"

# What fields usually are. In a record all of these are empty or nothing.
RECORD: Mapping[str, Any] = {
    **dict.fromkeys(("reason", "value", "bounds", "abstained", "judge", "embedder", "scorer")),
    **dict.fromkeys(("parts", "verdicts", "steps", "notes", "corrections"), ()),
    **{name: {} for name in ("settings", "counts", "segments")},
    "formula": "",
}
STEP: Mapping[str, Any] = {
    name: field.default
    for name, field in GenerateStep.model_fields.items()
    if not field.is_required() and name != "kind"
}
# "text" has no usual value, so that there is always a column of all rows.
VERDICT: Mapping[str, Any] = {
    field.name: ... if field.default is MISSING else field.default for field in dataclass_fields(Verdict)
}
# What was made of a step's reply.
READINGS: Final = ("value", "objections", "dropped")


def unpacked(line: Mapping[str, Any], length: int) -> dict[str, Any]:
    """Fields of a stored record in either form; default values may be missing.

    Args:
        line: the line's JSON.
        length: number of its characters, the limit for cells in packed rows.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: the line is malformed.
    """
    fields = outlined(line)
    if line.get("schema") != PACKED:
        return fields
    texts = _ReadTexts(length)
    fields["schema"] = 1
    fields["steps"] = [_unpacked_step(step, texts) for step in fields["steps"]]
    if verdicts := line.get("verdicts"):
        fields["verdicts"] = _unpacked_verdicts(verdicts, texts)
    if segments := line.get("segments"):
        fields["segments"] = {digest: _spans(lengths) for digest, lengths in segments.items()}
    if notes := line.get("notes"):
        fields["notes"] = [texts.unpacked(note) for note in notes]
    return fields


def outlined(line: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a line as from `unpacked`, except that texts, steps and verdicts stay packed.

    Raises:
        LookupError, AttributeError: the line is malformed.
    """
    if line.get("schema") != PACKED:
        return dict(line)
    fields = {**RECORD, **line}
    if "metric" not in line:
        fields["metric"], _, fields["variant"] = str(line["signature"]).partition("/")
    return fields


def texts_of(reply: str) -> Iterable[str]:
    """Texts of a reply in order: quoted strings or, without any, its lines."""
    if '"' not in reply:
        return map(_unmarked, reply.splitlines())
    if "\\" in reply:
        return [_unescaped(text) for text in _QUOTED_WITH_ESCAPES.findall(reply)]
    return _QUOTED.findall(reply)


class _ReadTexts(dict[str, str]):
    """Texts of a line by their written numbers: "@0" for the first text."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self._cells = length
        self._numbered: set[str] = set()

    def __missing__(self, text: str) -> str:
        """A text in full, which gets the next number."""
        if text.startswith("@"):
            text = text[1:]
            if not text.startswith("@"):
                raise ValueError(f"there is no text @{text[:20]}")
        self.add((text,))
        return text

    def add(self, texts: Iterable[str]) -> None:
        """Number texts of the line."""
        for text in texts:
            if text not in self._numbered and SHORTEST <= len(text) <= LONGEST:
                self._numbered.add(text)
                self[f"@{len(self)}"] = text

    def unpacked(self, value: Any) -> Any:
        """Unpack a value."""
        if isinstance(value, str):
            return self[value]
        if isinstance(value, list):
            return [self.unpacked(item) for item in value]
        if not isinstance(value, dict):
            return value
        if is_rows := value.get("@") == "rows":
            value = {name: item for name, item in value.items() if name != "@"}
        fields = {name.removeprefix("@"): self.unpacked(item) for name, item in value.items()}
        return self.rows(fields) if is_rows else fields

    def rows(self, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Rows from columns; a column that is not a list has the same value in all rows."""
        (count,) = {len(column) for column in columns.values() if isinstance(column, list)}
        self._cells -= count * len(columns)
        if self._cells < 0:
            raise ValueError("its rows have more cells than the line has characters")
        cells = [column if isinstance(column, list) else repeat(column, count) for column in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=False)]


def _unpacked_step(step: Any, texts: _ReadTexts) -> Any:
    if step.get("kind", "generate") != "generate":
        return step
    reply = step["reply"]
    texts.add(texts_of(reply))
    read = {name: texts.unpacked(step[name]) for name in step if name in READINGS}
    return {"kind": "generate", **step, "reply_digest": step.get("reply_digest") or digest_of(reply), **read}


def _unpacked_verdicts(columns: Mapping[str, Any], texts: _ReadTexts) -> list[dict[str, Any]]:
    read: dict[str, Any] = {"number": list(range(1, len(columns["text"]) + 1))}
    for name, column in columns.items():
        if name == "evidence":
            read[name] = [[_unpacked_evidence(item, texts) for item in quoted] for quoted in column]
        else:
            read[name] = texts.unpacked(column)
    return texts.rows(read)


def _unpacked_evidence(evidence: Sequence[Any], texts: _ReadTexts) -> dict[str, Any]:
    quote, source, *place = evidence
    span = dict(zip(("chunk", "start", "end", "exact"), place, strict=True)) if place else None
    return {"quote": texts.unpacked(quote), "source": texts.unpacked(source), "span": span}


def _spans(lengths: Iterable[Any]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    end = -1
    for entry in lengths:
        distance, length = entry if isinstance(entry, list) else (1, entry)
        start = end + distance
        end = start + length
        spans.append((start, end))
    return spans


def _unmarked(line: str) -> str:
    return line.lstrip(_MARKS).rstrip()


def _unescaped(text: str) -> str:
    """Decode a JSON string body; invalid ones stay as they are."""
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
