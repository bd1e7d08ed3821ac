"""Means and shares with their intervals, which know the ends of the range."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")
pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ragmetrics_core.study._estimates import Estimate, mean_of, score_mean, summary_of, wilson_interval
from ragmetrics_core.study._resampling import bootstrap_mean

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_wilson_is_that_of_statsmodels(counts):
    hits, n = counts
    found = wilson_interval(hits, n)
    low, high = proportion_confint(hits, n, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


def test_a_share_of_nothing_is_undefined():
    assert wilson_interval(0, 0) == Estimate(None)


def test_a_single_value_has_no_interval():
    assert mean_of([0.5]) == Estimate(0.5)


def test_no_value_has_no_mean():
    assert summary_of([]) is None
    assert mean_of([]) == bootstrap_mean([]) == Estimate(None)


def test_the_bootstrap_gives_the_same_interval_for_a_seed_and_another_for_another():
    values = [(i * i) % 97 / 96 for i in range(50)]
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, seed=1)
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)


def test_the_bootstrap_is_close_to_scipys():
    values = [i % 7 / 6 for i in range(80)]
    found = bootstrap_mean(values, count=5000)
    other = stats.bootstrap((values,), lambda x, axis: x.mean(axis=axis), method="percentile", random_state=1)
    assert found.low == pytest.approx(other.confidence_interval.low, abs=0.01)
    assert found.high == pytest.approx(other.confidence_interval.high, abs=0.01)


def test_constant_values_have_an_interval_of_no_width():
    assert bootstrap_mean([0.5] * 10) == Estimate(0.5, 0.5, 0.5)


def test_a_figure_is_written_with_the_digits_that_are_asked_for():
    figure = Estimate(0.1234, -0.001, 0.5)
    assert str(figure) == "0.123 (-0.001, 0.500)"
    assert f"{figure:+z.2f}" == "+0.12 (+0.00, +0.50)"
    assert f"{Estimate(0.5):.2f} {Estimate(None):.2f}" == "0.50 none"


def test_yes_no_scores_have_the_interval_of_a_share():
    found = score_mean([0.0] * 6 + [1.0] * 2)
    assert found == pytest.approx((0.25, *proportion_confint(2, 8, method="wilson")))
    # on a scale of 1 to 5 a share of 1/4 is a mean of 2
    scaled = score_mean([1.0] * 6 + [5.0] * 2, ends=(1.0, 5.0))
    assert scaled == pytest.approx([1 + 4 * each for each in found])


def test_scores_that_are_all_one_value_have_an_interval_as_wide_as_others_may_be_many():
    # of 40, none is another: at most the share 0.0876 (Wilson), which may lie anywhere from 0 to 1
    others = proportion_confint(0, 40, method="wilson")[1]
    assert score_mean([1.0] * 40) == pytest.approx((1.0, 1 - others, 1.0))
    assert score_mean([0.3] * 40) == pytest.approx((0.3, 0.3 - 0.3 * others, 0.3 + 0.7 * others))
    assert score_mean([2.0] * 40, ends=(0.0, inf)).low is None
    assert score_mean([1.0]) == (1.0, None, None)
    assert score_mean([]) == (None, None, None)


def test_an_interval_ends_where_the_range_does():
    values = [0.25, 1.0, 1.0]
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert (low < 0, high > 1) == (True, True)
    assert score_mean(values) == pytest.approx((0.75, 0.0, 1.0))
    assert score_mean(values, ends=(0.0, inf)) == pytest.approx((0.75, 0.0, high))


def test_clusters_count_where_scores_are_all_one_or_all_at_the_ends():
    clusters = [place // 4 for place in range(40)]
    others = proportion_confint(0, 10, method="wilson")[1]
    assert score_mean([1.0] * 40, clusters) == pytest.approx((1.0, 1 - others, 1.0))
    # every cluster is all yes or all no: they are worth ten samples, with Student's quantile for nine degrees
    share, naive = (score_mean([1.0] * 20 + [0.0] * 20, of) for of in (clusters, None))
    assert share.high - share.low > 1.5 * (naive.high - naive.low)
    assert score_mean([1.0] * 36, clusters[:36]).low is None
