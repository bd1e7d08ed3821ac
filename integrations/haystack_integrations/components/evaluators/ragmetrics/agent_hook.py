"""A hook that scores an agent's answers."""

from collections.abc import Sequence
from contextvars import copy_context
from typing import Unpack

from haystack.components.agents.state import State, replace_values
from haystack.components.embedders.types import TextEmbedder
from haystack.components.generators.chat.types import ChatGenerator
from haystack.dataclasses import ChatMessage
from ragmetrics_core import Sample
from ragmetrics_core.adapting import Call, CapturedRun, Rules, in_thread, names_of
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.gate import Gate, OnFailure
from ragmetrics_core.live import Capture, Skip, is_judging

from haystack_integrations.components.evaluators.ragmetrics.conversations import session_in
from haystack_integrations.components.evaluators.ragmetrics.live import Live
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import MetricSettings, plain
from haystack_integrations.components.evaluators.ragmetrics.settings import LIVE_COMPONENT_DEFAULTS, LiveComponentArgs
from haystack_integrations.components.evaluators.ragmetrics.watching import HERE, Here, noted_here
from haystack_integrations.components.evaluators.ragmetrics.wiring import Wiring

__all__ = ["RagMetricsAgentHook"]

REJECTED = "rejected_by_gate"


class RagMetricsAgentHook(Live):
    """
    Score the last answer of every run of an agent in the background.

    The question is the user's last message, the answer the agent's. Contexts are the documents in the agent's
    state, or else its tools' results for this question.

    With a `gate` the agent waits for the scores. A rejected answer is replaced by `rejected_answer`, with the
    reasons in `meta["evaluation"]`, and the run stops (`stop_run`) with the exit reason "rejected_by_gate".

    ```python
    Agent(..., hooks={"after_run": [RagMetricsAgentHook(["faithfulness"], chat_generator=judge)]})
    ```
    """

    allowed_hook_points = ("on_exit", "after_run")

    @listing_settings(LiveComponentArgs, LIVE_COMPONENT_DEFAULTS)
    def __init__(
        self,
        metrics: MetricSettings = "faithfulness",
        chat_generator: ChatGenerator | str | None = None,
        text_embedder: TextEmbedder | str | None = None,
        *,
        gate: dict[str, float] | None = None,
        unscored: OnFailure = "reject",
        rejected_answer: str = "I cannot answer this from what I found.",
        evidence: Sequence[str] = (),
        not_evidence: Sequence[str] = (),
        context_tools: Sequence[str] = (),
        needs_contexts: bool = False,
        **settings: Unpack[LiveComponentArgs],
    ) -> None:
        """
        Create the hook; nothing is loaded, started or written yet.

        :param metrics: A name, a mapping of name and parameters, or a list of these.
        :param chat_generator: The judge: a separate chat generator, not the agent's, or the name of a
            ragmetrics judge.
        :param text_embedder: The embedder, for metrics that compare texts: a component or a name.
        :param gate: Lowest passing score by metric (highest, if lower is better). The agent waits for the
            scores; an answer that does not pass is replaced and stops the run, see the class.
        :param unscored: Whether to "pass" or "reject" an answer without a score because the judge failed. If
            there was nothing to judge, it passes.
        :param rejected_answer: Text that replaces a rejected answer.
        :param evidence: Names of components whose text is evidence as well, such as a web search.
        :param not_evidence: Names of components and tools whose text is not evidence.
        :param context_tools: Names of the only tools whose text is evidence; by default that of all tools is.
        :param needs_contexts: Skip answers for which nothing was retrieved, counted as "no_contexts".
        :param settings: `scorer` (the name of a model that rates pairs), `name` (the application's name), and
            the live settings: `out`, `sinks`, `on_result`, `references`, `sample_rate`, `seed`,
            `max_pending`, `overflow`, `redact`, `prompts`, `concurrency`, `timeout`, `attempts`,
            `requests_per_minute` and `tokens_per_minute`. Functions must be functions of a module; `sinks`
            takes functions that make a sink.
        :raises ConfigError: A metric or parameter does not exist, or a model is missing.
        """
        self.gate = plain(gate)
        self.unscored = unscored
        self.rejected_answer = rejected_answer
        self.evidence, self.not_evidence = list(names_of(evidence)), list(names_of(not_evidence))
        self.context_tools = list(names_of(context_tools))
        self.needs_contexts = needs_contexts
        self._configure(metrics, chat_generator, text_embedder, settings, LIVE_COMPONENT_DEFAULTS)
        self._rules = Rules(evidence=self.evidence, not_evidence=self.not_evidence, context_tools=self.context_tools)
        self._gate = Gate(self.gate, self._metrics, self.unscored) if self.gate else None

    def run(self, state: State) -> None:
        """
        Submit the agent's conversation; with a gate, wait for the scores and replace a rejected answer.

        :param state: The agent's state at the end of its run.
        """
        capture = self._captured(state)
        if capture is None:
            return
        if self._gate is None:
            self.live.submit(capture)
            return
        try:
            decision = self._gate.decide(self.live.score(capture).records)
        except Skip:  # there is no answer that could be rejected
            return
        except Exception as error:  # the boundary to the host: a hook that raises ends the agent
            self.live.hook_failed(error)
            decision = self._gate.failed(type(error).__name__)
        if not decision.passed:
            self._reject(state, capture.id, decision.reasons)

    async def run_async(self, state: State) -> None:
        """
        Like `run`, without blocking the loop.

        :param state: The agent's state at the end of its run.
        """
        if self._gate is None:
            self.run(state)
        else:
            await in_thread(copy_context().run, self.run, state)

    def _captured(self, state: State) -> Capture | None:
        if is_judging():
            return None
        try:
            here = HERE.get()
            return Capture(
                translate=_sample,
                needs_contexts=self.needs_contexts,
                name=self.name,
                history=list(state.data.get("messages") or ()),
                data={"here": here, "rules": self._rules},
                noted=noted_here(),
                session=session_in(state.data) or (session_in(here.run.inputs) if here else None),
            )
        except Exception as error:  # the boundary to the host: a hook that raises ends the agent
            self.live.hook_failed(error)
            return None

    def _reject(self, state: State, capture_id: str, reasons: Sequence[str]) -> None:
        meta = {"evaluation": {"id": capture_id, "status": "rejected", "reasons": list(reasons)}}
        messages = [*state.data["messages"][:-1], ChatMessage.from_assistant(self.rejected_answer, meta=meta)]
        state.set("messages", messages, handler_override=replace_values)
        # `stop_run` is read before another call of the model, if some other hook has the agent go on
        for key in ("stop_run", "exit_reason"):
            if key in state.schema:
                state.set(key, REJECTED)


def _sample(capture: Capture) -> Sample:
    """The sample of an agent's state; the current run knows the model's request for its last message."""
    messages: list[ChatMessage] = capture.history
    here: Here | None = capture.data["here"]
    wiring = Wiring(here.run.root if here else None, capture.data["rules"])
    asked = {"messages": messages[:-1]}
    run = CapturedRun(
        inputs=asked,
        outputs={"messages": messages},
        session=capture.session,
        answered_by=wiring.agents_last(here.visit) if here else [Call(kind="model", name="agent", inputs=asked)],
    )
    return wiring.sample(run)
