"""A sample that was recovered from a chain, and where its parts were found."""

from collections.abc import Callable
from typing import Any

from ragmetrics_core import Sample
from ragmetrics_langchain import RagMetricsCallbackHandler

__all__ = ["MakeHandler", "OnlySample", "found"]

OnlySample = Callable[[RagMetricsCallbackHandler], Sample]
MakeHandler = Callable[..., RagMetricsCallbackHandler]


def found(sample: Sample) -> dict[str, Any]:
    return {name: value for name, value in sample.labels.items() if name.startswith("found_")}
