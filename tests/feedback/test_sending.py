"""Sending through the tools' own clients to servers on the loopback that keep what they get."""

import json
import logging
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.feedback import LangSmithReceiver, Receiver, send
from ragmetrics_core.records import SentScore, sent_score
from tests.feedback.conftest import KEY, SCORES, SPANS, TRACES, MakeReceiver, MakeRun
from tests.feedback.receivers import PROJECT, Tool

# The clients leave their connections to the end of the process.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WITH_IDS = ["phoenix", "langfuse", "langsmith"]


def run_for(name: str, make_run: MakeRun, **labels: Any) -> Run:
    return make_run(as_uuids=name == "langsmith", **labels)


@pytest.mark.parametrize("name", WITH_IDS)
def test_written_twice_each_score_is_there_once(
    name: str, make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    run, to = run_for(name, make_run), receiver(name)

    assert send(run, to) == (SCORES, {}, None)
    assert len(server.kept) == SCORES
    assert send(run, to) == (SCORES, {}, None)
    assert len(server.kept) == SCORES


@pytest.mark.parametrize("name", WITH_IDS)
def test_a_correction_replaces_the_score(name: str, make_run: MakeRun, receiver: MakeReceiver, server: Tool):
    run, to = run_for(name, make_run), receiver(name)
    send(run, to)
    record = run.correct("q0", "faithfulness", 1, False, by="ann")
    send(run, to)

    assert len(server.kept) == SCORES
    (kept,) = (text for text in map(json.dumps, server.kept.values()) if record.digest in text)
    assert "a person overruled 1 verdict" in kept
    assert '"ragmetrics_signature": "faithfulness/strict.1"' in kept


@pytest.mark.parametrize("name", WITH_IDS)
@pytest.mark.parametrize("status", [401, 500])
def test_a_server_that_fails_loses_nothing_and_the_next_call_sends_the_rest(
    name: str, status: int, make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    run, to = run_for(name, make_run), receiver(name)
    send(run, to)  # whatever the client asks for first
    server.kept.clear()
    server.failures += [status] * 20

    sent, left_out, stopped = send(run, to)
    assert (sent, left_out) == (0, {})
    assert stopped
    server.failures.clear()
    assert send(run, to) == (SCORES, {}, None)
    assert len(server.kept) == SCORES


@pytest.mark.parametrize("name", WITH_IDS)
def test_a_span_that_the_tool_does_not_have_costs_only_its_own_scores(
    name: str, make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    run, to = run_for(name, make_run), receiver(name)
    server.missing |= {SPANS[0], TRACES[0].hex, str(TRACES[0])}

    sent, left_out, stopped = send(run, to)
    assert (sent, stopped) == (SCORES - 3, None)
    ((reason, count),) = left_out.items()
    assert count == 3
    assert reason.startswith(f"{name} refused it: ")


@pytest.mark.parametrize("name", [*WITH_IDS, "otlp", "mlflow"])
def test_samples_without_a_place_in_a_trace_are_counted_by_reason(
    name: str, make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    run = make_run(trace=None, span=None)
    sent, left_out, stopped = send(run, receiver(name))

    assert (sent, stopped, sum(left_out.values())) == (0, None, SCORES)
    assert all(reason.startswith("the sample has no label") for reason in left_out)
    assert not server.kept


def test_a_run_of_another_tracer_is_not_sent_to_langsmith(make_run: MakeRun, receiver: MakeReceiver):
    sent, left_out, _ = send(make_run(), receiver("langsmith"))
    # ids of 16 digits are no run ids
    assert (sent, sum(left_out.values())) == (0, SCORES)


@pytest.mark.parametrize("name", WITH_IDS)
def test_texts_are_redacted_before_they_are_sent(
    name: str, make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    run = run_for(name, make_run)
    run.correct("q0", "faithfulness", 1, False, by="Ann")
    send(run, receiver(name), redact=lambda text: text.replace("person", "[who]"))

    bodies = b"".join(body for _, _, body in server.requests)
    assert b"a [who] overruled" in bodies
    assert b"a person overruled" not in bodies


def test_a_redaction_that_fails_sends_nothing(make_run: MakeRun, receiver: MakeReceiver, server: Tool):
    with pytest.raises(ConfigError, match="redact raised ValueError"):
        send(make_run(), receiver("phoenix"), redact=lambda text: str(int(text)))
    assert not server.kept


@pytest.mark.parametrize("name", WITH_IDS)
@pytest.mark.parametrize("status", [400, 401])
def test_no_key_is_in_a_message_or_a_log(
    name: str,
    status: int,
    make_run: MakeRun,
    receiver: MakeReceiver,
    server: Tool,
    caplog: pytest.LogCaptureFixture,
):
    run, to = run_for(name, make_run), receiver(name)
    server.failures += [status] * 50
    with caplog.at_level(logging.DEBUG, "ragmetrics"):
        outcome = send(run, to)
    assert KEY not in str(outcome) + caplog.text
    assert outcome.sent < SCORES


@pytest.mark.parametrize(
    ("thresholds", "labels"),
    [({"faithfulness": 1.0}, ["pass"]), ({"faithfulness/strict.1": 1.01}, ["fail"]), ({}, ["ok"])],
)
def test_a_value_at_its_threshold_passes(make_run: MakeRun, thresholds: dict[str, float], labels: list[str]):
    kept = Kept()
    send(make_run(), kept, thresholds=thresholds)
    found = [score.label for score in kept.scores if score.name == "faithfulness" and score.value is not None]
    assert sorted(set(found)) == labels


def test_a_threshold_of_a_metric_that_the_run_lacks_is_refused(make_run: MakeRun):
    with pytest.raises(ConfigError, match="no metric 'bleu'; it has faithfulness"):
        send(make_run(), Kept(), thresholds={"bleu": 0.5})


def test_langfuse_gets_numbers_categories_and_on_request_corrections(
    make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    run = make_run()
    run.correct("q0", "faithfulness", 1, False, by="ann")
    types = pytest.importorskip("langfuse.api")
    utilities = pytest.importorskip("langfuse.api.core.pydantic_utilities")
    send(run, receiver("langfuse"))
    assert sorted({each["dataType"] for each in server.kept.values()}) == ["CATEGORICAL", "NUMERIC"]

    send(run, receiver("langfuse", corrections=True))
    (correction,) = (each for each in server.kept.values() if each["dataType"] == "CORRECTION")
    assert correction["value"] == "1. not supported: The capital is Paris."
    assert len(server.kept) == SCORES + 1
    for body in server.kept.values():
        assert not utilities.parse_obj_as(types.CreateScoreRequest, body).model_extra


def test_langsmith_gets_feedback_of_its_own_type_in_the_project(
    make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    schemas = pytest.importorskip("langsmith.schemas")
    run = make_run(as_uuids=True)
    send(run, receiver("langsmith"))

    feedback = [schemas.FeedbackCreate(**each) for each in server.kept.values()]
    assert {each.session_id for each in feedback} == {UUID(PROJECT)}
    assert {each.run_id for each in feedback} == set(TRACES)
    undefined = next(each for each in feedback if each.score is None)
    assert (undefined.value, undefined.comment) == ("undefined", "undefined (no_contexts)")


def test_a_client_of_langsmith_that_sends_in_the_background_is_refused(receiver: MakeReceiver, server: Tool):
    langsmith = pytest.importorskip("langsmith")
    client = langsmith.Client(api_url=server.url, api_key=KEY, info={})
    try:
        with pytest.raises(ConfigError, match="auto_batch_tracing=False"):
            LangSmithReceiver(client)
    finally:
        client.cleanup()


def test_phoenix_gets_a_verdict_for_each_document_that_is_a_context_for_certain(
    make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    texts = ["Berlin.", "Paris is the capital.", "Rome."]
    chunks = [{"text": text, "rank": rank} for rank, text in enumerate(texts, start=1)]
    stages = [{"name": "retrieved", "chunks": chunks}]
    send(make_run(stages=stages, retriever="abcdef0123456789"), receiver("phoenix"))

    documents = [each for each in server.kept.values() if "document_position" in each]
    # q0 and q1 have the same retriever here, so the one replaces the other
    (document,) = documents
    assert (document["span_id"], document["document_position"]) == ("abcdef0123456789", 1)
    assert document["result"] == {"label": "relevant", "score": 1.0}


@pytest.mark.parametrize(
    ("texts", "retriever"),
    [
        (["Paris is the capital.", "Paris is the capital."], "abcdef0123456789"),
        (["Paris is the capital of France."], "abcdef0123456789"),
        (["Paris is the capital."], None),
    ],
    ids=["twice", "another text", "no retriever"],
)
def test_without_certainty_no_document_has_a_verdict(
    make_run: MakeRun, texts: list[str], retriever: str | None
):
    chunks = [{"text": text, "rank": rank} for rank, text in enumerate(texts, start=1)]
    kept = Kept()
    send(make_run(stages=[{"name": "retrieved", "chunks": chunks}], retriever=retriever), kept)
    assert not [chunk for score in kept.scores for chunk in score.chunks if chunk.document]


def test_a_collector_gets_a_carrier_with_one_link_for_each_span_and_an_event_for_each_score(
    make_run: MakeRun, receiver: MakeReceiver, server: Tool
):
    traces = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    logs = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
    run, to = make_run(), receiver("otlp")
    assert send(run, to) == (SCORES, {}, None)
    assert send(run, to) == (SCORES, {}, None)

    exported = [traces.ExportTraceServiceRequest.FromString(body) for body in server.kept["/v1/traces"]]
    first, second = (each.resource_spans[0].scope_spans[0].spans for each in exported)
    assert [[link.span_id.hex() for link in span.links] for span in first] == [[span] for span in SPANS]
    assert [span.span_id for span in first] == [span.span_id for span in second]
    assert not any(span.parent_span_id for span in first)
    events = logs.ExportLogsServiceRequest.FromString(server.kept["/v1/logs"][0])
    records = events.resource_logs[0].scope_logs[0].log_records
    assert len(records) == SCORES
    assert {record.event_name for record in records} == {"gen_ai.evaluation.result"}
    assert {record.span_id.hex() for record in records} == set(SPANS)


def test_a_collector_that_refuses_stops_the_sending(make_run: MakeRun, receiver: MakeReceiver, server: Tool):
    to = receiver("otlp")
    server.failures += [400] * 5
    sent, _, stopped = send(make_run(), to)
    assert (sent, stopped) == (0, "the collector did not take them")


def test_mlflow_keeps_one_valid_feedback_for_each_score(
    make_run: MakeRun, receiver: MakeReceiver, tmp_path: Path
):
    mlflow = pytest.importorskip("mlflow")
    receiver("mlflow")
    from ragmetrics_core.feedback import MLflowReceiver

    uri = f"file://{tmp_path}/mlruns"
    mlflow.set_tracking_uri(uri)
    with mlflow.start_span("answer") as span:
        span.set_outputs("Paris.")
    mlflow.flush_trace_async_logging()
    run = make_run(samples=1, trace=span.trace_id, span=span.span_id)
    to = MLflowReceiver(url=uri)

    def valid() -> list[Any]:
        return [each for each in mlflow.get_trace(span.trace_id).info.assessments if each.valid is not False]

    assert send(run, to).sent == send(run, to).sent == 3
    assert sorted(each.name for each in valid()) == ["context_precision", "faithfulness", "token_f1"]
    record = run.correct("q0", "faithfulness", 1, False, by="ann")
    send(run, to)
    (corrected,) = (each for each in valid() if each.name == "faithfulness")
    assert (corrected.source.source_type, corrected.source.source_id) == ("HUMAN", "ann")
    assert (corrected.value, corrected.metadata["ragmetrics_digest"]) == (0.0, record.digest)


def test_mlflow_gets_a_status_without_a_value_as_an_error(make_run: MakeRun, receiver: MakeReceiver):
    to = receiver("mlflow")
    score = sent_score(make_run().score("q2", "faithfulness"))
    feedback = to.feedback_of(score)
    assert (feedback.value, feedback.error.error_code) == (None, "UNDEFINED")
    assert feedback.error.error_message == "undefined (no_contexts)"
    assert feedback.to_proto().feedback.error.error_code == "UNDEFINED"


class Kept(Receiver):
    """A receiver that keeps everything."""

    name = "kept"

    def __init__(self) -> None:
        self.scores: list[SentScore] = []

    def problem_with(self, score: SentScore) -> str | None:
        return None

    def send(self, scores: Any) -> None:
        self.scores += scores
