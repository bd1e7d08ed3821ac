"""Evaluators with LlamaIndex's own names and call forms, and those of our other metrics.

Each class is data: its metrics, the arguments of its built-in counterpart, and its threshold.
`RagMetricsEvaluator` does all of the work.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, ClassVar, Literal, Unpack

from llama_index.core.base.embeddings.base import SimilarityMode
from llama_index.core.prompts import BasePromptTemplate

from ragmetrics_core import Metric
from ragmetrics_core.adapting import Fields
from ragmetrics_core.boundary import names_in, refuse_unknown
from ragmetrics_core.errors import ConfigError
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

_OWN_PARSERS = "replies are read by the parsers of the prompts"
_NOT_USED = {
    "score_threshold": "there it is the full marks to divide by; the score here is a share: use threshold=",
    "parser_function": _OWN_PARSERS,
    "output_parser": _OWN_PARSERS,
}


_TEMPLATES = ("eval_template", "refine_template")
# The defaults that are not None.
_DEFAULTS = {**EVALUATOR_DEFAULTS, "raise_error": False, "scale": "1-5", "similarity_threshold": 0.8}


class NamedEvaluatorArgs(EvaluatorArgs, total=False):
    """Additional arguments of named evaluators; the signature of each class lists its own.

    Attributes:
        raise_error: raise if there is no score or, for faithfulness and relevancy, the answer does not pass.
        eval_template, refine_template: replace the prompt with the same variables; templates written for the
            built-in evaluator have different variables and are ignored with a warning.
        score_threshold: lowest passing score of `CorrectnessEvaluator`; ignored by the others with a warning.
        parser_function, output_parser: ignored with a warning.
        guidelines: one per line, or a list.
        embed_model: the embedder. Default: `Settings.embed_model`.
        scale: scale of `CorrectnessEvaluator`.
        threshold: lowest passing score; without one, nothing passes or fails.
        metric: the metric with different settings, such as `Faithfulness(granularity="sentence")`.
        traffic: settings for model calls; see `RagMetricsEvaluator`.
    """

    raise_error: bool
    eval_template: Template | None
    refine_template: Template | None
    score_threshold: float | None
    parser_function: Callable[[str], tuple[float | None, str | None]] | None
    output_parser: object
    guidelines: str | Sequence[str] | None
    embed_model: AnyEmbedder | None
    scale: Literal["1-5", "0-1"]
    threshold: float | None
    metric: Metric[Any] | None
    traffic: Traffic | None


class _Named(RagMetricsEvaluator):
    """An evaluator that is the data of its class.

    Args:
        llm: the judge; see `RagMetricsEvaluator`.
        positional, keywords: see `NamedEvaluatorArgs`.
    """

    # What is measured; `metric=` is one of the same kind.
    _measured: ClassVar[tuple[Metric[Any], ...]] = ()
    # What is taken by position, in the built-in's order, and what by keyword alone.
    _takes: ClassVar[Sequence[str]] = ("llm", "raise_error")
    _by_name: ClassVar[Sequence[str]] = ("threshold", "metric")
    _threshold: ClassVar[float | None] = None

    def __init__(
        self, llm: AnyLLM | None = None, *positional: Any, **keywords: Unpack[NamedEvaluatorArgs]
    ) -> None:
        signature = self._signature()
        refuse_unknown(keywords, *signature.parameters)
        first = () if llm is None and not positional else (llm,)
        bound = signature.bind(self, *first, *positional, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        passing = self._passes(given)
        super().__init__(
            self._metrics_of(given),
            given.get("llm"),
            given.get("embed_model"),
            on_error="raise" if given.get("raise_error") else "record",
            traffic=given["traffic"],
            **{name: given[name] for name in keywords if name in names_in(EvaluatorArgs)},
        )
        self._passing = passing
        for name in _TEMPLATES:
            self._adopt(name, given.get(name))
        for name, why in _NOT_USED.items():
            if given.get(name) is not None:
                self._warn(name, why)

    def __init_subclass__(cls, **options: Any) -> None:
        """Set the class's signature to its own arguments."""
        super().__init_subclass__(**options)
        if cls._measured and "__init__" not in vars(cls):
            inherited = cls.__init__

            @wraps(inherited)
            def init(self: Any, *positional: Any, **keywords: Any) -> None:
                inherited(self, *positional, **keywords)

            init.__signature__ = cls._signature()  # type: ignore[attr-defined]
            cls.__init__ = init  # type: ignore[method-assign]

    @classmethod
    def _signature(cls) -> Signature:
        usual = {**_DEFAULTS, "threshold": cls._threshold}
        by_name = (*cls._by_name, "traffic", *names_in(EvaluatorArgs))
        parameters = [Parameter("self", Parameter.POSITIONAL_ONLY)]
        for names, way in ((cls._takes, Parameter.POSITIONAL_OR_KEYWORD), (by_name, Parameter.KEYWORD_ONLY)):
            parameters += [Parameter(name, way, default=usual.get(name)) for name in names]
        return Signature(parameters)

    def _metrics_of(self, given: Fields) -> Sequence[Metric[Any]]:
        """The metrics for these arguments."""
        metric: Metric[Any] | None = given.get("metric")
        if metric is None:
            return self._measured
        kind: type[object] = type(self._measured[0])
        if not isinstance(metric, kind):
            raise ConfigError(f"{type(self).__name__} takes a {kind.__name__}, not {metric!r}")
        return [metric]

    def _passes(self, given: dict[str, Any]) -> Passing:
        """The rule that converts values to scores; removes the arguments that it uses."""
        return Passing(given.get("threshold"))


