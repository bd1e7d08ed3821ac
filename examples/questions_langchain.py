"""A test set in LangChain: two splitters, compared by the questions of the set.

    pip install 'ragmetrics-core[embedded,langchain]' langchain-text-splitters
    python examples/questions_langchain.py SET FOLDER
    ragmetrics study retriever FOLDER/short.jsonl FOLDER/long.jsonl
    ragmetrics evaluate FOLDER/short.jsonl --metrics retrieval_recall,ndcg --out FOLDER/scores

SET is the folder of a test set, such as that of `make questions`. Its gold answers are quotes from the
documents, so the relevant chunks of any splitter follow from the set. No model is called.
"""

import argparse
from pathlib import Path

from langchain_app import WordVectors
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from ragmetrics_core.questions import QuestionSet


def main() -> None:
    """Write a file of samples for each splitter."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("set", type=Path, help="the test set's folder")
    options.add_argument("folder", type=Path, help="where the samples are written")
    options.add_argument("--k", type=int, default=5, help="how many chunks the search gives")
    given = options.parse_args()
    questions = QuestionSet.read(given.set)
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, size in (("short", 300), ("long", 900)):
        chunks = split(questions, size)
        store = InMemoryVectorStore(WordVectors())
        store.add_documents(chunks)
        lines: list[str] = []
        for sample in questions.samples({str(chunk.id): chunk.page_content for chunk in chunks}):
            found = store.similarity_search(sample.question or "", k=given.k)
            retrieved = {
                "context_ids": tuple(str(chunk.id) for chunk in found),
                "contexts": tuple(chunk.page_content for chunk in found),
            }
            lines.append(sample.model_copy(update=retrieved).model_dump_json(exclude_none=True))
        (given.folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(chunks)} chunks, {len(lines)} questions")


def split(questions: QuestionSet, size: int) -> list[Document]:
    """The documents of the set in chunks of at most so many characters."""
    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=size // 6)
    documents = questions.corpus.documents.values()
    return [
        Document(id=f"{document.id}#{number}", page_content=text)
        for document in documents
        for number, text in enumerate(splitter.split_text(document.text))
    ]


if __name__ == "__main__":
    main()
