"""Record the exports in this folder with the vendors' packages: `python -m tests.traces.exports.record NAME`.

Three applications run against a server on this machine that keeps the bodies of its requests: a chain and an
agent of LangChain, and functions with a vendor's decorators around OpenAI's client. `expected.json` holds for
each application the question, the answer and the chunks of the corpus in the body of the answering request.

Recorded with langsmith 0.15.1, mlflow 3.17.2, langfuse 5.0.4, arize-phoenix 20.26.1, langchain 1.5.2,
langchain-openai 1.7.4, openinference-instrumentation-langchain 0.1.80 and -openai 0.1.66.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import OpenAI

from tests.integrations.body_keeping import BodyKeeper, Call, Reply
from tests.integrations.langchain.shown.trial import CORPUS, join, store

FOLDER = Path(__file__).parent
QUESTION = "How is green or black tea made?"
SECOND = "And how is coffee made?"
ANSWER = "Green tea is dried in a pan; black tea withers until it is dark."
SECOND_ANSWER = "Coffee beans are roasted until they crack twice."
SESSION = "tea-room"


def replies(text: str) -> Reply:
    """The model: it calls the tool first if there is one, and knows two answers."""
    if "Search before you answer." in text and not any(chunk in text for chunk in CORPUS):
        return Call("search", {"query": "green black tea"})
    return SECOND_ANSWER if SECOND in text else ANSWER


def chain(model: ChatOpenAI, config: Any) -> None:
    prompt = ChatPromptTemplate.from_messages([("system", "Use only:\n{context}"), ("human", "{question}")])
    search = RunnableLambda(lambda row: row["question"]) | store().as_retriever(search_kwargs={"k": 2})
    steps = RunnablePassthrough.assign(context=search | join) | prompt | model | StrOutputParser()
    steps.invoke({"question": QUESTION}, config)


def agent(model: ChatOpenAI, config: Any) -> None:
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Any]]:
        """Search the books."""
        found = store().similarity_search(query, k=2)
        return join(found), found

    made = create_agent(model, [search], system_prompt="Search before you answer.")
    made.invoke({"messages": [("user", QUESTION)]}, config)


Decorate = Callable[[str, Callable[..., Any]], Callable[..., Any]]


def functions(client: OpenAI, decorate: Decorate) -> None:
    """Functions with decorators: a search of three, a ranker that keeps one, and a history."""

    def search(query: str) -> list[dict[str, Any]]:
        found = store().similarity_search_with_score(query, k=3)
        return [
            {
                "page_content": each.page_content,
                "type": "Document",
                "metadata": {"id": each.id, "score": score},
            }
            for each, score in found
        ]

    def rank(query: str, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [each for each in documents if "Coffee" in each["page_content"]]

    search, rank = decorate("retriever", search), decorate("reranker", rank)

    def ask(question: str) -> str:
        context = "\n".join(each["page_content"] for each in rank(question, search(question)))
        messages = [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": ANSWER},
            {"role": "user", "content": f"Use only:\n{context}\n\n{question}"},
        ]
        reply = client.chat.completions.create(model="served-model", messages=messages)
        return reply.choices[0].message.content

    decorate("chain", ask)(SECOND)


def run_all(config: Any, make_client: Callable[..., Any], decorate: Decorate, around: Any = None) -> None:
    """Run the three applications, each in a trace of its own, and keep what the bodies held."""
    expected = {}
    with BodyKeeper(replies) as server:
        settings = {"base_url": server.base_url, "api_key": "none", "max_retries": 0}
        model = ChatOpenAI(model="served-model", **settings)
        for name, run in [
            ("chain", lambda: chain(model, config)),
            ("agent", lambda: agent(model, config)),
            ("functions", lambda: functions(make_client(**settings), decorate)),
        ]:
            run()
            text = server.exchanges[-1].text
            expected[name] = {
                "question": SECOND if name == "functions" else QUESTION,
                "answer": server.exchanges[-1].reply,
                "contexts": [chunk for chunk in CORPUS if chunk in text],
            }
    write_lines("expected.json", [expected])


def write_lines(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    (FOLDER / name).write_text("".join(lines), encoding="utf-8")
    print(name, len(lines), sum(map(len, lines)))


def langsmith() -> None:
    """Runs as `Client.list_runs` gives them: what the client would send, as the client's own `Run`."""
    import langsmith as ls
    from langsmith._internal._serde import dumps_json
    from langsmith.schemas import Run
    from langsmith.wrappers import wrap_openai

    runs: dict[str, dict[str, Any]] = {}

    class Offline(ls.Client):
        def create_run(self, name: str, inputs: Any, run_type: str, **kwargs: Any) -> None:
            sent = {"name": name, "inputs": inputs, "run_type": run_type, **kwargs}
            runs[str(kwargs["id"])] = json.loads(dumps_json(sent))

        def update_run(self, run_id: Any, **kwargs: Any) -> None:
            sent = {name: value for name, value in kwargs.items() if value is not None}
            runs[str(run_id)] |= json.loads(dumps_json(sent))

    client = Offline(api_url="http://127.0.0.1:9", api_key="none", info={}, auto_batch_tracing=False)
    project = "00000000-0000-0000-0000-00000000cafe"
    ls.configure(client=client, enabled=True, project_name="tea")

    def decorate(kind: str, function: Any) -> Any:
        kinds = {"retriever": "retriever", "reranker": "chain"}
        metadata = {"session_id": SESSION} if kind == "chain" else {}
        return ls.traceable(run_type=kinds.get(kind, "chain"), client=client, metadata=metadata)(function)

    run_all({}, lambda **settings: wrap_openai(OpenAI(**settings)), decorate)
    rows = []
    for run in runs.values():
        run["session_id"] = project
        run["app_path"] = f"/o/0/projects/p/{project}/r/{run['id']}"
        run["extra"].pop("runtime", None)
        rows.append(Run(**run).model_dump(mode="json", exclude={"child_runs", "serialized"}))
    write_lines("langsmith.jsonl", rows)


