"""Writing a record in its stored form: `_stored_form` says what that is, and reads it."""

# A record may hold anything that JSON can.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from ragmetrics_core.prompts import digest_of
from ragmetrics_core.records._stored_form import (
    LONGEST,
    PACKED,
    READINGS,
    RECORD,
    SHORTEST,
    STEP,
    VERDICT,
    texts_of,
)

__all__ = ["VerdictColumns", "outlined_step", "packed"]

_LISTS = frozenset({tuple, list, dict})
_PLAIN = frozenset({str, bool, int, float, type(None)})


def _kinds(usual: Mapping[str, Any]) -> dict[str, frozenset[type]]:
    """By a field's name the types whose empty value is its usual one: a tuple is a list, 0 is not false."""
    return {
        name: _LISTS if type(value) in _LISTS else frozenset({type(value)}) for name, value in usual.items()
    }


_EMPTY, _EMPTY_IN_STEP = _kinds(RECORD), _kinds(STEP)


class VerdictColumns(NamedTuple):
    """The verdicts of a record, column by column: each has a value for each verdict."""

    number: Sequence[int]
    about: Sequence[str]
    text: Sequence[str]
    supported: Sequence[bool | None]
    label: Sequence[str]
    reason: Sequence[str | None]
    evidence: Sequence[Sequence[Any]]
    cosine: Sequence[float | None]
    overruled: Sequence[bool | None]
    votes: Sequence[Sequence[bool]]
    confidence: Sequence[float | None]
    judge: Sequence[str | None]
    path: Sequence[str]

    def rows(self) -> list[dict[str, Any]]:
        """The verdicts one by one, by the names of their fields."""
        return [dict(zip(self._fields, row, strict=True)) for row in zip(*self, strict=True)]


def packed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record as they are stored; its verdicts are dictionaries or `VerdictColumns`."""
    texts = _WrittenTexts()
    # first, as the line has them last: whatever else repeats a text refers to a reply
    steps = [_packed_step(step, texts) for step in fields["steps"]]
    line: dict[str, Any] = {}
    for name, value in fields.items():
        if not value and type(value) in _EMPTY.get(name, ()):
            continue
        pack = _PACKED_BY.get(name)
        line[name] = value if pack is None else pack(value, texts)
    line["schema"] = PACKED
    if steps:
        line["steps"] = steps
    if "settings" not in line and fields["signature"] == f"{fields['metric']}/{fields['variant']}":
        del line["metric"], line["variant"]
    return line


class _WrittenTexts(dict[str, str]):
    """How a text is written: as the number that it has in the line ("@0" is the first), or as it is."""

    def __missing__(self, text: str) -> str:
        """A text that stands in the line for the first time, which gives it its number."""
        if SHORTEST <= len(text) <= LONGEST:
            self[text] = f"@{len(self)}"
        return f"@{text}" if text[:1] == "@" else text

    def add(self, texts: Iterable[str]) -> None:
        """Number texts that stand in the line."""
        for text in texts:
            if SHORTEST <= len(text) <= LONGEST and text not in self:
                self[text] = f"@{len(self)}"

    def packed(self, value: Any) -> Any:
        """A value with numbers for the texts that stand in the line already."""
        kind = type(value)
        if kind is str:
            return self[value]
        if kind is list or kind is tuple:
            if len(value) > 1 and type(value[0]) is dict and _are_rows(value):
                return self._packed_rows(value)
            return self._listed(value)
        if kind in _PLAIN:
            return value
        if kind is dict and {str}.issuperset(map(type, value)):
            return {
                f"@{name}" if name[:1] == "@" else name: self.packed(each) for name, each in value.items()
            }
        return self.packed(to_jsonable_python(value, inf_nan_mode="null"))

    def column(self, column: Sequence[Any], *, whole: bool = False) -> Any:
        """The values of a field in all rows, or the one that it has in each."""
        first = column[0]
        if whole or type(first) not in _PLAIN or column.count(first) != len(column):
            return self._listed(column)
        if type(first) is str:
            return self[first]
        # 1 is not true
        return first if len(set(map(type, column))) == 1 else self._listed(column)

    def _listed(self, values: Sequence[Any]) -> list[Any]:
        kinds = set(map(type, values))
        if kinds == {str}:
            return [self[text] for text in values]
        if kinds <= _PLAIN and str not in kinds:
            return list(values)
        return [self.packed(each) for each in values]

    def _packed_rows(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        columns: dict[str, Any] = {"@": "rows"}
        for name, column in zip(rows[0], zip(*[row.values() for row in rows], strict=True), strict=True):
            # one column has a value for each row, so that it can be told how many there are
            columns[f"@{name}" if name[:1] == "@" else name] = self.column(column, whole=len(columns) == 1)
        return columns


def _are_rows(items: Sequence[Any]) -> bool:
    """Whether these are dictionaries of the same fields in the same order."""
    names = list(items[0])
    return (
        bool(names)
        and {str}.issuperset(map(type, names))
        and all(type(each) is dict and list(each) == names for each in items)
    )


def outlined_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step with a reply as it is stored, but for its texts: what goes without saying is left out."""
    line = {
        name: value
        for name, value in step.items()
        if value or type(value) not in _EMPTY_IN_STEP.get(name, ())
    }
    if line.pop("kind", "") and line["reply_digest"] == digest_of(line["reply"]):
        del line["reply_digest"]
    return line


