"""Two metrics of one run compared, such as one metric with two versions of a prompt."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import Scores, compare_metrics, compare_runs, comparison_tables

LONG = [i % 10 / 10 for i in range(40)]
SHORT = [max(0.0, value - 0.05 - i % 3 / 20) for i, value in enumerate(LONG)]
OTHER = "faithfulness/strict.1(verify=verdicts.v4@2bfb1b8f)"
SOURCES = {"source": [f"d{i // 4}" for i in range(40)]}


@pytest.fixture
def run(scores) -> Scores:
    """One run that measured faithfulness with two versions of a prompt, and answer similarity."""
    first = scores("a", faithfulness=LONG, answer_similarity=SHORT, labels=SOURCES)
    second = scores("a", faithfulness=SHORT, signatures={"faithfulness": OTHER})
    return replace(first, values={**first.values, **second.values})


def numbers(comparison):
    """Everything but names and notes."""
    (found,) = comparison.metrics
    return replace(found, metric="")


@pytest.mark.parametrize("cluster", ["none", "source"])
def test_two_settings_of_a_metric_are_compared_as_two_runs_with_these_scores_are(scores, run, cluster):
    found = compare_metrics("faithfulness", OTHER, run, cluster=cluster, margin=0.3)
    runs = [scores(name, faithfulness=each, labels=SOURCES) for name, each in (("a", LONG), ("b", SHORT))]

    assert numbers(found) == numbers(compare_runs(*runs, cluster=cluster, margin=0.3))
    assert found.metrics[0].verdict == "worse"
    assert found.metrics[0].difference.value == pytest.approx(np.mean(SHORT) - np.mean(LONG))
    assert found.cluster == (None if cluster == "none" else "source")


def test_the_tables_name_both_metrics_and_say_that_higher_is_no_better_measure(run):
    found = compare_metrics("faithfulness", OTHER, run)

    table = next(iter(comparison_tables(found)))
    assert table.title == f"{OTHER} against faithfulness/strict.1"
    assert "two ways to measure were compared: a higher score is no better measure" in found.notes
    assert compare_metrics("faithfulness", "answer_similarity", run).metrics[0].metric == (
        "answer_similarity less faithfulness"
    )


def test_a_score_that_only_one_way_gives_is_lost_or_gained(scores):
    first = scores("a", faithfulness=[0.5, 0.5, None], answer_similarity=[0.5, None, 0.5])
    (found,) = compare_metrics("faithfulness", "answer_similarity", first).metrics

    assert (found.n, found.lost, found.gained) == (1, 1, 1)
    # (0.5 - 0.5) and, at its worst, (0 - 0.5): their mean
    assert found.pessimistic.value == -0.25


def test_the_metrics_may_be_of_two_runs(scores, run):
    other = scores("b", faithfulness=SHORT, signatures={"faithfulness": OTHER})
    found = compare_metrics("faithfulness", "faithfulness", run, other, cluster="none")

    assert (found.before, found.after) == ("a: faithfulness/strict.1", f"b: {OTHER}")
    assert found.metrics[0].verdict == "worse"


def test_one_metric_of_one_run_is_not_compared_with_itself(run):
    with pytest.raises(ConfigError, match="is one metric of one run"):
        compare_metrics("faithfulness", "faithfulness", run)


@pytest.mark.parametrize(
    "changed",
    [
        {"lower_is_better": frozenset({"answer_similarity/strict.1"})},
        {"ranges": {"answer_similarity/strict.1": (-1, 1)}},
    ],
)
def test_metrics_of_other_ranges_or_directions_are_refused(run, changed):
    with pytest.raises(ConfigError, match="other ranges or directions"):
        compare_metrics("faithfulness", "answer_similarity", replace(run, **changed))
