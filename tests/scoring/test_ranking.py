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


def test_average_precision_of_an_empty_list_is_undefined():
    assert scoring.average_precision([]) is None
    assert scoring.average_precision(np.array([], dtype=bool)) is None


def test_a_numpy_array_of_relevances_scores_like_a_list():
    assert scoring.average_precision(np.array([False, True])) == 0.5


@given(ranked)
def test_average_precision_agrees_with_its_definition(relevances):
    assert scoring.average_precision(relevances) == pytest.approx(by_definition(relevances), abs=1e-12)


@given(st.integers(1, 60), st.integers(0, 60))
def test_relevant_chunks_before_all_others_score_exactly_one(relevant, others):
    # no epsilon: other libraries give 0.9999999999
    assert scoring.average_precision([True] * relevant + [False] * others) == 1.0


@given(ranked)
def test_average_precision_is_zero_only_when_nothing_is_relevant(relevances):
    value = scoring.average_precision(relevances)
    assert 0 <= value <= 1
    assert (value == 0) == (not any(relevances))


@given(ranked, st.data())
def test_a_relevant_chunk_that_moves_up_one_rank_never_lowers_average_precision(relevances, data):
    place = data.draw(st.integers(0, len(relevances) - 1))
    if place and relevances[place] and not relevances[place - 1]:
        moved = [*relevances[: place - 1], True, False, *relevances[place + 1 :]]
        assert scoring.average_precision(moved) > scoring.average_precision(relevances)


def test_one_more_relevant_chunk_can_lower_average_precision():
    # [1, 0, 0]: 1; [1, 0, 1]: (1 + 2/3) / 2
    assert scoring.average_precision([True, False, True]) < scoring.average_precision([True, False, False])


def test_bounds_are_the_extremes_and_not_the_values_at_all_and_none_relevant():
    # unknown ranks 1 and 3 around an irrelevant one:
    # [0,0,0] 0, [1,0,0] 1, [0,0,1] 1/3, [1,0,1] 5/6: the highest is neither "all" (5/6) nor "none" (0)
    assert scoring.average_precision_bounds([None, False, None]) == (0.0, 1.0)


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=9))
def test_bounds_are_the_lowest_and_highest_over_all_completions(relevances):
    choices = [(False, True) if v is None else (v,) for v in relevances]
    values = [scoring.average_precision(completion) for completion in product(*choices)]
    assert scoring.average_precision_bounds(relevances) == (min(values), max(values))


@given(st.lists(st.sampled_from([True, False, None]), min_size=20, max_size=60), st.randoms())
def test_bounds_of_long_lists_contain_a_random_completion(relevances, random):
    bounds = scoring.average_precision_bounds(relevances)
    completion = [random.random() < 0.5 if v is None else v for v in relevances]
    assert 0 <= bounds.low <= scoring.average_precision(completion) <= bounds.high <= 1


@given(ranked)
def test_bounds_without_missing_verdicts_are_the_value_itself(relevances):
    value = scoring.average_precision(relevances)
    assert scoring.average_precision_bounds(relevances) == (value, value)


def test_bounds_of_an_empty_list_are_refused():
    with pytest.raises(
        ValueError, match=r"^average precision of an empty list is undefined, so it has no bounds$"
    ):
        scoring.average_precision_bounds([])
