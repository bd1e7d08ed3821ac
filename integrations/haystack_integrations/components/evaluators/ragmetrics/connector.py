"""The component that has its pipeline scored."""

from typing import Any, Unpack

from haystack import component
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.live import Capture, is_judging

from haystack_integrations.components.evaluators.ragmetrics.live import Live
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, plain
from haystack_integrations.components.evaluators.ragmetrics.places import Extract, check_places, places_of
from haystack_integrations.components.evaluators.ragmetrics.settings import LIVE_COMPONENT_DEFAULTS, LiveComponentArgs
from haystack_integrations.components.evaluators.ragmetrics.watching import HERE, WatchedRun
from haystack_integrations.components.evaluators.ragmetrics.wiring import capture_of

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

    @unfolded(LiveComponentArgs, LIVE_COMPONENT_DEFAULTS)
    def __init__(
        self,
        metrics: MetricSettings = "faithfulness",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        scorer: str | None = None,
        extract: Extract | None = None,
        answer_from: str | None = None,
        needs_contexts: bool = False,
        name: str | None = None,
        **settings: Unpack[LiveComponentArgs],
    ) -> None:
        """
        Create the connector; nothing is loaded, started or written yet.

        :param metrics: A name, a mapping of name and parameters, or a list of these.
        :param chat_generator: The judge: a chat generator of its own, not the one that the pipeline answers
            with, or the name of a judge of ragmetrics.
        :param text_embedder: The embedder, for metrics that compare texts: a component, or a name.
        :param scorer: The name of the model that rates pairs, for metrics that need one.
        :param extract: Where `question`, `contexts` and `answer` are, as "component.socket", when they are
            not found by themselves or the wrong ones are: `{"contexts": "ranker.documents"}`. Of a list of places
            the one that was filled last counts, of a question the first; contexts are taken from all. Without a
            value there the field is missing: nothing else is taken for it.
        :param answer_from: The component whose output is the answer, where several models reply and no
            `AnswerBuilder` says which of them answers: the run is left out otherwise, counted as "several_answers".
        :param needs_contexts: Leave out answers for which nothing was retrieved, counted as "no_contexts".
        :param name: What the application is called in the records.
        :param settings: The live settings: `out`, `sinks`, `on_result`, `references`, `sample_rate`, `seed`,
            `max_pending`, `overflow`, `redact` and `prompts`, and how the models are asked: `concurrency`, `timeout`,
            `attempts`, `requests_per_minute` and `tokens_per_minute`. Functions are functions of a module; `sinks`
            are functions that make a sink.
        :raises ConfigError: There is no such metric or parameter, a model is missing, or `extract` names no
            place. The pipeline must have the places when it warms up.
        """
        self.metrics = plain(metrics)
        self.extract: Extract | None = plain(extract)
        self.answer_from = answer_from
        self._places = places_of(extract, answer_from)
        self.needs_contexts = needs_contexts
        self.name = name
        self._settle(settings, LIVE_COMPONENT_DEFAULTS)
        self._prepare(self._configure(self.metrics, chat_generator, text_embedder, scorer=scorer))

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
            here = HERE.get()
            if here is None:
                self.live.skip("not_traced")
            elif self not in here.run.watchers:
                here.run.watchers.append(self)
        return {}

    async def run_async(self) -> dict[str, Any]:
        """
        Do what `run` does.

        :returns: Nothing.
        """
        return self.run()

    def owns(self, run: WatchedRun) -> bool:
        """
        Say whether a run is one of its pipeline's; the tracer asks.

        :param run: The run, also one that ended before this component could run, or went on after it had.
        :returns: Whether it is.
        """
        pipeline = getattr(self, "__haystack_added_to_pipeline__", None)
        return (
            pipeline is not None
            and run.metadata is pipeline.metadata
            and all(visit.name in pipeline.graph for visit in run.root.children)
        )

    def capture(self, run: WatchedRun) -> Capture:
        """
        Make a capture of a run that has ended; the tracer calls it.

        :param run: The run.
        :returns: The capture.
        """
        return capture_of(run, self._places, self.name, needs_contexts=self.needs_contexts)
