"""The distribution of a count of verdicts with probabilities, beside convolution and simulation."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.scoring.uncertain_counts import central_counts, lowest_mean, poisson_binomial

probabilities = st.lists(st.floats(0, 1), max_size=40)


@given(probabilities)
def test_it_is_the_convolution_of_the_verdicts(given_probabilities):
    expected = reduce(np.convolve, ([1 - p, p] for p in given_probabilities), np.ones(1))
    assert poisson_binomial(given_probabilities) == pytest.approx(expected, abs=1e-12)


def test_equal_probabilities_are_a_binomial():
    # 4 verdicts at 1/2: 1, 4, 6, 4, 1 of 16
    assert poisson_binomial([0.5] * 4) == (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


@given(probabilities)
def test_what_lies_outside_of_the_interval_is_at_most_the_tail_on_either_side(given_probabilities):
    counts = poisson_binomial(given_probabilities)
    low, high = central_counts(given_probabilities)
    assert 0 <= low <= high <= len(given_probabilities)
    assert sum(counts[:low]) <= 0.05 + 1e-12
    assert sum(counts[high + 1 :]) <= 0.05 + 1e-12


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        poisson_binomial([0.5, wrong])


samples = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=6)


@given(samples, st.sampled_from([0.05, 0.25]))
def test_the_lower_end_of_a_mean_is_that_of_all_outcomes(given_samples, tail):
    # each outcome of each verdict, with its probability
    totals = {Fraction(0): 1.0}
    for shares in given_samples:
        for share in shares:
            step = Fraction(1, len(shares))
            after = dict.fromkeys({*totals, *(total + step for total in totals)}, 0.0)
            for total, probability in totals.items():
                after[total] += (1 - share) * probability
                after[total + step] += share * probability
            totals = after
    low = round(lowest_mean(given_samples, tail=tail) * len(given_samples) * 2520) / Fraction(2520)
    assert sum(probability for total, probability in totals.items() if total < low) <= tail + 1e-9
    assert sum(probability for total, probability in totals.items() if total <= low) >= tail - 1e-9


def test_the_lower_end_of_a_mean_by_hand():
    # of ten answers with one statement at 0.9: P(T < 7 of 10) = 0.0128, P(T < 8 of 10) = 0.0702
    assert lowest_mean([[0.9]] * 10) == 0.7
    # certain verdicts: their mean
    assert lowest_mean([[1.0, 0.0], [1.0]]) == 0.75


def test_the_convolution_of_two_sizes_is_scipys():
    signal = pytest.importorskip("scipy.signal")
    halves, thirds = [[0.8, 0.7]] * 9, [[0.9, 0.5, 0.6]] * 7
    # on a grid of sixths of a sample
    spread = [np.zeros(6 * 9 + 1), np.zeros(6 * 7 + 1)]
    spread[0][::3] = poisson_binomial([share for each in halves for share in each])
    spread[1][::2] = poisson_binomial([share for each in thirds for share in each])
    below = np.cumsum(signal.convolve(*spread, method="direct"))
    assert lowest_mean([*halves, *thirds]) == pytest.approx(np.argmax(below > 0.05) / 6 / 16, abs=1e-12)


def test_many_samples_of_many_sizes_are_close_to_the_normal_distribution():
    shares = [[0.7] * (1 + place % 23) for place in range(5000)]
    error = sum(0.7 * 0.3 / len(each) for each in shares) ** 0.5 / 5000
    assert lowest_mean(shares) == pytest.approx(0.7 - 1.645 * error, abs=5e-5)
