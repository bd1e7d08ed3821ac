"""Writing a record in its stored form; `stored_form` describes and reads it."""

# A record may hold anything that JSON can.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic_core import to_jsonable_python

from ragmetrics_core.measurement import Evidence
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records.stored_form import (
    LONGEST,
    PACKED,
    READINGS,
    RECORD,
    SHORTEST,
    STEP,
    VERDICT,
    texts_of,
)

__all__ = ["outlined_step", "packed"]

_PLAIN = frozenset({str, bool, int, float, type(None)})


def packed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Stored form of a record's fields; its verdicts are columns by field name."""
    texts = _WrittenTexts()
    # first, as the line has them last: whatever else repeats a text refers to a reply
    steps = [_packed_step(step, texts) for step in fields["steps"]]
    line: dict[str, Any] = {**_unusual(fields, RECORD), "schema": PACKED, "steps": steps}
    if verdicts := line.get("verdicts"):
        line["verdicts"] = _packed_verdicts(verdicts, texts)
    if segments := line.get("segments"):
        line["segments"] = {digest: _lengths(spans) for digest, spans in segments.items()}
    if notes := line.get("notes"):
        line["notes"] = [texts.packed(note) for note in notes]
    if abstained := line.get("abstained"):
        line["abstained"] = {name: value for name, value in abstained.items() if value is not None}
    if not steps:
        del line["steps"]
    if "settings" not in line and fields["signature"] == f"{fields['metric']}/{fields['variant']}":
        del line["metric"], line["variant"]
    return line


def _unusual(fields: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that differ from their defaults."""
    return {name: value for name, value in fields.items() if name not in usual or value != usual[name]}


class _WrittenTexts(dict[str, str]):
    """Stored form of texts: their number in the line ("@0" is the first), or the text."""

    def __missing__(self, text: str) -> str:
        """A text at its first occurrence in the line, which gives it its number."""
        self.add((text,))
        return f"@{text}" if text[:1] == "@" else text

    def add(self, texts: Iterable[str]) -> None:
        """Number texts of the line."""
        for text in texts:
            if SHORTEST <= len(text) <= LONGEST:
                self.setdefault(text, f"@{len(self)}")

    def packed(self, value: Any) -> Any:
        """A value with numbers for texts that are in the line already."""
        kind = type(value)
        if kind is str:
            return self[value]
        if kind in _PLAIN:
            return value
        if kind is list or kind is tuple:
            return self._rows(value) if _are_rows(value) else [self.packed(item) for item in value]
        if kind is dict and {str}.issuperset(map(type, value)):
            return {_escaped(name): self.packed(item) for name, item in value.items()}
        return self.packed(to_jsonable_python(value, inf_nan_mode="null"))

    def column(self, column: Sequence[Any], *, whole: bool = False) -> Any:
        """The values of a field in all rows, or its common value."""
        first = column[0]
        is_one = type(first) in _PLAIN and column.count(first) == len(column)
        # 1 is not true
        if is_one and not whole and len(set(map(type, column))) == 1:
            return self.packed(first)
        return [self.packed(value) for value in column]

    def _rows(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        columns: dict[str, Any] = {"@": "rows"}
        for name, column in zip(rows[0], zip(*[row.values() for row in rows], strict=True), strict=True):
            # one column has a value for each row, so that it can be told how many there are
            columns[_escaped(name)] = self.column(column, whole=len(columns) == 1)
        return columns


def _escaped(name: str) -> str:
    return f"@{name}" if name[:1] == "@" else name


def _are_rows(items: Sequence[Any]) -> bool:
    """Whether these are several dictionaries with the same fields in the same order."""
    if len(items) < 2 or type(items[0]) is not dict or not items[0]:
        return False
    names = list(items[0])
    return {str}.issuperset(map(type, names)) and all(
        type(item) is dict and list(item) == names for item in items
    )


def outlined_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """Stored form of a step with a reply, without default values; texts are not packed yet."""
    line = _unusual(step, STEP)
    if line.pop("kind", "") and line["reply_digest"] == digest_of(line["reply"]):
        del line["reply_digest"]
    return line


def _packed_step(step: Any, texts: _WrittenTexts) -> Any:
    if type(step) is not dict or step.get("kind", "generate") != "generate":
        return step
    texts.add(texts_of(step["reply"]))
    line = outlined_step(step) if "kind" in step else {**step}
    return line | {name: texts.packed(line[name]) for name in READINGS if name in line}


def _packed_verdicts(verdicts: Mapping[str, Sequence[Any]], texts: _WrittenTexts) -> dict[str, Any]:
    count = len(verdicts["text"])
    usual = {name: (value,) * count for name, value in VERDICT.items()}
    columns = _unusual(verdicts, {**usual, "number": tuple(range(1, count + 1))})
    return {
        name: [[_packed_evidence(evidence, texts) for evidence in quoted] for quoted in column]
        if name == "evidence"
        else texts.column(column, whole=name == "text")
        for name, column in columns.items()
    }


def _packed_evidence(evidence: Evidence, texts: _WrittenTexts) -> list[Any]:
    """The quote, its source, and its position there."""
    span = evidence.span
    place = [] if span is None else [span.chunk, span.start, span.end, span.exact]
    return [texts.packed(evidence.quote), texts.packed(evidence.source), *place]


def _lengths(spans: Iterable[Sequence[int]]) -> list[Any]:
    """Spans as lengths; with the distance from the last span if that is not one character."""
    lengths: list[Any] = []
    end = -1
    for start, stop in spans:
        distance = start - end
        lengths.append(stop - start if distance == 1 else [distance, stop - start])
        end = stop
    return lengths
