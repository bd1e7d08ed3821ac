"""Metrics for `RetrieverEvaluator`: rankings by ids, and context precision and recall with a judge.

The ranking metrics have the names and settings of the built-in ones and the results of trec_eval: repeated
results and repeated expected ids count once, and an empty retrieval scores 0. `RetrievalMetricResult` must
hold a number, so a missing score is NaN (which pandas excludes from means), and `metadata` gives the reason.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult

from ragmetrics_core import Metric, Sample, evaluate
from ragmetrics_core.adapting import Fields
from ragmetrics_core.metrics import get
from ragmetrics_core.models import Traffic
from ragmetrics_core.scoring import (
    average_precision_at,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank_at,
    reciprocal_ranks_at,
)
from ragmetrics_llama_index._models import judge_of

__all__ = [
    "MRR",
    "NDCG",
    "AveragePrecision",
    "ContextPrecision",
    "ContextRecall",
    "HitRate",
    "Precision",
    "Recall",
    "register_retrieval_metrics",
]

Formula = Callable[[Sequence[str], Sequence[str], int | None], float | None]
# A score, None where there is none, and what there is to say about it.
Outcome = tuple[float | None, dict[str, Any]]


class _Metric(BaseRetrievalMetric):
    """A metric of one retrieval."""

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: Any,
    ) -> RetrievalMetricResult:
        """The score of one retrieval; NaN if undefined or if an input is missing."""
        del kwargs
        given = {"expected_ids": expected_ids, "expected_texts": expected_texts}
        given |= {"retrieved_ids": retrieved_ids, "retrieved_texts": retrieved_texts}
        # an empty list was given
        absent = next((name for name in self._needs if given[name] is None), None)
        skipped: Outcome = (None, {"status": "skipped", "reason": absent})
        score, metadata = skipped if absent else self._outcome(query, given)
        return RetrievalMetricResult(score=math.nan if score is None else score, metadata=metadata)

    _needs: ClassVar[Sequence[str]]

    def _outcome(self, query: str | None, given: Fields) -> Outcome:
        raise NotImplementedError


class _Ranking(_Metric):
    """A formula over the retrieved ids in rank order and the set of expected ids.

    Attributes:
        k: use only the first `k` results; None means all.
    """

    k: int | None = Field(default=None, ge=1)
    _needs: ClassVar = ("retrieved_ids", "expected_ids")
    # The formula, and that of the granular form where there is one.
    _formulas: ClassVar[tuple[Formula, ...]]

    def _outcome(self, query: str | None, given: Fields) -> Outcome:
        retrieved, expected = list(given["retrieved_ids"]), list(given["expected_ids"])
        is_granular = bool(getattr(self, f"use_granular_{self.metric_name}", False))
        score = self._formulas[is_granular](retrieved, expected, self.k)
        if score is None:
            return None, {"status": "undefined", "reason": "no_expected_ids"}
        counts = {"retrieved": len(set(retrieved)), "expected": len(set(expected))}
        return score, {"status": "ok", **counts, "repeated": len(retrieved) - counts["retrieved"]}


class HitRate(_Ranking):
    """1 if an expected result was retrieved, else 0; granular: the share of expected results (recall)."""

    metric_name = "hit_rate"
    use_granular_hit_rate: bool = False
    _formulas: ClassVar = (hit_at, recall_at)


class MRR(_Ranking):
    """Reciprocal rank of the first expected result; granular: the mean over all retrieved ones."""

    metric_name = "mrr"
    use_granular_mrr: bool = False
    _formulas: ClassVar = (reciprocal_rank_at, reciprocal_ranks_at)


class Precision(_Ranking):
    """Share of the retrieved results that are expected."""

    metric_name = "precision"
    _formulas: ClassVar = (precision_at,)


class Recall(_Ranking):
    """Share of the expected results that were retrieved."""

    metric_name = "recall"
    _formulas: ClassVar = (recall_at,)


class AveragePrecision(_Ranking):
    """Mean precision at the ranks of the expected results, over all expected results."""

    metric_name = "ap"
    _formulas: ClassVar = (average_precision_at,)


class NDCG(_Ranking):
    """Discounted gain of the ranking, as a share of the best ranking's.

    Attributes:
        mode: as in the built-in metric; with expected ids both modes are equal.
    """

    metric_name = "ndcg"
    mode: Literal["linear", "exponential"] = "linear"
    _formulas: ClassVar = (ndcg_at,)


class _Judged(_Metric):
    """A metric of ragmetrics over the retrieved texts; the expected texts are the reference.

    LlamaIndex calls `compute` without awaiting it, even from `aevaluate`, so the judge blocks the loop. In a
    server, call `RetrieverEvaluator.evaluate` in a thread.

    Attributes:
        llm: the judge: a LlamaIndex model, or an argument of `ragmetrics_core.as_judge`. Default:
            `Settings.llm`, read on first use.
        traffic: settings for model calls: `Traffic(concurrency=64)`.
        redact: removes private data from texts before a model or a record sees them; see `evaluate`.
        prompts: folder of prompt files that replace those with the same name.
    """

    llm: Any = Field(default=None, exclude=True, repr=False)
    traffic: Traffic = Field(default_factory=Traffic, exclude=True)
    redact: Callable[[str], str] | None = Field(default=None, exclude=True, repr=False)
    prompts: str | None = None

    _needs: ClassVar = ("retrieved_texts",)

    @property
    def metric(self) -> Metric[Any]:
        """The metric."""
        return get(self.metric_name)

    def _outcome(self, query: str | None, given: Fields) -> Outcome:
        expected = [text for text in given["expected_texts"] or () if text.strip()]
        fields = {"question": query, "reference": "\n\n".join(expected) or None}
        fields |= {"contexts": given["retrieved_texts"], "context_ids": given["retrieved_ids"]}
        sample = Sample.from_mapping(fields)
        run = evaluate(
            [sample],
            metrics=self.metric,
            judge=judge_of(self.llm, self.metric_name),
            traffic=self.traffic,
            redact=self.redact,
            prompts=self.prompts,
            progress=False,
        )
        (record,) = run.records()
        metadata = {"status": record.status, "feedback": record.explain(), "record": record}
        return record.value, metadata | ({"reason": record.reason} if record.value is None else {})


class ContextPrecision(_Judged):
    """Average precision of the retrieved chunks, with helpful ones first; undefined without chunks."""

    metric_name = "context_precision"


class ContextRecall(_Judged):
    """Share of the expected texts' statements that the retrieved chunks support."""

    metric_name = "context_recall"


_JUDGED: tuple[type[_Metric], ...] = (ContextPrecision, ContextRecall)
_RANKINGS: tuple[type[_Metric], ...] = (HitRate, MRR, Precision, Recall, AveragePrecision, NDCG)


def register_retrieval_metrics(*, replace: bool = True) -> tuple[str, ...]:
    """Register the metrics for `RetrieverEvaluator.from_metric_names`. Can be repeated.

    Args:
        replace: also replace the built-in ranking metrics (hit_rate, mrr, precision, recall, ap, ndcg), in
            the whole process. Otherwise only add `context_precision` and `context_recall`.

    Returns:
        The names that now refer to our metrics.
    """
    kinds = (*_RANKINGS, *_JUDGED) if replace else _JUDGED
    METRIC_REGISTRY.update({kind.metric_name: kind for kind in kinds})
    return tuple(kind.metric_name for kind in kinds)
