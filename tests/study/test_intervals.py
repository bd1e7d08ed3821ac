"""Means and shares with their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")
pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ragmetrics_core.study._parts import Estimate, mean_of, summary_of, wilson_interval
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
    other = stats.bootstrap((values,), lambda x, axis: x.mean(axis=axis), method="percentile", rng=1)
    assert found.low == pytest.approx(other.confidence_interval.low, abs=0.01)
    assert found.high == pytest.approx(other.confidence_interval.high, abs=0.01)


def test_constant_values_have_an_interval_of_no_width():
    assert bootstrap_mean([0.5] * 10) == Estimate(0.5, 0.5, 0.5)


def test_a_figure_is_written_with_the_digits_that_are_asked_for():
    figure = Estimate(0.1234, -0.001, 0.5)
    assert str(figure) == "0.123 (-0.001, 0.500)"
    assert f"{figure:+z.2f}" == "+0.12 (+0.00, +0.50)"
    assert f"{Estimate(0.5):.2f} {Estimate(None):.2f}" == "0.50 none"
