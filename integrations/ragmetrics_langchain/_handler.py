"""The callback handler."""

from collections.abc import Callable, Iterable
from typing import Unpack

from ragmetrics_core.adapting import Fields, Rules
from ragmetrics_core.boundary import listing_settings
from ragmetrics_core.live import LiveFace, LiveScorer
from ragmetrics_core.runs import Metrics
from ragmetrics_langchain._hooks import Hooks
from ragmetrics_langchain._recorder import Recorder, Scope
from ragmetrics_langchain._runs import RootRun
from ragmetrics_langchain._scorer import SCORER_DEFAULTS, ScorerArgs, live_scorer
from ragmetrics_langchain._tools import ContextTools, label_names, tool_names

__all__ = ["RagMetricsCallbackHandler"]


class RagMetricsCallbackHandler(LiveFace, Hooks):
    """Score every answered question of a running LangChain or LangGraph application.

    Pass it like any callback: `chain.invoke(question, {"callbacks": [handler]})`, or attach it to the whole
    process with `install(handler)`. One handler serves any number of applications, threads and event loops.

    Args:
        metrics: names or objects, as for `evaluate`.
        judge: a LangChain chat model, any callable from prompt to reply, a judge, or a name such as
            "embedded".
        embedder: LangChain embeddings, an embedder, or a name.
        scorer: a model that rates pairs, for metrics that need one.
        live: a live scorer shared with other handlers, instead of metrics, models and live settings. Closing
            the handler closes it for all of them.
        settings: the live settings as one object.
        scope: the runs that become samples. "root": each outermost run. "outermost_rag": the same, but for a
            run that returns a list of answers, the outermost runs inside it that answer one question each. A
            run's name, or a function of `RunInfo`: the outermost matching runs.
        extract: takes a `RootRun` and returns a sample's fields by name, or None; see `Rules`.
        input_key: the input that is the question.
        context_key: the output or input that holds the contexts.
        answer_key: the output that is the answer.
        context_tools: the only tools whose text is evidence: a name, a tool, or several. Default: all tools.
        evidence: names of nodes and functions whose text is evidence as well, such as a web search.
        not_evidence: names of nodes, retrievers and tools whose text is not evidence.
        system_message: use the model's system message as the context if no contexts are found. It also
            contains instructions, as the label `found_contexts` says.
        needs_contexts: skip answers for which nothing was retrieved, counted as "no_contexts".
        session_key: the entry of a run's metadata or configuration that names the conversation. Default:
            "thread_id", "session_id" or "conversation_id".
        label_keys: entries of a run's metadata that become labels of its sample, such as "tenant".
        max_open: maximum number of open outermost runs; beyond that the longest inactive one is dropped.
        ttl: seconds of inactivity after which an open run is dropped.
        keywords: single live settings, as for `LiveScorer`: `mode`, `out`, `sample_rate`, `concurrency` and
            the others of `LiveArgs`.

    Raises:
        ConfigError: an argument is invalid.
    """

    @listing_settings(ScorerArgs, SCORER_DEFAULTS)
    def __init__(
        self,
        metrics: Metrics = (),
        *,
        scope: Scope = "root",
        extract: Callable[[RootRun], Fields | None] | None = None,
        input_key: str | None = None,
        context_key: str | None = None,
        answer_key: str | None = None,
        context_tools: ContextTools = (),
        evidence: str | Iterable[str] = (),
        not_evidence: ContextTools = (),
        system_message: bool = False,
        needs_contexts: bool = False,
        session_key: str | None = None,
        label_keys: Iterable[str] = (),
        max_open: int = 10_000,
        ttl: float = 900.0,
        **keywords: Unpack[ScorerArgs],
    ) -> None:
        rules = Rules(
            input_key=input_key,
            context_key=context_key,
            answer_key=answer_key,
            context_tools=tool_names(context_tools),
            evidence=tool_names(evidence, "evidence"),
            not_evidence=tool_names(not_evidence, "not_evidence"),
            system_message=system_message,
        )
        self._live = live_scorer(metrics, **keywords)
        self._recorder = Recorder(
            self._live,
            rules,
            extract=extract,
            scope=scope,
            needs_contexts=needs_contexts,
            session_key=session_key,
            label_keys=label_names(label_keys),
            max_open=max_open,
            ttl=ttl,
        )
        super().__init__(self._recorder)

    # What becomes of it: what `LiveFace` has, and

    @property
    def live(self) -> LiveScorer:
        """The live scorer, which several handlers of an application may share."""
        return self._live

    @property
    def open_runs(self) -> int:
        """Number of open runs: 0 if no application is running."""
        return len(self._recorder.open)
