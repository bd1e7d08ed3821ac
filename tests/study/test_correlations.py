"""Correlations with their intervals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.study._coefficients import correlate, kendall

# scores pile up, so that ties are the rule
SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=4, max_size=40).filter(
    lambda pairs: all(len({pair[side] for pair in pairs}) > 1 for side in (0, 1))
)


def tau_of_pairs(x, y):
    """Pairs of pairs in one order less those in the other, over those that are not equal."""
    orders = [
        (np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in itertools.combinations(range(len(x)), 2)
    ]
    together = sum(one * other for one, other in orders)
    return together / math.sqrt(sum(one != 0 for one, _ in orders) * sum(other != 0 for _, other in orders))


@given(PAIRS)
def test_two_are_scipys_with_ties_and_kendalls_is_its_definition(pairs):
    x, y = zip(*pairs, strict=True)
    found = correlate(x, y, count=2)
    assert found.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall(x, y) == found.kendall.value == pytest.approx(tau_of_pairs(x, y), abs=1e-9)
    assert found.pearson.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


def test_the_resamples_of_kendall_are_those_of_drawn_pairs():
    # w' S w with weights is tau-b of the pairs repeated w times
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 5, 60).astype(float), generator.integers(0, 5, 60).astype(float)
    drawn = [stats.kendalltau(x[rows], y[rows]).statistic for rows in generator.integers(0, 60, (800, 60))]
    found = correlate(x, y, count=2000).kendall
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.04)


@pytest.mark.parametrize(
    ("x", "note"), [([1.0, 1.0, 1.0], "a column is constant"), ([0.1, 0.2], "2 pairs are too few")]
)
def test_what_has_no_correlation_has_a_reason(x, note):
    found = correlate(x, [0.1, 0.2, 0.3][: len(x)])
    assert (found.spearman.value, found.note) == (None, note)


def test_large_columns_get_an_interval_for_kendall_without_square_matrices():
    generator = np.random.default_rng(2)
    x = generator.normal(size=1600)
    y = x + generator.normal(size=1600)
    found = correlate(x, y, count=50).kendall
    # tau of normals with correlation r is 2/pi asin(r); r is 1/sqrt(2) here, so 0.5
    assert found.low < 0.5 < found.high
    assert found.high - found.low < 0.06


def test_few_pairs_and_a_perfect_order_have_no_interval_and_a_reason():
    # resamples of one order are that order again, or constant: (1, 1) would be an interval of no width
    few, perfect = correlate([1, 2, 3], [1, 3, 2]), correlate(range(20), range(20))
    assert (few.spearman.value, few.spearman.low) == (0.5, None)
    assert few.note == "3 pairs are too few for an interval"
    assert (perfect.kendall, perfect.pearson.low) == ((1.0, None, None), None)
    assert perfect.note == "both have one order: resamples give no interval"
