"""The formats of traces by name: how an object of a file is recognised, and the spans in it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ragmetrics_core.boundary import is_dict
from ragmetrics_core.traces import _langfuse, _langsmith, _mlflow, _otlp, _phoenix
from ragmetrics_core.traces._spans import TraceSpan

__all__ = ["FORMATS", "Format", "format_among"]


class Format(NamedTuple):
    """A format of traces.

    Attributes:
        recognises: whether an object of a file is in this format.
        spans_of: the spans in objects. It never raises; a span that cannot be read has `problems`.
    """

    recognises: Callable[[Mapping[str, Any]], bool]
    spans_of: Callable[[Iterable[Mapping[str, Any]]], Iterator[TraceSpan]]


FORMATS: Final[Mapping[str, Format]] = {
    "otlp": Format(_otlp.recognises, _otlp.spans_of),
    "langfuse": Format(_langfuse.recognises, _langfuse.spans_of),
    "langsmith": Format(_langsmith.recognises, _langsmith.spans_of),
    "mlflow": Format(_mlflow.recognises, _mlflow.spans_of),
    "phoenix": Format(_phoenix.recognises, _phoenix.spans_of),
}


def format_among(row: object) -> list[str]:
    """The names of the formats that an object may be in."""
    if not is_dict(row):
        return []
    return [name for name, form in FORMATS.items() if form.recognises(row)]
