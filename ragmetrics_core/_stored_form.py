"""The form in which a record is stored: each text once, what goes without saying not at all.

A reply, what was read from it and the verdicts on it say the same three times. On disk the reply is written
as it came; wherever else one of its texts stands, its number stands instead ("@3"). Rows of the same fields
become columns, and fields that have their usual value are left out. Unpacking looks at nothing but the
line: no parser of today has a say in what a reply meant when it was read. docs/record.md describes the form.
"""

# A line of JSON may hold anything.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from ragmetrics_core.parsers._lazy_pattern import lazy
from ragmetrics_core.prompts import digest_of

__all__ = ["PACKED", "outlined", "packed", "unpacked"]

PACKED: Final = 2
"""What a packed line says its format is; unpacked it is a record of format 1."""

# Texts of these lengths are written once. Shorter ones are not worth a number; and were longer ones, a
# folder from anywhere could hold a line that unpacks to thousands of times its size.
_SHORTEST, _LONGEST = 8, 1000
# The texts of a reply in JSON. Outside of them a backslash takes the next character with it, so that
# no reply has this search begin again and again.
_QUOTED = lazy(r'"([^"]*)"')
_QUOTED_WITH_ESCAPES = lazy(r'\\.|"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
# What stands before a text in a list.
_MARKS = "0123456789.)-*• \t"

_PLAIN = frozenset({str, bool, int, float, type(None)})

_RECORD: Mapping[str, Any] = {
    "settings": {},
    "reason": None,
    "value": None,
    "bounds": None,
    "counts": {},
    "formula": "",
    "parts": (),
    "verdicts": (),
    "steps": (),
    "segments": {},
    "notes": (),
    "corrections": (),
    "abstained": None,
    "judge": None,
    "embedder": None,
    "scorer": None,
}
# All of these are empty or nothing, as are those of a step.
_STEP: Mapping[str, Any] = {
    "draw": 0,
    "again": False,
    "judge": None,
    "model": "",
    "finish_reason": None,
    "prompt_tokens": None,
    "completion_tokens": None,
    "value": None,
    "dropped": (),
}
# The fields of a verdict; "text" has no usual value, so that there is always a column of all rows.
_VERDICT: Mapping[str, Any] = {
    "number": 0,
    "about": ...,
    "text": ...,
    "supported": ...,
    "label": "",
    "reason": None,
    "evidence": (),
    "cosine": None,
    "overruled": None,
    "votes": (),
    "confidence": None,
    "judge": None,
    "path": "",
}


def packed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record as they are stored."""
    texts = _NumberedTexts()
    # first, as the line has them last: whatever else repeats a text refers to a reply
    steps = [_packed_step(step, texts) for step in fields["steps"]]
    line: dict[str, Any] = {}
    for name, value in fields.items():
        if not value and name in _RECORD and _is(value, _RECORD[name]):
            continue
        pack = _PACKED_BY.get(name)
        line[name] = value if pack is None else pack(value, texts)
    line["schema"] = PACKED
    if steps:
        line["steps"] = steps
    if "settings" not in line and fields["signature"] == f"{fields['metric']}/{fields['variant']}":
        del line["metric"], line["variant"]
    return line


def unpacked(line: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record of which a line was stored, in either form; what has its usual value may lack.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: the line is not as it must be.
    """
    fields = outlined(line)
    if line.get("schema") != PACKED:
        return fields
    texts = _NumberedTexts()
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
    fields = {**_RECORD, **line}
    if "metric" not in line:
        fields["metric"], _, fields["variant"] = str(line["signature"]).partition("/")
    return fields


class _NumberedTexts:
    """The texts of a line by their numbers, in the order in which they are first written.

    The numbers are kept as they are written: "@0" for the first text.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def add_reply(self, reply: str) -> None:
        """Number the texts of a reply: those in quotes or, without any, its lines."""
        if '"' not in reply:
            self._add(map(_unmarked, reply.splitlines()))
        elif "\\" in reply:
            self._add([_unescaped(text) for text in _QUOTED_WITH_ESCAPES.findall(reply)])
        else:
            self._add(_QUOTED.findall(reply))

    def _add(self, texts: Iterable[str]) -> None:
        numbers = self._numbers
        for text in texts:
            if text not in numbers and _SHORTEST <= len(text) <= _LONGEST:
                number = numbers[text] = f"@{len(numbers)}"
                self._texts[number] = text

    def packed(self, value: Any) -> Any:
        """A value with numbers for the texts that stand in the line already."""
        kind = type(value)
        if kind is str:
            return self._numbers.get(value) or self._packed_anew(value)
        if kind is list or kind is tuple:
            if not value:
                return []
            if len(value) > 1 and type(value[0]) is dict and _are_rows(value):
                return self._packed_rows(value)
            if type(value[0]) is str and _alike(value) == len(value):
                numbers = self._numbers
                return [numbers.get(text) or self._packed_anew(text) for text in value]
            return [self.packed(each) for each in value]
        if value is None or kind is bool or kind is int or kind is float:
            return value
        if kind is dict and _are_names(value):
            return {
                _escaped(name): each if each is None else self.packed(each) for name, each in value.items()
            }
        return self.packed(to_jsonable_python(value, inf_nan_mode="null"))

    def _packed_anew(self, text: str) -> str:
        """A text that stands in the line for the first time."""
        self._add((text,))
        return f"@{text}" if text.startswith("@") else text

    def unpacked(self, value: Any) -> Any:
        """The value that was packed."""
        if isinstance(value, str):
            return self._texts.get(value) or self._unpacked_anew(value)
        if isinstance(value, list):
            if value and type(value[0]) is str and _alike(value) == len(value):
                texts = self._texts
                return [texts.get(each) or self._unpacked_anew(each) for each in value]
            return [self.unpacked(each) for each in value]
        if isinstance(value, dict):
            if value.get("@") == "rows":
                return self._unpacked_rows(value)
            return {name.removeprefix("@"): self.unpacked(each) for name, each in value.items()}
        return value

    def _unpacked_anew(self, text: str) -> str:
        if text.startswith("@"):
            text = text[1:]
            if not text.startswith("@"):
                raise ValueError(f"there is no text @{text[:20]}")
        self._add((text,))
        return text

    def packed_column(self, column: Sequence[Any], *, whole: bool = False) -> Any:
        """The values of a field in all rows, or the one that it has in each."""
        first = column[0]
        if not whole and type(first) in _PLAIN and column.count(first) == len(column) == _alike(column):
            return self.packed(first)
        if type(first) is str:
            return self.packed(column)
        return [self.packed(each) for each in column]

    def _packed_rows(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        columns: dict[str, Any] = {"@": "rows"}
        for name, column in zip(rows[0], zip(*[row.values() for row in rows], strict=True), strict=True):
            # one column has a value for each row, so that it can be told how many there are
            columns[_escaped(name)] = self.packed_column(column, whole=len(columns) == 1)
        return columns

    def _unpacked_rows(self, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
        found = {
            name.removeprefix("@"): self.unpacked(column) for name, column in columns.items() if name != "@"
        }
        return _rows(found)


def _are_rows(items: Sequence[Any]) -> bool:
    """Whether these are dictionaries of the same fields in the same order."""
    names = list(items[0])
    return (
        bool(names)
        and _are_names(names)
        and all(type(each) is dict and list(each) == names for each in items)
    )


def _are_names(names: Iterable[object]) -> bool:
    return all(type(name) is str for name in names)


def _alike(column: Sequence[object]) -> int:
    """How many values, from the first on, are of its kind: 1 is not true."""
    kind = type(column[0])
    return sum([type(each) is kind for each in column])


def _rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of columns, of which those that are no list have one value in each row."""
    (count,) = {len(column) for column in columns.values() if isinstance(column, list)}
    cells = [column if isinstance(column, list) else repeat(column, count) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=False)]


