"""Evaluators for single metrics, named as in the core."""

import sys
from math import nan
from typing import Any, ClassVar, Unpack

from haystack import component
from haystack.components import evaluators
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators import chat
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core import Record
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.errors import ConfigError

from haystack_integrations.components.evaluators.ragmetrics.batch import BatchEvaluator
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import plain
from haystack_integrations.components.evaluators.ragmetrics.results import entry_of
from haystack_integrations.components.evaluators.ragmetrics.settings import BATCH_DEFAULTS, BatchArgs

__all__ = [
    "AnswerCorrectnessEvaluator",
    "AnswerRelevanceEvaluator",
    "AnswerSimilarityEvaluator",
    "ContextEntityRecallEvaluator",
    "ContextPrecisionEvaluator",
    "ContextRecallEvaluator",
    "ContextRelevanceEvaluator",
    "FactualCorrectnessEvaluator",
    "FaithfulnessEvaluator",
    "RagasScoreEvaluator",
]


class MetricEvaluator(BatchEvaluator):
    """Evaluate lists of samples with one metric."""

    metric: ClassVar[str]

    @listing_settings(BatchArgs, BATCH_DEFAULTS)
    def __init__(
        self,
        examples: list[dict[str, Any]] | None = None,
        progress_bar: bool = True,  # noqa: FBT001, FBT002  (as in Haystack's evaluators)
        raise_on_failure: bool = True,  # noqa: FBT001, FBT002
        chat_generator: ChatGenerator | str | None = None,
        *,
        text_embedder: TextEmbedder | str | None = None,
        variant: str | None = None,
        parameters: dict[str, Any] | None = None,
        **settings: Unpack[BatchArgs],
    ) -> None:
        """
        Create the evaluator; nothing is loaded and no key is needed yet.

        :param examples: Only for compatibility: None or the default examples of Haystack's evaluator. Prompts
            are files, chosen by `variant` and `prompts`.
        :param progress_bar: Show a progress bar.
        :param raise_on_failure: Raise if the judge fails or its reply cannot be read. Otherwise the score is
            NaN, and the result gives the reason.
        :param chat_generator: The judge: a chat generator, or the name of a ragmetrics judge ("embedded",
            "openai:MODEL@URL"). Default: that of Haystack's evaluators, OpenAI's in JSON mode.
        :param text_embedder: The embedder, for metrics that compare texts: a text embedder, or a name
            ("embedded", "openai:MODEL").
        :param variant: The metric's variant: "strict", "paper" and others, see `ragmetrics metrics`.
        :param parameters: The metric's parameters, by name.
        :param settings: Settings for model calls: `concurrency`, `timeout`, `attempts`, `requests_per_minute`
            and `tokens_per_minute`; and `repeats`, `include_records`, `out`, `prompts` and `redact`, see
            `BatchArgs`. A generator is called from `concurrency` threads, unless it has `run_async` and the
            evaluator runs with `run_async`.
        :raises ConfigError: The variant or a parameter does not exist, the embedder is missing, or `examples`
            are not the default ones.
        """
        if examples and examples != _built_in_examples(type(self).__name__):
            msg = (
                f"{type(self).__name__} takes no examples: choose a variant, or pass your own prompt files with "
                "prompts='FOLDER'"
            )
            raise ConfigError(msg)
        self.examples = examples
        self.progress_bar = progress_bar
        self.raise_on_failure = raise_on_failure
        self.on_error = "raise" if raise_on_failure else "record"
        self.variant = variant
        self.parameters: dict[str, Any] | None = plain(parameters)
        setting = {"name": self.metric, "variant": variant, **(self.parameters or {})}
        self._configure(setting, chat_generator, text_embedder, settings, BATCH_DEFAULTS)

    def _default_judge(self) -> ChatGenerator:
        """The default judge of Haystack's evaluators."""
        # Loaded here: before haystack-ai 2.28 this class needs httpx, which nothing may have installed.
        return chat.OpenAIChatGenerator(generation_kwargs={"response_format": {"type": "json_object"}, "seed": 42})


@component
class FaithfulnessEvaluator(MetricEvaluator):
    """
    Share of each answer's statements that its contexts support.

    Inputs and outputs are those of Haystack's `FaithfulnessEvaluator`; an answer without a statement has no
    score (NaN) instead of Haystack's 0. A statement that was not judged is NaN in `statement_scores`.
    """

    metric = "faithfulness"

    def _entry(self, record: Record) -> dict[str, Any]:
        own = {
            "statements": [verdict.text for verdict in record.verdicts],
            "statement_scores": [
                nan if verdict.supported is None else int(verdict.supported) for verdict in record.verdicts
            ],
        }
        return own | entry_of(record, with_record=self.include_records)


@component
class ContextRelevanceEvaluator(MetricEvaluator):
    """
    Share of the contexts' sentences that the question needs.

    Inputs and outputs are those of Haystack's `ContextRelevanceEvaluator`, whose score is 1 as soon as one
    sentence is relevant.
    """

    metric = "context_relevance"

    def _entry(self, record: Record) -> dict[str, Any]:
        own = {"relevant_statements": [verdict.text for verdict in record.verdicts if verdict.supported]}
        return own | entry_of(record, with_record=self.include_records)


@component
class AnswerRelevanceEvaluator(MetricEvaluator):
    """Mean cosine of each question and questions generated from its answer; needs an embedder."""

    metric = "answer_relevance"


@component
class AnswerSimilarityEvaluator(MetricEvaluator):
    """Cosine between each answer and its ground truth; needs an embedder and no judge."""

    metric = "answer_similarity"


@component
class FactualCorrectnessEvaluator(MetricEvaluator):
    """F-score of the statements that each answer and its ground truth share."""

    metric = "factual_correctness"


@component
class AnswerCorrectnessEvaluator(MetricEvaluator):
    """Weighted mean of factual correctness and answer similarity, which needs an embedder."""

    metric = "answer_correctness"


@component
class ContextPrecisionEvaluator(MetricEvaluator):
    """Average precision of the ranked contexts: whether relevant ones come first."""

    metric = "context_precision"


@component
class ContextRecallEvaluator(MetricEvaluator):
    """Share of each ground truth's statements that the contexts support."""

    metric = "context_recall"


@component
class ContextEntityRecallEvaluator(MetricEvaluator):
    """Share of each ground truth's entities that the contexts contain."""

    metric = "context_entity_recall"


@component
class RagasScoreEvaluator(MetricEvaluator):
    """Harmonic mean of faithfulness, answer relevance, context precision and context recall."""

    metric = "ragas_score"


def _built_in_examples(name: str) -> Any:
    """Default examples of Haystack's evaluator with this name, which it also writes into YAML."""
    built_in = getattr(evaluators, name, None)
    return getattr(sys.modules.get(getattr(built_in, "__module__", "")), "_DEFAULT_EXAMPLES", None)
