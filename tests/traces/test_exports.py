"""Exports of LangSmith, MLflow, Langfuse and Phoenix, recorded by `tests/traces/exports/record.py`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Sample
from ragmetrics_core.traces import read_traces
from ragmetrics_core.traces._formats import FORMATS, format_among
from ragmetrics_core.traces._spans import TraceSpan, packed

FOLDER = Path(__file__).parent / "exports"
NAMES = (
    "langsmith",
    "mlflow",
    "mlflow_search_traces",
    "langfuse",
    "langfuse_blob",
    "phoenix",
    "phoenix_dataframe",
)
READERS = {name: FORMATS[name.partition("_")[0]] for name in NAMES}
# These hold only the last application.
SHORT = ("mlflow_search_traces", "langfuse_blob")
ROWS = {
    name: [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]
    for name in READERS
}
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text("utf-8"))

exports = pytest.mark.parametrize("name", READERS)


def read(name: str, rows: Iterable[Mapping[str, Any]] | None = None) -> list[TraceSpan]:
    return list(READERS[name].spans_of(ROWS[name] if rows is None else rows))


def traces(spans: Iterable[TraceSpan]) -> dict[str, list[TraceSpan]]:
    held: dict[str, list[TraceSpan]] = {}
    for span in spans:
        held.setdefault(span.trace, []).append(span)
    return held


@exports
def test_an_export_is_recognised_as_one_format_only(name):
    assert {tuple(format_among(row)) for row in ROWS[name]} == {(name.partition("_")[0],)}


@exports
def test_each_span_of_a_real_export_is_read_without_problems(name):
    spans = read(name)
    assert [span.problems for span in spans if span.problems] == []
    ids = {(span.trace, span.id) for span in spans}
    assert len(ids) == len(spans)
    assert all(span.parent is None or (span.trace, span.parent) in ids for span in spans)
    assert all(span.ended is not None and 0 < span.began <= span.ended for span in spans)
    assert {span.failed for span in spans} == {False}
    roots = [[span for span in held if span.parent is None] for held in traces(spans).values()]
    assert [len(held) for held in roots] == [1] * (1 if name in SHORT else 3)


@exports
def test_the_last_model_call_has_the_answer_and_the_chunks_that_the_body_of_its_request_held(name):
    found = []
    for held in traces(read(name)).values():
        replies = [span for span in held if span.kind == "model" and not span.calls_tools]
        request = "\n".join(message.text for message in replies[0].messages)
        chunks = [chunk for each in EXPECTED.values() for chunk in each["contexts"] if chunk in request]
        found.append((replies[0].reply, sorted(set(chunks))))
    applications = ["functions"] if name in SHORT else list(EXPECTED)
    expected = [(EXPECTED[each]["answer"], sorted(EXPECTED[each]["contexts"])) for each in applications]
    assert sorted(found) == sorted(expected)


@exports
def test_the_contexts_are_those_in_the_body_of_the_answering_request(name):
    samples = [each for each in read_traces(FOLDER / f"{name}.jsonl") if isinstance(each, Sample)]
    found = [(each.question, each.answer, list(each.contexts or ()), each.session) for each in samples]
    applications = ["functions"] if name in SHORT else list(EXPECTED)
    expected = [
        (*EXPECTED[each].values(), "tea-room" if each == "functions" else None) for each in applications
    ]
    assert sorted(map(str, found)) == sorted(map(str, expected))
    # a tool is a stage as a retriever is; what the ranker kept is one of its own
    stages = {tuple(stage.name for stage in each.stages or ()) for each in samples}
    assert stages <= {("retrieved", "shown"), ("retrieved", "filtered", "shown")}


@exports
def test_searches_have_their_documents_and_tools_their_arguments(name):
    spans = read(name)
    found = [[(each.id, each.text) for each in span.documents] for span in spans if span.kind == "retriever"]
    tea = [("doc-0", EXPECTED["chain"]["contexts"][0]), ("doc-1", EXPECTED["chain"]["contexts"][1])]
    # a search of three, of which the ranker kept the first
    coffee = [("doc-2", EXPECTED["functions"]["contexts"][0])]
    assert sorted(each[:1] if len(each) == 3 else each for each in found) == sorted(
        [coffee] if name in SHORT else [tea, coffee]
    )
    tools = [span.inputs for span in spans if span.kind == "tool"]
    # OpenInference's instrumentor writes the only argument without its name
    arguments = "green black tea" if "phoenix" in name else {"query": "green black tea"}
    assert tools == ([] if name in SHORT else [arguments])


@exports
def test_the_session_is_the_conversation_and_not_the_project(name):
    by_session = {span.session for span in read(name)}
    assert by_session == ({"tea-room"} if name in SHORT else {None, "tea-room"})


@exports
def test_order_and_repetition_of_rows_do_not_matter(name):
    spans = read(name, [*reversed(ROWS[name]), *ROWS[name]])
    assert {packed(span) for span in spans} == {packed(span) for span in read(name)}


# Other forms of the same exports


def pages(key: str, name: str) -> list[dict[str, Any]]:
    return [{key: ROWS[name], "cursor": None}]


def bulk() -> list[dict[str, Any]]:
    """LangSmith's bulk export, whose columns hold JSON."""
    columns = ("inputs", "outputs", "extra")
    return [{**row, **{name: json.dumps(row[name]) for name in columns}} for row in ROWS["langsmith"]]


