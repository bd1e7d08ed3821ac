"""Means and shares with their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")
pytest.importorskip("statsmodels", reason="statsmodels is not installed")

from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ragmetrics_core.study._bootstrap import bootstrap_mean
from ragmetrics_core.study._intervals import (
    Estimate,
    Summary,
    beta_interval,
    mean_interval,
    mean_of,
    summary_of,
    wilson_interval,
)

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_wilson_is_that_of_statsmodels(counts):
    hits, n = counts
    found = wilson_interval(hits, n)
    low, high = proportion_confint(hits, n, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


@given(COUNTS)
def test_jeffreys_is_that_of_statsmodels_away_from_the_ends(counts):
    hits, n = counts
    found = beta_interval(hits, n)
    low, high = proportion_confint(hits, n, method="jeffreys")
    # at 0 and n hits the end that lies there is 0 or 1, as Brown, Cai and DasGupta say
    assert found.low == pytest.approx(low if hits else 0.0, abs=1e-9)
    assert found.high == pytest.approx(high if hits < n else 1.0, abs=1e-9)


@given(COUNTS)
def test_a_share_lies_within_its_interval_and_the_interval_within_0_and_1(counts):
    for found in (wilson_interval(*counts), beta_interval(*counts)):
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_share_of_nothing_is_undefined():
    assert wilson_interval(0, 0) == beta_interval(0, 0) == Estimate(None)


def test_a_mean_has_students_interval():
    values = [0.0, 0.2, 0.4, 1.0, 1.0]
    low, high = stats.t.interval(0.95, 4, loc=0.52, scale=stats.sem(values))
    found = mean_of(values)
    assert found.value == pytest.approx(0.52)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_a_single_value_has_no_interval():
    assert mean_interval(Summary(0.5, 0.0, 1)) == Estimate(0.5)


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
