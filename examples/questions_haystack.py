"""A test set in Haystack: keywords and vectors, compared by the questions of the set.

    pip install 'ragmetrics-core[embedded,haystack]'
    python examples/questions_haystack.py SET FOLDER
    ragmetrics study retriever FOLDER/bm25.jsonl FOLDER/vectors.jsonl
    ragmetrics evaluate FOLDER/bm25.jsonl --metrics retrieval_recall,ndcg --out FOLDER/scores

SET is the folder of a test set, such as that of `make questions`. Its gold answers are quotes from the
documents, so the relevant documents of any splitter follow from the set. No model is called.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack import Document
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_pipeline import vectors

from ragmetrics_core.questions import QuestionSet


def main() -> None:
    """Write a file of samples for each retriever."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("set", type=Path, help="the test set's folder")
    options.add_argument("folder", type=Path, help="where the samples are written")
    options.add_argument("--k", type=int, default=5, help="how many passages a retriever gives")
    given = options.parse_args()
    questions = QuestionSet.read(given.set)
    given.folder.mkdir(parents=True, exist_ok=True)
    passages = split(questions)
    texts = {passage.id: str(passage.content) for passage in passages}
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(
        [
            replace(passage, embedding=vector)
            for passage, vector in zip(passages, vectors(list(texts.values())), strict=True)
        ]
    )
    words = InMemoryBM25Retriever(store, top_k=given.k)
    meaning = InMemoryEmbeddingRetriever(store, top_k=given.k)
    samples = questions.samples(texts)
    asked = vectors([sample.question or "" for sample in samples])
    found: dict[str, list[dict[str, Any]]] = {
        "bm25": [words.run(query=sample.question or "") for sample in samples],
        "vectors": [meaning.run(query_embedding=vector) for vector in asked],
    }
    for name, results in found.items():
        lines: list[str] = []
        for sample, result in zip(samples, results, strict=True):
            retrieved = {
                "context_ids": tuple(document.id for document in result["documents"]),
                "contexts": tuple(document.content for document in result["documents"]),
            }
            lines.append(sample.model_copy(update=retrieved).model_dump_json(exclude_none=True))
        (given.folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(texts)} passages, {len(lines)} questions")


def split(questions: QuestionSet) -> list[Document]:
    """The documents of the set in passages of three sentences."""
    splitter = DocumentSplitter(split_by="period", split_length=3)
    documents = [
        Document(id=document.id, content=document.text) for document in questions.corpus.documents.values()
    ]
    found: list[Document] = splitter.run(documents)["documents"]
    return [replace(each, id=f"{each.meta['source_id']}#{each.meta['split_id']}") for each in found]


if __name__ == "__main__":
    main()
