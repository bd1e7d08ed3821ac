"""The callback handler: what LangChain calls."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack

from ragmetrics_core import Metric
from ragmetrics_core.adapting import Rules
from ragmetrics_core.keywords import unfolded
from ragmetrics_core.live import LiveFace, LiveScorer
from ragmetrics_langchain._hooks import Hooks
from ragmetrics_langchain._recorder import Recorder, Scope
from ragmetrics_langchain._runs import RootRun
from ragmetrics_langchain._scorer import SCORER_DEFAULTS, ScorerArgs, live_scorer
from ragmetrics_langchain._tools import ContextTools, ContextWays, label_names, tool_names

__all__ = ["RagMetricsCallbackHandler"]


class RagMetricsCallbackHandler(LiveFace, Hooks):
    """Scores every answered question of a LangChain or LangGraph application, while it runs.

    Pass it as any callback: `chain.invoke(question, {"callbacks": [handler]})`, or give it to the whole
    process with `install(handler)`. One handler serves any number of applications, threads and event loops.

    Args:
        metrics: names or objects, as for `evaluate`.
        judge: the model that judges: a LangChain chat model, any callable from prompt to reply, a judge, or a
            name such as "embedded".
        embedder: the model that makes vectors: LangChain embeddings, an embedder, or a name.
        scorer: the model that rates pairs, for metrics that need one.
        live: a live scorer that other handlers use too, in place of metrics, models and live settings.
            Closing the handler closes it, for all of them.
        settings: the live settings as one object.
        scope: which runs are samples. "root": each outermost run. "outermost_rag": the same, but of a run
            that gives a list of answers, the outermost runs inside it that answer one question each. A run's
            name, or a function of `RunInfo`: the outermost runs that it names.
        extract: takes a `RootRun` and returns fields of a sample by name, or None; see `Rules`.
        input_key: the input that is the question.
        context_key: the output or input that holds the contexts.
        answer_key: the output that is the answer.
        context_tools: tools whose text is a context, for those that give no documents: a name, a tool, or
            several.
        system_message: where no contexts are found, the model's system message is the context. It also holds
            instructions, and the label `found_contexts` says so.
        needs_contexts: leave out answers for which nothing was retrieved, counted as "no_contexts".
        session_key: the entry of a run's metadata that names the conversation.
        label_keys: entries of a run's metadata that become labels of its sample, such as "tenant".
        max_open: outermost runs that may be open at a time; the one that was quiet longest is given up.
        ttl: seconds without a new part after which an open run is given up.
        keywords: live settings one by one, as `LiveScorer` takes them: `mode`, `out`, `sample_rate`,
            `concurrency` and the others that `LiveArgs` describes.

    Raises:
        ConfigError: a mistake in the arguments.
    """

    @unfolded(ScorerArgs, SCORER_DEFAULTS)
    def __init__(
        self,
        metrics: str | Metric[Any] | Iterable[str | Metric[Any]] = (),
        *,
        scope: Scope = "root",
        extract: Callable[[RootRun], Mapping[str, Any] | None] | None = None,
        input_key: str | None = None,
        context_key: str | None = None,
        answer_key: str | None = None,
        context_tools: ContextTools = (),
        system_message: bool = False,
        needs_contexts: bool = False,
        session_key: str = "thread_id",
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
            system_message=system_message,
        )
        self._live = live_scorer(metrics, ContextWays(rules), **keywords)
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
        """The live scorer; the handlers of one application may share it."""
        return self._live

    @property
    def open_runs(self) -> int:
        """How many runs have begun and are remembered: 0 when no application is running."""
        return self._recorder.open_runs
