"""Files of traces in all their forms: detected, read object by object, with a reason for what is broken."""

import gzip
import json
import tracemalloc
from typing import Any

import pytest

from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.traces import SkippedTrace, Traces, format_of, read_traces
from ragmetrics_core.traces._otlp import spans_of
from ragmetrics_core.traces._protobuf import decoded_traces
from tests.traces.made import Span, line_of, outcomes, run_of, samples_in, written

SPANS = [each for number in (1, 2) for each in run_of(number)]


def varint(number: int) -> bytes:
    """A number of variable length."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number: int, value: str | bytes | int) -> bytes:
    """A field in Protobuf: text and bytes with their length, a number as 64 bits."""
    if isinstance(value, int):
        return varint(number << 3 | 1) + value.to_bytes(8, "little")
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(spans: list[Span]) -> bytes:
    """Spans as one message in Protobuf, by the field numbers of opentelemetry-proto."""
    encoded = b""
    for span in spans:
        own = field(1, bytes.fromhex(span["traceId"])) + field(2, bytes.fromhex(span["spanId"]))
        own += field(4, bytes.fromhex(span["parentSpanId"])) if "parentSpanId" in span else b""
        own += field(5, span["name"]) + field(7, int(span["startTimeUnixNano"]))
        own += field(8, int(span["endTimeUnixNano"])) + field(99, "from a later version")
        for pair in span["attributes"]:
            own += field(9, field(1, pair["key"]) + field(2, field(1, pair["value"]["stringValue"])))
        encoded += field(2, own)
    return field(1, field(1, b"") + field(2, encoded))


def printed(span: Span) -> dict[str, Any]:
    """A span as the console exporter of Python's SDK prints it."""
    seconds = [int(span[name]) // 10**9 for name in ("startTimeUnixNano", "endTimeUnixNano")]
    moments = [
        f"2026-01-01T{each // 3600 % 24:02}:{each // 60 % 60:02}:{each % 60:02}.000000Z" for each in seconds
    ]
    parent = span.get("parentSpanId")
    return {
        "name": span["name"],
        "context": {
            "trace_id": f"0x{span['traceId']}",
            "span_id": f"0x{span['spanId']}",
            "trace_state": "[]",
        },
        "kind": "SpanKind.INTERNAL",
        "parent_id": parent and f"0x{parent}",
        "start_time": moments[0],
        "end_time": moments[1],
        "status": {"status_code": "UNSET"},
        "attributes": {each["key"]: each["value"]["stringValue"] for each in span["attributes"]},
        "events": [],
    }


LINES = "".join(line_of([each]) + "\n" for each in SPANS).encode()
MESSAGES = [message(SPANS[:3]), message(SPANS[3:])]
FORMS = {
    "lines.jsonl": LINES,
    "lines.json": LINES,
    "collector": LINES,
    "mark.jsonl": b"\xef\xbb\xbf" + LINES,
    "batch.jsonl": line_of(SPANS).encode(),
    "list.json": json.dumps([json.loads(line) for line in LINES.splitlines()], indent=2).encode(),
    "document.json": json.dumps(json.loads(line_of(SPANS)), indent=1).encode(),
    "packed.jsonl.gz": gzip.compress(LINES),
    "spans.jsonl": "\n".join(map(json.dumps, SPANS)).encode(),
    "printed.json": "\n".join(json.dumps(printed(each), indent=4) for each in SPANS).encode(),
    "sizes.binpb": b"".join(len(each).to_bytes(4, "big") + each for each in MESSAGES),
    "delimited.pb": b"".join(varint(len(each)) + each for each in MESSAGES),
    "request.bin": message(SPANS),
    "packed.pb.gz": gzip.compress(message(SPANS)),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_the_protocol_gives_the_same_samples(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FORMS[name])
    expected = samples_in(outcomes(tmp_path, SPANS))

    assert format_of(path) == "otlp"
    assert samples_in(read_traces(path)) == expected
    assert len(expected) == 2


def test_ids_in_base64_are_read_like_those_in_hexadecimal_digits():
    ids = {"traceId": "AAAAAAAAAAAAAAAAAAAAAQ==", "spanId": "AAAAAAAAA+g="}
    assert [(each.trace, each.id) for each in spans_of([SPANS[0] | ids])] == [(f"{1:032x}", f"{1000:016x}")]


ROWS = {
    "rows.jsonl": b'{"question": "Why?", "answer": "So.", "trace_id": "1", "span_id": "2", "context": "c"}\n',
    "rows.csv": b"question,answer,traceId\nWhy?,So.,1\n",
    "rows.json": b'[{"question": "Why?", "answer": "So.", "labels": {"traceId": "1"}}]',
    "text.txt": b"resourceSpans are not here\n",
    "zeros.pb": b"\0" * 64,
    "tag.pb": b"\n\x03abc",
    "empty.jsonl": b"",
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_other_files_are_not_taken_for_traces(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(ROWS[name])
    assert format_of(path) is None
    with pytest.raises(SampleError, match="not a file of traces; the formats are otlp, "):
        list(read_traces(path))


BROKEN = {
    "not JSON": (b'{"resourceSpans": [', "not valid JSON"),
    "bytes": (b'{"a": "\xff"}', "not valid JSON"),
    "deep": (b"[" * 100_000, "not valid JSON"),
    "a number": (b"7", "not an object, but int"),
    "another format": (b'{"resourceMetrics": []}', "not in the format otlp"),
    "no id": (
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "", "spanId": "x"}]}]}]}',
        "a span without ids",
    ),
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_costs_only_itself(tmp_path, line):
    text, reason = BROKEN[line]
    path = tmp_path / "traces.jsonl"
    path.write_bytes(LINES[: LINES.index(b"\n") + 1] + text + b"\n\n" + LINES)
    (skipped,) = [each for each in read_traces(path) if isinstance(each, SkippedTrace)]
    assert skipped.where == "line 2"
    assert reason in skipped.reason
    assert len([each for each in read_traces(path) if not isinstance(each, SkippedTrace)]) == 2


