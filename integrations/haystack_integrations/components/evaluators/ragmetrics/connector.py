"""The component that has its pipeline scored."""

from collections.abc import Callable
from typing import Any

from haystack import component
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core.live import Capture, LiveResult, is_judging
from ragmetrics_core.redaction import Redact

from haystack_integrations.components.evaluators.ragmetrics.finding import run_sample
from haystack_integrations.components.evaluators.ragmetrics.live import Live, MakeSink, Overflow, References
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, plain
from haystack_integrations.components.evaluators.ragmetrics.places import Extract, check_places, places_of
from haystack_integrations.components.evaluators.ragmetrics.watching import CURRENT_RUN, WatchedRun

__all__ = ["RagMetricsConnector"]


@component
class RagMetricsConnector(Live):
    """
    Has every run of its pipeline scored in the background: add it, and connect nothing.

    It finds question, contexts and answer in what the pipeline's components take and put out. What
    `Pipeline.run` returns does not change. A tracer that is enabled (Langfuse, OpenTelemetry) goes on.

    ```python
    pipeline.add_component("scores", RagMetricsConnector(["faithfulness"], chat_generator=judge))
    ```
    """

    def __init__(
        self,
        metrics: MetricSettings = "faithfulness",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        scorer: str | None = None,
        extract: Extract | None = None,
        needs_contexts: bool = False,
        name: str | None = None,
        out: str | None = None,
        sinks: list[MakeSink] | None = None,
        on_result: Callable[[LiveResult], None] | None = None,
        references: References | None = None,
        sample_rate: float = 1.0,
        seed: int | None = None,
        concurrency_limit: int = 4,
        timeout: float | None = 60.0,
        attempts: int = 2,
        max_pending: int = 1000,
        overflow: Overflow = "drop_oldest",
        prompts: str | None = None,
        redact: Redact | None = None,
    ) -> None:
        """
        Create the connector; nothing is loaded, started or written yet.

        :param metrics: A name, a mapping of name and parameters, or a list of these.
        :param chat_generator: The judge: a chat generator of its own, not the one that the pipeline answers
            with, or the name of a judge of ragmetrics. By default Haystack's `OpenAIChatGenerator`.
        :param text_embedder: The embedder, for metrics that compare texts: a component, or a name.
        :param scorer: The name of the model that rates pairs, for metrics that need one.
        :param extract: Where `question`, `contexts` and `answer` are, as "component.socket", when they are
            not found by themselves or the wrong ones are: `{"contexts": "ranker.documents"}`. Of a list of places
            the one that was filled last counts, of a question the first; contexts are taken from all. Without a
            value there the field is missing: nothing else is taken for it.
        :param needs_contexts: Leave out answers for which nothing was retrieved, counted as "no_contexts".
        :param name: What the application is called in the records.
        :param out: A run folder to write samples and records to.
        :param sinks: Where results go besides: functions of a module that make a sink.
        :param on_result: A function of a module that is called with each result, in a thread of the scorer's.
        :param references: Expected answers, by question; or a function of a module from a sample to its own.
        :param sample_rate: The share of runs that is scored.
        :param seed: Makes that draw repeatable.
        :param concurrency_limit: How many calls of the generator may be in flight.
        :param timeout: Seconds for one call; None for no limit.
        :param attempts: How often a call is made at most when it fails for reasons that may pass.
        :param max_pending: How many runs may wait to be scored.
        :param overflow: Which one goes when one more comes.
        :param prompts: A folder of prompt files that replace those of the same name.
        :param redact: A function of a module, from a text to the text without what is private. It is applied
            to samples, replies and errors before a model, a record or the log sees them.
        :raises ConfigError: There is no such metric or parameter, a model is missing, or `extract` names no
            place. The pipeline must have the places when it warms up.
        """
        self.metrics = plain(metrics)
        self.extract: Extract | None = plain(extract)
        self._places = places_of(extract)
        self.needs_contexts = needs_contexts
        self.name = name
        self.out = out
        self.sinks: list[MakeSink] | None = plain(sinks)
        self.on_result = on_result
        self.references: References | None = plain(references)
        self.sample_rate = sample_rate
        self.seed = seed
        self.concurrency_limit = concurrency_limit
        self.timeout = timeout
        self.attempts = attempts
        self.max_pending = max_pending
        self.overflow = overflow
        self._prepare(
            self._configure(self.metrics, chat_generator, text_embedder, scorer=scorer, prompts=prompts, redact=redact)
        )

    def warm_up(self) -> None:
        """
        See that the pipeline has the places of `extract`, warm up the models, and put the tracer in place.

        :raises ConfigError: There is no such place.
        """
        check_places(self._places, getattr(self, "__haystack_added_to_pipeline__", None))
        Live.warm_up(self)

    async def warm_up_async(self) -> None:
        """
        Warm up like `warm_up`.

        :raises ConfigError: There is no such place.
        """
        check_places(self._places, getattr(self, "__haystack_added_to_pipeline__", None))
        await Live.warm_up_async(self)

    def run(self) -> dict[str, Any]:
        """
        Have the run scored that this component is a part of, as soon as it ends.

        :returns: Nothing, so that the pipeline's result is what it was.
        """
        if not is_judging():
            run = CURRENT_RUN.get()
            if run is None:
                self.live.skip("not_traced")
            elif self not in run.watchers:
                run.watchers.append(self)
        return {}

    async def run_async(self) -> dict[str, Any]:
        """
        Do what `run` does.

        :returns: Nothing.
        """
        return self.run()

    def capture(self, run: WatchedRun) -> Capture:
        """
        Make a capture of a run that has ended; the tracer calls it.

        :param run: The run.
        :returns: The capture.
        """
        return Capture(
            translate=run_sample,
            needs_contexts=self.needs_contexts,
            name=self.name,
            data={"run": run, "places": self._places},
            noted=run.notes.contexts,
        )
