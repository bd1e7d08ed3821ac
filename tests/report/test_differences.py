"""Intervals of means and of paired differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.report.html.differences import interval, paired

SCORES = st.lists(st.floats(0, 1).map(lambda value: round(value, 3)), min_size=2, max_size=30)


def test_equal_values_have_no_spread():
    assert interval([0.25] * 8) == (0.25, 0.25)


def test_one_value_has_no_interval():
    assert interval([0.5]) is None
    assert interval([]) is None


@given(SCORES)
def test_the_interval_stays_between_the_lowest_and_the_highest_value(values):
    low, high = interval(values)

    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


def test_the_interval_is_that_of_resampling_one_value_after_the_other():
    # drawing how often each distinct value occurs is the same as drawing samples; 20,000 plain resamples
    # of 40 values with the standard error 0.077 put the ends at 0.475 and 0.775, up to 0.0125 by chance
    values = [0.0] * 10 + [0.5] * 10 + [1.0] * 20
    drawn = np.random.default_rng(1).choice(values, size=(20_000, 40)).mean(axis=1)

    assert interval(values) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.0126)


def test_the_interval_is_the_same_every_time():
    values = [0.1, 0.4, 0.9, 0.3]

    assert interval(values) == interval(values)


def test_each_sample_is_compared_with_itself():
    # both means are 0.5 apart in no sample: the differences are 0.1 in all, so that the interval is a point
    found = paired([0.1, 0.5, 0.9], [0.2, 0.6, 1.0])

    assert found.mean == pytest.approx(0.1)
    assert found.interval == pytest.approx((0.1, 0.1))
    assert (found.n, found.up, found.down) == (3, 3, 0)
    assert found.verdict == "higher"


def test_a_difference_whose_interval_holds_zero_is_not_clear():
    # differences +0.5 and -0.5: a resample may hold either twice
    assert paired([0.0, 0.5], [0.5, 0.0]).verdict == "no clear difference"
    assert paired([0.5], [0.5]).verdict == "too few pairs"
    assert paired([], []).mean is None


@given(SCORES)
def test_the_difference_turns_its_sign_when_the_runs_change_places(values):
    other = values[::-1]
    there, back = paired(values, other), paired(other, values)

    assert there.mean == pytest.approx(-back.mean)
    assert (there.up, there.down) == (back.down, back.up)
