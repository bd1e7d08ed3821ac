"""Attempts to have a broken run pass the gate: none does."""

from dataclasses import replace

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import compare_metrics, compare_runs, decide, decide_limits, limit_of, read_scores
from tests.study.judging import judge

GOOD = [0.5 + i % 5 / 10 for i in range(52)]
CONDITIONS = ["worse", "not-better", "inferior"]


def gate(before, after, *fail_if, margin=0.05, minimum=(), maximum=(), metrics=None):
    found = compare_runs(before, after, margin=margin, metrics=metrics)
    limits = [
        *(limit_of(each, after, "min") for each in minimum),
        *(limit_of(each, after, "max") for each in maximum),
    ]
    return decide(found, fail_if, limits, runs=(before, after))


@pytest.fixture
def good(scores):
    return scores("good", faithfulness=GOOD)


def test_a_run_as_good_as_before_passes_what_asks_for_no_loss(scores, good):
    assert gate(good, scores("same", faithfulness=GOOD), "worse", "inferior").code == 0


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_run_whose_every_score_failed_does_not_pass(scores, good, condition):
    broken = scores("broken", faithfulness=[None] * 52, absent="model_error")
    decision = gate(good, broken, condition)
    assert (decision.code, decision.failures) == (
        1,
        ("faithfulness/strict.1 failed: it lost 52 of the 52 scores that good has",),
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_few_samples_that_are_left_do_not_hide_that_most_were_lost(scores, good, condition):
    few = scores("few", faithfulness=[1.0] * 52).only({"s1", "s2", "s3"})
    assert gate(good, few, condition).code == 1
    before = scores("a", faithfulness=[1.0] * 5)
    after = scores("b", faithfulness=[1.0, 1.0, None, None, None], absent="timeout")
    assert gate(before, after, condition).code == 1


def test_a_run_that_lost_its_bad_samples_and_has_a_higher_mean_for_it_is_worse(scores, good):
    column = [value if value > 0.6 else None for value in GOOD]
    found = compare_runs(good, scores("b", faithfulness=column)).metrics[0]
    assert found.after.value > 0.7
    assert (found.lost, found.difference.value, found.verdict) == (22, 0.0, "worse")


def test_lost_scores_take_the_bad_end_where_lower_is_better(scores):
    before = scores("a", hallucination=[0.1] * 40, lower=["hallucination"])
    after = scores("b", hallucination=[0.1] * 25 + [None] * 15, lower=["hallucination"])
    (found,) = compare_runs(before, after).metrics
    # 15 of 40 go from 0.1 to 1
    assert (found.verdict, found.pessimistic.value) == ("worse", pytest.approx(15 * 0.9 / 40))


def test_an_incomplete_score_counts_with_its_worse_bound(scores):
    before = scores("a", faithfulness=[0.8] * 10)
    after = scores("b", faithfulness=[0.8] * 9 + [None], absent="incomplete")
    after = replace(after, sure={"faithfulness/strict.1": {"s10": 0.4}})
    (found,) = compare_runs(before, after).metrics
    assert (found.lost, found.pessimistic.value) == (1, pytest.approx(-0.04))


def test_two_samples_show_no_non_inferiority(scores):
    before = scores("a", faithfulness=[1.0, 1.0])
    assert gate(before, scores("b", faithfulness=[1.0, 1.0]), "inferior").code == 1


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_first_run_that_failed_is_nothing_to_compare_with(scores, good, condition):
    broken = scores("broken", faithfulness=[None] * 52, absent="model_error")
    decision = gate(broken, good, condition)
    assert decision.failures == (
        "faithfulness/strict.1 has no score in broken: there is nothing to compare with",
    )


def test_a_metric_that_is_no_longer_measured_does_not_pass(scores):
    before = scores("a", faithfulness=GOOD, answer_relevance=GOOD)
    after = scores("b", answer_relevance=GOOD)
    assert gate(before, after, "worse").failures == ("b does not measure faithfulness/strict.1, as a does",)
    assert gate(before, after, "worse", metrics=["answer_relevance"]).code == 0


@pytest.mark.parametrize(
    ("field", "before", "after", "doubt"),
    [
        ("models", {"judge": "strict", "repeats": "1"}, {"judge": "kind", "repeats": "1"},
         "the judge of b is kind, that of good strict"),
        ("models", {"state of the texts": "as they were"}, {"state of the texts": "redacted"},
         "the state of the texts of b is redacted, that of good as they were"),
        ("expected", {"s1": "x", "s2": "y"}, {"s1": "x", "s2": "z"},
         "1 sample has other expected texts in b than in good ('s2')"),
    ],
)  # fmt: skip
def test_runs_that_were_not_measured_alike_do_not_pass(scores, good, field, before, after, doubt):
    runs = replace(good, **{field: before}), replace(scores("b", faithfulness=[1.0] * 52), **{field: after})
    assert gate(*runs, "worse").failures == (doubt,)
    assert gate(*runs, minimum=["faithfulness=0.2"]).failures == (doubt,)
    # without a gate they are compared as ever, with a note
    found = compare_runs(*runs)
    assert found.notes == found.doubts == (doubt,)


@pytest.mark.parametrize(
    "judge", ["unnamed(callable:app.judge)", "callable:app.judge", "panel(callable:a.f | embedded)"]
)
@pytest.mark.parametrize("conditions", [{"minimum": ["faithfulness=0.2"]}, {}])
def test_two_judges_without_an_identity_are_not_taken_for_one(scores, good, judge, conditions):
    runs = [replace(run, models={"judge": judge}) for run in (good, scores("b", faithfulness=GOOD))]
    fail_if = () if conditions else ("worse",)
    (failure,) = gate(*runs, *fail_if, **conditions).failures
    assert failure.startswith(f"the judge of good and of b, {judge}, a function without an identity")
    assert "as_judge(function, identity=...)" in failure


def test_one_run_is_compared_with_itself_whatever_its_judge(scores, good):
    run = replace(
        good,
        models={"judge": "unnamed(callable:app.judge)"},
        values={**good.values, "f/other": good.values["faithfulness/strict.1"]},
    )
    found = compare_metrics("faithfulness", "f/other", run)
    assert found.doubts == ()


def test_other_questions_or_other_ids_do_not_pass(scores, good):
    after = scores("b", faithfulness=[1.0] * 52)
    easy = {**after.questions, "s3": "an easy one"}
    renamed = {f"new-{each}": labels for each, labels in after.labels.items()}
    for changed, why in (
        ({"questions": easy}, "other questions"),
        ({"labels": renamed}, "no sample in common"),
    ):
        with pytest.raises(ConfigError, match=why):
            gate(good, replace(after, **changed), "worse")


def test_easy_samples_that_came_since_do_not_raise_a_mean_above_its_minimum(scores, good):
    after = scores("b", faithfulness=[*GOOD, *[1.0] * 500])
    assert gate(good, after, minimum=["faithfulness=0.9"]).failures == (
        "the mean of faithfulness/strict.1 is 0.694 over 52 samples of good, below 0.9",
    )


def test_scores_that_are_lost_do_not_raise_a_mean_above_its_minimum(scores, good):
    after = good.only({f"s{number}" for number, value in enumerate(GOOD, 1) if value > 0.6})
    (told,) = gate(good, after, minimum=["faithfulness=0.7"]).failures
    assert "22 of them without a score and counted as the worst, below 0.7" in told


def test_scores_that_are_lost_do_not_lower_a_mean_below_its_maximum(scores):
    before = scores("a", hallucination=[0.1] * 20, lower=["hallucination"])
    after = scores("b", hallucination=[0.1] * 15 + [None] * 5, lower=["hallucination"])
    # (15 * 0.1 + 5 * 1) / 20
    (told,) = gate(before, after, maximum=["hallucination=0.2"]).failures
    assert told.startswith("the mean of hallucination/strict.1 is 0.325 over 20 samples, 5 of them")


def test_what_cannot_be_told_exits_with_3_only_when_asked(scores, good):
    noisy = scores("b", faithfulness=[value + (0.01 if i % 2 else -0.01) for i, value in enumerate(GOOD)])
    assert gate(good, noisy, "worse", margin=None).code == 0
    assert gate(good, noisy, "worse", "cannot-tell", margin=None).code == 3
    assert gate(good, noisy, "cannot-tell", "inferior", margin=0.05).code == 0


def test_a_failure_comes_before_what_cannot_be_told(scores):
    low = [max(0.0, value - 0.3) for value in GOOD]
    before = scores("a", faithfulness=GOOD, answer_relevance=GOOD)
    after = scores("b", faithfulness=low, answer_relevance=GOOD)
    assert gate(before, after, "worse", "cannot-tell", margin=None).code == 1


@pytest.mark.parametrize(
    ("end", "limit", "why"),
    [
        *(("min", f"faithfulness{number}", "--min takes METRIC=0.8") for number in ("=nan", "=inf", "=", "")),
        ("min", "faithfulness=-0.1", "lie from 0 to 1"),
        ("max", "faithfulness=10", "lie from 0 to 1"),
    ],
)
def test_a_limit_that_is_no_number_or_outside_the_range_is_wrong_use(good, end, limit, why):
    with pytest.raises(ConfigError, match=why):
        limit_of(limit, good, end)


# -- from real runs


def run(answers, contexts=("A context.",)):
    rows = [
        {"id": f"q{number}", "question": "Who?", "answer": answer, "contexts": list(contexts)}
        for number, answer in enumerate(answers)
    ]
    by = judge(lambda answer: [answer] if answer.strip() else [], lambda item, _: "bad" not in item.text)
    return evaluate(rows, metrics="faithfulness", judge=by)


ANSWERS = ["good"] * 20 + ["bad"] * 10


@pytest.mark.parametrize("empty", ["", " ", "\n"])
def test_answers_replaced_by_nothing_raise_the_mean_and_do_not_pass(empty):
    before = read_scores(run(ANSWERS), name="a")
    after = read_scores(run([each if each == "good" else empty for each in ANSWERS]), name="b")
    (found,) = compare_runs(before, after).metrics
    assert (found.after.value, found.lost) == (1.0, 10)
    assert gate(before, after, minimum=["faithfulness=0.7"]).code == 1
    # of answers that are all good before, a third that is empty now is a fall
    assert gate(read_scores(run(["good"] * 30)), after, "worse").code == 1


def measured_thrice(count=12):
    """The second of three whole measurements finds nothing supported, the others everything."""
    by = judge(lambda _: ["it is so"], lambda _, request: request.draw // 1000 != 1)
    rows = [{"id": f"s{n}", "question": "?", "contexts": ["c"], "answer": f"{n}"} for n in range(count)]
    return evaluate(rows, metrics="faithfulness", judge=by, full_repeats=3)


def test_of_several_whole_measurements_a_gate_counts_the_mean_and_not_the_first():
    scores = read_scores(measured_thrice(), name="c")
    assert list(scores.values["faithfulness/strict.1"].values()) == pytest.approx([2 / 3] * 12)
    (told,) = decide_limits(scores, [limit_of("faithfulness=0.9", scores, "min")]).failures
    assert told.startswith("the mean of faithfulness/strict.1 is 0.667 over 12 samples, below 0.9")
    once = read_scores(run(["good"] * 12), name="a")
    found = compare_runs(replace(once, questions=scores.questions, labels=scores.labels), scores)
    assert any("the number of full repeats of c is 3, that of a 1" in each for each in found.doubts)
    assert "each score of c is the mean of 3 whole measurements" in found.notes


def test_scores_that_people_corrected_are_told_where_runs_are_compared():
    before, after = run(["bad"] * 12), run(["bad"] * 12)
    after.correct("q1", "faithfulness", 1, True, by="ann")
    found = compare_runs(read_scores(before, name="a"), read_scores(after, name="b"))
    assert found.metrics[0].difference.value > 0
    assert found.notes[-2:] == (
        "b has verdicts corrected by people; numbers of samples: 1 of faithfulness",
        "where people corrected verdicts, what moved may be the corrections, and not the answers",
    )
    assert not compare_runs(read_scores(before), read_scores(before, name="a")).notes


@pytest.mark.parametrize("margin", [1.0, 5.0, float("nan")])
def test_a_margin_that_no_loss_exceeds_is_refused(scores, good, margin):
    with pytest.raises(ConfigError, match="no loss is larger than a margin"):
        gate(good, scores("b", faithfulness=[0.0] * 52), "inferior", margin=margin)


def test_sessions_that_came_since_do_not_widen_the_interval_of_a_loss(scores):
    column = [1.0] * 60
    before = scores("a", faithfulness=column)
    after = scores(
        "b",
        faithfulness=[0.0] * 12 + [1.0] * 48,
        labels={"session": [n // 12 for n in range(24)] + list(range(36))},
    )
    decision = gate(before, after, "worse")
    assert decision.code == 1
    assert any("another session in b than in a" in told for told in decision.failures)


def test_samples_that_were_not_measured_count_as_the_worst(scores):
    after = scores("b", faithfulness=[1.0] * 10)
    labels = {**after.labels, **{f"new-{n}": {} for n in range(10)}}
    (told,) = decide_limits(
        replace(after, labels=labels), [limit_of("faithfulness=0.8", after, "min")]
    ).failures
    assert told.startswith("the mean of faithfulness/strict.1 is 0.500 over 20 samples, 10 of them without")


def test_a_minimum_where_lower_is_better_counts_failures_as_the_lowest(scores):
    after = scores("b", hallucination=[0.6] + [None] * 9, absent="model_error", lower=["hallucination"])
    after = replace(after, sure={"hallucination/strict.1": {f"s{n}": 1.0 for n in range(1, 11)}})
    # the bad end of the metric is 1, and would lift the mean to 0.96
    assert gate(after, after, minimum=["hallucination=0.5"]).code == 1
