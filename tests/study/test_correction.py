"""A judge's known errors, against the truth of simulations."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import estimate_quality, estimate_tables
from ragmetrics_core.study._judge_errors import corrected_mean, corrected_share, judge_errors
from ragmetrics_core.study._parts import mean_of
from ragmetrics_core.study._powered import powered_pairs, prediction_powered_mean


def judged(generator, truth, *, sensitivity=0.9, specificity=0.7):
    return np.where(
        truth, generator.random(len(truth)) < sensitivity, generator.random(len(truth)) > specificity
    )


def test_the_corrected_mean_is_the_formula_of_rogan_and_gladen():
    people = [True] * 10 + [False] * 10
    judge = [True] * 9 + [False] + [True] * 2 + [False] * 8
    errors = judge_errors(people, judge)
    assert (errors.sensitivity.value, errors.specificity.value) == (0.9, 0.8)
    # (0.55 + 0.8 - 1) / (0.9 + 0.8 - 1)
    assert corrected_mean(55, 100, errors).value == pytest.approx(0.5)


def test_the_corrected_interval_holds_what_people_would_say():
    generator, held, naive = np.random.default_rng(1), [], []
    for _ in range(400):
        truth = generator.random(500) < 0.4
        said = judged(generator, truth)
        found = corrected_mean(
            int(said[150:].sum()), 350, judge_errors(truth[:150].tolist(), said[:150].tolist())
        )
        held.append(found.low <= 0.4 <= found.high)
        taken = mean_of(said.astype(float))
        naive.append(taken.low <= 0.4 <= taken.high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.03)
    assert np.mean(naive) < 0.1


def test_a_judge_that_cannot_be_told_from_chance_corrects_nothing():
    generator = np.random.default_rng(2)
    truth = generator.random(60) < 0.5
    errors = judge_errors(truth.tolist(), (generator.random(60) < 0.5).tolist())
    with pytest.raises(ConfigError, match="cannot be told from 0"):
        corrected_mean(50, 100, errors)
    with pytest.raises(ConfigError, match="0 that say bad"):
        corrected_mean(50, 100, judge_errors([True], [True]))


def test_the_powered_difference_of_two_runs_is_the_powered_mean_of_their_differences():
    generator = np.random.default_rng(3)
    y = generator.random((2, 200))
    f = y + generator.normal(0, 0.1, (2, 200))
    found, weight = powered_pairs((y[0, :50], y[1, :50]), (f[0, :50], f[1, :50]), (f[0, 50:], f[1, 50:]))
    expected, same = prediction_powered_mean(y[1, :50] - y[0, :50], *np.split(f[1] - f[0], [50]))
    assert (found, weight) == (expected, same)
    alone = mean_of(y[1, :50] - y[0, :50])
    assert found.high - found.low < 0.8 * (alone.high - alone.low)


def test_the_estimate_of_a_yes_or_no_judge_has_its_corrected_mean_or_says_why_not(scores):
    generator = np.random.default_rng(4)
    truth = generator.random(300) < 0.4
    said = judged(generator, truth)
    labels = {f"s{place + 1}": float(truth[place]) for place in range(100)}
    run = scores("a", faithfulness=said.astype(float).tolist())
    found = estimate_quality(run, labels, metric="faithfulness", scale=(0.0, 1.0))
    errors = judge_errors(truth[:100].tolist(), said[:100].tolist())
    assert found.corrected == corrected_mean(int(said[100:].sum()), 200, errors)
    (table,) = estimate_tables(found)
    assert "corrected" in [row[0] for row in table.rows]
    assert "labels are read on the scale 0 to 1, as 0 to 1" in table.notes
    chance = scores("a", faithfulness=(generator.random(300) < 0.5).astype(float).tolist())
    found = estimate_quality(chance, labels, metric="faithfulness")
    assert found.corrected is None
    assert any("cannot be told from 0" in note for note in found.notes)


def test_samples_that_are_each_their_own_cluster_are_corrected_as_without_clusters():
    generator = np.random.default_rng(6)
    truth = generator.random(2000) < 0.4
    said = judged(generator, truth)
    errors = judge_errors(truth[:500].tolist(), said[:500].tolist())
    plain = corrected_mean(int(said[500:].sum()), 1500, errors)
    found = corrected_share(truth[:500].tolist(), said[:500].tolist(), said[500:].tolist(), list(range(2000)))
    assert found == plain
    # a pair in one cluster knows next to nothing of it
    found = corrected_share(truth[:500].tolist(), said[:500].tolist(), said[500:].tolist(), [0, *range(1999)])
    assert found == pytest.approx(plain, abs=0.005)


def test_labels_of_few_clusters_correct_nothing():
    with pytest.raises(ConfigError, match="5 clusters by the labels"):
        corrected_share([True, False] * 5, [True, False] * 5, [True] * 9, [*range(5)] * 2 + [6] * 9)
