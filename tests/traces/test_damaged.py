"""Recorded traces that were damaged at random: each is a sample or a reason, and never mixed with another."""

import json
import random
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.errors import SampleError
from ragmetrics_core.traces import read_traces
from tests.traces.made import line_of, run_of
from tests.traces.test_recorded import IN_JSON, trace_of

JUNK: list[Any] = [
    *(None, True, -1, 2**70, float("nan"), float("inf"), "", "\ud800", [], {}, [[]]),
    *({"arrayValue": {"values": 5}}, {"kvlistValue": {"values": [{"key": 4}]}}, {"intValue": "x"}),
    *({"stringValue": text} for text in ("\ud83d", "[1e999, NaN]", "ChatMessage(" + "(" * 500, "[" * 9000)),
    *({"stringValue": "[" * depth + "]" * depth} for depth in (900, 3000, 60_000)),
    {"stringValue": json.dumps([{"role": "user", "content": [{"type": "text", "text": 7}]}])},
]
NAMES = [
    *("input.value", "output.value", "llm.input_messages.-1.message.role", "openinference.span.kind"),
    *(
        "llm.input_messages.0.message.content",
        "retrieval.documents.0.document.content",
        "llm.output_messages.0",
    ),
]
FIELDS = [
    "traceId",
    "spanId",
    "parentSpanId",
    "name",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "attributes",
    "status",
]
Draw = random.Random


def changed_value(spans: list[Any], span: Any, draw: Draw) -> None:
    draw.choice(span["attributes"])["value"] = draw.choice(JUNK)


def cut_text(spans: list[Any], span: Any, draw: Draw) -> None:
    texts = [each["value"] for each in span["attributes"] if "stringValue" in str(each["value"])[:20]]
    for value in texts[:1]:
        value["stringValue"] = str(value["stringValue"])[: draw.randint(0, 200)]


def further_attribute(spans: list[Any], span: Any, draw: Draw) -> None:
    span["attributes"] = [*span["attributes"], {"key": draw.choice(NAMES), "value": draw.choice(JUNK)}]


def changed_field(spans: list[Any], span: Any, draw: Draw) -> None:
    spans.append({**span, draw.choice(FIELDS): draw.choice(JUNK)})
    spans.remove(span)


def other_id(spans: list[Any], span: Any, draw: Draw) -> None:
    span[draw.choice(["spanId", "parentSpanId"])] = draw.choice(spans)["spanId"]


def second_content(spans: list[Any], span: Any, draw: Draw) -> None:
    spans.append({**span, "attributes": draw.choice(spans)["attributes"]})


DAMAGES: list[Callable[[list[Any], Any, Draw], None]] = [
    *(changed_value, cut_text, further_attribute, changed_field, other_id, second_content),
]


@pytest.mark.parametrize("name", IN_JSON)
@pytest.mark.parametrize("seed", range(4))
def test_damage_to_a_trace_costs_no_other_and_mixes_nothing(name: str, seed: int, tmp_path: Path):
    draw = random.Random(f"{name} {seed}")
    lines = [json.loads(line) for line in trace_of(name).read_text(encoding="utf-8").splitlines()]
    spans = [
        span
        for line in lines
        for resource in line["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    for damage in draw.choices(DAMAGES, k=3):
        span = draw.choice([each for each in spans if isinstance(each.get("attributes"), list)])
        damage(spans, span, draw)
    mixed = [*spans, *run_of(1)]
    draw.shuffle(mixed)
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(line_of([each]) + "\n" for each in mixed), encoding="utf-8")

    found = list(read_traces(path))

    samples = [each for each in found if isinstance(each, Sample)]
    (whole,) = [each for each in samples if each.id == f"{1:032x}"]
    assert whole.contexts == ("Town 1 lies beside the river number 1.",)
    assert all("Town" not in str(each.contexts) for each in samples if each is not whole)
    places = "".join(each.id if isinstance(each, Sample) else str(each) for each in found)
    ids = {
        each["traceId"] for each in spans if isinstance(each["traceId"], str) and len(each["traceId"]) == 32
    }
    assert all(id in places or "a span without ids" in places for id in ids)
    assert all(each.model_dump_json() for each in samples)


@pytest.mark.parametrize("name", IN_JSON)
def test_a_file_that_is_cut_anywhere_gives_samples_and_reasons_or_is_refused(name: str, tmp_path: Path):
    data = trace_of(name).read_bytes()
    path = tmp_path / "traces.jsonl"
    for place in random.Random(name).sample(range(2000, len(data)), 5):
        path.write_bytes(data[:place])
        is_first_line = b"\n" not in data[:place]
        with pytest.raises(SampleError, match="is not valid JSON") if is_first_line else nullcontext():
            assert list(read_traces(path, format="otlp"))
