"""A test set in LlamaIndex: two chunk sizes, compared by the questions of the set.

    pip install 'ragmetrics-core[embedded,llama-index]'
    python examples/questions_llama_index.py SET FOLDER
    ragmetrics study retriever FOLDER/short.jsonl FOLDER/long.jsonl
    ragmetrics evaluate FOLDER/short.jsonl --metrics retrieval_recall,ndcg --out FOLDER/scores

SET is the folder of a test set, such as that of `make questions`. Its gold answers are quotes from the
documents, so the relevant nodes of any splitter follow from the set. No model is called.
"""

# LlamaIndex leaves the types of an index open.
# pyright: reportUnknownMemberType=false

import argparse
from pathlib import Path

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode
from llama_index_loop import WordVectors

from ragmetrics_core.questions import QuestionSet


def main() -> None:
    """Write a file of samples for each chunk size."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("set", type=Path, help="the test set's folder")
    options.add_argument("folder", type=Path, help="where the samples are written")
    options.add_argument("--k", type=int, default=5, help="how many nodes the search gives")
    given = options.parse_args()
    questions = QuestionSet.read(given.set)
    given.folder.mkdir(parents=True, exist_ok=True)
    documents = [
        Document(id_=document.id, text=document.text) for document in questions.corpus.documents.values()
    ]
    for name, size in (("short", 80), ("long", 240)):
        splitter = SentenceSplitter(
            chunk_size=size,
            chunk_overlap=size // 6,
            id_func=numbered,
        )
        nodes = splitter.get_nodes_from_documents(documents)
        retriever = VectorStoreIndex(nodes, embed_model=WordVectors()).as_retriever(similarity_top_k=given.k)
        lines: list[str] = []
        for sample in questions.samples({node.node_id: node.get_content() for node in nodes}):
            found = retriever.retrieve(sample.question or "")
            retrieved = {
                "context_ids": tuple(hit.node.node_id for hit in found),
                "contexts": tuple(hit.node.get_content() for hit in found),
            }
            lines.append(sample.model_copy(update=retrieved).model_dump_json(exclude_none=True))
        (given.folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(nodes)} nodes, {len(lines)} questions")


def numbered(number: int, document: BaseNode) -> str:
    """The id of a node: that of its document, and its number."""
    return f"{document.node_id}#{number}"


if __name__ == "__main__":
    main()
