"""The evaluator for any metrics."""

from haystack import component
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core.redaction import Redact

from haystack_integrations.components.evaluators.ragmetrics.batch import BatchEvaluator
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, plain

__all__ = ["RagMetricsEvaluator"]


@component
class RagMetricsEvaluator(BatchEvaluator):
    """
    Evaluates lists of questions, contexts and answers; every score comes with its proof.

    The inputs are those of Haystack's own evaluators, and so are the outputs of a single metric. Several
    metrics give `results` by metric, ready for `EvaluationRunResult`.

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
    EvaluationRunResult("first", inputs={"questions": ["Who made Python?"]}, results=found["results"])
    ```
    """

    def __init__(
        self,
        metrics: MetricSettings = "recommended",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        scorer: str | None = None,
        progress_bar: bool = True,
        raise_on_failure: bool = True,
        concurrency_limit: int = 4,
        timeout: float | None = 120.0,
        attempts: int = 2,
        repeats: int = 1,
        include_records: bool = True,
        out: str | None = None,
        prompts: str | None = None,
        redact: Redact | None = None,
    ) -> None:
        """
        Create the evaluator; nothing is loaded and no key is needed yet.

        :param metrics: A name, a mapping of name and parameters such as
            `{"name": "faithfulness", "variant": "paper"}`, or a list of these. "recommended" stands for
            faithfulness and factual correctness.
        :param chat_generator: The judge: a chat generator, or the name of a judge of ragmetrics ("embedded",
            "openai:MODEL", "llama:PATH"). By default Haystack's `OpenAIChatGenerator`.
        :param text_embedder: The embedder, for metrics that compare texts: a text embedder, or a name
            ("embedded", "openai:MODEL").
        :param scorer: The name of the model that rates pairs ("cross-encoder:MODEL", "token-match:MODEL"),
            for metrics that need one.
        :param progress_bar: Show a progress bar.
        :param raise_on_failure: Raise when the judge fails or its reply cannot be read. Otherwise the score
            is NaN, and the result says why.
        :param concurrency_limit: How many calls of the generator may be in flight. A generator is called from
            as many threads, unless it has `run_async` and the evaluator runs with `run_async`.
        :param timeout: Seconds for one call; None for no limit.
        :param attempts: How often a call is made at most when it fails for reasons that may pass; most
            generators also try again by themselves.
        :param repeats: How often each verdict is asked for; the majority decides.
        :param include_records: Put the whole record of each score into the results.
        :param out: A folder to write the run to, for `ragmetrics show`, `audit` and `report`. The same
            evaluation again goes on where it ended.
        :param prompts: A folder of prompt files that replace those of the same name.
        :param redact: A function of a module, from a text to the text without what is private. It is applied
            to samples, replies and errors before a model, a result or a file sees them.
        :raises ConfigError: There is no such metric or parameter, or a model is missing.
        """
        self.metrics = plain(metrics)
        self.progress_bar = progress_bar
        self.raise_on_failure = raise_on_failure
        self.concurrency_limit = concurrency_limit
        self.timeout = timeout
        self.attempts = attempts
        self.repeats = repeats
        self.include_records = include_records
        self.out = out
        self._prepare(
            self._configure(self.metrics, chat_generator, text_embedder, scorer=scorer, prompts=prompts, redact=redact)
        )
