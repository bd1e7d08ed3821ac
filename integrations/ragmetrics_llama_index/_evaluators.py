"""The evaluators by name: LlamaIndex's own names and call forms, and those of our other metrics.

Each says which metric it is, where its threshold lies and what its built-in counterpart takes; all of the
work is `RagMetricsEvaluator`'s.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack

from llama_index.core.base.embeddings.base import SimilarityMode
from llama_index.core.prompts import BasePromptTemplate

from ragmetrics_core import Metric
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import (
    AnswerCorrectness,
    AnswerRelevance,
    AnswerSimilarity,
    ContextEntityRecall,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    Criterion,
    FactualCorrectness,
    Faithfulness,
)
from ragmetrics_core.models import Traffic
from ragmetrics_core.runs import OnError
from ragmetrics_llama_index._evaluator import EVALUATOR_DEFAULTS, EvaluatorArgs, RagMetricsEvaluator
from ragmetrics_llama_index._models import AnyEmbedder, AnyLLM
from ragmetrics_llama_index._results import Passing, TracedEvaluationResult

__all__ = [
    "AnswerRelevancyEvaluator",
    "ContextEntityRecallEvaluator",
    "ContextPrecisionEvaluator",
    "ContextRecallEvaluator",
    "ContextRelevancyEvaluator",
    "CorrectnessEvaluator",
    "FactualCorrectnessEvaluator",
    "FaithfulnessEvaluator",
    "GuidelineEvaluator",
    "QueryResponseEvaluator",
    "RelevancyEvaluator",
    "ResponseEvaluator",
    "SemanticSimilarityEvaluator",
]

Template = str | BasePromptTemplate
Parser = Callable[[str], tuple[float | None, str | None]]

_OWN_PARSERS = "replies are read by the parsers of the prompts"
_ALREADY_A_SHARE = "there it is the full marks to divide by, and the score here is a share; use threshold="


def _on_error(raise_error: bool) -> OnError:
    """LlamaIndex's own word, which these evaluators take where its own do, in ours."""
    return "raise" if raise_error else "record"


class _WithoutReference(RagMetricsEvaluator):
    """An evaluator that needs no expected answer, so that the fourth argument is the time to sleep."""

    async def aevaluate(  # type: ignore[override]
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        sleep_time_in_seconds: float = 0,
        **kwargs: Any,
    ) -> TracedEvaluationResult:
        """Evaluate one answer; the arguments are those of `RagMetricsEvaluator.aevaluate`."""
        return await super().aevaluate(
            query, response, contexts, sleep_time_in_seconds=sleep_time_in_seconds, **kwargs
        )


class FaithfulnessEvaluator(_WithoutReference):
    """Share of the answer's statements that the contexts support, in [0, 1].

    It passes when all are supported, or as many as `threshold` says. The query helps to understand the answer
    and may be left out. With `raise_error` an answer that does not pass raises too, as the built-in one does.

    Args:
        llm: the judge; see `RagMetricsEvaluator`.
        raise_error: raise where there is no score, and where the answer does not pass.
        eval_template: in place of the prompt that has the same variables; one that was written for the
            built-in evaluator has none of ours and is not used, with a warning.
        refine_template: likewise.
        threshold: a score of this or more passes.
        metric: the metric with other settings, such as `Faithfulness(granularity="sentence")`.
        traffic, settings: as for `RagMetricsEvaluator`.
    """

    _without_query = ""
    _raises_when_failing = True

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        llm: AnyLLM | None = None,
        raise_error: bool = False,
        eval_template: Template | None = None,
        refine_template: Template | None = None,
        *,
        threshold: float | None = 1.0,
        metric: Faithfulness | None = None,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        super().__init__(
            metric or Faithfulness(),
            llm,
            threshold=threshold,
            on_error=_on_error(raise_error),
            traffic=traffic,
            **settings,
        )
        self._adopt("eval_template", eval_template)
        self._adopt("refine_template", refine_template)


class AnswerRelevancyEvaluator(_WithoutReference):
    """How near questions that the answer would answer come to the query: a mean cosine, in [-1, 1].

    What a cosine is worth depends on the embedding model, so nothing passes or fails without a `threshold`.

    Args:
        llm: the judge, which writes the questions; see `RagMetricsEvaluator`.
        raise_error: raise where there is no score.
        eval_template: see `FaithfulnessEvaluator`.
        score_threshold: what the built-in evaluator divides by; not used, with a warning.
        parser_function: likewise.
        embed_model: the embedder; by default `Settings.embed_model`.
        threshold: a score of this or more passes.
        metric: the metric with other settings.
        traffic, settings: as for `RagMetricsEvaluator`.
    """

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        llm: AnyLLM | None = None,
        raise_error: bool = False,
        eval_template: Template | None = None,
        score_threshold: float | None = None,
        parser_function: Parser | None = None,
        *,
        embed_model: AnyEmbedder | None = None,
        threshold: float | None = None,
        metric: AnswerRelevance | None = None,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        super().__init__(
            metric or AnswerRelevance(),
            llm,
            embed_model,
            threshold=threshold,
            on_error=_on_error(raise_error),
            traffic=traffic,
            **settings,
        )
        self._adopt("eval_template", eval_template)
        self._not_used(score_threshold=(score_threshold, _ALREADY_A_SHARE))
        self._not_used(parser_function=(parser_function, _OWN_PARSERS))


