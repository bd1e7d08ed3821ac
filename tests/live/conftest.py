"""Scorers that are closed when their test is over."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ragmetrics_core.live import LiveScorer

MakeScorer = Callable[..., LiveScorer]


@pytest.fixture
def live() -> Iterator[MakeScorer]:
    """Makes scorers of faithfulness by word rules."""
    made: list[LiveScorer] = []

    def make(metrics: Any = "faithfulness", **options: Any) -> LiveScorer:
        given = {} if {"judge", "judge_factory"} & set(options) else {"judge": "embedded"}
        made.append(LiveScorer(metrics, **given, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
