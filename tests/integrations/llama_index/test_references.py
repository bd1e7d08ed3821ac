"""Several acceptable answers for one question: the best one counts."""

import asyncio
from typing import Any

import pytest
from llama_index.core.evaluation import BatchEvalRunner

from ragmetrics_core import recompute
from ragmetrics_core.testing import HashEmbedder
from ragmetrics_llama_index import CorrectnessEvaluator, SemanticSimilarityEvaluator
from tests.integrations.llama_index.fakes import FAITHFUL, QUERY, judge_llm

OTHER = "The sea is blue."


@pytest.mark.parametrize(
    "given",
    [
        {"reference": [OTHER, FAITHFUL]},
        {"reference": (OTHER, FAITHFUL)},
        {"references": [OTHER, FAITHFUL]},
        {"reference": OTHER, "references": [OTHER, FAITHFUL]},
        {"reference": [OTHER, FAITHFUL], "references": [OTHER, FAITHFUL]},
    ],
)
def test_of_several_references_the_best_one_counts(given):
    result = SemanticSimilarityEvaluator(HashEmbedder()).evaluate(response=FAITHFUL, **given)

    # the answer is the second reference to the letter
    assert result.score == pytest.approx(1.0)
    (record,) = result.records
    assert (record.counts["reference"], record.counts["references"]) == (2, 2)
    assert recompute(record).value == record.value


def test_a_judge_compares_with_each_reference():
    result = CorrectnessEvaluator(judge_llm()).evaluate(
        query=QUERY, response=FAITHFUL, references=[OTHER, FAITHFUL]
    )

    # 1 + 4 times the full agreement with the second
    assert result.score == 5.0


@pytest.mark.parametrize("name", ["reference", "references"])
def test_a_batch_takes_a_list_for_each_query(name):
    runner = BatchEvalRunner({"similarity": SemanticSimilarityEvaluator(HashEmbedder())})
    given: dict[str, Any] = {name: [[OTHER, FAITHFUL], [FAITHFUL]]}

    results = asyncio.run(
        runner.aevaluate_response_strs(queries=[QUERY] * 2, response_strs=[FAITHFUL] * 2, **given)
    )

    assert [each.score for each in results["similarity"]] == [pytest.approx(1.0)] * 2


@pytest.mark.parametrize("reference", [FAITHFUL, [FAITHFUL]])
def test_a_reference_that_is_not_among_the_references_is_said_in_one_sentence(reference):
    result = SemanticSimilarityEvaluator(HashEmbedder()).evaluate(
        response=FAITHFUL, reference=reference, references=[OTHER]
    )

    assert result.score is None
    assert result.invalid_reason == (
        f"ConfigError: reference={reference!r} is not among references={[OTHER]!r}: "
        "give every acceptable answer as references, and leave reference out"
    )


@pytest.mark.parametrize("name", ["reference", "references"])
def test_an_empty_list_is_no_reference(name):
    given: dict[str, Any] = {name: []}
    result = SemanticSimilarityEvaluator(HashEmbedder()).evaluate(response=FAITHFUL, **given)

    assert result.invalid_reason == "answer_similarity: it needs reference=, the expected answer"
