"""The evaluators that need no reference, under LlamaIndex's own names and with its call forms.

Each says which metric it is, where its threshold lies and what its built-in counterpart takes; all of the
work is `RagMetricsEvaluator`'s.
"""

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from llama_index.core.prompts import BasePromptTemplate

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.metrics import (
    AnswerRelevance,
    ContextRelevance,
    Criterion,
    Faithfulness,
)
from ragmetrics_core.models import Traffic
from ragmetrics_core.runs import OnError
from ragmetrics_llama_index._evaluator import EVALUATOR_DEFAULTS, EvaluatorArgs, RagMetricsEvaluator
from ragmetrics_llama_index._models import AnyEmbedder, AnyLLM
from ragmetrics_llama_index._results import TracedEvaluationResult

__all__ = [
    "OWN_PARSERS",
    "AnswerRelevancyEvaluator",
    "ContextRelevancyEvaluator",
    "FaithfulnessEvaluator",
    "GuidelineEvaluator",
    "Parser",
    "QueryResponseEvaluator",
    "RelevancyEvaluator",
    "ResponseEvaluator",
    "Template",
    "on_error_of",
]

Template = str | BasePromptTemplate
Parser = Callable[[str], tuple[float | None, str | None]]

OWN_PARSERS = "replies are read by the parsers of the prompts"
_ALREADY_A_SHARE = "there it is the full marks to divide by, and the score here is a share; use threshold="


def on_error_of(raise_error: bool) -> OnError:
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
            on_error=on_error_of(raise_error),
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
            on_error=on_error_of(raise_error),
            traffic=traffic,
            **settings,
        )
        self._adopt("eval_template", eval_template)
        self._not_used(score_threshold=(score_threshold, _ALREADY_A_SHARE))
        self._not_used(parser_function=(parser_function, OWN_PARSERS))


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
            on_error=on_error_of(raise_error),
            traffic=traffic,
            **settings,
        )
        self._adopt("eval_template", eval_template)
        self._adopt("refine_template", refine_template)
        self._not_used(score_threshold=(score_threshold, _ALREADY_A_SHARE))
        self._not_used(parser_function=(parser_function, OWN_PARSERS))


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
            metrics, llm, threshold=threshold, on_error=on_error_of(raise_error), traffic=traffic, **settings
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
            on_error=on_error_of(raise_error),
            traffic=traffic,
            **settings,
        )
        self._adopt("eval_template", eval_template)
        self._not_used(output_parser=(output_parser, OWN_PARSERS))
