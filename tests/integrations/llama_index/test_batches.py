"""A batch goes on, whatever one evaluation brings."""

import asyncio
import re
from typing import Any

import pytest
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.evaluation.notebook_utils import get_eval_results_df

from ragmetrics_core.testing import HashEmbedder
from ragmetrics_llama_index import (
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    RagMetricsEvaluator,
    SemanticSimilarityEvaluator,
)
from tests.integrations.llama_index.fakes import FunctionLLM, Meeting, judging

ITEMS, FEW = 50, 8
QUERIES = [f"What is the height of tower {number}?" for number in range(ITEMS)]
ANSWERS = [f"Tower {number} is 300 m high." for number in range(ITEMS)]
CONTEXTS = [[f"Tower {number} is 300 m high."] for number in range(ITEMS)]


def fails_on_a_tenth(prompt: str) -> str:
    """Goes down for towers 0, 10, 20, 30 and 40."""
    if re.search(r"[Tt]ower (0|10|20|30|40)\b", prompt):
        raise RuntimeError("the judge is down")
    return judging(prompt)


def runner(llm: FunctionLLM, **options: Any) -> BatchEvalRunner:
    evaluators = {
        "faithfulness": FaithfulnessEvaluator(llm=llm),
        "correctness": CorrectnessEvaluator(llm=llm),
        "similarity": SemanticSimilarityEvaluator(HashEmbedder()),
    }
    return BatchEvalRunner(evaluators, workers=8, **options)


async def evaluated(runner: BatchEvalRunner, items: int = FEW, **options: Any) -> dict[str, list[Any]]:
    return await runner.aevaluate_response_strs(
        queries=QUERIES[:items], response_strs=ANSWERS[:items], contexts_list=CONTEXTS[:items], **options
    )


def test_a_judge_that_fails_on_a_tenth_costs_that_tenth_and_no_retries_of_the_runner():
    llm = FunctionLLM(fails_on_a_tenth)

    results = asyncio.run(evaluated(runner(llm), ITEMS, reference=list(ANSWERS)))

    for name in ("faithfulness", "correctness"):
        failed = [number for number, each in enumerate(results[name]) if each.invalid_result]
        assert failed == [0, 10, 20, 30, 40]
        assert all(each.score == (1.0 if name == "faithfulness" else 5.0) for each in results[name][1:10])
        assert all("the judge is down" in results[name][number].invalid_reason for number in failed)
    assert not any(each.invalid_result for each in results["similarity"])
    # the runner would ask again, after four seconds, had one raised: statements of answer and of reference
    asked = [each for each in llm.asked if re.search(r"[Tt]ower 10\b", each)]
    assert len(asked) == len(set(asked)) + 1  # both evaluators ask for the statements of the answer


def test_the_same_evaluators_serve_batches_in_several_event_loops():
    first = runner(FunctionLLM(judging))
    for _ in range(2):
        again = BatchEvalRunner(first.evaluators, workers=8)
        results = asyncio.run(evaluated(again, reference=list(ANSWERS)))
        assert [each.score for each in results["faithfulness"]] == [1.0] * FEW


def test_eight_workers_ask_a_synchronous_model_at_the_same_time():
    everybody = Meeting(8)

    def reply(prompt: str) -> str:
        if '{"statements":' in prompt:
            everybody()  # breaks unless eight are here together
        return judging(prompt)

    made = BatchEvalRunner({"faithfulness": FaithfulnessEvaluator(llm=FunctionLLM(reply))}, workers=8)
    results = asyncio.run(
        made.aevaluate_response_strs(
            queries=QUERIES[:16], response_strs=ANSWERS[:16], contexts_list=CONTEXTS[:16]
        )
    )
    assert [each.score for each in results["faithfulness"]] == [1.0] * 16


def test_llama_index_tables_leave_a_missing_score_out_of_the_mean():
    pytest.importorskip("pandas")
    made = RagMetricsEvaluator("faithfulness", FunctionLLM(fails_on_a_tenth))
    results = [
        made.evaluate(query, answer, contexts)
        for query, answer, contexts in zip(QUERIES[:4], ANSWERS[:4], CONTEXTS[:4], strict=True)
    ]
    _, means = get_eval_results_df(["rag"] * 4, results, metric="faithfulness")
    assert means.loc["mean_faithfulness_score", "rag"] == 1.0
