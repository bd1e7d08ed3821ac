"""ragmetrics in LangChain: live scores of applications, and LangChain's models as judges."""

from typing import TYPE_CHECKING

from ragmetrics_langchain._decisions import LangChainDecisions
from ragmetrics_langchain._embedder import LangChainEmbedder
from ragmetrics_langchain._handler import RagMetricsCallbackHandler
from ragmetrics_langchain._installing import Installed, install
from ragmetrics_langchain._judge import LangChainJudge
from ragmetrics_langchain._langsmith import LangSmithFeedbackSink, as_langsmith_evaluator
from ragmetrics_langchain._runs import RetrievedDocuments, RootRun, RunInfo
from ragmetrics_langchain._step import above, below, score_step

if TYPE_CHECKING:
    from ragmetrics_langchain._middleware import RagMetricsMiddleware, Rejection

__all__ = [
    "Installed",
    "LangChainDecisions",
    "LangChainEmbedder",
    "LangChainJudge",
    "LangSmithFeedbackSink",
    "RagMetricsCallbackHandler",
    "RagMetricsMiddleware",
    "Rejection",
    "RetrievedDocuments",
    "RootRun",
    "RunInfo",
    "above",
    "as_langsmith_evaluator",
    "below",
    "install",
    "score_step",
]

_IN_MIDDLEWARE = ("RagMetricsMiddleware", "Rejection")


def __getattr__(name: str) -> object:
    """Import the middleware on first use: it needs the package langchain."""
    if name not in _IN_MIDDLEWARE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ragmetrics_langchain import _middleware as middleware
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("langchain", "langgraph"):
            raise
        raise ImportError(
            f"{name} needs the package langchain, which is not installed: pip install langchain"
        ) from None
    return getattr(middleware, name)
