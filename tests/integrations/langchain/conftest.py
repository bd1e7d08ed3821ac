"""Handlers for the tests; without langchain-core there is nothing to test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ragmetrics_core import Sample

pytest.importorskip(
    "langchain_core", reason="langchain-core is not installed (pip install 'ragmetrics-core[langchain]')"
)

MakeHandler = Callable[..., Any]


@pytest.fixture
def make_handler() -> Iterator[MakeHandler]:
    """Makes handlers that measure faithfulness by word rules, and closes them."""
    from ragmetrics_langchain import RagMetricsCallbackHandler

    made: list[RagMetricsCallbackHandler] = []

    def make(metrics: Any = "faithfulness", **options: Any) -> RagMetricsCallbackHandler:
        made.append(RagMetricsCallbackHandler(metrics, **{"judge": "embedded"} | options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def handler(make_handler: MakeHandler) -> Any:
    """It scores one after another, so that its results come in the order of the answers."""
    return make_handler(concurrency=1)


@pytest.fixture
def only_sample() -> Callable[[Any], Sample]:
    """The one sample that a handler has scored."""

    def find(handler: Any) -> Sample:
        assert handler.flush()
        assert handler.stats.errors == []
        (result,) = handler.results
        return result.sample

    return find
