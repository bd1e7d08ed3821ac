"""Samples that belong together are no independent trials, and the intervals know it."""

import numpy as np
import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study.bootstrap import bootstrap_mean
from ragmetrics_core.study.clusters import (
    bootstrap_clusters,
    check_clusters,
    cluster_counts,
    cluster_mean,
    cluster_resamples,
    cluster_spread,
)
from ragmetrics_core.study.intervals import mean_of


def clustered(seed=0, *, count=25):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 9, count)
    clusters = np.repeat(np.arange(count), sizes).tolist()
    values = generator.normal(size=count)[clusters] + generator.normal(size=len(clusters))
    return values, clusters


def test_the_error_of_a_mean_is_statsmodels_cluster_robust_one():
    api = pytest.importorskip("statsmodels.api")
    values, clusters = clustered()
    fit = api.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters)}, use_t=True
    )
    found = cluster_mean(values, clusters)
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]))


def test_samples_that_are_each_their_own_cluster_have_students_interval():
    values, _ = clustered()
    assert cluster_mean(values, range(len(values))) == pytest.approx(mean_of(values))


def test_an_interval_that_knows_clusters_is_wider_where_they_are_alike():
    values, clusters = clustered(count=60)
    found, naive = cluster_mean(values, clusters), mean_of(values)
    assert found.high - found.low > 1.4 * (naive.high - naive.low)


def test_the_bootstrap_by_cluster_agrees_with_students_interval_by_cluster():
    values, clusters = clustered(count=60)
    found = bootstrap_clusters(lambda rows: float(values[rows].mean()), clusters, value=float(values.mean()))
    assert found == pytest.approx(cluster_mean(values, clusters), abs=0.05)


def test_a_resample_has_whole_clusters():
    clusters = ["a", "b", "a", "c", "b", "a"]
    for rows in cluster_resamples(clusters, count=20):
        counts = np.bincount(rows, minlength=6)
        assert counts[0] == counts[2] == counts[5]
        assert counts[1] == counts[4]
        assert counts[0] + counts[1] + counts[3] == 3
    counts = cluster_counts(clusters, count=20)
    assert (counts[:, 0] == counts[:, 5]).all()
    assert (counts[:, [0, 1, 3]].sum(axis=1) == 3).all()


def test_below_ten_clusters_there_is_no_interval_and_a_sentence_says_why():
    values, clusters = np.arange(18.0), [place // 2 for place in range(18)]
    assert cluster_mean(values, clusters).low is None
    assert bootstrap_clusters(lambda rows: 1.0, clusters, value=1.0).low is None
    with pytest.raises(
        ConfigError, match=r"there are 9 clusters by session: an interval that knows them needs 10 or more"
    ):
        check_clusters(clusters, by="session")
    assert bootstrap_mean(values).low is not None


def test_a_mean_without_values_is_none_and_one_cluster_has_no_spread():
    assert cluster_mean([], []).value is None
    assert cluster_spread([0.1, -0.1], ["a", "a"]).df == 0


def test_a_figure_that_most_resamples_lack_has_no_interval():
    clusters = list(range(12))
    assert bootstrap_clusters(lambda rows: None, clusters, value=0.5).low is None
