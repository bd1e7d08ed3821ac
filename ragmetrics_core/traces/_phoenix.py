"""Phoenix's spans: of its API and its client's `get_spans`, and rows of `get_spans_dataframe`.

Read with arize-phoenix 20.26.1 and its client 3.5.0. The attributes are OpenInference's.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragmetrics_core.adapting import Fields
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.traces._conventions import KIND, RawSpan, span_of
from ragmetrics_core.traces._exports import ExportedRow, items_of
from ragmetrics_core.traces._spans import TraceSpan

__all__ = ["recognises", "spans_of"]

_COLUMN = "attributes."


def recognises(row: Fields) -> bool:
    """Whether it is a span, a page of spans, or a row of a data frame."""
    first = next(items_of([row], "data"), row)
    has_ids = is_mapping(first.get("context")) or "context.span_id" in first
    return has_ids and "span_kind" in first and "status_code" in first


def spans_of(rows: Iterable[Fields]) -> Iterator[TraceSpan]:
    """The spans of these rows."""
    for fields in items_of(rows, "data"):
        row = ExportedRow(fields)
        context = ExportedRow({**fields, **row.mapping("context")}, row.problems)
        trace, id = context.text("trace_id", "context.trace_id"), context.text("span_id", "context.span_id")
        if trace is None or id is None:
            yield row.without_ids(trace)
            continue
        columns = {
            name.removeprefix(_COLUMN): value for name, value in fields.items() if name.startswith(_COLUMN)
        }
        attributes = dict(_flat({**columns, **row.mapping("attributes")}))
        kind = row.text("span_kind")
        span = span_of(
            RawSpan(
                trace=trace,
                id=id,
                parent=row.text("parent_id"),
                name=row.text("name") or "",
                began=row.time("start_time") or 0,
                ended=row.time("end_time"),
                failed=row.fields.get("status_code") == "ERROR",
                attributes={KIND: kind, **attributes} if kind else attributes,
            )
        )
        yield replace(span, problems=(*row.problems, *span.problems))


def _flat(attributes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The attributes with one name for each value in a list of objects; a data frame holds such lists."""
    for name, value in attributes.items():
        if is_series(value) and value and all(map(is_mapping, value)):
            for number, item in enumerate(value):
                if is_mapping(item):
                    yield from _flat({f"{name}.{number}.{key}": each for key, each in item.items()})
        elif value is not None:
            yield name, value