def nested() -> list[dict[str, Any]]:
    """Runs with their child runs, as `read_run(load_child_runs=True)` gives them."""
    runs = {row["id"]: {**row, "child_runs": []} for row in ROWS["langsmith"]}
    for run in runs.values():
        if run["parent_run_id"] is not None:
            runs[run["parent_run_id"]]["child_runs"].append(run)
    return [run for run in runs.values() if run["parent_run_id"] is None]


def without_parents() -> list[dict[str, Any]]:
    """Runs whose places follow from `dotted_order` alone."""
    return [
        {key: value for key, value in row.items() if key not in ("parent_run_id", "trace_id")}
        for row in ROWS["langsmith"]
    ]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("langsmith", pages("runs", "langsmith")),
        ("langsmith", bulk()),
        ("langsmith", nested()),
        ("langsmith", without_parents()),
        ("langfuse", pages("data", "langfuse")),
        ("phoenix", pages("data", "phoenix")),
    ],
    ids=["runs", "bulk", "nested", "dotted order", "observations", "spans"],
)
def test_pages_and_nested_rows_give_the_same_spans(name, rows):
    assert all(READERS[name].recognises(row) for row in rows)
    assert {packed(span) for span in read(name, rows)} == {packed(span) for span in read(name)}


def test_the_rows_of_a_data_frame_are_the_spans_of_the_api():
    # but for milliseconds, and scores with ten digits
    api, frame = (
        {
            (span.id, span.parent, span.kind, span.name, span.reply, str(span.messages), span.calls_tools)
            for span in read(name)
        }
        for name in ("phoenix", "phoenix_dataframe")
    )
    assert frame == api


def test_a_downloaded_trace_of_langfuse_is_the_parent_of_its_observations():
    rows = [row for row in ROWS["langfuse"] if row["sessionId"]]
    observations = [{**row, "traceId": None, "sessionId": None} for row in rows]
    trace = {"id": rows[0]["traceId"], "sessionId": "tea-room", "input": "How?", "output": "So."}

    (root, *spans) = read("langfuse", [{**trace, "observations": observations}])
    assert (root.inputs, root.outputs, root.session, root.parent) == ("How?", "So.", "tea-room", None)
    assert {span.parent for span in spans if span.name == "ask"} == {root.id}
    assert {span.trace for span in spans} == {root.id}
    assert (root.began, root.ended) == (min(s.began for s in spans), max(s.ended or 0 for s in spans))

    bare = read("langfuse", [{"trace": {**trace, "input": None, "output": ""}, "observations": observations}])
    assert [packed(span) for span in bare] == [packed(span) for span in read("langfuse", rows)]


