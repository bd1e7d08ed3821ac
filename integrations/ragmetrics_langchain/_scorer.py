"""A live scorer that accepts LangChain's models."""

from collections.abc import Mapping
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, Unpack

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable

from ragmetrics_core import Embedder, Judge
from ragmetrics_core.adapting import in_own_thread
from ragmetrics_core.boundary import refuse_unknown
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import (
    LIVE_DEFAULTS,
    Capture,
    LiveArgs,
    LiveResult,
    LiveScorer,
    LiveSettings,
    check_alone,
)
from ragmetrics_core.models import DecisionJudge
from ragmetrics_core.protocol import Scorer, TextFunction
from ragmetrics_core.runs import Metrics
from ragmetrics_langchain._decisions import LangChainDecisions, is_decision_model
from ragmetrics_langchain._embedder import LangChainEmbedder
from ragmetrics_langchain._judge import LangChainJudge
from ragmetrics_langchain._tools import CONTEXT_WAYS

__all__ = ["SCORER_DEFAULTS", "ScorerArgs", "live_scorer", "scored_beside"]

_LANGCHAIN = (LangChainJudge, LangChainDecisions, LangChainEmbedder)


class ScorerArgs(LiveArgs, total=False):
    """Arguments of every function that scores live: models, and the live settings.

    Attributes:
        judge: a LangChain chat model or decision model, any callable from prompt to reply, a judge, or a
            name such as "embedded".
        embedder: LangChain embeddings, an embedder, or a name.
        scorer: a model that rates pairs, for metrics that need one.
        live: a live scorer, instead of metrics, models and live settings; it may be shared.
        settings: the live settings as one object.
    """

    judge: Judge | Runnable[Any, Any] | TextFunction | str | None
    embedder: Embedder | Embeddings | str | None
    scorer: Scorer | str | None
    live: LiveScorer | None
    settings: LiveSettings | None


_MODELS = ("judge", "embedder", "scorer")
SCORER_DEFAULTS: Mapping[str, Any] = {**LIVE_DEFAULTS, **dict.fromkeys((*_MODELS, "live", "settings"))}
"""Default values of these arguments."""


def live_scorer(
    metrics: Metrics,
    **keywords: Unpack[ScorerArgs],
) -> LiveScorer:
    """A live scorer that also accepts LangChain's models, or the one given as `live`.

    The other arguments are those of `LiveScorer`.

    Raises:
        ConfigError: an argument is invalid or conflicts with `live`, or a model has no synchronous interface.
    """
    refuse_unknown(keywords, *SCORER_DEFAULTS)
    given: dict[str, Any] = dict(keywords)
    live: LiveScorer | None = given.pop("live", None)
    if live is not None:
        check_alone(metrics, *(given.pop(name, None) for name in (*_MODELS, "settings")), **given)
        return live
    judge, embedder = given.get("judge"), given.get("embedder")
    asked: Any = judge
    if is_decision_model(judge):
        asked = LangChainDecisions(given["judge"])
        given["judge"] = DecisionJudge(decisions=asked)
    elif isinstance(judge, Runnable):
        given["judge"] = asked = LangChainJudge(given["judge"])
    if isinstance(embedder, Embeddings):
        given["embedder"] = embedder = LangChainEmbedder(embedder)
    for model in (asked, embedder):
        if isinstance(model, _LANGCHAIN) and model.is_asynchronous_only:
            raise ConfigError(
                f"{model.identity} has no synchronous interface. Its client belongs to the application's "
                "event loop, but judging runs in separate threads: add a synchronous method "
                "(`_generate`, `embed_documents`, RunnableLambda(function, afunc=...)) or pass another model"
            )
    return LiveScorer(metrics, ways=CONTEXT_WAYS, **given)


def scored_beside(live: LiveScorer, capture: Capture) -> "Future[LiveResult]":
    """Score a capture in a separate thread, so that a caller can stop waiting for it.

    Late scores still go to the sinks.
    """
    # the context goes along, so that sinks find the span that is open here
    return in_own_thread(copy_context().run, live.score, capture)
