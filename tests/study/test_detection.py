"""A metric as a detector of wrong answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.metrics import roc_auc_score, roc_curve

from ragmetrics_core.study._detection import area_under_curve, best_threshold, calibration, detect, roc_points

LABELLED = st.lists(
    st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]), st.booleans()), min_size=4, max_size=50
).filter(lambda rows: len({good for _, good in rows}) == 2)


def columns(rows):
    return np.array([score for score, _ in rows]), np.array([good for _, good in rows])


@given(LABELLED)
def test_the_area_is_that_of_scikit_learn(rows):
    scores, good = columns(rows)
    assert area_under_curve(scores, good).value == pytest.approx(roc_auc_score(good, scores))


@given(LABELLED)
def test_the_curve_is_that_of_scikit_learn(rows):
    scores, good = columns(rows)
    passed_wrong, passed_good, _ = roc_curve(good, scores, drop_intermediate=False)
    expected = list(zip(passed_wrong.tolist(), passed_good.tolist(), strict=True))
    assert list(roc_points(scores, good)) == [pytest.approx(point) for point in expected]


def test_the_variance_of_the_area_by_hand():
    # correct 0.5, 1.0; wrong 0.0, 0.5: the correct ones win 0.75 and 1 of their pairs, the wrong ones lose
    # 1 and 0.75; area 0.875; DeLong: var = 0.03125/2 + 0.03125/2 = 0.03125
    found = area_under_curve(np.array([0.5, 1.0, 0.0, 0.5]), np.array([True, True, False, False]))
    assert found.value == 0.875
    middle, half = np.log(7), 1.959963984540054 * np.sqrt(0.03125) / (0.875 * 0.125)
    assert found.low == pytest.approx(1 / (1 + np.exp(half - middle)))
    assert found.high == pytest.approx(1 / (1 + np.exp(-half - middle)))


def test_a_perfect_detector_is_not_certain():
    # 10 of 10 by Wilson: 1 / (1 + z^2/10) = 0.722
    scores, good = np.array([1.0] * 10 + [0.0] * 10), np.array([True] * 10 + [False] * 10)
    found = area_under_curve(scores, good)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.722, abs=1e-3)


def test_the_best_threshold_separates_what_can_be_separated():
    scores = np.array([0.9, 0.8, 0.7, 0.3, 0.2, 0.75])
    good = np.array([True, True, True, False, False, False])
    found = best_threshold(scores, good)
    # from 0.7 on: all three correct pass, two of three wrong are caught
    assert found.at.value == 0.7
    assert found.passed == 1.0
    assert found.caught == pytest.approx(2 / 3)
    assert found.at.low <= 0.7 <= found.at.high


def test_calibration_by_hand():
    # bins 0.1 wide: (0.05: wrong), (0.95, 1.0: correct, wrong)
    bins, error = calibration(np.array([0.05, 0.95, 1.0]), np.array([False, True, False]))
    assert [(each.n, each.mean, each.correct.value) for each in bins] == [(1, 0.05, 0.0), (2, 0.975, 0.5)]
    # 1/3 * 0.05 + 2/3 * 0.475
    assert error == pytest.approx(1 / 3 * 0.05 + 2 / 3 * 0.475)


def test_scores_that_are_no_shares_are_not_calibrated():
    assert detect([-0.5, 0.6], [False, True]).bins == ()


def test_where_lower_is_better_a_detector_is_as_good_as_its_complement():
    scores, good = [0.1, 0.0, 0.2, 0.9, 0.3, 0.8], [True, True, True, False, False, False]
    found = detect(scores, good, lower_is_better=True)
    complement = detect([1 - each for each in scores], good)
    assert found.area == complement.area
    assert found.area.value == 1.0
    assert found.roc == complement.roc
    # up to 0.2 all three correct ones pass, and the three wrong ones are above
    assert (found.threshold.at.value, found.threshold.caught) == (0.2, 1.0)
    assert found.threshold.at.low <= 0.2 <= found.threshold.at.high
    # 1 - score against correct: 0.9, 1, 0.8 of 1; 0.1, 0.7, 0.2 of 0: squares 0.01 0 0.04 0.01 0.49 0.04
    assert found.brier == pytest.approx(0.59 / 6)


def test_where_lower_is_better_a_score_is_calibrated_as_its_complement():
    bins, error = calibration(
        np.array([0.95, 0.05, 0.0]), np.array([False, True, False]), lower_is_better=True
    )
    # bins of the scores themselves: (0.0, 0.05: wrong, correct), (0.95: wrong)
    assert [(each.n, each.mean, each.correct.value) for each in bins] == [(2, 0.025, 0.5), (1, 0.95, 0.0)]
    # 2/3 * |0.975 - 0.5| + 1/3 * |0.05 - 0|
    assert error == pytest.approx(2 / 3 * 0.475 + 1 / 3 * 0.05)


def test_scores_that_are_all_one_tell_nothing_and_are_not_called_certain():
    found = detect([0.7] * 6, [True, True, True, False, False, True])
    assert (found.area.value, found.area.low, found.area.high) == (0.5, None, None)
    assert found.threshold is None
    assert found.note == "every score is 0.7: nothing can be told apart"


@pytest.mark.parametrize(
    ("scores", "good", "note"),
    [([], [], "no answer has a label and a value"), ([0.5, 0.6], [True, True], "there is no wrong answer")],
)
def test_what_cannot_be_detected_has_a_reason(scores, good, note):
    found = detect(scores, good)
    assert (found.area.value, found.threshold, found.note) == (None, None, note)
