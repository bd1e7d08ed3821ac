"""Tests, their adjustment, and effect sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")
pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from ragmetrics_core.study._distributions import mann_whitney
from ragmetrics_core.study._intervals import Estimate, Summary
from ragmetrics_core.study._significance import (
    effect_size,
    holm,
    mcnemar,
    welch,
)

SUMMARIES = st.builds(
    Summary, st.floats(0, 1), st.floats(0.01, 0.6).map(lambda sd: round(sd, 3)), st.integers(2, 600)
)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(SUMMARIES, SUMMARIES, st.sampled_from(["two-sided", "greater", "less"]))
def test_welch_is_scipys(x, y, alternative):
    found = welch(x, y, alternative=alternative)
    numbers = (x.mean, x.sd, x.n, y.mean, y.sd, y.n)
    expected = stats.ttest_ind_from_stats(*numbers, equal_var=False, alternative=alternative).pvalue
    assert found == pytest.approx(expected, abs=1e-12)


def test_welch_is_undefined_without_spread_or_values():
    assert welch(Summary(0.5, 0.0, 9), Summary(0.6, 0.0, 9)) is None
    assert welch(Summary(0.5, 0.1, 1), Summary(0.6, 0.1, 9)) is None


def test_an_effect_of_one_standard_deviation_is_one():
    # both sds are 0.2, the means are 0.2 apart
    found = effect_size(Summary(0.7, 0.2, 50), Summary(0.5, 0.2, 50))
    assert found.value == pytest.approx(1.0)
    # Bonett's variance by hand: d^2 (2 v^2/49) / (8 v^2) + (2 v / 49) / v = 2/(8*49) + 2/49
    half = 1.959963984540054 * np.sqrt(2 / (8 * 49) + 2 / 49)
    assert (found.low, found.high) == pytest.approx((1 - half, 1 + half))


def test_an_effect_without_spread_is_undefined():
    assert effect_size(Summary(0.7, 0.0, 50), Summary(0.5, 0.0, 50)) == Estimate(None)


@settings(max_examples=20)  # statsmodels collects all garbage at each call: long, late in a test run
@given(P_VALUES)
def test_holm_is_that_of_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


def test_a_test_without_p_does_not_count_as_a_test():
    assert holm([0.02, None]) == [0.02, None]


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_statsmodels(gained, lost):
    table = [[3, gained], [lost, 4]]
    expected = statsmodels_mcnemar(table, exact=True).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected)


def test_rank_tests_are_scipys():
    x, y = [0.0, 0.5, 1.0, 1.0, 1.0], [0.0, 0.0, 0.25, 1.0]
    expected = stats.mannwhitneyu(x, y, alternative="greater").pvalue
    assert mann_whitney(x, y, alternative="greater") == expected


def test_rank_tests_without_a_difference_or_a_value_say_so():
    assert mann_whitney([1.0, 1.0], [1.0], alternative="two-sided") is None
    assert mann_whitney([], [1.0], alternative="two-sided") is None
