"""Scores of a run sent to the tools that hold the traces."""

from ragmetrics_core.feedback._langfuse import LangfuseReceiver
from ragmetrics_core.feedback._langsmith import LangSmithReceiver
from ragmetrics_core.feedback._mlflow import MLflowReceiver
from ragmetrics_core.feedback._names import receiver_named
from ragmetrics_core.feedback._otlp import OTLPReceiver
from ragmetrics_core.feedback._phoenix import PhoenixReceiver
from ragmetrics_core.feedback._receivers import Receiver
from ragmetrics_core.feedback._sending import Sent, send

__all__ = [
    "LangSmithReceiver",
    "LangfuseReceiver",
    "MLflowReceiver",
    "OTLPReceiver",
    "PhoenixReceiver",
    "Receiver",
    "Sent",
    "receiver_named",
    "send",
]
