"""Record the applications' traces, and the requests that their models got, with the instrumentors installed.

    python -m tests.traces.applications [FOLDER [NAME ...]]

Writes `NAME.jsonl`, as a collector's file exporter does (`NAME.binpb` for two: protobuf, with a length before
each message), and `NAME.requests.json` with each request's messages and the reply to it.
"""

import json
import os
import struct
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.integrations.body_keeping import BodyKeeper

RECORDED = Path(__file__).resolve().parent.parent / "recorded"
AS_PROTOBUF = {"langchain_chain", "haystack_draft"}
BATCH = 4
"""How many spans a line holds, in the order in which they ended: a collector writes what arrives together."""

# Each module of applications, and what observes it.
INSTRUMENTORS = {
    "of_langchain": ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
    "of_llama_index": ("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor"),
    "of_haystack": ("openinference.instrumentation.haystack", "HaystackInstrumentor"),
    "of_genai": ("opentelemetry.instrumentation.genai.openai", "OpenAIInstrumentor"),
    "of_genai_langchain": ("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor"),
}
# Conventions for generative AI: messages are attributes of spans.
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"


def write(path: Path, spans: list[ReadableSpan]) -> None:
    """The spans as a collector's file exporter writes them."""
    batches = [spans[place : place + BATCH] for place in range(0, len(spans), BATCH)]
    for suffix in (".jsonl", ".binpb"):
        path.with_suffix(suffix).unlink(missing_ok=True)
    if path.name in AS_PROTOBUF:
        messages = [encode_spans(batch).SerializeToString() for batch in batches]
        lengths = [struct.pack(">I", len(message)) for message in messages]
        path.with_suffix(".binpb").write_bytes(b"".join(sum(zip(lengths, messages, strict=True), ())))
        return
    exporter = FileSpanExporter(path.with_suffix(".jsonl"))
    for batch in batches:
        exporter.export(batch)
    exporter.shutdown()


def record(folder: Path, names: list[str]) -> None:
    """Run the applications with these names; all if there are none."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    for module, (package, kind) in INSTRUMENTORS.items():
        applications = import_module(f"tests.traces.applications.{module}").APPLICATIONS
        instrumentor = getattr(import_module(package), kind)()
        instrumentor.instrument()
        for name in applications.keys() & set(names) if names else applications:
            exporter.clear()
            with BodyKeeper(applications[name].replies) as server:
                applications[name].run(server)
            write(folder / name, list(exporter.get_finished_spans()))
            requests: list[Any] = [
                {"messages": each.body["messages"], "reply": each.reply} for each in server.exchanges
            ]
            text = json.dumps(requests, indent=1, ensure_ascii=False)
            (folder / f"{name}.requests.json").write_text(f"{text}\n", encoding="utf-8")
        instrumentor.uninstrument()


if __name__ == "__main__":
    folder, *names = sys.argv[1:] or [str(RECORDED)]
    record(Path(folder), names)