def mlflow() -> None:
    """Traces as `Trace.to_dict` and `search_traces` give them, from a store in SQLite."""
    import mlflow
    from mlflow.tracing.utils.search import traces_to_df

    folder = tempfile.mkdtemp()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/store.db")
    mlflow.set_experiment("tea")
    mlflow.langchain.autolog()
    mlflow.openai.autolog()

    def decorate(kind: str, function: Any) -> Any:
        if kind == "chain":

            def begin(question: str) -> str:
                mlflow.update_current_trace(session_id=SESSION)
                return function(question)

            begin.__name__ = "ask"
            return mlflow.trace(begin, span_type="CHAIN")
        return mlflow.trace(function, span_type=kind.upper())

    run_all({}, OpenAI, decorate)
    mlflow.flush_trace_async_logging()
    traces = mlflow.search_traces(return_type="list")
    for trace in traces:  # paths and names of this machine
        metadata = trace.info.trace_metadata
        for name in [name for name in metadata if name.startswith(("mlflow.source", "mlflow.user"))]:
            del metadata[name]
        trace.info.tags.pop("mlflow.artifactLocation", None)
    write_lines("mlflow.jsonl", [json.loads(trace.to_json()) for trace in traces])
    frame = traces_to_df(traces)
    write_lines("mlflow_search_traces.jsonl", json.loads(frame.to_json(orient="records"))[:1])


