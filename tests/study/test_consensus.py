"""People against people by the judge's figures, consensus that discards nobody, scales that are told."""

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")


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
from ragmetrics_core.study._consensus import asked_after_disagreement
from ragmetrics_core.study._reliability import weighted_kappa


def labelled(**columns):
    """Labels of annotators for s1, s2, ...; None where one skipped."""
    return [
        HumanLabel(LabelledUnit(f"s{place}"), name, "overall", value)
        for name, values in columns.items()
        for place, value in enumerate(values, start=1)
        if value is not None
    ]


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
        with pytest.raises(ConfigError, match="does not show their scale: give it with --scale"):
            on_unit_scale(values)
    assert on_unit_scale([1.0, 4.0], scale=(1.0, 4.0)) == [0.0, 1.0]
    assert scale_of([True, True]) == (0.0, 1.0)
    assert scale_of([0.0, 1.0]) == (0.0, 1.0)


def test_ratings_beside_words_are_refused_and_compared_as_texts_only_on_request(scores):
    people = labelled(ann=[1.0, 2.0, "perhaps", 4.0], bob=[1.0, 3.0, "perhaps", 4.0])
    run = scores(faithfulness=[0.1, 0.2, 0.3, 0.4])
    told = r"'overall' has both ratings \('1', '2', '3', '4'\) and words \('perhaps'\).*--level nominal"
    with pytest.raises(ConfigError, match=told):
        study_agreement(people, run)
    found = study_agreement(people, run, level="nominal")
    assert found.rule == "majority"
    assert not any("people" in pair for pair in found.correlations)
    assert any("no metric can be correlated with it" in note for note in found.notes)
