"""People against people by the judge's figures, consensus that discards nobody, scales that are told."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import (
    HumanLabel,
    LabelledUnit,
    agreement_tables,
    consensus_of,
    on_unit_scale,
    scale_of,
    study_agreement,
)
from ragmetrics_core.study._ceiling import POOLED, asked_after_disagreement
from ragmetrics_core.study._reliability import weighted_kappa


def labelled(**columns):
    """Labels of annotators for s1, s2, ...; None where one skipped."""
    return [
        HumanLabel(LabelledUnit(f"s{place}"), name, "overall", value)
        for name, values in columns.items()
        for place, value in enumerate(values, start=1)
        if value is not None
    ]


def rated(seed, *, count=40, people=("ann", "bob", "cid")):
    generator = np.random.default_rng(seed)
    quality = generator.normal(size=count)
    columns = {
        name: np.clip(np.round(3 + 1.2 * quality + 0.9 * generator.normal(size=count)), 1, 5).tolist()
        for name in people
    }
    return columns, (0.5 + 0.2 * quality + 0.1 * generator.normal(size=count)).tolist()


def test_each_person_is_compared_with_the_mean_of_the_others(scores):
    columns, metric = rated(1)
    found = study_agreement(labelled(**columns), scores(faithfulness=metric))
    rows = {each.who: each for each in found.ceilings}
    assert list(rows) == ["ann", "bob", "cid", POOLED, "faithfulness"]
    others = np.mean([columns["bob"], columns["cid"]], axis=0)
    expected = stats.spearmanr(columns["ann"], others).statistic
    assert rows["ann"].correlation.spearman.value == pytest.approx(expected)
    # the metric is held to the same three consensuses, so both have 3 * 40 pairs
    assert rows[POOLED].correlation.n == rows["faithfulness"].correlation.n == 120
    pooled = np.concatenate(
        [np.mean([columns[other] for other in columns if other != name], axis=0) for name in columns]
    )
    expected = stats.spearmanr(np.tile(metric, 3), pooled).statistic
    assert rows["faithfulness"].correlation.spearman.value == pytest.approx(expected)
    assert "ceiling" in [table.name for table in agreement_tables(found)]


def test_the_pooled_people_have_an_interval_as_wide_as_their_samples_make_it(scores):
    columns, metric = rated(2)
    found = study_agreement(labelled(**columns), scores(faithfulness=metric))
    spearman = next(each for each in found.ceilings if each.who == POOLED).correlation.spearman
    alone = next(each for each in found.ceilings if each.who == "ann").correlation.spearman
    # 120 pairs of 40 samples are no 120 samples: not narrower than one person's by a factor of sqrt(3)
    assert spearman.high - spearman.low > 0.6 * (alone.high - alone.low)


def test_graded_numbers_are_agreed_on_by_their_mean_and_nothing_is_discarded(scores):
    labels = labelled(ann=[5.0, 4.0, 1.0, 2.0], bob=[4.0, 4.0, 2.0, 5.0])
    found = study_agreement(labels, scores(faithfulness=[0.9, 0.8, 0.1, 0.5]))
    assert found.rule == "mean"
    assert [each.value for each in found.consensus.values()] == [4.5, 4.0, 1.5, 3.5]
    # what has no majority is still listed for discussion
    assert [row[0] for row in {each.name: each for each in agreement_tables(found)}["open"].rows] == [
        "s1",
        "s3",
        "s4",
    ]


def test_a_majority_says_what_it_leaves_out_and_what_that_may_bias(scores):
    labels = labelled(ann=[5.0, 4.0, 1.0, 2.0], bob=[4.0, 4.0, 2.0, 5.0])
    found = study_agreement(labels, scores(faithfulness=[0.9, 0.8, 0.1, 0.5]), consensus="majority")
    (note,) = [each for each in found.notes if "majority" in each]
    assert note.startswith("3 of 4 units have no majority and are left out of all comparisons")
    assert "makes a metric look better than it is" in note


def test_yes_and_no_are_agreed_on_by_majority_and_texts_have_no_mean():
    assert study_agreement(labelled(ann=[True, False], bob=[True, True])).rule == "majority"
    assert study_agreement(labelled(ann=[1.0, 0.0], bob=[1.0, 1.0])).rule == "majority"
    with pytest.raises(ConfigError, match="has texts, which have no mean"):
        study_agreement(labelled(ann=["a", "b"], bob=["a", "a"]), consensus="mean")


def test_the_median_of_three_is_the_middle_one():
    units = {LabelledUnit("s"): {"a": 1.0, "b": 5.0, "c": 4.0}}
    assert consensus_of(units, rule="median")[LabelledUnit("s")][:2] == (4.0, "median")


def test_an_annotator_who_was_asked_only_after_disagreements_is_asked_about():
    ann, bob = [1.0, 2.0] * 10, [1.0, 3.0] * 10
    labels = labelled(ann=ann, bob=bob, zoe=[None, 3.0] * 10)
    (note,) = [each for each in study_agreement(labels).notes if "zoe" in each]
    assert note.startswith("zoe labelled only units on which the others disagree")
    assert not study_agreement(labels, adjudicator="zoe").notes
    both = {LabelledUnit(f"s{place}"): {"ann": 1.0, "bob": 1.0, "zoe": 1.0} for place in range(20)}
    assert asked_after_disagreement(both) is None


def test_a_kappa_of_six_units_has_no_interval():
    found = weighted_kappa([1.0, 1.0, 1.0, 1.0, 1.0, 2.0], [1.0] * 6)
    assert found.value == (0.0, None, None)
    assert found.note == "6 units are too few for an interval"


def test_a_scale_that_cannot_be_told_is_refused():
    for values in ([1.0, 4.0, 3.0], [1.0, 1.0]):
        with pytest.raises(ConfigError, match="does not tell their scale: name its ends with --scale"):
            on_unit_scale(values)
    assert on_unit_scale([1.0, 4.0], scale=(1.0, 4.0)) == [0.0, 1.0]
    assert scale_of([True, True]) == (0.0, 1.0)
    assert scale_of([0.0, 1.0]) == (0.0, 1.0)


def test_the_ceiling_knows_clusters(scores):
    # ratings of one source are nearly one: by source there are 20 and not 80
    generator = np.random.default_rng(6)
    sources = np.repeat(np.arange(20), 4)
    truth = generator.normal(size=20)[sources]
    columns = {
        who: np.round(truth + noise + generator.normal(0, 0.1, 80), 2).tolist()
        for who, noise in (("ann", 0.0), ("bob", generator.normal(size=20)[sources]))
    }
    run = scores(faithfulness=truth.tolist(), labels={"source": sources.tolist()})
    people = labelled(**columns)
    naive, by_source = (
        next(each.correlation.spearman for each in study_agreement(people, run, **how).ceilings)
        for how in ({}, {"cluster": "source"})
    )
    assert naive.value == by_source.value
    assert by_source.high - by_source.low > 1.4 * (naive.high - naive.low)


def test_texts_that_no_correlation_can_use_are_counted(scores):
    people = labelled(ann=[1.0, 2.0, "perhaps", 4.0])
    found = study_agreement(people, scores(faithfulness=[0.1, 0.2, 0.3, 0.4]))
    told = "the label 'overall' of 1 sample is a text and no number, which correlations leave out"
    assert told in found.notes