def test_an_older_trace_of_mlflow_is_read_too():
    def text(value: object) -> str:
        return json.dumps(value)

    attributes = {
        "mlflow.traceRequestId": text("r1"),
        "mlflow.spanType": text("RETRIEVER"),
        "mlflow.spanInputs": text("tea"),
        "mlflow.spanOutputs": text([{"page_content": "Tea.", "metadata": {"doc_uri": "a"}, "id": None}]),
    }
    span = {
        "name": "search",
        "context": {"span_id": "0x1", "trace_id": "0x2"},
        "parent_id": None,
        "start_time": 1_700_000_000_000_000_000,
        "end_time": 1_700_000_000_000_000_001,
        "status_code": "ERROR",
        "attributes": attributes,
    }
    info = {"request_id": "r1", "request_metadata": {"mlflow.trace.session": "s"}}
    row = {"info": info, "data": {"spans": [span]}}
    assert READERS["mlflow"].recognises(row)
    (found,) = read("mlflow", [row])
    assert (found.trace, found.id, found.session, found.failed) == ("r1", "0x1", "s", True)
    assert found.inputs == "tea"
    assert [chunk.text for chunk in found.documents or ()] == ["Tea."]
    assert (found.began, found.ended) == (1_700_000_000_000_000_000, 1_700_000_000_000_000_001)


# Bad input

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
DEEP = json.loads("[" * 300 + "]" * 300)
BAD = JSON | st.sampled_from(
    ["x" * 100_000, "[" * 5000, "[" * 900 + "]" * 900, '"', "9" * 5000, DEEP, 10**400, "9999-99-99"]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values inside of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from places(each, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value at a place; without the entry for `...`."""
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if not rest and new is ...:
        del copy[key]
    else:
        copy[key] = changed(copy[key], tuple(rest), new) if rest else new
    return copy


@exports
@given(data=st.data())
def test_a_damaged_row_costs_only_itself(name, data):
    rows = list(ROWS[name])
    number = data.draw(st.integers(0, len(rows) - 1))
    path = data.draw(st.sampled_from(list(places(rows[number]))))
    intact = {packed(span) for span in read(name, rows[:number] + rows[number + 1 :])}
    rows[number] = changed(rows[number], path, data.draw(BAD | st.just(...)))

    spans = read(name, rows)
    assert intact <= {packed(span) for span in spans}
    assert all(span.problems for span in spans if not span.trace or not span.id)
    READERS[name].recognises(rows[number])


@exports
@given(
    row=st.dictionaries(st.text(max_size=3) | st.sampled_from([*ROWS["langsmith"][0], "spans", "data"]), BAD)
)
def test_any_object_is_read_without_an_exception(name, row):
    READERS[name].recognises(row)
    for span in read(name, [row]):
        packed(span)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("langsmith", {"id": None}, "the row has no id of a span"),
        ("langsmith", {"id": 7}, "the row has no id of a span; id is a int, not a text"),
        ("langfuse", {"traceId": ""}, "the row has no id of a trace"),
        ("langfuse", {"endTime": "soon"}, "endTime is 'soon', not a time"),
        ("langfuse", {"type": "NEW"}, "the type 'NEW' of an observation is unknown: read as a span"),
        ("mlflow", {"data": {"spans": "none"}}, "spans is a str, not a list"),
        ("mlflow", {"data": {"spans": []}}, "the trace 'tr-"),
        ("phoenix", {"start_time": [1]}, "start_time is a list, not a time"),
    ],
)
def test_a_row_that_cannot_be_read_has_a_reason(name, change, reason):
    problems = [span.problems for span in read(name, [{**ROWS[name][0], **change}])]
    assert problems[0][0].startswith(reason)
