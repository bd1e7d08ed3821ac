"""Retrieval metrics in `RetrieverEvaluator`: trec_eval's answers where the built-in ones go wrong."""

import asyncio
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.evaluation.retrieval import metrics as built_in
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

from ragmetrics_core import Record, recompute
from ragmetrics_llama_index import (
    MRR,
    NDCG,
    AveragePrecision,
    ContextPrecision,
    ContextRecall,
    HitRate,
    Precision,
    Recall,
    register_retrieval_metrics,
)
from tests.integrations.llama_index.fakes import FunctionLLM, FunctionRetriever, judge_llm

PAIRS = [
    (HitRate, built_in.HitRate),
    (MRR, built_in.MRR),
    (Precision, built_in.Precision),
    (Recall, built_in.Recall),
    (AveragePrecision, built_in.AveragePrecision),
    (NDCG, built_in.NDCG),
]
IDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)


def score(metric: Any, retrieved: list[str], expected: list[str]) -> float:
    result = metric.compute(expected_ids=expected, retrieved_ids=retrieved)
    return float(result.score)


@pytest.fixture
def registry():
    """The registry, as it was before the test in the end."""
    before = dict(METRIC_REGISTRY)
    yield METRIC_REGISTRY
    METRIC_REGISTRY.clear()
    METRIC_REGISTRY.update(before)


@pytest.mark.parametrize(("kind", "theirs"), PAIRS, ids=lambda kind: kind.__name__)
@given(retrieved=IDS, expected=IDS)
def test_without_repetitions_the_scores_are_those_of_the_built_in_metrics(kind, theirs, retrieved, expected):
    assert score(kind(), retrieved, expected) == pytest.approx(score(theirs(), retrieved, expected))


@pytest.mark.parametrize(("kind", "theirs"), PAIRS, ids=lambda kind: kind.__name__)
def test_names_and_settings_are_those_of_the_built_in_metrics(kind, theirs):
    assert kind.metric_name == theirs.metric_name
    assert set(theirs.model_fields) <= set(kind.model_fields)


@pytest.mark.parametrize(
    ("kind", "retrieved", "expected", "right", "theirs"),
    [
        # the first result again adds nothing: the one expected result stands at rank 1
        (AveragePrecision, ["a", "a", "b"], ["a"], 1.0, 2.0),
        (NDCG, ["a", "a", "b"], ["a"], 1.0, 1.6309),
        # expected twice is expected once
        (NDCG, ["a", "b"], ["a", "a"], 1.0, 0.6131),
        # 1/2 of the different results
        (Precision, ["a", "a", "b"], ["a"], 0.5, 0.5),
    ],
)
def test_repeated_ids_count_once(kind, retrieved, expected, right, theirs):
    name = kind.metric_name
    assert score(kind(), retrieved, expected) == pytest.approx(right)
    assert score(METRIC_REGISTRY[name](), retrieved, expected) == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize(("kind", "theirs"), PAIRS, ids=lambda kind: kind.__name__)
def test_an_empty_retrieval_has_nothing_right_and_what_has_no_score_says_why(kind, theirs):
    assert score(kind(), [], ["a"]) == 0.0
    with pytest.raises(ValueError, match="must be provided"):
        score(theirs(), [], ["a"])
    for ids, metadata in (
        ({"expected_ids": [], "retrieved_ids": ["a"]}, {"status": "undefined", "reason": "no_expected_ids"}),
        ({"expected_ids": ["a"]}, {"status": "skipped", "reason": "retrieved_ids"}),
        ({"retrieved_ids": ["a"]}, {"status": "skipped", "reason": "expected_ids"}),
    ):
        result = kind().compute(**ids)
        assert math.isnan(result.score)
        assert result.metadata == metadata


@given(
    retrieved=st.lists(st.sampled_from("abcdef"), max_size=10),
    expected=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6),
)
def test_repetitions_change_nothing(retrieved, expected):
    for kind, _ in PAIRS:
        once = list(dict.fromkeys(retrieved))
        assert score(kind(), retrieved, expected) == score(kind(), once, sorted(set(expected)))


