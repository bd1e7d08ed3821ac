"""Scores of made-up runs."""

from collections.abc import Callable

import pytest

from ragmetrics_core.study import Scores

FAITHFULNESS, CORRECTNESS = "faithfulness/strict.1", "factual_correctness/strict.1"


@pytest.fixture
def scores() -> Callable[..., Scores]:
    """Make a run: `scores("a", faithfulness=[0.5, None], labels={"right": [True, False]})`."""

    def made(
        name: str = "a", *, labels=None, absent="undefined", signatures=None, lower=(), ranges=None, **columns
    ) -> Scores:
        count = len(next(iter(columns.values())))
        ids = [f"s{number}" for number in range(1, count + 1)]
        signed = {metric: (signatures or {}).get(metric, f"{metric}/strict.1") for metric in columns}
        values, missing = {}, {}
        for metric, column in columns.items():
            pairs = list(zip(ids, column, strict=True))
            values[signed[metric]] = {each: value for each, value in pairs if value is not None}
            missing[signed[metric]] = {each: absent for each, value in pairs if value is None}
        rows = [
            dict(zip(labels or (), row, strict=True)) for row in zip(*(labels or {}).values(), strict=True)
        ]
        return Scores(
            name=name,
            values=values,
            absent=missing,
            labels=dict(zip(ids, rows or [{} for _ in ids], strict=True)),
            questions={each: f"question {each}" for each in ids},
            lower_is_better=frozenset(signed[each] for each in lower),
            ranges={signed[each]: ends for each, ends in (ranges or {}).items()},
        )

    return made
