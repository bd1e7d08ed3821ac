"""LangSmith's runs as spans: `Run` as JSON, of its client, its API and its bulk export.

Read with langsmith 0.15.1; https://docs.langchain.com/langsmith/run-data-format
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragmetrics_core.adapting import Fields, Kind
from ragmetrics_core.boundary import is_mapping
from ragmetrics_core.traces._exports import ExportedRow, items_of
from ragmetrics_core.traces._spans import TraceSpan
from ragmetrics_core.traces._values import decoded

__all__ = ["recognises", "spans_of"]

_CONVENTION = "LangSmith runs"
_KINDS: Mapping[str, Kind | str] = {
    "retriever": "retriever",
    "llm": "model",
    "tool": "tool",
    "prompt": "prompt",
    "embedding": "ignored",
}
_PAGES = ("runs", "data")
# Names of a conversation in a run's metadata; the field `session_id` of a run is its project.
_SESSIONS = ("session_id", "thread_id", "conversation_id")


def recognises(row: Fields) -> bool:
    """Whether it is a run, or a page of runs."""
    first = next(items_of([row], *_PAGES), row)
    return isinstance(first.get("run_type"), str) and ("trace_id" in first or "dotted_order" in first)


def spans_of(rows: Iterable[Fields]) -> Iterator[TraceSpan]:
    """The spans of runs, and of the runs that are nested in them."""
    waiting: list[Fields] = []
    for row in items_of(rows, *_PAGES):
        waiting.append(row)
        while waiting:
            run = ExportedRow(waiting.pop())
            waiting += run.rows("child_runs")
            yield _span(run)


def _span(run: ExportedRow) -> TraceSpan:
    id = run.text("id")
    path = [part.partition("Z")[2] for part in (run.text("dotted_order") or "").split(".")]
    parent = run.text("parent_run_id") or (path[-2] if len(path) > 1 else None)
    trace = run.text("trace_id") or path[0] or (id if parent is None else None)
    kind = _KINDS.get(run.text("run_type") or "", "chain")
    outputs: Any = decoded(run.fields.get("outputs"))
    if is_mapping(outputs) and set(outputs) == {"output"}:
        outputs = outputs["output"]  # LangSmith wraps what is not a mapping
    metadata = ExportedRow(ExportedRow(run.mapping("extra")).mapping("metadata"))
    return run.span(
        trace=trace,
        id=id,
        parent=parent,
        name=run.text("name") or "",
        kind=kind,
        convention=_CONVENTION,
        began=run.time("start_time") or 0,
        ended=run.time("end_time"),
        failed=run.fields.get("status") == "error" or bool(run.fields.get("error")),
        inputs=decoded(run.fields.get("inputs")),
        outputs=outputs,
        session=metadata.text(*_SESSIONS) or run.text("thread_id"),
        extra={"project": project} if (project := run.text("session_id")) else {},
    )
