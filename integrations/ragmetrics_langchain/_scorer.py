"""A live scorer that takes LangChain's models."""

from collections.abc import Iterable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import Any, Unpack

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable
from typing_extensions import TypeIs

from ragmetrics_core import Embedder, Judge, Metric
from ragmetrics_core.adapting import harmless
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Capture, LiveArgs, LiveResult, LiveScorer, LiveSettings, check_alone
from ragmetrics_core.protocol import Scorer, TextFunction
from ragmetrics_langchain._embedder import LangChainEmbedder
from ragmetrics_langchain._judge import LangChainJudge
from ragmetrics_langchain._tools import ContextWays

__all__ = ["live_scorer", "scored_beside"]


def live_scorer(
    metrics: str | Metric[Any] | Iterable[str | Metric[Any]],
    *,
    judge: Judge | Runnable[Any, Any] | TextFunction | str | None = None,
    embedder: Embedder | Embeddings | str | None = None,
    scorer: Scorer | str | None = None,
    live: LiveScorer | None = None,
    settings: LiveSettings | None = None,
    ways: ContextWays | None = None,
    **keywords: Unpack[LiveArgs],
) -> LiveScorer:
    """A live scorer that takes LangChain's models too, or the one that is given as `live`.

    The other arguments are those of `LiveScorer`.

    Raises:
        ConfigError: a mistake in the arguments, something beside a live scorer that it has itself, or a model
            that can only be asked asynchronously.
    """
    if live is not None:
        check_alone(metrics, judge, embedder, scorer, settings, **keywords)
        return live
    own_judge = LangChainJudge(judge) if _is_runnable(judge) else judge
    own_embedder = LangChainEmbedder(embedder) if isinstance(embedder, Embeddings) else embedder
    for model in (own_judge, own_embedder):
        if isinstance(model, LangChainJudge | LangChainEmbedder) and model.is_asynchronous_only:
            raise ConfigError(
                f"{model.identity} can only be asked asynchronously. Its client belongs to the application's "
                "event loop, and judging happens in threads beside it: give it a synchronous side "
                "(`_generate`, `embed_documents`, RunnableLambda(function, afunc=...)) or pass another model"
            )
    return LiveScorer(
        metrics,
        judge=own_judge,
        embedder=own_embedder,
        scorer=scorer,
        settings=settings,
        ways=ways or ContextWays(),
        **keywords,
    )


def scored_beside(live: LiveScorer, capture: Capture) -> "Future[LiveResult]":
    """Score a capture in a thread of its own: who runs out of time waits no longer, and nothing is held up.

    What is scored later goes to the sinks all the same.
    """
    done: Future[LiveResult] = Future()

    def score() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(live.score(capture))
        except BaseException as error:  # whatever it is, the future hands it over
            done.set_exception(harmless(error))

    # the context goes along, so that sinks find the span that is open here
    Thread(target=copy_context().run, args=(score,), name="ragmetrics-waiting", daemon=True).start()
    return done


def _is_runnable(judge: object) -> TypeIs[Runnable[Any, Any]]:
    return isinstance(judge, Runnable)
