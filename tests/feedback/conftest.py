"""A run whose samples have places in traces, and servers that take its scores."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.feedback import (
    LangfuseReceiver,
    LangSmithReceiver,
    MLflowReceiver,
    OTLPReceiver,
    PhoenixReceiver,
    Receiver,
)
from tests.feedback.receivers import Tool, tool
from tests.runs.capital import REFERENCED, YES, scripted

TRACES = [uuid.UUID(int=number) for number in range(1, 4)]
SPANS = [f"00f067aa0ba902b{number}" for number in range(1, 4)]
KEY = "sk-this-is-secret"

# Three samples with three scores each; the last sample has no contexts, so the first two are undefined.
METRICS = ["faithfulness", "context_precision", "token_f1"]
SCORES = 3 * 3

MakeRun = Callable[..., Run]
MakeReceiver = Callable[..., Receiver]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    def make(*, samples: int = 3, as_uuids: bool = False, **labels: Any) -> Run:
        rows = [
            {
                **REFERENCED,
                **({} if number < 2 else {"contexts": []}),
                "id": f"q{number}",
                "trace": str(trace) if as_uuids else trace.hex,
                "span": str(trace) if as_uuids else span,
                **labels,
            }
            for number, (trace, span) in enumerate(zip(TRACES, SPANS, strict=True))
        ]
        judge = scripted(chunk_verdicts=YES)
        return evaluate(rows[:samples], metrics=METRICS, judge=judge, out=tmp_path / "run", overwrite=True)

    return make


@pytest.fixture
def server() -> Iterator[Tool]:
    with tool() as running:
        yield running


@pytest.fixture
def receiver(server: Tool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MakeReceiver:
    """A real client of each tool, for the loopback server; skips the test if it is not installed."""
    for name, value in {
        "LANGFUSE_PUBLIC_KEY": "pk-public",
        "LANGFUSE_SECRET_KEY": KEY,
        "LANGSMITH_API_KEY": KEY,
        "LANGSMITH_PROJECT": "books",
        "PHOENIX_API_KEY": KEY,
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }.items():
        monkeypatch.setenv(name, value)

    def make(name: str, **settings: Any) -> Receiver:
        modules = {
            "phoenix": "phoenix.client",
            "langfuse": "langfuse.api",
            "langsmith": "langsmith",
            "mlflow": "mlflow.tracing.client",
            "otlp": "opentelemetry.exporter.otlp.proto.http",
        }
        pytest.importorskip(modules[name], reason=f"needs the extra {name}")
        makers: dict[str, Callable[..., Receiver]] = {
            "phoenix": PhoenixReceiver,
            "langfuse": LangfuseReceiver,
            "langsmith": LangSmithReceiver,
            "mlflow": MLflowReceiver,
            "otlp": OTLPReceiver,
        }
        return makers[name](url=server.url, **settings)

    return make
