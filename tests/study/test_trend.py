"""Metrics over runs in order."""

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import study_trend, trend_tables

BASE = [0.3 + i % 5 / 10 for i in range(40)]
LOWER = [value - 0.2 for value in BASE]


def verdicts(found):
    return [(each.run, each.verdict) for each in found.points]


def test_a_real_change_is_marked_and_the_others_are_not(scores):
    runs = [
        scores(name, faithfulness=column) for name, column in zip("abc", (BASE, BASE, LOWER), strict=True)
    ]
    found = study_trend(runs)
    assert verdicts(found) == [("a", ""), ("b", "cannot tell"), ("c", "worse")]
    assert found.points[0].change is None
    assert found.points[2].change.value == pytest.approx(-0.2)


def test_p_is_adjusted_for_all_changes(scores):
    runs = [
        scores(name, faithfulness=column) for name, column in zip("abc", (BASE, LOWER, BASE), strict=True)
    ]
    two = study_trend(runs[:2]).points[1].p
    assert study_trend(runs).points[1].p == pytest.approx(2 * two)


def test_one_run_is_no_trend(scores):
    with pytest.raises(ConfigError, match="at least two runs"):
        study_trend([scores("a", faithfulness=BASE)])


def test_the_table_has_a_row_for_each_metric_and_run(scores):
    runs = [scores(name, faithfulness=BASE, answer_relevance=LOWER) for name in "ab"]
    (table,) = trend_tables(study_trend(runs))
    assert [row[:2] for row in table.rows] == [
        ("faithfulness", "a"),
        ("faithfulness", "b"),
        ("answer_relevance", "a"),
        ("answer_relevance", "b"),
    ]
