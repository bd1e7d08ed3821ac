"""Receivers by the names of the tools."""

from collections.abc import Callable

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.feedback._langfuse import LangfuseReceiver
from ragmetrics_core.feedback._langsmith import LangSmithReceiver
from ragmetrics_core.feedback._mlflow import MLflowReceiver
from ragmetrics_core.feedback._otlp import OTLPReceiver
from ragmetrics_core.feedback._phoenix import PhoenixReceiver
from ragmetrics_core.feedback._receivers import Receiver

__all__ = ["receiver_named"]


def receiver_named(
    name: str, *, url: str | None = None, project: str | None = None, corrections: bool = False
) -> Receiver:
    """The receiver for a tool, with keys and settings from the environment as its client reads them.

    Args:
        name: "phoenix", "mlflow", "langfuse", "langsmith" or "otlp".
        url: address of the tool; by default the client's own.
        project: for LangSmith, the project of the traces.
        corrections: for Langfuse, also write the decisions of persons.

    Raises:
        ConfigError: there is no such receiver, or its client is not installed.
    """
    makers: dict[str, Callable[[], Receiver]] = {
        "phoenix": lambda: PhoenixReceiver(url=url),
        "mlflow": lambda: MLflowReceiver(url=url),
        "langfuse": lambda: LangfuseReceiver(url=url, corrections=corrections),
        "langsmith": lambda: LangSmithReceiver(url=url, project=project),
        "otlp": lambda: OTLPReceiver(url=url),
    }
    if name not in makers:
        raise ConfigError(f"scores can be sent to {', '.join(makers)}, not {name!r}")
    for option, is_given, tool in (
        ("project", project, "langsmith"),
        ("corrections", corrections, "langfuse"),
    ):
        if is_given and name != tool:
            raise ConfigError(f"{option} is a setting for {tool}, not for {name}: leave it out")
    return makers[name]()
