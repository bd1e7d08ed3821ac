"""Two runs, or two metrics of a run, compared sample by sample."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from scipy import stats

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import Scores, compare_metrics, compare_runs, comparison_tables

BEFORE = [i % 10 / 10 for i in range(40)]
LOWER = [max(0.0, value - 0.05 - i % 3 / 20) for i, value in enumerate(BEFORE)]


def compared(scores, before, after, **settings):
    (found,) = compare_runs(
        scores("a", faithfulness=before), scores("b", faithfulness=after), **settings
    ).metrics
    return found


def test_a_clear_fall_is_worse(scores):
    found = compared(scores, BEFORE, LOWER)
    assert found.verdict == "worse"
    assert found.difference.value == pytest.approx(np.mean(LOWER) - np.mean(BEFORE))
    # scipy's own flips, as random as ours: all 40 differences are falls, and no flip of 10,000 reaches that
    flips = stats.permutation_test(
        (np.array(LOWER) - np.array(BEFORE),),
        np.mean,
        permutation_type="samples",
        n_resamples=9_999,
        random_state=0,
    )
    assert found.p == pytest.approx(flips.pvalue, abs=2e-4)


def test_where_lower_is_better_a_clear_fall_is_better(scores):
    runs = [
        replace(each, lower_is_better=frozenset({"hallucination/strict.1"}))
        for each in (scores("a", hallucination=BEFORE), scores("b", hallucination=LOWER))
    ]
    (fell,) = compare_runs(*runs, margin=0.02).metrics
    (rose,) = compare_runs(*reversed(runs), margin=0.02).metrics
    assert (fell.verdict, fell.within_margin) == ("better", True)
    assert (rose.verdict, rose.within_margin) == ("worse", False)
    assert fell.difference.value == pytest.approx(np.mean(LOWER) - np.mean(BEFORE))


def test_where_lower_is_better_samples_up_to_the_threshold_pass(scores):
    # up to 0.5: before 0.5 and 0.1, after 0.4, 0.2 and 0.3; one (0.6 to 0.2) gained
    lower = frozenset({"hallucination/strict.1"})
    before = replace(scores("a", hallucination=[0.5, 0.9, 0.6, 0.1]), lower_is_better=lower)
    after = replace(scores("b", hallucination=[0.4, 0.9, 0.2, 0.3]), lower_is_better=lower)
    assert compare_runs(before, after).metrics[0].passes[:5] == (0.5, 2, 3, 1, 0)


def test_noise_cannot_be_told(scores):
    after = [value + (0.01 if i % 2 else -0.01) for i, value in enumerate(BEFORE)]
    assert compared(scores, BEFORE, after).verdict == "cannot tell"


def test_equal_runs_cannot_be_told_apart(scores):
    found = compared(scores, BEFORE, BEFORE)
    # no spread was seen, which tells nothing of what could be found
    assert (found.p, found.detectable) == (1.0, None)


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (BEFORE, [*BEFORE[:37], 0.0, 0.0, 0.0], "only 3 samples moved: the interval is too narrow"),
        ([0.9, 0.8], [0.1, 0.1], "only 2 samples have a value in both runs"),
        ([0.1, None], [None, 0.2], "no sample has a value in both runs"),
        (BEFORE, BEFORE, "every score is the same"),
    ],
)
def test_what_is_too_little_to_tell_has_a_reason(scores, before, after, note):
    found = compared(scores, before, after)
    assert (found.verdict, found.note) == ("cannot tell", note)


def test_passes_are_counted_and_tested_with_mcnemar(scores):
    # passes at 0.5: before 3 of 4, after 1 of 4; lost 2, gained 0: p = 2 * (1/2)^2 = 0.5
    found = compared(scores, [0.5, 0.9, 0.6, 0.1], [0.4, 0.9, 0.2, 0.3])
    assert found.passes[:6] == (0.5, 3, 1, 0, 2, 0.5)


def test_the_detectable_difference_by_hand(scores):
    # differences +0.1 and -0.1, 20 each: sd = 0.1 * sqrt(40/39), se = sd / sqrt(40); two tests, so that t is
    # taken at 1 - 0.05 / 4, with 39 degrees; all differences have one size, so a step of 0.1 / 40 is added
    after = [value + (0.1 if i % 2 else -0.1) for i, value in enumerate(BEFORE)]
    error = 0.1 * np.sqrt(40 / 39) / np.sqrt(40)
    expected = (stats.t.ppf(1 - 0.0125, 39) + stats.t.ppf(0.8, 39)) * error + 0.1 / 40
    assert compared(scores, BEFORE, after).detectable == pytest.approx(expected, rel=1e-6)


def test_a_small_loss_is_shown_to_be_within_a_wide_margin_and_not_within_a_narrow_one(scores):
    assert compared(scores, BEFORE, LOWER, margin=0.2).within_margin is True
    assert compared(scores, BEFORE, LOWER, margin=0.05).within_margin is False
    assert compared(scores, BEFORE, LOWER).within_margin is None


def test_samples_with_a_value_in_one_run_only_are_counted(scores):
    found = compared(scores, [0.1, None, 0.3, 0.2], [0.1, 0.2, None, None])
    assert (found.n, found.lost, found.gained) == (1, 2, 1)


def test_samples_that_the_second_run_does_not_have_are_lost_with_a_remark(scores):
    found = compare_runs(scores("a", faithfulness=BEFORE), scores("b", faithfulness=LOWER[:30]))
    assert found.common == 30
    assert found.metrics[0].lost == 10
    assert found.notes == (
        "10 samples are only in a, where their scores count as lost, and 0 only in b, which are left out",
    )


def test_other_questions_under_the_same_ids_are_refused(scores):
    before, after = scores("a", faithfulness=BEFORE), scores("b", faithfulness=LOWER)
    changed = {**after.questions, "s3": "another question"}
    object.__setattr__(after, "questions", changed)
    with pytest.raises(ConfigError, match="1 samples, the first is 's3', have other questions in b"):
        compare_runs(before, after)


def test_other_variants_are_refused(scores):
    other = scores("b", faithfulness=LOWER, signatures={"faithfulness": "faithfulness/paper.1"})
    with pytest.raises(ConfigError, match="different variants or settings"):
        compare_runs(scores("a", faithfulness=BEFORE), other)


def test_the_table_says_what_decides(scores):
    found = compare_runs(scores("a", faithfulness=BEFORE), scores("b", faithfulness=LOWER), margin=0.2)
    table = next(comparison_tables(found))
    assert table.rows[0][-2].cell == "worse"
    assert table.rows[0][-1].cell is True


def test_differences_that_only_rounding_tells_apart_are_ties(scores):
    # a third either way each time; in floats 2/3 - 1/3 is a little more than 1 - 2/3
    before, after = [1 / 3, 2 / 3, 1.0] * 4, [2 / 3, 1.0, 2 / 3] * 4
    found = compared(scores, before, after)
    # eight rose and four fell, all by one size
    assert found.p == pytest.approx(stats.binomtest(8, 12).pvalue)


def in_sessions(count, size=4):
    return {"session": [f"c{place // size}" for place in range(count * size)]}


def test_sessions_make_clusters_by_themselves_and_widen_what_is_told(scores):
    # turns of a session move together: 15 sessions of 4, nine rise and six fall
    moves = np.repeat([0.2, -0.18] * 6 + [0.2] * 3, 4)
    before = [0.5] * 60
    runs = [
        scores(name, faithfulness=values, labels=in_sessions(15))
        for name, values in (("a", before), ("b", (0.5 + moves).tolist()))
    ]
    found = compare_runs(*runs)
    naive = compare_runs(*runs, cluster="none")
    assert (found.cluster, naive.cluster) == ("session", None)
    assert found.notes == ("60 samples in 15 clusters by session: intervals and tests are by cluster",)
    one, other = found.metrics[0], naive.metrics[0]
    assert one.difference.value == pytest.approx(other.difference.value)
    assert one.difference.high - one.difference.low > 1.8 * (other.difference.high - other.difference.low)
    assert one.p > 5 * other.p
    assert one.detectable > 1.8 * other.detectable


def test_a_few_sessions_are_told_and_make_no_clusters(scores):
    runs = [
        scores(name, faithfulness=values, labels=in_sessions(10))
        for name, values in (("a", BEFORE), ("b", LOWER))
    ]
    assert compare_runs(*runs).cluster == "session"
    runs = [
        scores(name, faithfulness=values, labels=in_sessions(4, 10))
        for name, values in (("a", BEFORE), ("b", LOWER))
    ]
    found = compare_runs(*runs)
    assert found.cluster is None
    assert found.notes[0].startswith("the samples are of 4 sessions, too few for intervals by session")
    with pytest.raises(ConfigError, match="there are 4 clusters by session"):
        compare_runs(*runs, cluster="session")


def test_a_label_that_nobody_has_makes_no_clusters(scores):
    runs = scores("a", faithfulness=BEFORE), scores("b", faithfulness=LOWER)
    with pytest.raises(ConfigError, match="no sample has the label 'source'; labels are: none"):
        compare_runs(*runs, cluster="source")


def test_a_metric_with_values_in_too_few_clusters_has_no_interval_and_says_so(scores):
    values = [*BEFORE[:20], *[None] * 20]
    moved = [None if each is None else each + 0.01 * place for place, each in enumerate(values)]
    before = scores("a", faithfulness=values, labels=in_sessions(10))
    runs = before, scores("b", faithfulness=moved, labels=in_sessions(10))
    (found,) = compare_runs(*runs).metrics
    assert found.difference.low is None
    assert found.note == "5 clusters by session are too few for an interval"


OTHER = "faithfulness/strict.1(verify=verdicts.v4@2bfb1b8f)"
SOURCES = {"source": [f"d{i // 4}" for i in range(40)]}


@pytest.fixture
def run(scores) -> Scores:
    """One run that measured faithfulness with two versions of a prompt, and answer similarity."""
    first = scores("a", faithfulness=BEFORE, answer_similarity=LOWER, labels=SOURCES)
    second = scores("a", faithfulness=LOWER, signatures={"faithfulness": OTHER})
    return replace(first, values={**first.values, **second.values})


def numbers(comparison):
    """Everything but names and notes."""
    (found,) = comparison.metrics
    return replace(found, metric="")


@pytest.mark.parametrize("cluster", ["none", "source"])
def test_two_settings_of_a_metric_are_compared_as_two_runs_with_these_scores_are(scores, run, cluster):
    found = compare_metrics("faithfulness", OTHER, run, cluster=cluster, margin=0.3)
    runs = [scores(name, faithfulness=each, labels=SOURCES) for name, each in (("a", BEFORE), ("b", LOWER))]

    assert numbers(found) == numbers(compare_runs(*runs, cluster=cluster, margin=0.3))
    assert found.metrics[0].verdict == "worse"
    assert found.metrics[0].difference.value == pytest.approx(np.mean(LOWER) - np.mean(BEFORE))
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
    other = scores("b", faithfulness=LOWER, signatures={"faithfulness": OTHER})
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
