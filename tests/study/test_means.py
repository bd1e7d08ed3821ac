"""Means of scores: intervals that know the ends of the range, and what nothing tells of the spread."""

from math import inf

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ragmetrics_core.study._parts import score_mean


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
