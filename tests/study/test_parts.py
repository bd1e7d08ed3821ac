"""One estimator: samples that belong together are no independent trials, and one on its own is as usual."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import study_groups
from ragmetrics_core.study._coefficients import correlate, pearson_figure, spearman_figure
from ragmetrics_core.study._estimates import (
    Estimate,
    MeanPart,
    check_clusters,
    estimate,
    mean_of,
    score_mean,
    share_of,
    spread_of,
    wilson_of,
)
from ragmetrics_core.study._reliability import krippendorff_alpha, weighted_kappa
from ragmetrics_core.study._resampling import bootstrap, bootstrap_mean, resampled
from ragmetrics_core.study._tests import mean_test, rank_test


def clustered(seed=0, *, count=25):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 9, count)
    clusters = np.repeat(np.arange(count), sizes).tolist()
    values = generator.normal(size=count)[clusters] + generator.normal(size=len(clusters))
    return values, clusters


def bell_mccaffrey(values, design, clusters):
    """The errors of least squares with Bell and McCaffrey's correction (CR2), by matrices."""
    bread = np.linalg.inv(design.T @ design)
    residuals = values - design @ bread @ design.T @ values
    meat = np.zeros_like(bread)
    for each in set(clusters):
        rows = np.flatnonzero(np.array(clusters) == each)
        x = design[rows]
        at, vectors = np.linalg.eigh(np.eye(len(rows)) - x @ bread @ x.T)
        root = vectors @ np.diag(at**-0.5) @ vectors.T
        added = x.T @ root @ residuals[rows]
        meat += np.outer(added, added)
    return np.sqrt(np.diag(bread @ meat @ bread))


def test_the_error_of_a_mean_has_the_correction_of_bell_and_mccaffrey():
    values, clusters = clustered()
    (expected,) = bell_mccaffrey(values, np.ones((len(values), 1)), clusters)
    assert spread_of(MeanPart(values, clusters)).error == pytest.approx(expected)


def test_clusters_of_many_sizes_are_worth_fewer_than_they_are():
    # rho is 1: all 1 or all -1; 10 clusters of one sample (v is 1), 10 of three (9): 100^2 / (10 + 810)
    values = np.repeat([1.0, 1.0, -1.0, -1.0] * 5, [1, 3] * 10)
    found = spread_of(MeanPart(values, np.repeat(np.arange(20), [1, 3] * 10).tolist()))
    assert found.df == pytest.approx(100**2 / 820 - 1)


def test_samples_on_their_own_have_the_usual_figures_to_twelve_digits():
    generator = np.random.default_rng(7)
    x, y = generator.normal(0.4, 1, 33), generator.normal(0, 2, 21)
    names = [f"sample {place}" for place in range(54)]
    mean = mean_of(x, names[:33])
    low, high = stats.t.interval(0.95, 32, loc=x.mean(), scale=stats.sem(x))
    assert mean == pytest.approx((x.mean(), low, high), rel=1e-12)
    one, other = MeanPart(x, names[:33]), MeanPart(y, names[33:])
    welch = stats.ttest_ind(x, y, equal_var=False)
    assert mean_test(one, other) == pytest.approx(welch.pvalue, rel=1e-12)
    interval = welch.confidence_interval(0.95)
    expected = x.mean() - y.mean(), interval.low, interval.high
    assert estimate(one, other.subtracted) == pytest.approx(expected, rel=1e-12)
    assert rank_test(one, other) == stats.mannwhitneyu(x, y).pvalue
    flags = x > 0
    proportion = stats.binomtest(int(flags.sum()), 33).proportion_ci(method="wilson")
    assert share_of(flags, names[:33]) == pytest.approx((flags.mean(), *proportion), rel=1e-12)


def test_what_is_on_its_own_in_one_group_and_shared_by_both_is_tested_as_pairs():
    # each name stands once on either side: what it adds to the difference is one error
    generator = np.random.default_rng(8)
    x, noise = generator.normal(size=30), generator.normal(0, 0.1, 30)
    names = list(range(30))
    paired = spread_of(MeanPart(x, names), MeanPart(x + noise, names).subtracted)
    assert paired.error == pytest.approx(stats.sem(noise), rel=1e-12)


def test_a_resample_has_whole_clusters():
    counts = resampled(lambda weights: weights, ["a", "b", "a", "c", "b", "a"], count=20)
    assert (counts[:, [0, 1]] == counts[:, [5, 4]]).all()
    assert (counts[:, [0, 1, 3]].sum(axis=1) == 3).all()


def test_correlations_of_weighted_samples_are_those_of_the_samples_written_out():
    generator = np.random.default_rng(3)
    x, y = generator.integers(0, 4, 45).astype(float), generator.integers(0, 3, 45).astype(float)
    weights = generator.integers(0, 3, (30, 45))
    rows = [np.repeat(np.arange(45), row) for row in weights]
    pearson = [stats.pearsonr(x[each], y[each]).statistic for each in rows]
    spearman = [stats.spearmanr(x[each], y[each]).statistic for each in rows]
    assert np.allclose(pearson_figure(x, y)(weights), pearson)
    assert np.allclose(spearman_figure(x, y)(weights), spearman)


