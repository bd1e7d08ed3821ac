"""Metrics against people, over samples, sets and whole systems."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    compare_correlations,
    people_tables,
    pooled_correlation,
    study_people,
    study_systems,
    system_correlation,
    system_tables,
    systems_of,
)
from ragmetrics_core.study._kendall_of_systems import kendall_score_interval


def test_systems_are_ranked_by_their_means():
    generator = np.random.default_rng(1)
    quality = np.linspace(0, 1, 6)[:, None]
    metric, people = (quality + generator.normal(0, 0.5, (6, 60)) for _ in range(2))
    found = system_correlation(metric, people, count=300)
    expected = stats.kendalltau(metric.mean(axis=1), people.mean(axis=1)).statistic
    assert found.value == pytest.approx(expected)
    assert found.low < found.value <= found.high
    assert system_correlation(metric[:2], people[:2]).value is None


def test_the_interval_of_a_correlation_ends_where_no_correlation_would_no_longer_be_unlikely():
    # without correlation the variance of Kendall's is 2 (2 n + 5) / (9 n (n - 1)): for ten pairs 50 / 810
    reached = stats.norm.ppf(0.975) * np.sqrt(50 / 810)
    assert kendall_score_interval(reached, 10).low == pytest.approx(0, abs=1e-9)
    assert kendall_score_interval(-reached, 10).high == pytest.approx(0, abs=1e-9)
    # what comes on top widens it: half of the variance again, and the end is sqrt(3/2) times as far
    assert kendall_score_interval(reached * np.sqrt(1.5), 10, more=25 / 810).low == pytest.approx(0, abs=1e-9)


def test_a_perfect_order_of_few_systems_has_an_interval_all_the_same():
    people = np.linspace(0, 1, 6)[:, None] + np.zeros((6, 12))
    found = system_correlation(people, people)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == kendall_score_interval(1.0, 6).low < 0.5


def test_two_metrics_are_compared_on_the_same_samples():
    generator = np.random.default_rng(2)
    people = generator.normal(size=150)
    good, bad = people + generator.normal(0, 0.5, 150), people + generator.normal(0, 3, 150)
    found = compare_correlations(good, bad, people)
    expected = stats.spearmanr(good, people).statistic - stats.spearmanr(bad, people).statistic
    assert found.value == pytest.approx(expected)
    assert found.low > 0
    same = compare_correlations(good, good, people)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_sets_are_pooled_by_their_own_correlations():
    # within each set there is none; all numbers together would show one of the sets
    generator = np.random.default_rng(3)
    sets = [(place + generator.normal(0, 0.1, 60), place + generator.normal(0, 0.1, 60)) for place in (0, 1)]
    found = pooled_correlation(sets, count=300)
    apart = [stats.spearmanr(x, y).statistic for x, y in sets]
    assert found.value == pytest.approx(np.mean(apart))
    assert found.low < 0 < found.high


def people_and_runs(scores, seed=5, n=60):
    """Two sets: people, a metric that follows them, one that is noise, and one that is worse when higher."""
    generator = np.random.default_rng(seed)
    runs, people = [], []
    for name in ("first", "second"):
        truth = generator.random(n)
        columns = {
            "faithfulness": truth + generator.normal(0, 0.2, n),
            "answer_relevance": generator.random(n),
            "hallucination": 1 - truth,
        }
        listed = {metric: column.tolist() for metric, column in columns.items()}
        runs.append(scores(name, lower=["hallucination"], **listed))
        people.append({f"s{place}": float(value) for place, value in enumerate(truth, start=1)})
    return runs, people


def test_each_two_metrics_are_compared_within_sets_and_lower_is_turned_round(scores):
    runs, people = people_and_runs(scores)
    found = study_people(runs, people)
    assert found.pooled["1 - hallucination"].value == pytest.approx(1)
    expected = np.mean(
        [
            stats.spearmanr(list(run.values["faithfulness/strict.1"].values()), list(said.values())).statistic
            for run, said in zip(runs, people, strict=True)
        ]
    )
    assert found.pooled["faithfulness"].value == pytest.approx(expected)
    verdicts = {
        (row[0], row[1]): row[-1]
        for table in people_tables(found)
        if table.name == "differences"
        for row in table.rows
    }
    assert verdicts == {
        ("faithfulness", "answer_relevance"): "better",
        ("faithfulness", "1 - hallucination"): "worse",
        ("answer_relevance", "1 - hallucination"): "worse",
    }
    assert (found.n, found.sets) == (120, 2)


def test_the_difference_of_two_metrics_is_that_of_compare_correlations(scores):
    runs, people = people_and_runs(scores)
    found = study_people(runs[:1], people[:1], metrics=["faithfulness", "answer_relevance"], seed=3)
    columns = [
        list(runs[0].values[f"{name}/strict.1"].values()) for name in ("faithfulness", "answer_relevance")
    ]
    assert found.differences[0].difference == compare_correlations(*columns, list(people[0].values()), seed=3)


def test_samples_without_a_metric_are_left_out_and_counted(scores):
    run = scores("a", faithfulness=[0.1, 0.4, 0.2, None], answer_relevance=[0.3, 0.1, 0.9, 0.4])
    people = {f"s{place}": place / 4 for place in range(1, 5)}
    found = study_people([run], [people])
    assert found.notes == ("a: 1 labelled samples lack a metric, which comparisons leave out",)
    assert [each.correlation.n for each in found.correlations] == [3, 4]
    with pytest.raises(ConfigError, match="2 samples of a have a label and every metric: three are needed"):
        study_people([run], [{"s1": 0.1, "s2": 0.2}])


def ranked(scores, count=6, n=40):
    generator = np.random.default_rng(7)
    systems = []
    for place in range(count):
        truth = place / count + generator.normal(0, 0.3, n)
        run = scores(f"system {place}", faithfulness=(truth + generator.normal(0, 0.1, n)).tolist())
        systems.append((run, {f"s{each}": float(value) for each, value in enumerate(truth, start=1)}))
    return systems


def test_systems_are_ranked_by_people_and_by_metrics(scores):
    found = study_systems(ranked(scores))
    assert found.systems[0].name == "system 5"
    (each,) = found.correlations
    means = [[row.people for row in found.systems], [row.means["faithfulness"] for row in found.systems]]
    assert each.kendall.value == pytest.approx(stats.kendalltau(*means).statistic)
    assert each.kendall.low is not None
    assert [table.name for table in system_tables(found)] == ["ranking", "systems"]


def test_few_systems_have_no_interval_and_fewer_no_ranking(scores):
    (each,) = study_systems(ranked(scores, 4)).correlations
    assert (each.kendall.low, each.note) == (None, "4 systems are too few for an interval: it needs 6")
    (each,) = study_systems(ranked(scores, 6, 9)).correlations
    assert (each.kendall.low, each.note) == (
        None,
        "9 questions, or clusters of them, are too few for an interval",
    )
    with pytest.raises(ConfigError, match="three systems or more, and there are 2"):
        study_systems(ranked(scores, 2))
    (run, _), *others = ranked(scores, 3)
    with pytest.raises(ConfigError, match="no answer of system 0 is labelled"):
        study_systems([(run, {}), *others])


def test_systems_are_compared_by_clusters_of_questions(scores):
    by_source = [
        (replace(run, labels={each: {"source": int(each[1:]) // 4} for each in run.labels}), people)
        for run, people in ranked(scores, 7, 48)
    ]
    found = study_systems(by_source, cluster="source")
    # s1 to s48 in fours: 0 to 12
    assert (found.cluster, found.notes[0]) == (
        "source",
        "48 samples in 13 clusters by source: intervals and tests are by cluster",
    )
    (metric,) = by_source[0][0].metrics
    table, labels = (
        np.array([[column[each] for each in by_source[0][1]] for column in columns])
        for columns in ([run.values[metric] for run, _ in by_source], [people for _, people in by_source])
    )
    clusters = [place // 4 for place in range(1, 49)]
    assert found.correlations[0].kendall == system_correlation(table, labels, clusters=clusters)
    with pytest.raises(ConfigError, match="there are 3 clusters by source"):
        study_systems(
            [(run.only(list(run.labels)[:9]), people) for run, people in by_source], cluster="source"
        )


def test_systems_of_one_run_are_matched_by_question(scores):
    labels = {"model": ["x", "x", "y", "y", "z", "z"], "task": ["1", "2", "2", "1", "1", "2"]}
    run = scores("a", labels=labels, faithfulness=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    people = {f"s{place}": float(place) for place in range(1, 7)}
    pairs = systems_of(run, people, "model", question="task")
    assert [(each.name, dict(each.values["faithfulness/strict.1"])) for each, _ in pairs] == [
        ("x", {"1": 0.1, "2": 0.2}),
        ("y", {"2": 0.3, "1": 0.4}),
        ("z", {"1": 0.5, "2": 0.6}),
    ]
    assert pairs[1][1] == {"2": 3.0, "1": 4.0}
    with pytest.raises(ConfigError, match="the system x answers 'x' twice"):
        systems_of(run, people, "model", question="model")
    with pytest.raises(ConfigError, match="no sample of a has the label 'who'; labels are: model, task"):
        systems_of(run, people, "who")
