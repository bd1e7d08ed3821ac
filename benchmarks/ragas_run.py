"""One evaluation by ragas 0.4.3, in a process of its virtual environment, which prints its times as JSON.

Run by `throughput` with that environment's python:

    python -m benchmarks.ragas_run BASE_URL SAMPLES.jsonl --in-flight N

Nothing of this library is imported here. The metrics are those of the same names, called through `evaluate`
with as many workers as calls may be in flight; no progress bar, no telemetry.
"""

import argparse
import json
import logging
import math
import os
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_megabytes


def main() -> None:
    """Run once and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("base_url")
    parser.add_argument("samples", type=Path)
    parser.add_argument("--in-flight", type=int, required=True)
    parser.add_argument("--without-embeddings", action="store_true", help="leave out answer relevance")
    parser.add_argument("--llm", choices=["langchain", "factory"], default="langchain")
    given = parser.parse_args()
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"
    warnings.simplefilter("ignore", DeprecationWarning)
    # By name: the type checker's environment has none of them.
    ragas, metric = import_module("ragas"), import_module("ragas.metrics")
    langchain = import_module("langchain_openai")
    rows = map(json.loads, given.samples.read_text(encoding="utf-8").splitlines())
    data = ragas.EvaluationDataset([_sample(ragas, row) for row in rows])
    metrics = [
        metric.Faithfulness(),
        metric.FactualCorrectness(),
        metric.LLMContextPrecisionWithReference(),
        metric.LLMContextRecall(),
    ]
    if not given.without_embeddings:
        metrics.append(metric.ResponseRelevancy())
    logging.disable(logging.CRITICAL)
    bound = {"base_url": given.base_url, "api_key": "-", "max_retries": 0}
    if given.llm == "langchain":
        llm = langchain.ChatOpenAI(model="judge", **bound)
    else:
        client = import_module("openai").AsyncOpenAI(**bound)
        llm = import_module("ragas.llms").llm_factory("judge", client=client)
    # Its check of lengths would download a tokeniser.
    embeddings = langchain.OpenAIEmbeddings(model="embedder", check_embedding_ctx_length=False, **bound)
    wall, cpu = time.perf_counter(), time.process_time()
    result = ragas.evaluate(
        data,
        metrics=metrics,
        llm=llm,
        embeddings=embeddings,
        run_config=ragas.RunConfig(max_workers=given.in_flight),
        show_progress=False,
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    failed = sum(math.isnan(value) for scores in result.scores for value in scores.values())
    json.dump({"wall": wall, "cpu": cpu, "memory": peak_megabytes(), "failed": failed}, sys.stdout)


def _sample(ragas: Any, row: Any) -> Any:
    return ragas.SingleTurnSample(
        user_input=row["question"],
        response=row["answer"],
        retrieved_contexts=row["contexts"],
        reference=row["reference"],
    )


if __name__ == "__main__":
    main()
