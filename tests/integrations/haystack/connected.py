"""A pipeline with a connector, and what it took from there."""

from typing import Any

from haystack import Pipeline
from ragmetrics_core import Sample

from haystack_integrations.components.evaluators.ragmetrics import RagMetricsConnector

__all__ = ["QUESTION", "connected", "found", "samples"]

QUESTION = "What is the capital of France?"


def connected(pipeline: Pipeline, **options: Any) -> RagMetricsConnector:
    connector = RagMetricsConnector(**{"chat_generator": "embedded"} | options)
    pipeline.add_component("scores", connector)
    return connector


def samples(connector: RagMetricsConnector) -> list[Sample]:
    assert connector.flush()
    return [result.sample for result in connector.live.results]


def found(sample: Sample) -> dict[str, Any]:
    """By which rules its fields were found."""
    return {
        name: value for name, value in sample.labels.items() if name.startswith("found_") and name != "found_standalone"
    }
