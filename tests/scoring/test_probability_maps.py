"""Maps of probabilities, by hand and beside scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.scoring.probability_maps import (
    Knots,
    LogitLine,
    at_knots,
    isotonic_fit,
    on_line,
    platt_fit,
)

# few distinct probabilities, so that many are equal
labelled = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=60
)


def test_neighbours_that_fall_are_pooled_by_hand():
    # shares 0, 1, 0, 1: the second and third fall, and become 1/2; equal ones at 0.9 have the share 2/3
    p = [0.1, 0.4, 0.6, 0.9, 0.9, 0.9]
    assert isotonic_fit(p, [False, True, False, True, True, False]) == Knots(
        (0.1, 0.4, 0.6, 0.9), (0.0, 0.5, 0.5, 2 / 3)
    )


def test_of_equal_neighbours_only_the_ends_are_knots():
    assert isotonic_fit([0.1, 0.2, 0.3], [True] * 3) == Knots((0.1, 0.3), (1.0, 1.0))


@given(labelled)
def test_isotonic_regression_is_scikit_learns(pairs):
    oracle = pytest.importorskip("sklearn.isotonic").IsotonicRegression(out_of_bounds="clip")
    p, y = zip(*pairs, strict=True)
    oracle.fit(p, [float(each) for each in y])
    knots, places = isotonic_fit(p, y), np.linspace(0, 1, 101)
    assert [at_knots(knots, each) for each in places] == pytest.approx(oracle.predict(places), abs=1e-12)


@given(labelled)
def test_an_isotonic_map_rises_and_keeps_the_number_of_confirmed_verdicts(pairs):
    p, y = zip(*pairs, strict=True)
    knots = isotonic_fit(p, y)
    assert list(knots.outputs) == sorted(knots.outputs)
    assert sum(at_knots(knots, each) for each in p) == pytest.approx(sum(y))


def test_log_odds_on_the_line_by_hand():
    # odds 4: half of their logarithm are odds of 2
    assert on_line(LogitLine(0.5, 0.0), 0.8) == pytest.approx(2 / 3)
    assert on_line(LogitLine(1.0, 0.0), 0.37) == pytest.approx(0.37)
    assert on_line(LogitLine(2000.0, 0.0), 0.0) == 0.0
    assert on_line(LogitLine(2000.0, 0.0), 1.0) == 1.0


def test_one_probability_alone_gives_platts_target_mean():
    # 3 of 4 confirmed at one half: the mean of 4/5 (three times) and 1/3
    line = platt_fit([0.5] * 4, [True, True, True, False])
    assert on_line(line, 0.5) == pytest.approx((3 * 4 / 5 + 1 / 3) / 4)


@given(labelled)
def test_platt_scaling_is_scikit_learns_logistic_regression_on_platts_targets(pairs):
    linear = pytest.importorskip("sklearn.linear_model")
    p, y = (np.array(each) for each in zip(*pairs, strict=True))
    if len(set(p)) < 2:  # the slope is open
        return
    clipped = np.clip(p, 1e-6, 1 - 1e-6)
    odds = np.log(clipped / (1 - clipped))
    target = np.where(y, (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2))
    oracle = linear.LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    # each verdict once as confirmed and once as not, with its target as the weight
    oracle.fit(np.tile(odds, 2)[:, None], [1] * len(p) + [0] * len(p), np.concatenate([target, 1 - target]))
    places = np.linspace(0.05, 0.95, 19)
    expected = oracle.predict_proba(np.log(places / (1 - places))[:, None])[:, 1]
    line = platt_fit(p.tolist(), y.tolist())
    assert [on_line(line, each) for each in places] == pytest.approx(expected, abs=1e-6)


def test_a_calibrated_judge_keeps_its_probabilities():
    # at each probability that share is confirmed, of 1000 each
    p = [share for share in (0.1, 0.3, 0.5, 0.7, 0.9) for _ in range(1000)]
    y = [number < 1000 * share for share in (0.1, 0.3, 0.5, 0.7, 0.9) for number in range(1000)]
    slope, intercept = platt_fit(p, y)
    assert slope == pytest.approx(1, abs=0.01)
    assert intercept == pytest.approx(0, abs=0.01)
