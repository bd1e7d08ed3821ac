"""Concordance: P(correct | above) and P(wrong | below), by Bayes and by count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics[study]'")

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import concordance_tables, study_concordance
from ragmetrics_core.study._concordance import by_bayes

#          correct ones                    wrong ones
FAITH = [0.9, 0.8, 1.0, 0.2, 0.75, 0.9, 0.1, 0.2, 0.8, 0.0]
FACTS = [0.8, 0.9, 0.6, 0.9, 0.95, 0.7, 0.2, 0.1, 0.9, 0.5]
RIGHT = [True] * 6 + [False] * 4


@pytest.fixture
def found(scores):
    run = scores(faithfulness=FAITH, factual_correctness=FACTS)
    return study_concordance(run, dict(zip(run.samples, RIGHT, strict=True)))


def hits(each):
    return round((each.share.value or 0) * each.selected)


def test_the_shares_are_those_of_equations_1_and_2(found):
    faith, facts, joint = found.above
    # faithfulness > 0.7: 0.9 0.8 1.0 0.75 0.9 of the correct, 0.8 of the wrong
    assert (hits(faith), faith.selected, faith.share.value) == (5, 6, pytest.approx(5 / 6))
    # factual correctness > 0.7: 0.8 0.9 0.9 0.95 of the correct (0.7 is not above), 0.9 of the wrong
    assert (hits(facts), facts.selected) == (4, 5)
    # both: 1st, 2nd and 5th, and the 9th
    assert (hits(joint), joint.selected, joint.thresholds) == (3, 4, "0.7, 0.7")


def test_below_the_thresholds_wrong_answers_are_counted(found):
    faith, facts, joint = found.below
    # faithfulness < 0.3: 0.2 of the correct, 0.1 0.2 0.0 of the wrong
    assert (hits(faith), faith.selected) == (3, 4)
    assert (hits(facts), facts.selected) == (2, 2)
    assert (hits(joint), joint.selected) == (2, 2)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_bayes_formula_gives_the_share_that_counting_gives(rows):
    selected, wanted = (np.array(column) for column in zip(*rows, strict=True))
    found = by_bayes(selected, wanted)
    if not selected.any():
        assert found is None
    else:
        assert found == pytest.approx((selected & wanted).sum() / selected.sum())


def test_thresholds_may_differ_by_metric(scores):
    run = scores(faithfulness=FAITH, factual_correctness=FACTS)
    found = study_concordance(run, dict(zip(run.samples, RIGHT, strict=True)), above=(0.7, 0.5))
    # the third one passes too: faithfulness 1.0, factual correctness 0.6; the sixth with 0.7
    assert (hits(found.above[2]), found.above[2].selected) == (5, 6)


def test_all_figures_are_of_the_same_samples_and_the_others_are_counted(scores):
    run = scores(faithfulness=[None, *FAITH[1:]], factual_correctness=FACTS)
    truth = dict(zip(run.samples[:9], RIGHT[:9], strict=True))
    found = study_concordance(run, truth)
    assert {each.n for each in (*found.above, *found.below)} == {8}
    assert dict(found.left_out) == {"faithfulness undefined": 1, "without label correct": 1}


def test_answers_that_are_all_correct_come_with_a_warning(scores):
    run = scores(faithfulness=FAITH, factual_correctness=FACTS)
    found = study_concordance(run, dict.fromkeys(run.samples, True))
    assert found.notes == ("all 10 answers are correct: nothing can be told apart",)
    assert found.below[0].share.value == 0.0


def test_no_labelled_sample_is_a_mistake(scores):
    with pytest.raises(ConfigError, match="no sample of a has the label 'correct'"):
        study_concordance(scores(faithfulness=FAITH, factual_correctness=FACTS), {})


def test_too_many_thresholds_are_a_mistake(scores):
    run = scores(faithfulness=FAITH, factual_correctness=FACTS)
    with pytest.raises(ConfigError, match="3 thresholds above are given for 2 metrics"):
        study_concordance(run, dict.fromkeys(run.samples, True), above=(0.1, 0.2, 0.3))


def test_the_table_has_what_one_would_guess_without_a_metric_first(found):
    (table,) = concordance_tables([found])
    assert len(table.rows) == 7
    assert table.rows[0][1:3] == ("P(correct)", "no metric")
    assert table.rows[0][4].value == 0.6


def test_where_lower_is_better_the_complement_of_a_score_is_held_to_the_thresholds(scores):
    made_up = [0.1, 0.2, 0.0, 0.8, 0.3, 0.7, 0.9, 0.8, 0.2, 1.0]
    run = scores(hallucination=made_up, lower=["hallucination"])
    found = study_concordance(run, dict(zip(run.samples, RIGHT, strict=True)), metrics=["hallucination"])
    assert found.metrics == ("1 - hallucination",)
    # below 0.3: 0.1 0.2 0.0 of the correct, 0.2 of the wrong (1 - 0.3 is 0.7, which is not above)
    assert (hits(found.above[0]), found.above[0].selected) == (3, 4)
    # above 0.7: 0.8 of the correct, 0.9 0.8 1.0 of the wrong (1 - 0.7 is 0.3, which is not below)
    assert (hits(found.below[0]), found.below[0].selected) == (3, 4)


def test_a_range_that_does_not_end_at_1_is_turned_round_within_itself(scores):
    run = scores(errors=[0.0, 5.0, 1.0], lower=["errors"], ranges={"errors": (0.0, 5.0)})
    truth = dict(zip(run.samples, [True, False, True], strict=True))
    found = study_concordance(run, truth, metrics=["errors"], above=[3.5], below=[0.5])
    # 5 - 0 and 5 - 1 are above 3.5, and 5 - 5 is below 0.5
    assert found.metrics == ("5 - errors",)
    assert (hits(found.above[0]), found.above[0].selected) == (2, 2)
    assert (hits(found.below[0]), found.below[0].selected) == (1, 1)
