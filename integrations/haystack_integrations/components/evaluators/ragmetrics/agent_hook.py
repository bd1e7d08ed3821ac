"""The hook that has an agent scored."""

from collections.abc import Callable

from haystack.components.agents.state import State
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from ragmetrics_core.live import Capture, LiveResult, is_judging
from ragmetrics_core.redaction import Redact
from ragmetrics_core.shapes import is_list

from haystack_integrations.components.evaluators.ragmetrics.finding import conversation_sample
from haystack_integrations.components.evaluators.ragmetrics.live import Live, MakeSink, Overflow, References
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, plain

__all__ = ["RagMetricsAgentHook"]


class RagMetricsAgentHook(Live):
    """
    Has the last answer of every run of an agent scored in the background.

    The question is the user's last message, the answer the agent's. Contexts are the documents in the agent's
    state, or else what its tools returned.

    ```python
    Agent(..., hooks={"after_run": [RagMetricsAgentHook(["faithfulness"], chat_generator=judge)]})
    ```
    """

    allowed_hook_points = ("after_run",)

    def __init__(
        self,
        metrics: MetricSettings = "faithfulness",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        scorer: str | None = None,
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
        Create the hook; nothing is loaded, started or written yet.

        :param metrics: A name, a mapping of name and parameters, or a list of these.
        :param chat_generator: The judge: a chat generator of its own, not the agent's, or the name of a judge
            of ragmetrics. By default Haystack's `OpenAIChatGenerator`.
        :param text_embedder: The embedder, for metrics that compare texts: a component, or a name.
        :param scorer: The name of the model that rates pairs, for metrics that need one.
        :param needs_contexts: Leave out answers for which nothing was retrieved, counted as "no_contexts".
        :param name: What the agent is called in the records.
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
        :raises ConfigError: There is no such metric or parameter, or a model is missing.
        """
        self.metrics = plain(metrics)
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

    def run(self, state: State) -> None:
        """
        Hand the agent's conversation over; nothing of the state is changed.

        :param state: The agent's state at the end of its run.
        """
        if is_judging():
            return
        try:
            # the lists are copied: the agent's caller may go on with the same state
            held = {
                key: list(value)
                for key, value in state.data.items()
                if is_list(value) and key not in ("messages", "tools")
            }
            self.live.submit(
                Capture(
                    translate=conversation_sample,
                    needs_contexts=self.needs_contexts,
                    name=self.name,
                    history=list(state.data.get("messages") or ()),
                    contexts=held,
                )
            )
        except Exception as error:  # the boundary to the host: a hook that raises ends the agent
            self.live.hook_failed(error)

    async def run_async(self, state: State) -> None:
        """
        Do what `run` does; it does not wait for anything.

        :param state: The agent's state at the end of its run.
        """
        self.run(state)
