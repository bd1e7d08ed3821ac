"""The evaluators that compare with a reference: LlamaIndex's own two, and those of our other metrics."""

from collections.abc import Callable
from typing import Any, Literal, Unpack

from llama_index.core.base.embeddings.base import SimilarityMode

from ragmetrics_core import Metric
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import (
    AnswerCorrectness,
    AnswerSimilarity,
    ContextEntityRecall,
    ContextPrecision,
    ContextRecall,
    FactualCorrectness,
)
from ragmetrics_core.models import Traffic
from ragmetrics_llama_index._evaluator import EVALUATOR_DEFAULTS, EvaluatorArgs, RagMetricsEvaluator
from ragmetrics_llama_index._evaluators import OWN_PARSERS, Parser, Template, on_error_of
from ragmetrics_llama_index._models import AnyEmbedder, AnyLLM
from ragmetrics_llama_index._results import Passing

__all__ = [
    "ContextEntityRecallEvaluator",
    "ContextPrecisionEvaluator",
    "ContextRecallEvaluator",
    "CorrectnessEvaluator",
    "FactualCorrectnessEvaluator",
    "SemanticSimilarityEvaluator",
]


class CorrectnessEvaluator(RagMetricsEvaluator):
    """How far the answer agrees with the reference, on LlamaIndex's scale from 1 to 5.

    The value v is the factual correctness of answer and reference in [0, 1] (answer correctness without the
    similarity, so that no embedding model is needed), and the score 1 + 4 v. It passes from 4.0 on, which is
    v = 0.75. The reference is needed: without one there is no score.

    Args:
        llm: the judge; see `RagMetricsEvaluator`.
        eval_template: see `FaithfulnessEvaluator`.
        score_threshold: a score of this or more passes; by default 4.0, or 0.75 on the scale "0-1".
        parser_function: not used, with a warning.
        scale: "1-5", or "0-1" for the value as it is.
        embed_model: the embedder, for a metric with a weight for the similarity.
        raise_error: raise where there is no score.
        metric: the metric with other settings, such as `AnswerCorrectness()` for the weights 0.75 and 0.25.
        traffic, settings: as for `RagMetricsEvaluator`.

    Raises:
        ConfigError: there is no such scale, or the threshold is not on it.
    """

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        llm: AnyLLM | None = None,
        eval_template: Template | None = None,
        score_threshold: float | None = None,
        parser_function: Parser | None = None,
        *,
        scale: Literal["1-5", "0-1"] = "1-5",
        embed_model: AnyEmbedder | None = None,
        raise_error: bool = False,
        metric: AnswerCorrectness | None = None,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        if scale not in _SCALES:
            raise ConfigError(f"scale must be '1-5' or '0-1', not {scale!r}")
        passing = _SCALES[scale]
        if score_threshold is not None:
            low, high = passing.scaled(0.0), passing.scaled(1.0)
            if not low <= score_threshold <= high:
                raise ConfigError(
                    f"score_threshold must be between {low:g} and {high:g} on the scale {scale!r}, "
                    f"not {score_threshold:g}"
                )
            passing = passing._replace(threshold=score_threshold)
        super().__init__(
            metric or AnswerCorrectness(weights=(1.0, 0.0)),
            llm,
            embed_model,
            on_error=on_error_of(raise_error),
            traffic=traffic,
            **settings,
        )
        self._passing = passing
        self._adopt("eval_template", eval_template)
        self._not_used(parser_function=(parser_function, OWN_PARSERS))


def _one_to_five(value: float) -> float:
    return 1 + 4 * value


_SCALES = {
    "1-5": Passing(4.0, _one_to_five, "1 + 4 × value"),
    "0-1": Passing(0.75),
}


class SemanticSimilarityEvaluator(RagMetricsEvaluator):
    """Cosine between the vectors of answer and reference, in [-1, 1].

    Args:
        embed_model: the embedder; see `RagMetricsEvaluator`.
        similarity_fn: must be None: a record proves cosines.
        similarity_mode: cosine only; for vectors of length one the dot product is the same number.
        similarity_threshold: a score of this or more passes.
        raise_error: raise where there is no score.
        traffic, settings: as for `RagMetricsEvaluator`.

    Raises:
        ConfigError: another similarity than the cosine is asked for.
    """

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        embed_model: AnyEmbedder | None = None,
        similarity_fn: Callable[..., float] | None = None,
        similarity_mode: SimilarityMode | None = None,
        similarity_threshold: float = 0.8,
        *,
        raise_error: bool = False,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        if similarity_fn is not None or similarity_mode not in (None, SimilarityMode.DEFAULT):
            raise ConfigError(
                "SemanticSimilarityEvaluator gives the cosine, which its record proves: leave similarity_fn "
                "and similarity_mode out, or use LlamaIndex's own evaluator for another similarity"
            )
        super().__init__(
            AnswerSimilarity(),
            embed_model=embed_model,
            threshold=similarity_threshold,
            on_error=on_error_of(raise_error),
            traffic=traffic,
            **settings,
        )


class _Named(RagMetricsEvaluator):
    """An evaluator of one metric that LlamaIndex has no counterpart of.

    Args:
        llm: the judge; see `RagMetricsEvaluator`.
        raise_error: raise where there is no score.
        threshold: a score of this or more passes; without one nothing passes or fails.
        metric: the metric with other settings.
        traffic, settings: as for `RagMetricsEvaluator`.
    """

    _kind: type[Metric[Any]]

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        llm: AnyLLM | None = None,
        raise_error: bool = False,
        *,
        threshold: float | None = None,
        metric: Metric[Any] | None = None,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        if metric is not None and not isinstance(metric, self._kind):
            raise ConfigError(f"{type(self).__name__} takes a {self._kind.__name__}, not {metric!r}")
        super().__init__(
            metric or self._kind(),
            llm,
            threshold=threshold,
            on_error=on_error_of(raise_error),
            traffic=traffic,
            **settings,
        )


class FactualCorrectnessEvaluator(_Named):
    """Agreement of the statements of answer and reference, as an F-score in [0, 1]."""

    _kind = FactualCorrectness


class ContextPrecisionEvaluator(_Named):
    """Whether the chunks that help stand first: average precision of the judged chunks, in [0, 1]."""

    _kind = ContextPrecision


class ContextRecallEvaluator(_Named):
    """Share of the reference's statements that the contexts hold, in [0, 1]."""

    _kind = ContextRecall


class ContextEntityRecallEvaluator(_Named):
    """Share of the reference's entities that the contexts name, in [0, 1]."""

    _kind = ContextEntityRecall