def langfuse() -> None:
    """Observations of the API and of the export to blob storage, from the spans that the client sends.

    The server is not run here: its fields are filled from the span's attributes, and the client's own type
    validates each observation.
    """
    from langfuse import Langfuse, observe, propagate_attributes
    from langfuse.api.commons.types.observation_v2 import ObservationV2
    from langfuse.api.core.pydantic_utilities import parse_obj_as
    from langfuse.langchain import CallbackHandler
    from langfuse.openai import OpenAI as Traced
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    client = Langfuse(
        public_key="pk-none", secret_key="sk-none", base_url="http://127.0.0.1:9", span_exporter=kept
    )

    def decorate(kind: str, function: Any) -> Any:
        if kind == "chain":
            inner = observe(as_type="chain", name="ask")(function)

            def begin(question: str) -> str:
                with propagate_attributes(session_id=SESSION):
                    return inner(question)

            return begin
        return observe(as_type="retriever" if kind == "retriever" else "span")(function)

    run_all({"callbacks": [CallbackHandler()]}, Traced, decorate)
    client.flush()
    api, blob = [], []
    for span in kept.get_finished_spans():
        attributes = dict(span.attributes or {})
        prefix = "langfuse.observation."
        moments = [datetime.fromtimestamp(ns / 1e9, UTC) for ns in (span.start_time, span.end_time)]
        row = {
            "id": f"{span.context.span_id:016x}",
            "traceId": f"{span.context.trace_id:032x}",
            "projectId": "tea",
            "parentObservationId": f"{span.parent.span_id:016x}" if span.parent else None,
            "type": str(attributes.get(prefix + "type", "span")).upper(),
            "name": span.name,
            "startTime": moments[0],
            "endTime": moments[1],
            "level": str(attributes.get(prefix + "level", "DEFAULT")),
            "statusMessage": attributes.get(prefix + "status_message"),
            "sessionId": attributes.get("session.id"),
            "input": attributes.get(prefix + "input"),
            "output": attributes.get(prefix + "output"),
            "model": attributes.get(prefix + "model.name"),
        }
        api.append(json.loads(parse_obj_as(ObservationV2, row).json()))
        written = [f"{moment:%Y-%m-%d %H:%M:%S.%f}" for moment in moments]
        blob.append(
            {
                "id": row["id"],
                "trace_id": row["traceId"],
                "project_id": "tea",
                "type": row["type"],
                "parent_observation_id": row["parentObservationId"] or "",
                "start_time": written[0],
                "end_time": written[1],
                "name": span.name,
                "level": row["level"],
                "status_message": row["statusMessage"] or "",
                "input": row["input"] or "",
                "output": row["output"] or "",
                "session_id": row["sessionId"] or "",
            }
        )
    write_lines("langfuse.jsonl", api)
    write_lines("langfuse_blob.jsonl", blob[-4:])


def phoenix() -> None:
    """Spans as the server's API gives them, and as rows of the client's data frame."""
    os.environ["PHOENIX_WORKING_DIR"] = tempfile.mkdtemp()
    os.environ["PHOENIX_PORT"], os.environ["PHOENIX_GRPC_PORT"] = "16006", "16007"
    os.environ["PHOENIX_TELEMETRY_ENABLED"] = "false"
    import phoenix as px
    from openinference.instrumentation import using_session
    from openinference.instrumentation.langchain import LangChainInstrumentor
    from openinference.instrumentation.openai import OpenAIInstrumentor
    from openinference.semconv.trace import SpanAttributes
    from phoenix.client import Client
    from phoenix.otel import register

    px.launch_app(run_in_thread=True)
    base = "http://127.0.0.1:16006"
    provider = register(
        endpoint=f"{base}/v1/traces", project_name="tea", batch=False, set_global_tracer_provider=False
    )
    LangChainInstrumentor().instrument(tracer_provider=provider)
    tracer = provider.get_tracer("tea")

    def decorate(kind: str, function: Any) -> Any:
        if kind == "chain":
            inner = tracer.chain(function, name="ask")

            def begin(question: str) -> str:
                with using_session(SESSION):
                    return inner(question)

            return begin
        if kind == "reranker":
            return tracer.chain(function)

        def search(query: str) -> list[dict[str, Any]]:
            with tracer.start_as_current_span("search", openinference_span_kind="retriever") as span:
                span.set_input(query)
                found = function(query)
                for number, each in enumerate(found):
                    place = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{number}.document"
                    span.set_attribute(f"{place}.content", each["page_content"])
                    span.set_attribute(f"{place}.id", each["metadata"]["id"])
                    span.set_attribute(f"{place}.score", each["metadata"]["score"])
                return found

        return search

    def make_client(**settings: Any) -> OpenAI:
        OpenAIInstrumentor().instrument(tracer_provider=provider)
        return OpenAI(**settings)

    run_all({}, make_client, decorate)
    time.sleep(5)
    client = Client(base_url=base)
    write_lines("phoenix.jsonl", client.spans.get_spans(project_identifier="tea"))
    frame = client.spans.get_spans_dataframe(project_identifier="tea")
    rows = json.loads(frame.to_json(orient="records", date_format="iso"))
    write_lines("phoenix_dataframe.jsonl", rows)


if __name__ == "__main__":
    {"langsmith": langsmith, "mlflow": mlflow, "langfuse": langfuse, "phoenix": phoenix}[sys.argv[1]]()
