"""ragmetrics in LangChain: applications that score themselves, and LangChain's models as judges."""

from ragmetrics_langchain.embedder import LangChainEmbedder
from ragmetrics_langchain.handler import RagMetricsCallbackHandler
from ragmetrics_langchain.installing import Installed, install
from ragmetrics_langchain.judge import LangChainJudge
from ragmetrics_langchain.langsmith import LangSmithFeedbackSink, as_langsmith_evaluator
from ragmetrics_langchain.seen import Retrieval, RootRun, RunInfo
from ragmetrics_langchain.step import above, below, score_step

__all__ = [
    "Installed",
    "LangChainEmbedder",
    "LangChainJudge",
    "LangSmithFeedbackSink",
    "RagMetricsCallbackHandler",
    "Retrieval",
    "RootRun",
    "RunInfo",
    "above",
    "as_langsmith_evaluator",
    "below",
    "install",
    "score_step",
]
