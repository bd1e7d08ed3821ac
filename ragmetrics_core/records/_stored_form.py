"""The form in which a record is stored: each text once, what goes without saying not at all.

A reply, what was read from it and the verdicts on it say the same three times. On disk the reply is written
as it came; wherever else one of its texts stands, its number stands instead ("@3"). Rows of the same fields
become columns, and fields that have their usual value are left out. Unpacking looks at nothing but the
line: no parser of today has a say in what a reply meant when it was read. docs/record.md describes the form,
`_packing` writes it.
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
"""What a packed line says its format is; unpacked it is a record of format 1."""

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
    """The fields of a record of which a line was stored, in either form; what has its usual value may lack.

    Args:
        line: the line's JSON.
        length: its characters: no rows that were packed have more cells.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: the line is not as it must be.
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
    """The fields of a line as `unpacked` gives them, but for texts, steps and verdicts, which stay packed.

    Raises:
        LookupError, AttributeError: the line is not as it must be.
    """
    if line.get("schema") != PACKED:
        return dict(line)
    fields = {**RECORD, **line}
    if "metric" not in line:
        fields["metric"], _, fields["variant"] = str(line["signature"]).partition("/")
    return fields


def texts_of(reply: str) -> Iterable[str]:
    """The texts of a reply, in their order: those in quotes or, without any, its lines."""
    if '"' not in reply:
        return map(_unmarked, reply.splitlines())
    if "\\" in reply:
        return [_unescaped(text) for text in _QUOTED_WITH_ESCAPES.findall(reply)]
    return _QUOTED.findall(reply)


class _ReadTexts(dict[str, str]):
    """The texts of a line by their numbers as they are written: "@0" for the first text."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self._cells = length
        self._numbered: set[str] = set()

    def __missing__(self, text: str) -> str:
        """A text that is written as it is, which gives it its number."""
        if text.startswith("@"):
            text = text[1:]
            if not text.startswith("@"):
                raise ValueError(f"there is no text @{text[:20]}")
        self.add((text,))
        return text

    def add(self, texts: Iterable[str]) -> None:
        """Number texts that stand in the line."""
        for text in texts:
            if text not in self._numbered and SHORTEST <= len(text) <= LONGEST:
                self._numbered.add(text)
                self[f"@{len(self)}"] = text

    def unpacked(self, value: Any) -> Any:
        """The value that was packed."""
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
        """The rows of columns, of which those that are no list have one value in each row."""
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
    """What a text in JSON says; one that is none, as it stands."""
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
