"""An evaluator for any metrics."""

from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

from haystack import component
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.runs import OnError

from haystack_integrations.components.evaluators.ragmetrics.batch import BatchEvaluator
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings
from haystack_integrations.components.evaluators.ragmetrics.settings import BATCH_DEFAULTS, BatchArgs

__all__ = ["RagMetricsEvaluator"]


@component
class RagMetricsEvaluator(BatchEvaluator):
    """
    Evaluate lists of questions, contexts and answers; every score comes with its proof.

    Inputs and outputs are those of Haystack's own evaluators; the outputs are those of the first metric.
    `by_metric` has the outputs of all metrics, ready for `EvaluationRunResult`.

    ```python
    evaluator = RagMetricsEvaluator(
        metrics=["faithfulness", {"name": "answer_correctness", "weights": [1, 0]}],
        chat_generator=OpenAIChatGenerator(model="gpt-5-mini"),
    )
    found = evaluator.run(
        questions=["Who made Python?"],
        contexts=[["Python was created by Guido van Rossum."]],
        predicted_answers=["Guido van Rossum made it."],
        ground_truth_answers=["Guido van Rossum"],
    )
    EvaluationRunResult("first", inputs={"questions": ["Who made Python?"]}, results=found["by_metric"])
    ```
    """

    _more_outputs: ClassVar[Mapping[str, Any]] = {"by_metric": dict[str, dict[str, Any]]}

    @listing_settings(BatchArgs, BATCH_DEFAULTS)
    def __init__(
        self,
        metrics: MetricSettings = "recommended",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        scorer: str | None = None,
        progress_bar: bool = True,
        on_error: OnError = "record",
        **settings: Unpack[BatchArgs],
    ) -> None:
        """
        Create the evaluator; nothing is loaded and no key is needed yet.

        :param metrics: A name, a mapping of name and parameters such as `{"name": "faithfulness", "variant":
            "paper"}`, or a list of these. "recommended" means faithfulness and factual correctness.
        :param chat_generator: The judge: a chat generator, or the name of a ragmetrics judge ("embedded",
            "openai:MODEL@URL").
        :param text_embedder: The embedder, for metrics that compare texts: a text embedder, or a name
            ("embedded", "openai:MODEL").
        :param scorer: The name of the model that rates pairs ("cross-encoder:MODEL", "token-match:MODEL"),
            for metrics that need one.
        :param progress_bar: Show a progress bar.
        :param on_error: "raise" raises if the judge fails or its reply cannot be read. With "record" the
            score is NaN, and the result gives the reason.
        :param settings: Settings for model calls: `concurrency`, `timeout`, `attempts`, `requests_per_minute`
            and `tokens_per_minute`; and `repeats`, `include_records`, `out`, `prompts` and `redact`, see
            `BatchArgs`. A generator is called from `concurrency` threads, unless it has `run_async` and the
            evaluator runs with `run_async`.
        :raises ConfigError: A metric or parameter does not exist, or a model is missing.
        """
        self.progress_bar = progress_bar
        self.on_error = on_error
        self.scorer = scorer
        self._configure(metrics, chat_generator, text_embedder, settings, BATCH_DEFAULTS)