def test_the_granular_settings_are_recall_and_the_mean_of_reciprocal_ranks():
    assert score(HitRate(use_granular_hit_rate=True), ["a", "a"], ["a", "b"]) == 0.5
    # ranks 1 and 3: (1 + 1/3) / 2
    assert score(MRR(use_granular_mrr=True), ["a", "x", "b"], ["a", "b"]) == pytest.approx(2 / 3)


def test_k_cuts_the_ranking():
    assert score(Recall(k=1), ["x", "a"], ["a"]) == 0.0
    # trec_eval divides by k, however few were retrieved
    assert score(Precision(k=4), ["a"], ["a"]) == 0.25


# By a judge

CHUNKS = ["The tower is 300 m high.", "It opened in 1889.", "It is made of iron."]


def chunks_that_help(prompt: str) -> str:
    """Only the first chunk helps."""
    verdicts = [
        {"number": number, "reason": "so", "verdict": "yes" if number == 2 else "no"} for number in (1, 2, 3)
    ]
    return json.dumps({"verdicts": verdicts})


def test_context_precision_is_judged_in_rank_order_and_carries_its_proof():
    result = ContextPrecision(llm=FunctionLLM(chunks_that_help)).compute(
        query="How high?", retrieved_ids=["1", "2", "3"], expected_texts=[CHUNKS[0]], retrieved_texts=CHUNKS
    )
    # the one chunk that helps stands at rank 2: (1/2) / 1
    assert result.score == 0.5
    assert "1 of" in result.metadata["feedback"] or "0.5" in result.metadata["feedback"]
    assert isinstance(result.metadata["record"], Record)
    assert recompute(result.metadata["record"]).value == 0.5
    assert json.loads(result.model_dump_json())["metadata"]["status"] == "ok"


def test_context_recall_is_the_share_of_the_expected_statements():
    result = ContextRecall(llm=judge_llm()).compute(
        query="How high?", expected_texts=["The tower is 300 m high. It is blue."], retrieved_texts=CHUNKS[:1]
    )
    assert result.score == 0.5


@pytest.mark.parametrize(
    ("metric", "given", "status"),
    [
        (ContextPrecision(llm="embedded"), {"expected_texts": None, "retrieved_texts": CHUNKS}, "skipped"),
        (ContextPrecision(llm="embedded"), {"expected_texts": ["x"], "retrieved_texts": []}, "undefined"),
        (
            ContextRecall(llm=FunctionLLM(lambda prompt: "???")),
            {"expected_texts": ["x"], "retrieved_texts": CHUNKS},
            "parse_error",
        ),
    ],
)
def test_a_missing_score_is_not_a_number_and_says_why(metric, given, status):
    result = metric.compute(query="How high?", **given)
    assert math.isnan(result.score)
    assert result.metadata["status"] == status
    assert result.metadata["reason"]


# In LlamaIndex's evaluator


def test_registered_metrics_are_found_by_their_names(registry):
    names = register_retrieval_metrics()
    assert register_retrieval_metrics() == names
    evaluator = RetrieverEvaluator.from_metric_names(
        ["ap", "ndcg", "hit_rate", "mrr", "precision", "recall"],
        retriever=FunctionRetriever(lambda question: [] if question == "nothing?" else CHUNKS),
    )

    found = evaluator.evaluate("high?", expected_ids=["high?#1"])
    nothing = evaluator.evaluate("nothing?", expected_ids=["high?#1"])

    assert found.metric_vals_dict["ap"] == 0.5
    assert set(nothing.metric_vals_dict.values()) == {0.0}
    assert {"context_precision", "context_recall"} <= set(names)


def test_the_built_in_metrics_can_be_left_alone(registry):
    before = dict(registry)
    assert register_retrieval_metrics(replace=False) == ("context_precision", "context_recall")
    assert {name: registry[name] for name in before} == before


def test_judged_metrics_work_in_the_evaluator_from_a_running_loop():
    evaluator = RetrieverEvaluator(
        metrics=[ContextRecall(llm=judge_llm()), AveragePrecision()],
        retriever=FunctionRetriever(lambda question: CHUNKS),
    )

    async def evaluated() -> Any:
        return await evaluator.aevaluate("high?", expected_ids=["high?#0"], expected_texts=[CHUNKS[0]])

    assert asyncio.run(evaluated()).metric_vals_dict == {"context_recall": 1.0, "ap": 1.0}
