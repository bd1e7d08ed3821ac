"""Rows that were left out are part of every decision: a good row before each bad one passes nothing."""

from dataclasses import replace

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core.study import compare_runs, decide, limit_of, study_trend

METRIC = "faithfulness/strict.1"


def left_out(run, *, doubled=(), unread=()):
    rejected = len(doubled) + len(unread)
    return replace(run, doubled=frozenset(doubled), unread=frozenset(unread), rejected=rejected)


def metric(before, after, **settings):
    return compare_runs(before, after, **settings).metrics[0]


@pytest.fixture
def before(scores):
    return scores("before", faithfulness=[1.0] * 40)


@pytest.fixture
def doubled(scores):
    """40 ids, 20 of which have a second row that was left out."""
    return left_out(scores("after", faithfulness=[1.0] * 40), doubled=[f"s{n}" for n in range(1, 21)])


def test_the_sample_of_an_id_that_two_rows_have_is_lost(before, doubled):
    found = metric(before, doubled)
    # 20 of 40 go from 1 to 0
    assert (found.lost, found.n, found.pessimistic.value) == (20, 20, -0.5)
    assert found.verdict == "worse"


@pytest.mark.parametrize("condition", ["worse", "not-better", "inferior"])
def test_no_condition_passes_such_a_run(before, doubled, condition):
    assert decide(compare_runs(before, doubled, margin=0.05), [condition]).code == 1


def test_limits_count_each_row_that_was_left_out_as_the_worst(before, doubled):
    limits = [limit_of("faithfulness=0.7", doubled, "min")]
    gate = decide(compare_runs(before, doubled), [], limits, runs=(before, doubled))
    # 40 ones and 20 rows at 0
    assert gate.failures == (
        f"the mean of {METRIC} is 0.667 over 60 samples, 20 of them without a score and counted as the "
        "worst, below 0.7",
    )
    # the rows of 40 samples of before at worst: 20 / 40
    limits = [limit_of("faithfulness=0.6", doubled, "min")]
    gate = decide(compare_runs(before, doubled), [], limits, runs=(before, doubled))
    assert gate.failures == (
        f"the mean of {METRIC} is 0.500 over 40 samples of before, 20 of them without a score and counted as "
        "the worst, below 0.6",
    )


def test_a_trend_counts_them_too(before, doubled):
    (_, last) = study_trend([before, doubled]).points
    assert (last.lost, last.verdict) == (20, "worse")


def test_a_row_that_is_no_sample_may_be_that_of_the_best_sample(scores):
    before = scores("before", faithfulness=[0.2, 0.9, 0.4, 0.8])
    after = left_out(scores("after", faithfulness=[0.2, 0.9, 0.4, 0.8]), unread=["line 5: no", "line 6: no"])
    found = metric(before, after)
    # those of 0.9 and 0.8 count as 0
    assert (found.lost, found.pessimistic.value) == (2, pytest.approx(-1.7 / 4))


def test_where_lower_is_better_the_best_is_the_lowest(scores):
    before = scores("before", hallucination=[0.2, 0.9, 0.4, 0.8], lower=["hallucination"])
    after = scores("after", hallucination=[0.2, 0.9, 0.4, 0.8], lower=["hallucination"])
    found = metric(before, left_out(after, unread=["line 5: no"]))
    # that of 0.2 counts as 1
    assert (found.lost, found.pessimistic.value) == (1, pytest.approx(0.8 / 4))


def test_a_row_that_is_no_sample_is_that_of_a_sample_that_is_not_there(before):
    ids = [f"s{n}" for n in range(1, 38)]
    three = [f"line {n}: no" for n in range(3)]
    after = replace(before.only(set(ids)), name="after")
    assert metric(before, after).lost == metric(before, left_out(after, unread=three)).lost == 3
    assert metric(before, left_out(after, unread=[*three, "line 9: no"])).lost == 4


def test_rows_that_were_left_out_of_the_first_run_flatter_no_second_one(scores):
    # of the two rows of s1 the bad one was measured before, and of the good one nothing is known
    before = left_out(scores("before", faithfulness=[0.0] + [1.0] * 9), doubled=["s1"])
    after = scores("after", faithfulness=[1.0] * 10)
    found = metric(before, after)
    assert (found.n, found.gained, found.pessimistic.value) == (9, 1, 0.0)


def test_a_row_that_is_no_sample_in_either_run_had_no_score_before(before, scores):
    rows = ["line 41: a row must be a sample"]
    after = scores("after", faithfulness=[1.0] * 40)
    found = metric(left_out(before, unread=rows), left_out(after, unread=rows))
    assert (found.lost, found.pessimistic.value) == (0, 0.0)
    assert metric(left_out(before, unread=rows), left_out(after, unread=["line 7: no", *rows])).lost == 1


def test_the_notes_say_how_many_rows_were_left_out(before, doubled):
    told = (
        "of the data of after, 20 rows were left out: 20 under an id that a sample has, 0 that are no samples"
    )
    assert told in compare_runs(before, doubled).notes
