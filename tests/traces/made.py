"""Traces in OpenTelemetry's protocol, made by hand: spans, the runs that they are of, and files of them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core.traces import SkippedTrace, read_traces

__all__ = [
    "KIND",
    "Span",
    "documents",
    "line_of",
    "model",
    "outcomes",
    "run_of",
    "samples_in",
    "span",
    "written",
]

Span = dict[str, Any]
KIND = "openinference.span.kind"
_SECOND = 10**9
_NOON = 1_700_000_000 * _SECOND


def span(
    id: int,
    kind: str | None = None,
    *,
    parent: int | None = None,
    trace: int = 1,
    at: tuple[float, float] = (0, 0),
    name: str = "",
    failed: bool = False,
    **attributes: Any,
) -> Span:
    """A span from one second to another; in names of attributes, two underscores are a dot."""
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    if kind is not None:
        named[KIND] = kind
    made: Span = {
        "traceId": f"{trace:032x}",
        "spanId": f"{id:016x}",
        "name": name or f"{kind} {id}",
        "startTimeUnixNano": str(_NOON + int(at[0] * _SECOND)),
        "endTimeUnixNano": str(_NOON + int(at[1] * _SECOND)),
        "attributes": [{"key": key, "value": _any(value)} for key, value in named.items()],
        "status": {"code": 2} if failed else {},
    }
    return made if parent is None else made | {"parentSpanId": f"{parent:016x}"}


def model(
    id: int, system: str, user: str, reply: str | None, *, at: tuple[float, float], **more: Any
) -> Span:
    """A model call of two messages."""
    messages = {
        "llm__input_messages__0__message__role": "system",
        "llm__input_messages__0__message__content": system,
        "llm__input_messages__1__message__role": "user",
        "llm__input_messages__1__message__content": user,
    }
    if reply is not None:
        messages |= {
            "llm__output_messages__0__message__role": "assistant",
            "llm__output_messages__0__message__content": reply,
        }
    return span(id, "LLM", at=at, **messages, **more)


def documents(texts: Iterable[str]) -> dict[str, str]:
    """The attributes of a search with documents d1, d2, ..."""
    return {
        f"retrieval__documents__{number}__document__{key}": value
        for number, text in enumerate(texts)
        for key, value in (("id", f"d{number + 1}"), ("content", text))
    }


def run_of(number: int = 1, *, shown: Iterable[str] | None = None, others: int = 1) -> list[Span]:
    """A question about a town: two documents found, one shown unless others are, and calls beside them."""
    town, base = f"Town {number}", 1000 * number
    found = [
        f"{town} lies beside the river number {number}.",
        f"{town} was founded in {1000 + number} by nuns.",
    ]
    context = "\n\n".join(found[:1] if shown is None else shown)
    question, answer = f"Where does {town} lie?", f"{town} lies beside a river."
    asked, inside = {"trace": number, "input__value": question}, {"trace": number, "parent": base}
    return [
        span(base, "CHAIN", at=(base, base + 9), output__value=answer, session__id="s1", **asked),
        span(base + 1, "RETRIEVER", parent=base, at=(base + 1, base + 2), **asked, **documents(found)),
        model(base + 2, context, question, answer, at=(base + 3, base + 8), **inside),
        *(span(base + 3 + n, at=(base + 8, base + 9), name="POST /log", **inside) for n in range(others)),
    ]


def line_of(spans: Iterable[Span]) -> str:
    """A line as the collector's file exporter writes it."""
    return json.dumps(
        {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}
    )


def written(folder: Path, spans: Iterable[Span], name: str = "traces.jsonl") -> Path:
    """A file with a line for each span."""
    path = folder / name
    path.write_text("".join(line_of([each]) + "\n" for each in spans), encoding="utf-8")
    return path


def outcomes(folder: Path, spans: Iterable[Span], **options: Any) -> list[Sample | SkippedTrace]:
    """Everything that a file of these spans gives."""
    return list(read_traces(written(folder, spans), **options))


def samples_in(found: Iterable[Sample | SkippedTrace]) -> list[Sample]:
    """The samples, where nothing else was found."""
    every = list(found)
    samples = [each for each in every if isinstance(each, Sample)]
    assert samples == every
    return samples


def _any(value: Any) -> Mapping[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_any(each) for each in value]}}
        case dict():
            return {
                "kvlistValue": {"values": [{"key": key, "value": _any(each)} for key, each in value.items()]}
            }
        case _:
            return {"stringValue": value}
