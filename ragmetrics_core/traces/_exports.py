"""Rows of vendors' exports: their fields by any of their names, and the spans that they are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ragmetrics_core.adapting import Fields, Kind
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.traces._calls import documents_in, moment, reply_in, request_in
from ragmetrics_core.traces._conventions import RawSpan, span_of
from ragmetrics_core.traces._spans import TraceSpan
from ragmetrics_core.traces._values import decoded

__all__ = ["ExportedRow", "Fields", "items_of", "unreadable"]

# What the attributes of a convention say of a span.
_WRITTEN = (
    "kind", "name", "inputs", "outputs", "query", "documents", "template", "messages", "reply", "calls_tools",
    "written", "session",
)  # fmt: skip
# The classes and components that make the messages of a request, recorded as chains.
_PROMPTS = ("PromptTemplate", "PromptBuilder")


def unreadable(reason: str) -> TraceSpan:
    """A span without ids, for a row or a part of it that cannot be read."""
    return TraceSpan(trace="", id="", kind="ignored", problems=(reason,))


@dataclass
class ExportedRow:
    """A row of an export.

    Attributes:
        fields: the row.
        problems: what could not be read in it so far.
    """

    fields: Fields
    problems: list[str] = field(default_factory=list[str])

    def text(self, *names: str) -> str | None:
        """A text that is not empty; None if there is none under these names."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, str) and value.strip():
                return value
            if value is not None and not isinstance(value, str):
                self.problems.append(f"{name} is a {type(value).__name__}, not a text")
        return None

    def time(self, *names: str) -> int | None:
        """A moment in nanoseconds; None if there is none under these names."""
        for name in names:
            value = self.fields.get(name)
            if value is None or value == "":
                continue
            time = moment(value)
            if time is None:
                self.problems.append(f"{name} is {_short(value)}, not a time")
            return time
        return None

    def mapping(self, name: str) -> Fields:
        """A mapping, also from its JSON text; empty if there is none."""
        value: Any = decoded(self.fields.get(name))
        return value if is_mapping(value) else {}

    def rows(self, name: str) -> Iterator[Fields]:
        """The mappings of a list; other items are problems."""
        value: Any = decoded(self.fields.get(name))
        if value is not None and not is_series(value):
            self.problems.append(f"{name} is a {type(value).__name__}, not a list")
        for item in value if is_series(value) else ():
            if is_mapping(item):
                yield item
            else:
                self.problems.append(f"{name} holds a {type(item).__name__}, not an object")

    def without_ids(self, trace: str | None) -> TraceSpan:
        """A span for a row whose trace, or else whose own id is missing."""
        missing = "trace" if trace is None else "span"
        return unreadable("; ".join([f"the row has no id of a {missing}", *self.problems]))

    def span(
        self,
        *,
        trace: str | None,
        id: str | None,
        kind: Kind | str,
        name: str,
        inputs: Any,
        outputs: Any,
        attributes: Fields | None = None,
        **fields: Any,
    ) -> TraceSpan:
        """The span that the row is, with its messages, reply and documents by its kind.

        It takes the fields of a `TraceSpan`. Without ids it is unreadable. The vendor may have got the span
        from an instrumentor and keep its `attributes`: what a convention says by these comes first.
        """
        if trace is None or id is None:
            return self.without_ids(trace)
        if kind == "chain" and name.endswith(_PROMPTS):
            kind = "prompt"
        if kind == "model":
            fields["messages"] = request_in(inputs)
            if (reply := reply_in(outputs)) is not None:
                fields |= {"reply": reply.text, "calls_tools": reply.calls_tools, "written": reply.others}
        elif kind in ("retriever", "postprocessor") and outputs is not None:
            documents, unknown = documents_in(outputs)
            fields["documents"] = None if unknown else documents  # a part would be taken for all
            self.problems += [f"{name} returned a {each} without text" for each in dict.fromkeys(unknown)]
        fields |= {"trace": trace, "id": id, "kind": kind, "name": name, "inputs": inputs, "outputs": outputs}
        original = span_of(RawSpan(trace=trace, id=id, attributes=attributes or {}))
        self.problems += original.problems
        if original.convention:
            written = {name: getattr(original, name) for name in _WRITTEN}
            fields |= {name: value for name, value in written.items() if value not in (None, "", (), False)}
            fields["convention"] += f", {original.convention}"
        return TraceSpan(problems=tuple(self.problems), **fields)


def items_of(rows: Iterable[Fields], *holders: str) -> Iterator[Fields]:
    """Rows, and the items of pages that hold them under one of these names."""
    for row in rows:
        name = next((name for name in holders if is_series(row.get(name))), None)
        yield from [row] if name is None else ExportedRow(row).rows(name)


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str | int | float) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
