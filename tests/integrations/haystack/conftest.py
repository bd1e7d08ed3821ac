"""Haystack for tests: no usage statistics, and the tracer of the process as it was."""

import os
from collections.abc import Iterator

import pytest

# Haystack reads it when it is imported; without it every pipeline run reports to its makers.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

haystack = pytest.importorskip(
    "haystack", reason="the package haystack-ai is not installed (pip install 'ragmetrics[haystack]')"
)


@pytest.fixture(autouse=True)
def same_tracer() -> Iterator[None]:
    """Each test finds and leaves a process without tracing."""
    from haystack import tracing  # noqa: PLC0415  (not before the variable is set)

    from haystack_integrations.components.evaluators.ragmetrics import RagMetricsTracer  # noqa: PLC0415

    yield
    RagMetricsTracer.uninstall()
    tracing.disable_tracing()
