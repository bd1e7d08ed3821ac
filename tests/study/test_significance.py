"""Tests, their adjustment, and effect sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")
pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from statsmodels.stats.multitest import multipletests

from ragmetrics_core.study._distributions import mann_whitney
from ragmetrics_core.study._parts import Estimate, MeanPart
from ragmetrics_core.study._tests import effect_size, holm, mean_test

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def groups(one, other):
    names = list(range(len(one) + len(other)))
    return MeanPart(one, names[: len(one)]), MeanPart(other, names[len(one) :])


def test_welch_and_effect_are_undefined_without_spread_or_values():
    for one, other in (([0.5] * 9, [0.6] * 9), ([0.5], [0.6, 0.7, 0.8])):
        assert mean_test(*groups(one, other)) is None
        assert effect_size(*groups(one, other)) == Estimate(None)


def test_an_effect_of_one_standard_deviation_is_one():
    # both variances are v = 1/49 * 50 * 0.04, the means are one sd apart
    one, other = np.tile([0.5, 0.9], 25), np.tile([0.3, 0.7], 25)
    apart = one.std(ddof=1)
    found = effect_size(*groups(other + apart, other))
    assert found.value == pytest.approx(1.0)
    # Bonett's variance by hand: d^2 (2 v^2/49) / (8 v^2) + (2 v / 49) / v = 2/(8*49) + 2/49
    half = 1.959963984540054 * np.sqrt(2 / (8 * 49) + 2 / 49)
    assert (found.low, found.high) == pytest.approx((1 - half, 1 + half))


@settings(max_examples=20)  # statsmodels collects all garbage at each call: long, late in a test run
@given(P_VALUES)
def test_holm_is_that_of_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


def test_a_test_without_p_does_not_count_as_a_test():
    assert holm([0.02, None]) == [0.02, None]


def test_rank_tests_without_a_difference_or_a_value_say_so():
    assert mann_whitney([1.0, 1.0], [1.0], alternative="two-sided") is None
    assert mann_whitney([], [1.0], alternative="two-sided") is None