def test_broken_lines_at_the_beginning_cost_only_themselves(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(LINES[:60] + b'\n{"resourceSpans\n\n' + LINES)
    skipped = [each for each in read_traces(path, format="otlp") if isinstance(each, SkippedTrace)]
    assert [each.where for each in skipped] == ["line 1", "line 2"]


def test_a_file_in_another_format_than_the_given_one_is_refused(tmp_path):
    path = tmp_path / "rows.jsonl"
    for content in (ROWS["rows.jsonl"], b""):
        path.write_bytes(content)
        with pytest.raises(SampleError, match="has nothing in the format otlp; give no format to find it"):
            list(read_traces(path, format="otlp"))


def test_a_broken_message_costs_only_itself(tmp_path):
    path = tmp_path / "traces.pb"
    broken = MESSAGES[0][:-9]
    parts = [MESSAGES[0], broken, MESSAGES[1]]
    path.write_bytes(b"".join(len(each).to_bytes(4, "big") + each for each in parts) + b"\0\0\1")
    found = list(read_traces(path))
    assert [str(each) for each in found if isinstance(each, SkippedTrace)] == [
        "message 2: not a message of spans: a value is cut off",
        "message 4: cut off",
    ]
    assert len(found) == 4


def test_a_line_of_100_mb_is_left_out_and_memory_stays_flat(tmp_path):
    path = tmp_path / "traces.jsonl"
    with path.open("wb") as file:
        file.write(LINES)
        file.write(b'{"resourceSpans": "')
        for _ in range(100):
            file.write(b"x" * 2**20)
        file.write(b'"}\n')
    tracemalloc.start()
    found = list(read_traces(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [str(each) for each in found if isinstance(each, SkippedTrace)] == ["line 9: longer than 64 MiB"]
    assert len(found) == 3
    assert peak < 150 * 2**20  # twice the longest line


def test_an_attribute_that_is_too_long_is_left_out_and_named(tmp_path):
    chain, *others = run_of(1)
    long = {"key": "metadata", "value": {"stringValue": "x" * (2**24 + 1)}}
    chain["attributes"] = [*chain["attributes"], long]
    (sample,) = samples_in(outcomes(tmp_path, [chain, *others]))
    assert sample.labels["problems"] == "metadata is longer than 16,777,216 characters, so it was left out"


def test_what_is_compressed_with_zstd_or_unknown_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / "traces.json"
    path.write_bytes(b"\x00\x00\x01\x00\x28\xb5\x2f\xfd....")
    with pytest.raises(SampleError, match="remove `compression` from the file exporter"):
        list(read_traces(path, format="otlp"))
    with pytest.raises(ConfigError, match="unknown format 'oltp'; the formats of traces are otlp, "):
        Traces(path, format="oltp")
    with pytest.raises(SampleError, match="does not exist"):
        Traces(tmp_path / "none.jsonl")


def test_places_in_several_files_name_the_file(tmp_path):
    written(tmp_path, SPANS[:4], "a.jsonl")
    (tmp_path / "b.jsonl").write_bytes(b"{\n" + LINES)
    (tmp_path / "notes.txt").write_text("no traces")
    found = [str(each) for each in read_traces(tmp_path) if isinstance(each, SkippedTrace)]
    assert [each.partition(": ")[0] for each in found] == ["b.jsonl, line 1", "notes.txt"]


def test_nothing_that_redact_removes_is_in_a_sample(tmp_path):
    found = read_traces(written(tmp_path, SPANS), redact=lambda text: text.replace("Town", "Place"))
    for sample in samples_in(found):
        assert "Town" not in sample.model_dump_json()
        assert sample.contexts


def test_numbers_and_lists_in_protobuf_have_their_values():
    value = varint(3 << 3) + varint(2**64 - 5)  # -5
    listed = field(5, field(1, value) + field(1, varint(2 << 3) + b"\1"))
    half = varint(4 << 3 | 1) + b"\0\0\0\0\0\0\xe0\x3f"  # 0.5
    attributes = field(9, field(1, "n") + field(2, listed)) + field(9, field(1, "h") + field(2, half))
    row = decoded_traces(field(1, field(2, field(2, attributes))))
    pairs = row["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"]
    assert pairs == [
        {"key": "n", "value": {"arrayValue": {"values": [{"intValue": -5}, {"boolValue": True}]}}},
        {"key": "h", "value": {"doubleValue": 0.5}},
    ]