def _packed_step(step: Any, texts: _WrittenTexts) -> Any:
    if type(step) is not dict or step.get("kind", "generate") != "generate":
        return step
    texts.add(texts_of(step["reply"]))
    line = outlined_step(step) if "kind" in step else {**step}
    for name in READINGS:
        if name in line:
            line[name] = texts.packed(line[name])
    return line


def _packed_verdicts(
    verdicts: VerdictColumns | Sequence[Mapping[str, Any]], texts: _WrittenTexts
) -> dict[str, Any]:
    if not isinstance(verdicts, VerdictColumns):
        rows = [verdict.values() for verdict in verdicts]
        verdicts = VerdictColumns._make(zip(*rows, strict=True))
    columns: dict[str, Any] = {}
    column: Any
    count = len(verdicts.text)
    for (name, usual), column in zip(VERDICT.items(), verdicts, strict=True):
        if name == "evidence":
            if any(column):
                columns[name] = [[_packed_evidence(each, texts) for each in some] for some in column]
        elif name == "number":
            if column != tuple(range(1, count + 1)):
                columns[name] = list(column)
        elif column.count(usual) != count and not (usual == () and _are_empty_lists(column)):
            columns[name] = texts.column(column, whole=name == "text")
    return columns


def _are_empty_lists(column: Sequence[Any]) -> bool:
    return all(type(each) in _LISTS and not each for each in column)


def _packed_evidence(evidence: Any, texts: _WrittenTexts) -> list[Any]:
    """The quote, where it was looked up, and where it stands there."""
    if isinstance(evidence, dict):
        quote, source, span = evidence["quote"], evidence["source"], evidence["span"]
        place = [] if span is None else [span[name] for name in ("chunk", "start", "end", "exact")]
    else:
        quote, source, span = evidence.quote, evidence.source, evidence.span
        place = [] if span is None else [span.chunk, span.start, span.end, span.exact]
    return [texts.packed(quote), texts.packed(source), *place]


def _packed_segments(segments: Mapping[str, Iterable[Sequence[int]]], _: _WrittenTexts) -> dict[str, Any]:
    return {digest: _lengths(spans) for digest, spans in segments.items()}


def _packed_abstained(abstained: Any, _: _WrittenTexts) -> dict[str, Any]:
    told = abstained.model_dump() if isinstance(abstained, BaseModel) else abstained
    return {name: each for name, each in told.items() if each is not None}


def _nothing(value: object, texts: _WrittenTexts) -> None:
    """Steps are packed before all else."""


_PACKED_BY: Mapping[str, Callable[[Any, _WrittenTexts], Any]] = {
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
