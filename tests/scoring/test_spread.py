"""How far a score would move if it were measured again: a nested random effects model by hand."""

import math

import pytest

from ragmetrics_core import scoring

NOTHING = (None, None, None, 0)


@pytest.mark.parametrize("samples", [[], [[]], [[[0.5]]], [[[0.5, 1.0]], [[0.2]]]])
def test_samples_that_were_measured_once_say_nothing_about_the_spread(samples):
    assert scoring.nested_spread(samples) == NOTHING


def test_with_one_vote_each_only_the_total_is_known():
    # the mean of 0, 0.5 and 1 is 0.5; (0.25 + 0 + 0.25) / 2 = 0.25, whose root is 0.5
    assert scoring.nested_spread([[[0.0], [0.5], [1.0]]]) == (0.5, None, None, 1)


def test_a_sample_that_was_measured_once_does_not_dilute_the_others():
    # of the second sample: the mean is 0.5; (0.25 + 0.25) / 1 = 0.5
    spread = scoring.nested_spread([[[0.9]], [[0.0], [1.0]]])
    assert spread == (pytest.approx(math.sqrt(0.5)), None, None, 1)


def test_variances_are_averaged_over_samples():
    # 0.5 of the first sample (0 and 1), 0 of the second: 0.25 on average
    assert scoring.nested_spread([[[0.0], [1.0]], [[0.7], [0.7]]]) == (0.5, None, None, 2)


def test_both_kinds_of_spread_are_told_apart():
    # within: votes 0 and 0.5 have the variance 0.125, votes 1 and 1 have 0: 0.0625 on average
    # between: the means 0.25 and 1 have the variance (0.375² + 0.375²) / 1 = 0.28125
    # statements: 0.28125 - 0.0625 / 2 votes = 0.25; total: 0.0625 + 0.25
    spread = scoring.nested_spread([[[0.0, 0.5], [1.0, 1.0]]])
    assert spread == pytest.approx((math.sqrt(0.3125), 0.25, 0.5, 1))


def test_a_repetition_with_one_vote_has_no_spread_within():
    # within: only votes 0 and 1 can differ, 0.5; both means are 0.5, so nothing is left for the statements
    spread = scoring.nested_spread([[[0.0, 1.0], [0.5]]])
    assert spread == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0, 1))
