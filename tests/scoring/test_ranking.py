"""Average precision and its bounds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import scoring

ranked = st.lists(st.booleans(), min_size=1, max_size=40)


def by_definition(relevances):
    """Sum over k of P@k v_k, over the number of relevant results; every P@k counted afresh."""
    precision_at = [sum(relevances[:k]) / k for k in range(1, len(relevances) + 1)]
    total = sum(relevances)
    return sum(p * v for p, v in zip(precision_at, relevances, strict=True)) / total if total else 0.0


@pytest.mark.parametrize(
    ("relevances", "expected"),
    [
        ([0, 1], 0.5),  # France: the second chunk names Paris: (1/2) / 1
        ([0, 1, 0], 0.5),  # UK maternity leave: (1/2) / 1
        ([1, 0, 1], 5 / 6),  # (1/1 + 2/3) / 2
        ([1, 1, 0], 1.0),  # (1/1 + 2/2) / 2
        ([0, 0, 1, 1], 5 / 12),  # (1/3 + 2/4) / 2
        ([0, 0], 0.0),  # none relevant
    ],
)
def test_context_precision_of_ranked_chunks(relevances, expected):
    assert scoring.average_precision([bool(v) for v in relevances]) == pytest.approx(expected, abs=1e-15)


def test_a_numpy_array_of_relevances_scores_like_a_list():
    assert scoring.average_precision(np.array([False, True])) == 0.5
    assert scoring.average_precision(np.array([], dtype=bool)) is None


@given(ranked)
def test_average_precision_agrees_with_its_definition(relevances):
    assert scoring.average_precision(relevances) == pytest.approx(by_definition(relevances), abs=1e-12)


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=9))
def test_bounds_are_the_lowest_and_highest_over_all_completions(relevances):
    choices = [(False, True) if v is None else (v,) for v in relevances]
    values = [scoring.average_precision(completion) for completion in product(*choices)]
    assert scoring.average_precision_bounds(relevances) == (min(values), max(values))


def test_bounds_of_an_empty_list_are_refused():
    with pytest.raises(
        ValueError, match=r"^give at least one verdict: average precision of an empty list is undefined$"
    ):
        scoring.average_precision_bounds([])