def _packed_step(step: Any, texts: _NumberedTexts) -> Any:
    if type(step) is not dict or step["kind"] != "generate":
        return step
    reply = step["reply"]
    texts.add_reply(reply)
    line = {
        name: value
        for name, value in step.items()
        if value or name not in _STEP or not _is(value, _STEP[name])
    }
    del line["kind"]
    if line["reply_digest"] == digest_of(reply):
        del line["reply_digest"]
    for name in ("value", "dropped"):
        if name in line:
            line[name] = texts.packed(line[name])
    return line


def _unpacked_step(step: Any, texts: _NumberedTexts) -> Any:
    if step.get("kind", "generate") != "generate":
        return step
    reply = step["reply"]
    texts.add_reply(reply)
    fields = {"kind": "generate", "reply_digest": "", **step}
    if not fields["reply_digest"]:
        fields["reply_digest"] = digest_of(reply)
    for name in step:
        if name in ("value", "dropped"):
            fields[name] = texts.unpacked(step[name])
    return fields


def _packed_verdicts(verdicts: Sequence[Mapping[str, Any]], texts: _NumberedTexts) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    found = zip(*[verdict.values() for verdict in verdicts], strict=True)
    for (name, usual), column in zip(_VERDICT.items(), found, strict=True):
        if name == "evidence":
            if any(column):
                columns[name] = [[_packed_evidence(each, texts) for each in some] for some in column]
        elif name == "number":
            if column != tuple(range(1, len(column) + 1)):
                columns[name] = list(column)
        elif not (_is(column[0], usual) and column.count(column[0]) == len(column)):
            columns[name] = texts.packed_column(column, whole=name == "text")
    return columns


