"""Haystack for tests: no usage statistics, and the tracer of the process as it was."""

import os
import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest

# Haystack reads it when it is imported; without it every pipeline run reports to its makers.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

haystack = pytest.importorskip(
    "haystack", reason="the package haystack-ai is not installed (pip install 'ragmetrics-core[haystack]')"
)


@pytest.fixture(autouse=True)
def same_tracer() -> Iterator[None]:
    """Each test finds and leaves a process without tracing."""
    from haystack import tracing  # noqa: PLC0415  (not before the variable is set)

    from haystack_integrations.components.evaluators.ragmetrics import RagMetricsTracer  # noqa: PLC0415

    yield
    RagMetricsTracer.uninstall()
    tracing.disable_tracing()


# What Haystack 3 brought; a pipeline with `run_async` there was a class of its own before.
_SINCE_3 = re.compile(
    r"Pipeline' object has no attribute '(run_async|run_async_generator|stream|close|close_async|warm_up_async)'"
    r"|unexpected keyword argument '(hooks|allowed_modules|unsafe)'"
    r"|None of the following authentication environment variables are set"
)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Any:
    """Skip what the oldest Haystack cannot do, and say what that is."""
    try:
        return (yield)
    except (AttributeError, TypeError, ValueError) as error:
        if version("haystack-ai") < "3" and (missing := _SINCE_3.search(str(error))):
            pytest.skip(f"haystack-ai before 3: {missing[0]}")
        raise
