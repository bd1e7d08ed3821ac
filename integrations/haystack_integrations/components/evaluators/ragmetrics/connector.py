"""The component that has its pipeline scored."""

from typing import Any, Unpack

from haystack import component
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.live import is_judging

from haystack_integrations.components.evaluators.ragmetrics.live import Live
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, plain
from haystack_integrations.components.evaluators.ragmetrics.places import Extract, check_places, places_of
from haystack_integrations.components.evaluators.ragmetrics.settings import LIVE_COMPONENT_DEFAULTS, LiveComponentArgs
from haystack_integrations.components.evaluators.ragmetrics.watching import HERE, WatchedRun, Watcher

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
        extract: Extract | None = None,
        answer_from: str | None = None,
        needs_contexts: bool = False,
        **settings: Unpack[LiveComponentArgs],
    ) -> None:
        """
        Create the connector; nothing is loaded, started or written yet.

        :param metrics: A name, a mapping of name and parameters, or a list of these.
        :param chat_generator: The judge: a chat generator of its own, not the one that the pipeline answers
            with, or the name of a judge of ragmetrics.
        :param text_embedder: The embedder, for metrics that compare texts: a component, or a name.
        :param extract: Where `question`, `contexts` and `answer` are, as "component.socket", when they are
            not found by themselves or the wrong ones are: `{"contexts": "ranker.documents"}`. Of a list of places
            the one that was filled last counts, of a question the first; contexts are taken from all. Without a
            value there the field is missing: nothing else is taken for it.
        :param answer_from: The component whose output is the answer, where several models reply and no
            `AnswerBuilder` says which of them answers: the run is left out otherwise, counted as "several_answers".
        :param needs_contexts: Leave out answers for which nothing was retrieved, counted as "no_contexts".
        :param settings: `scorer` (the name of a model that rates pairs), `name` (what the application is called), and
            the live settings: `out`, `sinks`, `on_result`, `references`, `sample_rate`, `seed`, `max_pending`,
            `overflow`, `redact` and `prompts`, and how the models are asked: `concurrency`, `timeout`, `attempts`,
            `requests_per_minute` and `tokens_per_minute`. Functions are functions of a module; `sinks` are functions
            that make a sink.
        :raises ConfigError: There is no such metric or parameter, a model is missing, or `extract` names no
            place. The pipeline must have the places when it warms up.
        """
        self.extract: Extract | None = plain(extract)
        self.answer_from = answer_from
        self.needs_contexts = needs_contexts
        self._configure(metrics, chat_generator, text_embedder, settings, LIVE_COMPONENT_DEFAULTS)
        self._watcher = Watcher(
            by=self, places=places_of(extract, answer_from), needs_contexts=needs_contexts, name=self.name
        )

    def warm_up(self) -> None:
        """
        See that the pipeline has the places of `extract`, warm up the models, and put the tracer in place.

        :raises ConfigError: There is no such place.
        """
        check_places(self._watcher.places, getattr(self, "__haystack_added_to_pipeline__", None))
        Live.warm_up(self)

    async def warm_up_async(self) -> None:
        """
        Warm up like `warm_up`.

        :raises ConfigError: There is no such place.
        """
        check_places(self._watcher.places, getattr(self, "__haystack_added_to_pipeline__", None))
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
            elif self._watcher not in here.run.watchers:
                here.run.watchers.append(self._watcher)
        return {}

    async def run_async(self) -> dict[str, Any]:
        """
        Do what `run` does.

        :returns: Nothing.
        """
        return self.run()

    def watcher_of(self, run: WatchedRun) -> Watcher | None:
        """
        Say who scores a run if it is one of its pipeline's; the tracer asks.

        :param run: The run, also one that ended before this component could run, or went on after it had.
        :returns: Its watcher; None where the run is not its own.
        """
        pipeline = getattr(self, "__haystack_added_to_pipeline__", None)
        is_own = (
            pipeline is not None
            and run.metadata is pipeline.metadata
            and all(visit.name in pipeline.graph for visit in run.root.children)
        )
        return self._watcher if is_own else None