class ContextRelevancyEvaluator(_WithoutReference):
    """Share of the contexts' sentences that the query needs, in [0, 1].

    Nothing passes or fails without a `threshold`: the share depends on how long the chunks are.

    Args:
        llm: the judge; see `RagMetricsEvaluator`.
        raise_error: raise where there is no score.
        eval_template: see `FaithfulnessEvaluator`.
        refine_template: likewise.
        score_threshold: what the built-in evaluator divides by; not used, with a warning.
        parser_function: likewise.
        threshold: a score of this or more passes.
        metric: the metric with other settings.
        traffic, settings: as for `RagMetricsEvaluator`.
    """

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        llm: AnyLLM | None = None,
        raise_error: bool = False,
        eval_template: Template | None = None,
        refine_template: Template | None = None,
        score_threshold: float | None = None,
        parser_function: Parser | None = None,
        *,
        threshold: float | None = None,
        metric: ContextRelevance | None = None,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        super().__init__(
            metric or ContextRelevance(),
            llm,
            threshold=threshold,
            on_error=_on_error(raise_error),
            traffic=traffic,
            **settings,
        )
        self._adopt("eval_template", eval_template)
        self._adopt("refine_template", refine_template)
        self._not_used(score_threshold=(score_threshold, _ALREADY_A_SHARE))
        self._not_used(parser_function=(parser_function, _OWN_PARSERS))


class RelevancyEvaluator(_WithoutReference):
    """Whether the response answers the query and is in line with the contexts.

    Two metrics in [0, 1]: the share of the answer's statements that the contexts support, and whether the
    answer does what was asked (`Criterion`). The score is their mean; both must reach the threshold to pass.

    Args:
        llm: the judge; see `RagMetricsEvaluator`.
        raise_error: raise where there is no score, and where the answer does not pass.
        eval_template: see `FaithfulnessEvaluator`.
        refine_template: likewise.
        threshold: scores of this or more pass.
        traffic, settings: as for `RagMetricsEvaluator`.
    """

    _raises_when_failing = True

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        llm: AnyLLM | None = None,
        raise_error: bool = False,
        eval_template: Template | None = None,
        refine_template: Template | None = None,
        *,
        threshold: float | None = 1.0,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        metrics = (Faithfulness(), Criterion())
        super().__init__(
            metrics, llm, threshold=threshold, on_error=_on_error(raise_error), traffic=traffic, **settings
        )
        self._adopt("eval_template", eval_template)
        self._adopt("refine_template", refine_template)


# As LlamaIndex still calls them.
QueryResponseEvaluator = RelevancyEvaluator
ResponseEvaluator = FaithfulnessEvaluator

_GUIDELINES = (
    "fully answers the query",
    "is neither vague nor ambiguous",
    "is specific, with statistics or numbers where possible",
)


class GuidelineEvaluator(_WithoutReference):
    """Share of the guidelines that the response keeps, in [0, 1]; it passes when it keeps all of them.

    Each guideline is a question of its own (`Criterion`), with a verdict and a reason.

    Args:
        llm: the judge; see `RagMetricsEvaluator`.
        guidelines: one in each line, or a list; by default that it answers fully, clearly and specifically.
        eval_template: see `FaithfulnessEvaluator`.
        output_parser: not used, with a warning.
        raise_error: raise where there is no score.
        traffic, settings: as for `RagMetricsEvaluator`.

    Raises:
        ConfigError: there is no guideline.
    """

    @unfolded(EvaluatorArgs, EVALUATOR_DEFAULTS)
    def __init__(
        self,
        llm: AnyLLM | None = None,
        guidelines: str | Sequence[str] | None = None,
        eval_template: Template | None = None,
        output_parser: object = None,
        *,
        raise_error: bool = False,
        traffic: Traffic | None = None,
        **settings: Unpack[EvaluatorArgs],
    ) -> None:
        lines = guidelines.splitlines() if isinstance(guidelines, str) else guidelines
        texts = dict.fromkeys(text for line in lines or _GUIDELINES if (text := line.strip().lstrip("-*• ")))
        if not texts:
            raise ConfigError("GuidelineEvaluator needs a guideline: one in each line, or a list of them")
        super().__init__(
            [Criterion(text) for text in texts],
            llm,
            threshold=1.0,
            on_error=_on_error(raise_error),
            traffic=traffic,
            **settings,
        )
        self._adopt("eval_template", eval_template)
        self._not_used(output_parser=(output_parser, _OWN_PARSERS))


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
            on_error=_on_error(raise_error),
            traffic=traffic,
            **settings,
        )
        self._passing = passing
        self._adopt("eval_template", eval_template)
        self._not_used(parser_function=(parser_function, _OWN_PARSERS))


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
            on_error=_on_error(raise_error),
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
            on_error=_on_error(raise_error),
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
