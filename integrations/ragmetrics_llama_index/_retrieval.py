"""Metrics for `RetrieverEvaluator`: rankings by ids, and context precision and recall by a judge.

The ranking metrics have the names and settings of the built-in ones and trec_eval's answers: a result that
was retrieved twice counts once, an expected id that was given twice too, and an empty retrieval scores 0.
`RetrievalMetricResult` must hold a number, so a score that does not exist is NaN there (which pandas leaves
out of a mean), and `metadata` says why.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult

from ragmetrics_core import Metric, Sample, evaluate
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
        """The score of one retrieval; NaN where there is none, and where what it needs is not given."""
        del kwargs
        given = {"expected_ids": expected_ids, "expected_texts": expected_texts}
        given |= {"retrieved_ids": retrieved_ids, "retrieved_texts": retrieved_texts}
        # an empty list was given
        absent = next((name for name in self._needs if given[name] is None), None)
        skipped: Outcome = (None, {"status": "skipped", "reason": absent})
        score, metadata = skipped if absent else self._outcome(query, given)
        return RetrievalMetricResult(score=math.nan if score is None else score, metadata=metadata)

    _needs: ClassVar[Sequence[str]]

    def _outcome(self, query: str | None, given: Mapping[str, Any]) -> Outcome:
        raise NotImplementedError


class _Ranking(_Metric):
    """A formula over the retrieved ids in rank order and the set of expected ids.

    Attributes:
        k: look at the first so many results only; None for all.
    """

    k: int | None = Field(default=None, ge=1)
    _needs: ClassVar = ("retrieved_ids", "expected_ids")
    # The formula, and that of the granular form where there is one.
    _formulas: ClassVar[tuple[Formula, ...]]

    def _outcome(self, query: str | None, given: Mapping[str, Any]) -> Outcome:
        retrieved, expected = list(given["retrieved_ids"]), list(given["expected_ids"])
        is_granular = bool(getattr(self, f"use_granular_{self.metric_name}", False))
        score = self._formulas[is_granular](retrieved, expected, self.k)
        if score is None:
            return None, {"status": "undefined", "reason": "no_expected_ids"}
        counts = {"retrieved": len(set(retrieved)), "expected": len(set(expected))}
        return score, {"status": "ok", **counts, "repeated": len(retrieved) - counts["retrieved"]}


class HitRate(_Ranking):
    """1 when an expected result was retrieved, else 0; granular: the share of the expected ones (recall)."""

    metric_name: ClassVar[str] = "hit_rate"
    use_granular_hit_rate: bool = False
    _formulas: ClassVar = (hit_at, recall_at)


class MRR(_Ranking):
    """One over the rank of the first expected result; granular: the mean over all that were retrieved."""

    metric_name: ClassVar[str] = "mrr"
    use_granular_mrr: bool = False
    _formulas: ClassVar = (reciprocal_rank_at, reciprocal_ranks_at)


class Precision(_Ranking):
    """Share of the retrieved results that are expected."""

    metric_name: ClassVar[str] = "precision"
    _formulas: ClassVar = (precision_at,)


class Recall(_Ranking):
    """Share of the expected results that were retrieved."""

    metric_name: ClassVar[str] = "recall"
    _formulas: ClassVar = (recall_at,)


class AveragePrecision(_Ranking):
    """Mean precision at the ranks of the expected results, over all that are expected."""

    metric_name: ClassVar[str] = "ap"
    _formulas: ClassVar = (average_precision_at,)


class NDCG(_Ranking):
    """Discounted gain of the ranking, as a share of the best one's.

    Attributes:
        mode: taken from the built-in metric; with expected ids both modes are the same.
    """

    metric_name: ClassVar[str] = "ndcg"
    mode: Literal["linear", "exponential"] = "linear"
    _formulas: ClassVar = (ndcg_at,)


class _Judged(_Metric):
    """A metric of ragmetrics over the retrieved texts; the expected texts are the reference.

    LlamaIndex calls `compute` without awaiting it, also from `aevaluate`: the loop waits for the judge. In a
    server, call `RetrieverEvaluator.evaluate` in a thread.

    Attributes:
        llm: the judge: a LlamaIndex model, or what `ragmetrics_core.as_judge` takes; by default
            `Settings.llm`, looked up at the first use.
        traffic: how the judge is asked: `Traffic(concurrency=64)`.
        redact: takes what is private out of texts before a model or a record sees it; see `evaluate`.
        prompts: a folder of prompt files that replace those of the same name.
    """

    llm: Any = Field(default=None, exclude=True, repr=False)
    traffic: Traffic = Field(default_factory=Traffic, exclude=True)
    redact: Callable[[str], str] | None = Field(default=None, exclude=True, repr=False)
    prompts: str | None = None

    _needs: ClassVar = ("retrieved_texts",)

    @property
    def metric(self) -> Metric[Any]:
        """What is measured."""
        return get(self.metric_name)

    def _outcome(self, query: str | None, given: Mapping[str, Any]) -> Outcome:
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
        )
        (record,) = run.records()
        metadata = {"status": record.status, "feedback": record.explain(), "record": record}
        return record.value, metadata | ({"reason": record.reason} if record.value is None else {})


class ContextPrecision(_Judged):
    """Whether the retrieved chunks that help stand first; undefined when nothing was retrieved."""

    metric_name: ClassVar[str] = "context_precision"


class ContextRecall(_Judged):
    """Share of the statements of the expected texts that the retrieved chunks hold."""

    metric_name: ClassVar[str] = "context_recall"


_JUDGED: tuple[type[_Metric], ...] = (ContextPrecision, ContextRecall)
_RANKINGS: tuple[type[_Metric], ...] = (HitRate, MRR, Precision, Recall, AveragePrecision, NDCG)


def register_retrieval_metrics(*, replace: bool = True) -> tuple[str, ...]:
    """Make the metrics known by name to `RetrieverEvaluator.from_metric_names`; again changes nothing.

    Args:
        replace: let the names of the built-in ranking metrics (hit_rate, mrr, precision, recall, ap, ndcg)
            mean ours, in the whole process; with False only `context_precision` and `context_recall` are new.

    Returns:
        The names that mean a metric of ours now.
    """
    kinds = (*_RANKINGS, *_JUDGED) if replace else _JUDGED
    METRIC_REGISTRY.update({kind.metric_name: kind for kind in kinds})
    return tuple(kind.metric_name for kind in kinds)
