"""Prediction-powered differences of runs and of slices, against the truth of simulations."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    estimate_quality,
    powered_runs,
    powered_slices,
    powered_tables,
)
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
    (each,) = powered_runs(*runs, (labels[0], labels[1]), metric="faithfulness").differences
    y, f = truth[0] - truth[1], judged[0] - judged[1]
    expected, _ = prediction_powered_mean(y[:60], f[:60], f[60:])
    assert each.powered == pytest.approx(expected)
    assert (each.one, each.other, each.labelled, each.scored) == ("a", "b", 60, 140)
    assert each.naive.low > 0.2
    assert each.powered.low < 0.1 < each.powered.high
    assert each.powered.high - each.powered.low < 0.8 * (each.classical.high - each.classical.low)


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


def test_each_slice_is_estimated_as_a_run_of_its_own(scores):
    run, labels = sliced(scores, 1)
    found = powered_slices(run, labels, metric="faithfulness", by="kind")
    easy = run.only([each for each, of in run.labels.items() if of["kind"] == "easy"])
    own = estimate_quality(easy, labels, metric="faithfulness")
    assert (found.slices[0].one, found.slices[0].powered) == ("easy", own.powered)
    one, other = found.slices
    assert found.differences[0].powered.value == pytest.approx(one.powered.value - other.powered.value)
    assert [table.name for table in powered_tables(found)] == ["differences", "slices"]


def test_too_few_labels_are_told_in_a_sentence(scores):
    run, labels = sliced(scores, 1)
    few = {each: labels[each] for each in ("s1", "s2", "s3", "s4")}
    with pytest.raises(ConfigError, match="0 values of the label 'kind' with three labelled samples"):
        powered_slices(run, few, metric="faithfulness", by="kind")
    runs, said, *_ = two_runs(scores)
    with pytest.raises(ConfigError, match="2 samples with labels and values"):
        powered_runs(*runs, ({"s1": 0.1, "s2": 0.2}, said[1]), metric="faithfulness")


def test_labels_that_do_not_vary_have_a_mean_and_no_interval(scores):
    run = scores(faithfulness=[0.1, 0.4, 0.2, 0.9, 0.5, 0.7])
    found = estimate_quality(
        run, dict.fromkeys(("s1", "s2", "s3", "s4", "s5", "s6"), 0.5), metric="faithfulness"
    )
    assert found.classical == found.powered == (0.5, None, None)
    assert "the labels do not vary: both together have no interval" in found.notes
