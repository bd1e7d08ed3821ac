"""The component that scores its pipeline."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from haystack import component
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core.adapting import Rules, names_of
from ragmetrics_core.boundary import listing_settings
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
    Score every run of its pipeline in the background: add it, and connect nothing.

    It finds question, contexts and answer in the inputs and outputs of the pipeline's components. The result
    of `Pipeline.run` does not change, and an enabled tracer (Langfuse, OpenTelemetry) keeps working.

    ```python
    pipeline.add_component("scores", RagMetricsConnector(["faithfulness"], chat_generator=judge))
    ```
    """

    @listing_settings(LiveComponentArgs, LIVE_COMPONENT_DEFAULTS)
    def __init__(
        self,
        metrics: MetricSettings = "faithfulness",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        extract: Extract | None = None,
        answer_from: str | None = None,
        evidence: Sequence[str] = (),
        not_evidence: Sequence[str] = (),
        context_tools: Sequence[str] = (),
        needs_contexts: bool = False,
        **settings: Unpack[LiveComponentArgs],
    ) -> None:
        """
        Create the connector; nothing is loaded, started or written yet.

        :param metrics: A name, a mapping of name and parameters, or a list of these.
        :param chat_generator: The judge: a separate chat generator, not the pipeline's, or the name of a
            ragmetrics judge.
        :param text_embedder: The embedder, for metrics that compare texts: a component or a name.
        :param extract: Places of `question`, `contexts`, `answer` and `session` as "component.socket", if they are
            not found automatically: `{"contexts": "ranker.documents"}`. From a list of places, the answer is the
            value that was set last, the question the first one, and contexts come from all. If a place has no
            value, the field is missing.
        :param answer_from: The component that outputs the answer, if several models reply and no
            `AnswerBuilder` selects one; otherwise such runs are skipped, counted as "several_answers".
        :param evidence: Names of components whose text is evidence as well, such as a web search.
        :param not_evidence: Names of components and tools whose text is not evidence.
        :param context_tools: Names of the only tools whose text is evidence; by default that of all tools is.
        :param needs_contexts: Skip answers for which nothing was retrieved, counted as "no_contexts".
        :param settings: `scorer` (the name of a model that rates pairs), `name` (the application's name), and
            the live settings: `out`, `sinks`, `on_result`, `references`, `sample_rate`, `seed`,
            `max_pending`, `overflow`, `redact`, `prompts`, `concurrency`, `timeout`, `attempts`,
            `requests_per_minute` and `tokens_per_minute`. Functions must be functions of a module; `sinks`
            takes functions that make a sink.
        :raises ConfigError: A metric or parameter does not exist, a model is missing, or `extract` is
            invalid. `warm_up` raises it if the pipeline does not have the places.
        """
        self.extract: Extract | None = plain(extract)
        self.answer_from = answer_from
        self.evidence, self.not_evidence = list(names_of(evidence)), list(names_of(not_evidence))
        self.context_tools = list(names_of(context_tools))
        self.needs_contexts = needs_contexts
        self._configure(metrics, chat_generator, text_embedder, settings, LIVE_COMPONENT_DEFAULTS)
        self._watcher = Watcher(
            by=self,
            places=places_of(extract, answer_from),
            rules=Rules(evidence=self.evidence, not_evidence=self.not_evidence, context_tools=self.context_tools),
            needs_contexts=needs_contexts,
            name=self.name,
        )

    @contextmanager
    def _warming(self) -> Generator[None]:
        """Check the places of `extract` in the pipeline first."""
        check_places(self._watcher.places, getattr(self, "__haystack_added_to_pipeline__", None))
        with Live._warming(self):
            yield

    def run(self) -> dict[str, Any]:
        """
        Score the run of which this component is a part, as soon as it ends.

        :returns: Nothing, so the pipeline's result does not change.
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
        Like `run`.

        :returns: Nothing.
        """
        return self.run()

    def watcher_of(self, run: WatchedRun) -> Watcher | None:
        """
        The watcher of a run of this component's pipeline; called by the tracer.

        :param run: The run, even if it ended before this component could run, or continued after it.
        :returns: Its watcher; None for a run of a different pipeline.
        """
        pipeline = getattr(self, "__haystack_added_to_pipeline__", None)
        is_own = (
            pipeline is not None
            and run.metadata is pipeline.metadata
            and all(visit.name in pipeline.graph for visit in run.root.children)
        )
        return self._watcher if is_own else None