class _WithoutReference(_Named):
    """An evaluator without an expected answer, so that the fourth argument is the time to sleep."""

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

    It passes if all are supported, or at least the share `threshold`. The query helps to understand the
    answer and is optional. With `raise_error`, an answer that does not pass raises too, as in the built-in
    evaluator.
    """

    _measured = (Faithfulness(),)
    _takes = (*_Named._takes, *_TEMPLATES)
    _threshold = 1.0
    _without_query = ""
    _raises_when_failing = True


class RelevancyEvaluator(_WithoutReference):
    """Whether the response answers the query and agrees with the contexts.

    Two metrics in [0, 1]: the share of the answer's statements that the contexts support, and whether the
    answer answers the query (`Criterion`). The score is their mean; both must reach the threshold to pass.
    With `raise_error` an answer that does not pass raises too.
    """

    _measured = (Faithfulness(), Criterion())
    _takes = (*_Named._takes, *_TEMPLATES)
    _by_name = ("threshold",)
    _threshold = 1.0
    _raises_when_failing = True


# As LlamaIndex still calls them.
QueryResponseEvaluator = RelevancyEvaluator
ResponseEvaluator = FaithfulnessEvaluator


class AnswerRelevancyEvaluator(_WithoutReference):
    """Mean cosine of the query and questions generated from the answer, in [-1, 1].

    Cosines depend on the embedding model, so nothing passes or fails without a `threshold`.
    """

    _measured = (AnswerRelevance(),)
    _takes = (*_Named._takes, "eval_template", "score_threshold", "parser_function")
    _by_name = ("embed_model", *_Named._by_name)


class ContextRelevancyEvaluator(_WithoutReference):
    """Share of the contexts' sentences that the query needs, in [0, 1].

    Nothing passes or fails without a `threshold`: the share depends on how long the chunks are.
    """

    _measured = (ContextRelevance(),)
    _takes = (*_Named._takes, *_TEMPLATES, "score_threshold", "parser_function")


class GuidelineEvaluator(_WithoutReference):
    """Share of the guidelines that the response follows, in [0, 1]; it passes if it follows all of them.

    One call (`Criterion`) covers all guidelines; each has a verdict and a reason. Default: the response
    answers fully, clearly and specifically.

    Raises:
        ConfigError: the guidelines are empty.
    """

    _measured = (
        Criterion(
            "fully answers the query",
            others=(
                "is neither vague nor ambiguous",
                "is specific, with statistics or numbers where possible",
            ),
        ),
    )
    _takes = ("llm", "guidelines", "eval_template", "output_parser")
    _by_name = ("raise_error", "threshold")
    _threshold = 1.0

    def _metrics_of(self, given: Fields) -> Sequence[Metric[Any]]:
        guidelines = given["guidelines"]
        lines = guidelines.splitlines() if isinstance(guidelines, str) else guidelines
        if not lines:
            return self._measured
        texts = [*dict.fromkeys(text for line in lines if (text := line.strip().lstrip("-*• ")))]
        if not texts:
            raise ConfigError("GuidelineEvaluator needs guidelines: one per line, or a list")
        return [Criterion(texts[0], others=tuple(texts[1:]))]


def _one_to_five(value: float) -> float:
    return 1 + 4 * value


_SCALES = {"1-5": Passing(4.0, _one_to_five, "1 + 4 × value"), "0-1": Passing(0.75)}


class CorrectnessEvaluator(_Named):
    """Agreement of the answer with the reference, on LlamaIndex's scale from 1 to 5.

    The value v is the factual correctness of answer and reference in [0, 1] (answer correctness without the
    similarity, so that no embedding model is needed), and the score 1 + 4 v; `scale="0-1"` gives the value
    itself. It passes from 4.0, where v = 0.75. Without a reference there is no score.
    `metric=AnswerCorrectness()` has the weights 0.75 and 0.25, and needs `embed_model`.

    Raises:
        ConfigError: the scale does not exist, or the threshold is outside it.
    """

    _measured = (AnswerCorrectness(weights=(1.0, 0.0)),)
    _takes = ("llm", "eval_template", "score_threshold", "parser_function")
    _by_name = ("scale", "embed_model", "raise_error", "metric")

    def _passes(self, given: dict[str, Any]) -> Passing:
        scale, threshold = given["scale"], given.pop("score_threshold")
        if scale not in _SCALES:
            raise ConfigError(f"scale must be '1-5' or '0-1', not {scale!r}")
        passing = _SCALES[scale]
        if threshold is None:
            return passing
        low, high = passing.scaled(0.0), passing.scaled(1.0)
        if not low <= threshold <= high:
            raise ConfigError(
                f"score_threshold must be between {low:g} and {high:g} on the scale {scale!r}, "
                f"not {threshold:g}"
            )
        return passing._replace(threshold=threshold)


class SemanticSimilarityEvaluator(_Named):
    """Cosine of the vectors of answer and reference, in [-1, 1].

    `similarity_fn` must be None and `similarity_mode` the cosine, because a record proves cosines; for unit
    vectors the dot product is the same. A score of at least `similarity_threshold` passes.

    Raises:
        ConfigError: a similarity other than the cosine is requested.
    """

    _measured = (AnswerSimilarity(),)
    _takes = ("embed_model", "similarity_fn", "similarity_mode", "similarity_threshold")
    _by_name = ("raise_error",)

    def _passes(self, given: dict[str, Any]) -> Passing:
        is_cosine = given["similarity_mode"] in (None, SimilarityMode.DEFAULT)
        if given["similarity_fn"] is not None or not is_cosine:
            raise ConfigError(
                "SemanticSimilarityEvaluator gives the cosine, which its record proves: leave similarity_fn "
                "and similarity_mode out, or use LlamaIndex's own evaluator for another similarity"
            )
        return Passing(given["similarity_threshold"])


class FactualCorrectnessEvaluator(_Named):
    """Agreement of the statements of answer and reference, as an F-score in [0, 1]."""

    _measured = (FactualCorrectness(),)


class ContextPrecisionEvaluator(_Named):
    """Average precision of the judged chunks, in [0, 1]: whether helpful chunks come first."""

    _measured = (ContextPrecision(),)


class ContextRecallEvaluator(_Named):
    """Share of the reference's statements that the contexts support, in [0, 1]."""

    _measured = (ContextRecall(),)


class ContextEntityRecallEvaluator(_Named):
    """Share of the reference's entities that the contexts name, in [0, 1]."""

    _measured = (ContextEntityRecall(),)