def test_below_ten_clusters_there_is_no_interval_and_a_sentence_says_why():
    values, clusters = np.arange(18.0), [place // 2 for place in range(18)]
    assert mean_of(values, clusters).low is None
    assert bootstrap_mean(values, clusters).low is None
    assert score_mean(values / 18, clusters).low is None
    with pytest.raises(
        ConfigError, match=r"there are 9 clusters by session: an interval that knows them needs 10 or more"
    ):
        check_clusters(clusters, by="session")
    assert bootstrap_mean(values).low is not None


def test_a_mean_without_values_is_none_and_one_cluster_has_no_spread():
    assert mean_of([], []).value is None
    assert spread_of(MeanPart([0.1, -0.1], ["a", "a"])).df == 0


def test_a_figure_that_most_resamples_lack_has_no_interval():

    def all_alone(weights):
        return np.where((weights == 1).all(axis=1), 0.5, np.nan)

    assert bootstrap(all_alone, range(12)) == Estimate(0.5)


def test_the_difference_of_two_groups_that_share_clusters_has_the_correction_too():
    values, clusters = clustered()
    side = np.arange(len(values)) % 2 == 0
    errors = bell_mccaffrey(values, np.column_stack([np.ones(len(values)), side]), clusters)
    of = np.array(clusters)
    one, other = (MeanPart(values[at], of[at].tolist()) for at in (side, ~side))
    found = spread_of(one, other.subtracted)
    difference = values[side].mean() - values[~side].mean()
    assert estimate(one, other.subtracted).value == pytest.approx(difference)
    assert found.error == pytest.approx(errors[1])
    assert mean_test(one, other) == pytest.approx(2 * stats.t.sf(abs(difference / found.error), found.df))


def test_groups_of_separate_clusters_are_tested_as_welch_tests_their_means():
    # each cluster twice the same value: the same as one value each
    generator = np.random.default_rng(2)
    x, y = generator.normal(0.3, 1, 30), generator.normal(0, 2, 20)
    names = np.repeat(np.arange(50), 2).tolist()
    twice = MeanPart(np.repeat(x, 2), names[:60]), MeanPart(np.repeat(y, 2), names[60:])
    assert mean_test(*twice) == pytest.approx(stats.ttest_ind(x, y, equal_var=False).pvalue)


def test_the_rank_test_of_clusters_of_equal_values_is_that_of_brunner_and_munzel():
    generator = np.random.default_rng(3)
    x, y = generator.normal(0.5, 1, 40), generator.normal(0, 2, 30)
    names = np.repeat(np.arange(70), 2).tolist()
    found = rank_test(MeanPart(np.repeat(x, 2), names[:80]), MeanPart(np.repeat(y, 2), names[80:]))
    assert found == pytest.approx(stats.brunnermunzel(x, y).pvalue, abs=0.002)


def test_a_share_by_cluster_is_as_wide_as_its_clusters_are_alike():
    # 20 clusters of 5 that agree: as good as 20 samples
    flags = np.repeat([True] * 12 + [False] * 8, 5)
    found = share_of(flags, np.repeat(np.arange(20), 5).tolist())
    one_each = wilson_of(0.6, 19, stats.t.ppf(0.975, 19))
    assert found == pytest.approx(one_each)
    assert share_of([True] * 40, [place // 2 for place in range(40)]).low < 0.9


def test_correlation_alpha_and_kappa_know_clusters():
    generator = np.random.default_rng(5)
    x = np.repeat(generator.normal(size=40), 4)
    y = np.repeat(0.7 * x[::4] + generator.normal(size=40), 4)
    of = np.repeat(np.arange(40), 4).tolist()
    naive, found = correlate(x, y, count=300), correlate(x, y, clusters=of, count=300)
    rated = np.clip(np.round(x + 3), 1, 5).tolist(), np.clip(np.round(y + 3), 1, 5).tolist()
    units = list(zip(*rated, strict=True))
    pairs = [
        (one, other)
        for one, other in zip(naive[:3], found[:3], strict=True)
    ] + [
        (krippendorff_alpha(units, count=300).value, krippendorff_alpha(units, clusters=of, count=300).value),
        (weighted_kappa(*rated, count=300).value, weighted_kappa(*rated, clusters=of, count=300).value),
    ]  # fmt: skip
    for one, other in pairs:
        assert one.value == pytest.approx(other.value)
        assert other.high - other.low > 1.5 * (one.high - one.low)
    assert correlate(x[:16], y[:16], clusters=of[:16]).note == "4 clusters are too few for an interval"


def test_groups_take_the_sessions_that_samples_carry(scores):
    generator = np.random.default_rng(6)
    sessions = [f"c{place // 4}" for place in range(120)]
    right = [place // 4 % 2 == 0 for place in range(120)]
    values = np.clip(0.5 + np.repeat(generator.normal(0, 0.2, 30), 4), 0, 1).tolist()
    run = scores("a", faithfulness=values, labels={"session": sessions, "right": right})
    found, naive = study_groups([run], by="right"), study_groups([run], by="right", cluster="none")
    assert (found.cluster, naive.cluster) == ("session", None)
    assert found.contrasts[0].welch > naive.contrasts[0].welch
    assert found.contrasts[0].rank > naive.contrasts[0].rank
    width = [each.measured[0].interval.high - each.measured[0].interval.low for each in (found, naive)]
    assert width[0] > 1.7 * width[1]
