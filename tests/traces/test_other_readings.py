"""Other readers of the recorded traces beside ours: MLflow's store and its contexts, and Phoenix's converter.

They run where the whole mlflow and arize-phoenix are installed: `nox --session other_readings`.
"""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.traces import read_traces
from ragmetrics_core.traces._conventions import RawSpan, span_of
from ragmetrics_core.traces._files import rows_of

pytestmark = pytest.mark.integration

RECORDED = Path(__file__).parent / "recorded"
NAMES = sorted(path.name for path in RECORDED.iterdir() if path.suffix in (".jsonl", ".binpb"))
GENAI = [name for name in NAMES if name.startswith("genai")]
# MLflow keeps the requests of bare model calls as inputs, so the question of one is known.
BARE = "genai_bare.jsonl"

recorded = pytest.mark.parametrize("name", NAMES)


def told(path: Path) -> list[tuple[object, ...]]:
    """Question, answer, contexts and session of each sample in a file."""
    samples = [each for each in read_traces(path) if isinstance(each, Sample)]
    return sorted((each.question, each.answer, each.contexts, each.session) for each in samples)


# MLflow

IDS = ("traceId", "spanId", "parentSpanId")


def in_base64(value: Any) -> Any:
    """OpenTelemetry's JSON as general readers of Protobuf take it: ids in base64."""
    if isinstance(value, list):
        return [in_base64(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: b64encode(bytes.fromhex(each)).decode() if key in IDS else in_base64(each)
        for key, each in value.items()
    }


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The traces of a recorded file, after MLflow took and stored them."""
    mlflow = pytest.importorskip("mlflow", reason="needs the whole mlflow")
    stores = pytest.importorskip("mlflow.store.tracking.sqlalchemy_store", reason="needs the whole mlflow")
    spans = pytest.importorskip("mlflow.entities.span")
    protocol = pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/store.db")
    experiment = mlflow.set_experiment("recorded").experiment_id
    store = stores.SqlAlchemyStore(f"sqlite:///{folder}/store.db", str(folder))

    def take(name: str) -> list[Any]:
        by_trace: dict[str, list[Any]] = {}
        for found in rows_of(RECORDED / name):
            data = json_format.ParseDict(
                in_base64(found.row), protocol.TracesData(), ignore_unknown_fields=True
            )
            for resource in data.resource_spans:
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        taken = spans.Span.from_otel_proto(span, resource=resource.resource)
                        by_trace.setdefault(taken.trace_id, []).append(taken)
        for taken_spans in by_trace.values():
            store.log_spans(experiment, taken_spans)
        return [mlflow.get_trace(trace) for trace in by_trace]

    return take


@recorded
def test_the_export_of_mlflow_gives_the_samples_of_the_file_that_it_took(stored, tmp_path, name):
    path = tmp_path / "mlflow.jsonl"
    path.write_text("".join(trace.to_json() + "\n" for trace in stored(name)), encoding="utf-8")
    if name != BARE:
        assert told(path) == told(RECORDED / name)


@recorded
def test_mlflow_itself_reads_no_context_from_the_spans_of_instrumentors(stored, name):
    # it looks for a list of documents in the outputs of retriever spans: these hold an object with a list,
    # or the text that Python printed
    reader = pytest.importorskip("mlflow.genai.utils.trace_utils")
    for trace in stored(name):
        contexts = reader.extract_retrieval_context_from_trace(trace)
        assert [chunk for chunks in contexts.values() for chunk in chunks] == []


def test_mlflow_reads_from_its_own_traces_what_was_retrieved_and_not_what_was_shown():
    reader = pytest.importorskip("mlflow.genai.utils.trace_utils")
    entities = pytest.importorskip("mlflow.entities")
    exports = Path(__file__).parent / "exports"
    expected = json.loads((exports / "expected.json").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for line in (exports / "mlflow.jsonl").read_text(encoding="utf-8").splitlines():
        trace = entities.Trace.from_json(line)
        contexts = reader.extract_retrieval_context_from_trace(trace)
        texts = [chunk["content"] for chunks in contexts.values() for chunk in chunks]
        found[trace.data.spans[0].name] = texts
    assert found["RunnableSequence"] == expected["chain"]["contexts"]
    assert found["LangGraph"] == []  # a tool's documents
    # the ranker dropped two of three
    assert (found["ask"][:1], len(found["ask"])) == (expected["functions"]["contexts"], 3)


# Phoenix


def attributes_of(name: str) -> Iterator[dict[str, Any]]:
    """The attributes of the spans of a file, whose values are single."""
    for found in rows_of(RECORDED / name):
        for resource in found.row["resourceSpans"] if found.row else ():
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    pairs = [(each["key"], list(each["value"].values())) for each in span["attributes"]]
                    yield {key: values[0] for key, values in pairs}


@pytest.mark.parametrize("name", GENAI)
def test_the_converter_of_phoenix_reads_the_same_requests_and_replies(name):
    converter = pytest.importorskip("phoenix.trace.gen_ai.conversion")
    read = []
    for attributes in attributes_of(name):
        converted = converter.get_openinference_attributes(attributes)
        read.append([_span(named) for named in (attributes, converted)])
    models = [(ours, theirs) for ours, theirs in read if ours.kind == "model"]
    assert models
    for ours, theirs in models:
        assert (theirs.kind, theirs.reply, theirs.calls_tools) == ("model", ours.reply, ours.calls_tools)
        assert json.dumps(theirs.messages) == json.dumps(ours.messages)
    for ours, theirs in read:
        if ours.documents is not None:
            # it takes a list of documents only if each has a score
            has_scores = all(chunk.score is not None for chunk in ours.documents)
            assert theirs.documents == (ours.documents if has_scores else None)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in GENAI and name.endswith("jsonl")])
def test_the_converter_of_phoenix_leaves_the_spans_of_openinference_alone(name):
    converter = pytest.importorskip("phoenix.trace.gen_ai.conversion")
    assert {str(converter.get_openinference_attributes(each)) for each in attributes_of(name)} == {"{}"}


def _span(attributes: dict[str, Any]) -> Any:
    return span_of(RawSpan(trace="t", id="s", attributes=attributes))
