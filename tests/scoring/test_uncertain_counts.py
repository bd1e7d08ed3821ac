"""The distribution of a count of verdicts with probabilities, beside convolution and simulation."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.scoring.uncertain_counts import central_counts, poisson_binomial

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
