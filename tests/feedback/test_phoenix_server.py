"""A real Phoenix on the loopback: scores are written, read back, written again, and still there once.

`make compat ARGS="--session phoenix"` runs this in an environment of its own.
"""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("phoenix.client", reason="needs the extra phoenix")
if find_spec("phoenix.server") is None:
    pytest.skip("needs the package arize-phoenix, the server", allow_module_level=True)

import httpx
from phoenix.client import Client

from ragmetrics_core.feedback import PhoenixReceiver, send
from tests.feedback.conftest import SCORES, SPANS, TRACES, MakeRun
from tests.servers import closed_port

# The client leaves its connections to the end of the process.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

PROJECT = "books"
RETRIEVER = "abcdef0123456789"
PATIENCE = 120.0


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    port = closed_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(tmp_path_factory.mktemp("phoenix")),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(closed_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    command = [sys.executable, "-m", "phoenix.server.main", "serve"]
    process = subprocess.Popen(command, env=os.environ | settings, stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(lambda: urllib.request.urlopen(f"{url}/healthz", timeout=5).close() is None)
        yield Client(base_url=url)
    finally:
        process.terminate()
        process.wait()


def wait_for(condition: Any) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if condition():
                return
        except (OSError, httpx.HTTPError):  # not started yet, or the project is not there yet
            pass
        time.sleep(0.2)
    pytest.fail("Phoenix did not answer in time")


def span(trace: str, id: str, kind: str, **attributes: Any) -> dict[str, Any]:
    return {
        "name": kind.lower(),
        "context": {"trace_id": trace, "span_id": id},
        "span_kind": kind,
        "start_time": "2026-11-26T10:00:00+00:00",
        "end_time": "2026-11-26T10:00:01+00:00",
        "status_code": "OK",
        "attributes": attributes,
    }


def test_scores_are_written_read_back_and_written_again_and_still_there_once(
    client: Client, make_run: MakeRun, tmp_path: Path
):
    documents = ["Berlin.", "Paris is the capital."]
    named = {f"retrieval.documents.{number}.document.content": text for number, text in enumerate(documents)}
    spans: list[Any] = [span(trace.hex, id, "CHAIN") for trace, id in zip(TRACES, SPANS, strict=True)]
    spans.append(span(TRACES[0].hex, RETRIEVER, "RETRIEVER", **named))
    client.spans.log_spans(project_identifier=PROJECT, spans=spans)
    wait_for(lambda: len(client.spans.get_spans(project_identifier=PROJECT)) == len(spans))

    chunks = [{"text": text, "rank": rank} for rank, text in enumerate(documents, start=1)]
    run = make_run(stages=[{"name": "retrieved", "chunks": chunks}], retriever=RETRIEVER)
    to = PhoenixReceiver(client)

    def annotations() -> list[Any]:
        return client.spans.get_span_annotations(span_ids=SPANS, project_identifier=PROJECT)

    assert send(run, to) == (SCORES, {}, None)
    first = annotations()
    assert len(first) == SCORES
    digests = {record.digest for record in run.records()}
    assert {each["metadata"]["ragmetrics_digest"] for each in first} == digests

    assert send(run, to) == (SCORES, {}, None)
    assert {each["id"] for each in annotations()} == {each["id"] for each in first}

    corrected = run.correct("q0", "faithfulness", 1, False, by="ann")
    send(run, to)
    assert len(annotations()) == SCORES
    (kept,) = (each for each in annotations() if each["metadata"]["ragmetrics_digest"] == corrected.digest)
    assert (kept["annotator_kind"], kept["result"]["score"]) == ("HUMAN", 0.0)
