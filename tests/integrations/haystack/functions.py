"""Functions that components take, where a saved pipeline can find them."""

from ragmetrics_core import Sample
from ragmetrics_core.live import LiveResult, MemorySink, Sink

__all__ = ["ANN", "HEARD", "MADE", "always_paris", "hear", "to_memory", "without_ann"]

ANN = "Ann-Sophie Waldstein"
HEARD: list[LiveResult] = []
MADE: list[MemorySink] = []


def without_ann(text: str) -> str:
    """The text without Ann."""
    return text.replace(ANN, "[name]")


def hear(result: LiveResult) -> None:
    """Note a result."""
    HEARD.append(result)


def to_memory() -> Sink:
    """A new sink each time."""
    MADE.append(MemorySink())
    return MADE[-1]


def always_paris(sample: Sample) -> str | None:
    """What is expected, whatever was asked."""
    return "Paris."