def _unpacked_verdicts(columns: Mapping[str, Any], texts: _NumberedTexts) -> list[dict[str, Any]]:
    found: dict[str, Any] = {"number": list(range(1, len(columns["text"]) + 1))}
    for name, column in columns.items():
        if name == "evidence":
            found[name] = [[_unpacked_evidence(each, texts) for each in some] for some in column]
        else:
            found[name] = texts.unpacked(column)
    return _rows(found)


def _packed_evidence(evidence: Any, texts: _NumberedTexts) -> list[Any]:
    """The quote, where it was looked up, and where it stands there."""
    if isinstance(evidence, dict):
        quote, source, span = evidence["quote"], evidence["source"], evidence["span"]
        place = [] if span is None else [span[name] for name in ("chunk", "start", "end", "exact")]
    else:
        quote, source, span = evidence.quote, evidence.source, evidence.span
        place = [] if span is None else [span.chunk, span.start, span.end, span.exact]
    return [texts.packed(quote), texts.packed(source), *place]


def _unpacked_evidence(evidence: Sequence[Any], texts: _NumberedTexts) -> dict[str, Any]:
    quote, source, *place = evidence
    span = dict(zip(("chunk", "start", "end", "exact"), place, strict=True)) if place else None
    return {"quote": texts.unpacked(quote), "source": texts.unpacked(source), "span": span}


def _packed_segments(
    segments: Mapping[str, Iterable[Sequence[int]]], texts: _NumberedTexts
) -> dict[str, Any]:
    del texts
    return {digest: _lengths(spans) for digest, spans in segments.items()}


def _packed_abstained(abstained: Any, texts: _NumberedTexts) -> dict[str, Any]:
    del texts
    told = abstained.model_dump() if isinstance(abstained, BaseModel) else abstained
    return {name: each for name, each in told.items() if each is not None}


def _nothing(value: object, texts: _NumberedTexts) -> None:
    """Steps are packed before all else."""


_PACKED_BY: Mapping[str, Callable[[Any, _NumberedTexts], Any]] = {
    "steps": _nothing,
    "verdicts": _packed_verdicts,
    "segments": _packed_segments,
    "notes": lambda notes, texts: [texts.packed(each) for each in notes],
    "abstained": _packed_abstained,
}


def _lengths(spans: Iterable[Sequence[int]]) -> list[Any]:
    """Spans as lengths; where a span does not begin one character after the last one, with that distance."""
    lengths: list[Any] = []
    end = -1
    for start, stop in spans:
        distance = start - end
        lengths.append(stop - start if distance == 1 else [distance, stop - start])
        end = stop
    return lengths


def _spans(lengths: Iterable[Any]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    end = -1
    for each in lengths:
        distance, length = each if isinstance(each, list) else (1, each)
        start = end + distance
        end = start + length
        spans.append((start, end))
    return spans


def _is(value: object, usual: object) -> bool:
    """Whether a value is this one, also in its kind: 1 is not true, and a tuple is a list."""
    if value is usual:
        return True
    if isinstance(usual, tuple | list | dict):
        return not usual and not value and isinstance(value, tuple | list | dict)
    return type(value) is type(usual) and value == usual


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


def _escaped(name: str) -> str:
    return f"@{name}" if name.startswith("@") else name
