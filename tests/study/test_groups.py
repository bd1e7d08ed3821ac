"""Groups of samples: means, tests and the correlation within each group."""

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import flat, group_tables, shown, study_groups
from ragmetrics_core.study._groups import Group

RIGHT = [True] * 6 + [False] * 4
HIGH = [1.0, 0.9, 0.8, 1.0, 0.7, 1.0, 0.2, 0.3, 0.0, 0.5]
LOW = [0.9, 0.8, 0.9, 0.7, 0.8, 1.0, 0.8, 0.7, 0.9, 1.0]


def test_each_group_has_its_mean_sd_and_n(scores):
    found = study_groups(
        [scores(faithfulness=HIGH, labels={"retrieval_correct": RIGHT})], by="retrieval_correct"
    )
    right, wrong = found.measured
    assert right.group == Group("a", "true")
    # (1 + 0.9 + 0.8 + 1 + 0.7 + 1) / 6 and (0.2 + 0.3 + 0 + 0.5) / 4
    assert right.summary.mean == pytest.approx(0.9)
    assert (wrong.summary.mean, wrong.summary.n) == (pytest.approx(0.25), 4)


def test_a_column_of_good_and_bad_is_tested_one_sided_as_the_paper_does_where_that_is_asked(scores):
    found = study_groups(
        [scores(faithfulness=HIGH, labels={"retrieval_correct": RIGHT})],
        by="retrieval_correct",
        one_sided=True,
    )
    (contrast,) = found.contrasts
    expected = stats.ttest_ind(HIGH[:6], HIGH[6:], equal_var=False, alternative="greater").pvalue
    assert contrast.alternative == "greater"
    assert contrast.welch == pytest.approx(expected)
    assert contrast.rank == stats.mannwhitneyu(HIGH[:6], HIGH[6:], alternative="greater").pvalue


@pytest.mark.parametrize(
    ("values", "upper"), [(["No", "Yes"], "Yes"), (["wrong", "correct"], "correct"), ([0.0, 1.0], "1")]
)
def test_which_value_is_the_good_one_does_not_depend_on_its_spelling(scores, values, upper):
    labels = {"retrieval": [values[1]] * 6 + [values[0]] * 4}
    run = scores(faithfulness=HIGH, labels=labels)
    (contrast,) = study_groups([run], by="retrieval", one_sided=True).contrasts
    assert (contrast.upper.value, contrast.alternative) == (upper, "greater")
    (contrast,) = study_groups([run], by="retrieval").contrasts
    assert (contrast.upper.value, contrast.alternative) == (upper, "two-sided")


def test_other_labels_are_tested_two_sided_each_pair(scores):
    labels = {"topic": ["ran"] * 3 + ["core"] * 3 + ["ims"] * 4}
    found = study_groups([scores(faithfulness=HIGH, labels=labels)], by="topic")
    assert [each.alternative for each in found.contrasts] == ["two-sided"] * 3


def test_samples_without_a_score_or_a_label_are_counted_with_the_cause(scores):
    labels = {"retrieval_correct": [True, True, True, False, False, False, None]}
    run = scores(faithfulness=[1.0, 0.5, None, 0.2, 0.3, None, 0.1], labels=labels)
    found = study_groups([run], by="retrieval_correct")
    assert [each.left_out for each in found.measured] == [(("undefined", 1),), (("undefined", 1),)]
    assert "a: 1 of 7 samples have no label retrieval_correct and are left out" in found.notes


def test_runs_are_compared_with_the_baseline_two_sided_and_holm_counts_all_tests(scores):
    labels = {"retrieval_correct": RIGHT}
    runs = [scores("a", faithfulness=HIGH, labels=labels), scores("b", faithfulness=LOW, labels=labels)]
    found = study_groups(runs, by="retrieval_correct", baseline="a", one_sided=True)
    kinds = [(each.kind, each.alternative) for each in found.contrasts]
    assert kinds == [("label", "greater")] * 2 + [("baseline", "two-sided")] * 2
    smallest = min(found.contrasts, key=lambda each: each.welch)
    assert smallest.holm == pytest.approx(8 * smallest.welch)  # four of means, four of ranks


def test_significant_rises_and_falls_against_the_baseline_are_marked(scores):
    better = [
        min(1.0, value + 0.05 + number % 3 / 50) for number, value in enumerate([0.1, 0.2, 0.15, 0.12] * 5)
    ]
    runs = [
        scores("base", faithfulness=[0.1, 0.2, 0.15, 0.12] * 5, answer_relevance=[0.9, 0.8, 0.85, 0.9] * 5),
        scores(
            "new", faithfulness=[value + 0.5 for value in better], answer_relevance=[0.2, 0.1, 0.3, 0.2] * 5
        ),
    ]
    overview = next(group_tables(study_groups(runs, baseline="base")))
    assert [cell.mark for cell in overview.rows[0][2:]] == ["baseline", "baseline"]
    assert [cell.mark for cell in overview.rows[1][2:]] == ["good", "weak"]


