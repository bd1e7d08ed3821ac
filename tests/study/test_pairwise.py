"""Preferences against differences of scores, and plans."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import plan_study, preference_tables, study_preferences
from ragmetrics_core.study._planning import needed


def test_differences_are_correlated_with_the_mean_preference_and_ties_count_nowhere(scores):
    first, second = [0.1, 0.5, 0.9, 0.4, 0.2, 0.3], [0.6, 0.4, 0.9, 0.1, 0.9, 0.3]
    said = [("b", "b"), (-1, 0), (0, 0), ("a", "tie"), (2, 1), (-1, 1)]
    preferences = {f"s{place}": dict(zip("xy", each, strict=True)) for place, each in enumerate(said, 1)}
    found = study_preferences(scores("a", faithfulness=first), scores("b", faithfulness=second), preferences)
    (each,) = found.preferences
    means = [1, -0.5, 0, -0.5, 1.5, 0]
    expected = stats.spearmanr(np.round(np.subtract(second, first), 12), means).statistic
    assert each.correlation.spearman.value == pytest.approx(expected)
    assert (found.n, found.ties, each.decided, each.same_side.value) == (6, 2, 4, 1.0)
    assert [table.name for table in preference_tables(found)] == ["preferences"]


def test_a_preference_that_is_no_word_and_questions_of_no_run_are_refused(scores):
    runs = scores("a", faithfulness=[0.1]), scores("b", faithfulness=[0.2])
    with pytest.raises(ConfigError, match="the preference 'left' is unknown"):
        study_preferences(*runs, {"s1": {"x": "left"}})
    with pytest.raises(ConfigError, match="no compared question is in both a and b"):
        study_preferences(*runs, {"q": {"x": 1.0}})


def test_a_plan_says_the_smallest_number_that_is_enough():
    def width(n):
        return 2 * stats.t.ppf(0.975, n - 1) * 0.4 / np.sqrt(n)

    n = needed(0.4, width=0.1)
    assert width(n) <= 0.1 < width(n - 1)
    with pytest.raises(ConfigError, match="give one of them"):
        needed(0.4)
    with pytest.raises(ConfigError, match="must be above 0"):
        needed(0.4, width=0)


def test_a_difference_that_was_planned_for_is_found_four_times_in_five():
    generator = np.random.default_rng(4)
    n = needed(0.4, difference=0.1)
    told = stats.ttest_1samp(generator.normal(0.1, 0.4, (2000, n)), 0, axis=1).pvalue < 0.05
    assert told.mean() == pytest.approx(0.8, abs=0.03)


def test_pairs_need_fewer_samples_than_unrelated_runs_and_labels_fewer_beside_scores(scores):
    generator = np.random.default_rng(5)
    values = generator.random(60)
    pilot, again = (
        scores("a", faithfulness=values.tolist()),
        scores("b", faithfulness=(values + generator.normal(0, 0.05, 60)).tolist()),
    )
    labels = {f"s{place + 1}": float(values[place] + generator.normal(0, 0.1)) for place in range(40)}
    mean, alone, label, beside = plan_study(pilot, "faithfulness", against=again, labels=labels).needs
    unrelated = plan_study(pilot, "faithfulness").needs[1]
    assert alone.samples < unrelated.samples / 10
    assert beside.samples < label.samples / 4
    assert mean.samples == needed(mean.spread, width=0.1)


def test_the_interval_of_the_same_side_lies_around_its_share(scores):
    # ten prefer b: six differences go that way, three the other, one is none: 6.5 of 10
    differences = [0.1] * 6 + [-0.1] * 3 + [0.0]
    runs = (
        scores("a", faithfulness=[0.5] * 10),
        scores("b", faithfulness=[0.5 + each for each in differences]),
    )
    (each,) = study_preferences(*runs, {f"s{n}": {"x": "b"} for n in range(1, 11)}).preferences
    z = stats.norm.ppf(0.975)
    middle, half = (
        (0.65 + z * z / 20) / (1 + z * z / 10),
        z * np.sqrt(0.65 * 0.35 / 10 + z * z / 400) / (1 + z * z / 10),
    )
    assert each.same_side == pytest.approx((0.65, middle - half, middle + half))


def test_a_plan_from_scores_that_do_not_vary_says_that_it_cannot_tell(scores):
    found = plan_study(scores(faithfulness=[1.0] * 40), "faithfulness")
    assert [each.samples for each in found.needs] == [None, None]
    assert "where nothing varies in the pilot, it cannot tell how many samples are needed" in found.notes
