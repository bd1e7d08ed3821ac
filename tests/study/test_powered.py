"""What people would say: predicted by scores, and corrected by a judge's known errors."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    Scores,
    compare_systems,
    estimate_quality,
    estimate_tables,
    powered_runs,
    powered_tables,
)
from ragmetrics_core.study._estimates import mean_of
from ragmetrics_core.study._judge_errors import corrected_mean, corrected_share, judge_errors
from ragmetrics_core.study._powered import prediction_powered_mean


def two_runs(scores, n=200, labelled=60):
    """People like the first run's answers better by 0.1; the judge says 0.3."""
    generator = np.random.default_rng(1)
    truth = generator.random((2, n)) * 0.8 + np.array([[0.1], [0.0]])
    judged = truth + np.array([[0.2], [0.0]]) + generator.normal(0, 0.05, (2, n))
    runs = [scores(name, faithfulness=row.tolist()) for name, row in zip("ab", judged, strict=True)]
    labels = [{f"s{place + 1}": float(row[place]) for place in range(labelled)} for row in truth]
    return runs, labels, truth, judged


def test_the_difference_of_two_runs_is_the_powered_mean_of_their_differences(scores):
    runs, labels, truth, judged = two_runs(scores)
    found = powered_runs(*runs, (labels[0], labels[1]), metric="faithfulness")
    each = found.difference
    y, f = truth[0] - truth[1], judged[0] - judged[1]
    expected, _ = prediction_powered_mean(y[:60], f[:60], f[60:])
    assert each.powered == pytest.approx(expected)
    assert (each.one, each.other, each.labelled, each.scored) == ("a", "b", 60, 140)
    assert each.naive.low > 0.2
    assert each.powered.low < 0.1 < each.powered.high
    assert each.powered.high - each.powered.low < 0.8 * (each.classical.high - each.classical.low)
    assert [table.name for table in powered_tables(found)] == ["differences"]


def sliced(scores, seed, *, n=400, clusters=None):
    generator = np.random.default_rng(seed)
    is_hard = np.arange(n) % 2 == 0
    own = (
        np.zeros(n) if clusters is None else generator.normal(0, 0.2, clusters)[np.arange(n) // 2 % clusters]
    )
    truth = 0.7 - 0.2 * is_hard + own + generator.normal(0, 0.2, n)
    labels = {"kind": ["hard" if each else "easy" for each in is_hard]}
    if clusters is not None:
        labels["document"] = [f"d{place // 2 % clusters}" for place in range(n)]
    judged = truth + 0.1 * is_hard + generator.normal(0, 0.1, n)
    run = scores("a", labels=labels, faithfulness=judged.tolist())
    return run, {f"s{place + 1}": float(truth[place]) for place in range(0, n // 4)}


def test_slices_without_a_common_question_are_compared_by_the_error_of_both(scores):
    run, labels = sliced(scores, 1)
    found = compare_systems([run], people=[labels], metrics=["faithfulness"], by="kind")
    easy, hard = found.systems
    (pair,) = found.pairs
    assert (easy.system, found.paired_by) == ("easy", "")
    assert pair.difference.value == pytest.approx(easy.mean.value - hard.mean.value)
    # independent: the squared errors add up
    widths = easy.mean.width**2 + hard.mean.width**2
    assert pair.difference.width**2 == pytest.approx(widths, rel=0.03)


def test_too_few_labels_are_told_in_a_sentence(scores):
    runs, said, *_ = two_runs(scores)
    with pytest.raises(ConfigError, match="2 samples with labels and values"):
        powered_runs(*runs, ({"s1": 0.1, "s2": 0.2}, said[1]), metric="faithfulness")


@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.booleans(), st.integers(1, 5))
@example(4, 13, True, 1)
@example(16153597, 4, True, 3)  # too few sources for an interval
def test_an_interval_of_a_share_stays_within_0_and_1(seed, labelled, is_share, size):
    """Labels near the end of the scale, and a judge that goes with them."""
    g = np.random.default_rng(seed)
    truth = (g.random(200) < 0.92).astype(float) if is_share else g.beta(6, 0.5, 200)
    judged = np.clip(truth + g.normal(0, 0.2, 200), 0, 1)
    ids = [f"s{place}" for place in range(200)]
    run = Scores(
        name="a",
        values={"faithfulness/strict.1": dict(zip(ids, judged.tolist(), strict=True))},
        labels={each: {"kind": place % 2, "source": place // size} for place, each in enumerate(ids)},
    )
    said = {ids[place]: float(truth[place]) for place in range(labelled * 2)}
    found = estimate_quality(run, said, metric="faithfulness", cluster="source")
    slices = compare_systems([run], people=[said], by="kind", cluster="source").systems
    figures = [found.naive, found.classical, found.powered, *(each.mean for each in slices)]
    for figure in figures:
        assert 0 <= figure.value <= 1
        if figure.low is not None:
            assert 0 <= figure.low <= figure.value <= figure.high <= 1


def test_with_many_labels_the_interval_within_the_range_is_students(scores):
    run, labels = sliced(scores, 1)
    found = estimate_quality(
        run, {each: min(max(said, 0), 1) for each, said in labels.items()}, metric="faithfulness"
    )
    values = np.clip([*labels.values()], 0, 1)
    assert np.array(found.classical) == pytest.approx(np.array(mean_of(values)), abs=0.005)
    # yes/no: Wilson's with Student's quantile; 18 of 20, z 2.093
    said = {f"s{place}": float(place > 2) for place in range(1, 21)}
    run = scores(faithfulness=[1.0, 0.0] * 10)
    low = (0.9 + 2.093**2 / 40 - 2.093 * (0.9 * 0.1 / 20 + 2.093**2 / 1600) ** 0.5) / (1 + 2.093**2 / 20)
    assert estimate_quality(run, said, metric="faithfulness").classical.low == pytest.approx(low, abs=1e-3)


def test_labels_that_do_not_vary_have_the_interval_of_their_number(scores):
    run = scores(faithfulness=[0.1, 0.4, 0.2, 0.9, 0.5, 0.7])
    found = estimate_quality(run, {f"s{place}": 1.0 for place in range(1, 7)}, metric="faithfulness")
    assert found.classical == found.powered
    # Wilson's for 6 of 6 with t 2.571: 6 / (6 + 2.571^2)
    assert found.powered == pytest.approx((1.0, 0.476, 1.0), abs=1e-3)


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
    with pytest.raises(ConfigError, match="which may be 0"):
        corrected_mean(50, 100, errors)
    with pytest.raises(ConfigError, match="0 that say bad"):
        corrected_mean(50, 100, judge_errors([True], [True]))


def test_the_powered_mean_of_differences_is_narrower_than_the_mean_of_the_labelled_ones():
    generator = np.random.default_rng(3)
    y = generator.random((2, 200))
    f = y + generator.normal(0, 0.1, (2, 200))
    found, _ = prediction_powered_mean(y[1, :50] - y[0, :50], *np.split(f[1] - f[0], [50]))
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
    assert any("which may be 0" in note for note in found.notes)


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