ONLY = "a: true has only {} in some metric: its tests and intervals mean little"


@pytest.mark.parametrize(
    ("right", "wrong", "why", "note"),
    [
        ([0.4, 0.5], [None, None], "a: false has no value",
         "a: false has no score at all: every test with it is left out"),
        ([1.0] * 4, [1.0] * 4, "neither group varies", ONLY.format("4 values")),
        ([0.75], [0.25], "fewer than two values", ONLY.format("1 value")),
    ],
)  # fmt: skip
def test_groups_that_cannot_be_tested_have_a_reason(scores, right, wrong, why, note):
    labels = {"right": [True] * len(right) + [False] * len(wrong)}
    found = study_groups([scores(faithfulness=[*right, *wrong], labels=labels)], by="right")
    (contrast,) = found.contrasts
    assert (contrast.welch, contrast.rank, contrast.note) == (None, None, why)
    assert note in found.notes


def test_scores_that_are_nearly_all_alike_come_with_a_warning(scores):
    run = scores(faithfulness=[1.0] * 47 + [0.5] * 3)
    told = "47 of 50 values of faithfulness/strict.1 in a are 1: the interval of the mean is too narrow"
    assert told in study_groups([run]).notes
    # yes/no scores are shares, and Wilson's interval of 47 in 50 is as wide as it must be
    assert not study_groups([scores(faithfulness=[1.0] * 47 + [0.0] * 3)]).notes


def test_one_value_has_no_spread(scores):
    run = scores(faithfulness=[0.75, 0.25], labels={"retrieval_correct": [True, False]})
    means, intervals, _ = group_tables(study_groups([run], by="retrieval_correct"))
    assert shown(means.rows[0][-1], "summary") == "0.75 1"
    assert flat(intervals).rows[0][flat(intervals).header.index("sd")] is None


def test_runs_of_the_same_samples_are_sent_to_the_paired_comparison(scores):
    runs = [scores(name, faithfulness=[0.1, 0.5, 0.9] * 2) for name in "ab"]
    assert study_groups(runs, baseline="a").notes[0] == (
        "6 questions occur in all 2 groups, and these tests take their answers for independent: ragmetrics "
        "compare pairs them by id, and finds more"
    )


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([None] * 10, "no sample has the label 'right'"),
        ([True] * 10, "is true for every sample: there is no second group"),
    ],
)
def test_a_label_that_makes_no_groups_is_a_mistake(scores, values, told):
    with pytest.raises(ConfigError, match=told):
        study_groups([scores(faithfulness=HIGH, labels={"right": values})], by="right")


def test_runs_of_different_samples_come_with_a_warning(scores):
    runs = [scores("a", faithfulness=HIGH), scores("b", faithfulness=LOW[:5])]
    assert any("do not have the same samples" in note for note in study_groups(runs).notes)


def test_where_lower_is_better_the_good_group_is_tested_to_be_lower(scores):
    made_up = [1 - value for value in HIGH]
    run = scores(hallucination=made_up, labels={"right": RIGHT}, lower=["hallucination"])
    found = study_groups([run], by="right", one_sided=True)
    (contrast,) = found.contrasts
    # means 0.1 where it is right and 0.75 where it is not
    assert (contrast.upper.value, contrast.alternative) == ("true", "less")
    assert contrast.difference == pytest.approx(-0.65)
    expected = stats.ttest_ind(made_up[:6], made_up[6:], equal_var=False, alternative="less").pvalue
    assert contrast.welch == pytest.approx(expected)
    assert contrast.rank == stats.mannwhitneyu(made_up[:6], made_up[6:], alternative="less").pvalue
    table = {each.name: each for each in group_tables(found)}["tests"]
    assert table.rows[0][2] == "true < false"
    assert table.rows[0][-1] == ("lower", "good")
    assert "lower is better: hallucination" in table.notes


def test_no_table_holds_a_number_that_is_none(scores):
    run = scores(faithfulness=[0.4, None, 1.0, 1.0], labels={"right": [True, True, False, False]})
    for table in group_tables(study_groups([run], by="right")):
        for row in table.rows:
            for cell, column in zip(row, table.columns, strict=True):
                assert "nan" not in shown(cell, column.kind).lower()
