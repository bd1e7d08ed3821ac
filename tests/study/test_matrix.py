"""Metrics correlated with each other and with people: the numbers, their samples and their intervals."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import correlate, flat, matrix_tables, study_matrix, study_people
from ragmetrics_core.study._matrix import POOLED

COLUMNS = ["people", "faithfulness", "answer_relevance", "1 - hallucination"]


def sets(scores, n=50):
    """Two sets of ratings, a metric that follows them, one that is noise, one that is worse when higher."""
    generator = np.random.default_rng(5)
    runs, people = [], []
    for name in ("books", "films"):
        truth = generator.integers(1, 6, n) / 5
        columns = {
            "faithfulness": truth + generator.normal(0, 0.3, n),
            "answer_relevance": generator.random(n),
            "hallucination": 1 - truth + generator.normal(0, 0.2, n),
        }
        listed = {metric: column.tolist() for metric, column in columns.items()}
        runs.append(scores(name, lower=["hallucination"], **listed))
        people.append({f"s{place}": float(value) for place, value in enumerate(truth, start=1)})
    return runs, people


def columns_of(run, people):
    metrics = {
        name: list(run.values[f"{name}/strict.1"].values()) for name in (*COLUMNS[1:3], "hallucination")
    }
    metrics["1 - hallucination"] = [1 - value for value in metrics.pop("hallucination")]
    return {"people": list(people.values()), **metrics}


def test_each_cell_is_spearmans_correlation_with_the_interval_of_correlate(scores):
    runs, people = sets(scores)
    found = study_matrix(runs, people, seed=3)
    assert found.columns == tuple(COLUMNS)
    # six pairs of four columns, in two sets and within both
    assert len(found.pairs) == 18
    for place, run in enumerate(runs):
        columns = columns_of(run, people[place])
        for pair in (each for each in found.pairs if each.name == run.name):
            x, y = columns[pair.one], columns[pair.other]
            assert pair.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic)
            assert pair.spearman == pytest.approx(correlate(x, y, seed=3).spearman)
            assert pair.n == 50


def test_over_all_sets_it_is_the_mean_of_the_sets_and_people_are_those_of_the_other_tables(scores):
    runs, people = sets(scores)
    found = study_matrix(runs, people)
    by_pair = {}
    for pair in found.pairs:
        by_pair.setdefault((pair.one, pair.other), {})[pair.name] = pair.spearman.value
    for values in by_pair.values():
        assert values[POOLED] == pytest.approx((values["books"] + values["films"]) / 2)
    pooled = {pair.other: pair for pair in found.pairs if (pair.name, pair.one) == (POOLED, "people")}
    against_people = study_people(runs, people).pooled
    assert {name: pair.spearman for name, pair in pooled.items()} == dict(against_people)
    assert {pair.n for pair in pooled.values()} == {100}


def test_the_table_is_a_symmetric_square_for_each_set_with_typed_columns(scores):
    square, pairs = matrix_tables(study_matrix(*sets(scores)))
    assert [column.kind for column in square.columns] == ["text", "text", *["estimate"] * 4, "count"]
    assert [row[:2] for row in square.rows[:4]] == [("books", column) for column in COLUMNS]
    for start in (0, 4, 8):
        cells = [row[2:6] for row in square.rows[start : start + 4]]
        assert all(cells[one][other] == cells[other][one] for one in range(4) for other in range(4))
        assert all(cells[one][one] is None for one in range(4))
    assert flat(square).header[:5] == ("set", "metric", "people", "people_low", "people_high")
    assert len(pairs.rows) == 18


def test_fifty_samples_leave_wide_intervals_and_a_note_says_so(scores):
    runs, people = sets(scores)
    square, pairs = matrix_tables(study_matrix(runs, people))
    ends = [row[3] for row in pairs.rows if row[0] != POOLED]
    widths = [each.high - each.low for each in ends]
    assert 0.1 < min(widths) < 0.5 < max(widths) < 0.7
    zero = sum(each.low <= 0 <= each.high for each in ends)
    assert f"{min(widths):.2f} to {max(widths):.2f} wide, and {zero} of 12 include 0" in square.notes[-1]


def test_without_labels_metrics_are_correlated_alone(scores):
    runs, _ = sets(scores)
    found = study_matrix(runs)
    assert found.columns == tuple(COLUMNS[1:])
    with pytest.raises(
        ConfigError, match="share only faithfulness: a matrix needs another metric, or labels"
    ):
        study_matrix(runs, metrics=["faithfulness"])


def test_all_numbers_of_a_set_come_from_the_samples_that_have_everything(scores):
    run = scores("a", rouge=[0.1, 0.4, 0.2, None, 0.5], bleu=[0.3, 0.1, 0.9, 0.4, 0.2])
    found = study_matrix([run], [{f"s{place}": float(place) for place in range(1, 6)}])
    assert {pair.n for pair in found.pairs} == {4}
    assert found.notes == (
        "a: 1 labelled samples lack a metric, which comparisons leave out",
        "a: 4 samples are too few for an interval",
    )
    with pytest.raises(ConfigError, match="2 samples of a have every metric: three are needed"):
        study_matrix([scores("a", rouge=[0.1, None, 0.2], bleu=[0.3, 0.1, 0.9])])


def test_a_metric_with_one_value_has_no_correlation_and_a_reason(scores):
    found = study_matrix([scores("a", rouge=[0.5] * 12, bleu=[place / 12 for place in range(12)])])
    (pair,) = found.pairs
    assert pair.spearman == (None, None, None)
    assert found.notes == ("a: rouge: one value only, which correlates with nothing",)


def test_clusters_are_drawn_whole(scores):
    runs, people = sets(scores)
    labels = {"book": [place // 4 for place in range(50)]}
    columns = {name.partition("/")[0]: list(column.values()) for name, column in runs[0].values.items()}
    run = scores("books", labels=labels, lower=["hallucination"], **columns)
    by, alone = (study_matrix([run], people[:1], cluster=each).pairs[0].spearman for each in ("book", "none"))
    x, y = columns_of(run, people[0])["people"], columns["faithfulness"]
    assert by == pytest.approx(correlate(x, y, clusters=labels["book"]).spearman)
    assert (by.value, by.low != alone.low) == (alone.value, True)
