"""Answers that decline, in two runs: which scores are lost, and what a limit makes of doubt."""

from dataclasses import dataclass, replace

import pytest

pytest.importorskip("scipy", reason="needs the extra study: pip install 'ragmetrics-core[study]'")

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import valued
from ragmetrics_core.metrics import Metric
from ragmetrics_core.runs import Declines
from ragmetrics_core.samples import Answered, Retrieved
from ragmetrics_core.study import (
    compare_metrics,
    compare_runs,
    decide,
    decide_limits,
    doubts_of_mean,
    limit_of,
    read_scores,
    trace_difference,
)
from ragmetrics_core.testing import ScriptedJudge

METRICS = ["faithfulness(granularity=sentence)", "abstention", "token_f1", "context_recall"]
COUNT = 12


def reply(request):
    """Whatever is asked is so, but an answer declines only where it says that it knows nothing."""
    asked = request.variables
    if "statements" in request.prompt.name:
        declined = "it knows nothing" if "know" in str(asked.get("answer")) else False
        listed = {"statements": ["One."]}
        return listed if request.prompt.name == "reference_statements" else {**listed, "declined": declined}
    says = request.prompt.name != "declining" or "know" in str(asked["answer"])
    numbers = request.expected.numbers
    return {"verdicts": [{"number": n, "reason": "", "verdict": "yes" if says else "no"} for n in numbers]}


def run(answers, metrics=METRICS, judge=reply):
    rows = [
        {"id": f"s{n}", "question": f"Who {n}?", "contexts": ["Ada."], "answer": each, "reference": "I know."}
        for n, each in enumerate(answers)
    ]
    return evaluate(rows, metrics=metrics, judge=ScriptedJudge(judge))


def scores(answers, name, **more):
    return read_scores(run(answers, **more), name=name)


@pytest.fixture(scope="module")
def before():
    return scores(["Ada."] * COUNT, "before")


@pytest.fixture(scope="module")
def after():
    """Four of twelve decline, in words that have more of the reference than an answer has."""
    return scores(["I know nothing."] * 4 + ["Ada."] * (COUNT - 4), "after")


def test_a_sample_that_declines_only_after_is_lost_in_each_metric_of_answers(before, after):
    found = {each.metric.partition("/")[0]: each for each in compare_runs(before, after).metrics}
    assert {name: each.lost for name, each in found.items()} == {
        "faithfulness": 4,
        "token_f1": 4,
        "abstention": 0,  # declining may be right
        "context_recall": 0,  # of what was retrieved
    }
    # 1 in each pair before; 4 of 12 lost
    assert found["faithfulness"].pessimistic.value == pytest.approx(-4 / 12)
    # token F1 is 0 before, so that a lost one loses nothing, and a refusal gains nothing
    assert found["token_f1"].pessimistic.value == 0


def test_a_sample_that_declined_before_is_compared_with_what_it_was(after):
    assert [each.lost for each in compare_runs(after, after).metrics] == [0, 0, 0, 0]


def test_where_the_run_before_does_not_know_a_refusal_is_lost_too(after):
    unknowing = scores(["Ada."] * COUNT, "unknowing", metrics=[METRICS[0]])
    assert unknowing.declines == Declines(0, 0, COUNT, 0)
    assert compare_runs(unknowing, after, metrics=["faithfulness"]).metrics[0].lost == 4


def test_two_runs_under_two_names_of_a_metric_are_compared_by_the_same_rule(before, after):
    assert compare_metrics("faithfulness", "faithfulness", before, after).metrics[0].lost == 4


def test_a_score_that_was_lost_by_declining_has_moved_nothing():
    first = run(["Ada."] * 3, ["token_f1", "abstention"])
    second = run(["I know."] + ["Ada."] * 2, ["token_f1", "abstention"])
    assert second.score("s0", "token_f1").value == 1
    assert trace_difference(first, second, "token_f1/strict.1").moved == ()


@dataclass(frozen=True, kw_only=True)
class Own(Metric[Answered]):
    """A metric of one's own that reads the answer. Range [0, 1]; never undefined."""

    name = "own"
    inputs = Answered
    needs = frozenset()

    def measure(self, sample):
        yield from ()
        return valued(1.0, counts={}, spelled="always")


@dataclass(frozen=True, kw_only=True)
class Other(Own):
    """The same, of what was retrieved."""

    name = "other"
    inputs = Retrieved


def test_a_metric_of_ones_own_loses_by_what_its_inputs_say():
    metrics = [Own(), Other(), "abstention"]
    one, two = (
        scores([text] * COUNT, name, metrics=metrics) for name, text in (("a", "A."), ("b", "I know."))
    )
    assert [each.lost for each in compare_runs(one, two).metrics] == [COUNT, 0, 0]


# -- known, or undecided


SENTENCES = "faithfulness(granularity=sentence)"


@pytest.mark.parametrize("metrics", [[SENTENCES], [SENTENCES, "token_f1"], [Own()]])
def test_a_refusal_that_nothing_asks_about_passes_no_condition(metrics):
    first = scores(["Ada."] * COUNT, "first", metrics=metrics)
    refusing = scores(["I know nothing."] * COUNT, "refusing", metrics=metrics)
    found = compare_runs(first, refusing, margin=0.05)
    assert found.metrics[0].within_margin  # what it says of itself
    for condition in ("worse", "not-better", "inferior"):
        (failure, *_) = decide(found, [condition], runs=(first, refusing)).failures
        assert failure.startswith("nothing in refusing asks whether an answer declines, which may raise ")
        assert failure.endswith(f"{found.metrics[0].metric}: measure abstention too")
    limits = [limit_of(f"{found.metrics[0].metric}=0.5", refusing, "min")]
    assert decide(found, [], limits, runs=(first, refusing)).code == 1


def test_a_reference_and_contexts_hold_off_refusals_themselves():
    metrics = ["token_f1", "context_recall", Other()]
    first = scores(["I know."] * COUNT, "first", metrics=metrics)
    refusing = scores(["I know nothing."] * COUNT, "refusing", metrics=metrics)
    found = compare_runs(first, refusing)
    assert found.doubts == ()
    assert decide(found, ["worse"], runs=(first, refusing)).code == 1  # token F1 fell from 1 to 0.8


def test_an_answer_that_became_undecided_is_lost_unless_a_reference_holds_it():
    metrics = ["faithfulness", SENTENCES, "abstention", "token_f1", "context_recall"]
    first = scores(["Ada."] * COUNT, "first", metrics=metrics)
    unsure = scores(["Ada."] * COUNT, "unsure", metrics=metrics, judge=contradictory)
    assert [each.lost for each in compare_runs(first, unsure).metrics] == [COUNT, COUNT, 0, 0, 0]
    assert [each.lost for each in compare_runs(unsure, unsure).metrics] == [0] * 5


def contradictory(request):
    """The statements' judge sees a refusal where the other one sees an answer."""
    if request.prompt.name == "statements":
        return {"statements": ["One."], "declined": True, "reason": "it knows nothing"}
    return reply(request)


def test_steps_that_disagree_leave_a_sample_undecided():
    found = run(["Ada."] * 3 + [" "], ["faithfulness", "abstention"], contradictory)
    assert found.declines == Declines(answered=0, declined=1, undecided=3, blank=1)
    assert found.declining() == {"s0": None, "s1": None, "s2": None, "s3": True}
    assert [row["declined"] for row in found.to_rows()] == [None, None, None, True]


def test_a_blank_answer_is_no_excuse_also_where_a_judge_calls_it_a_refusal():
    blank = {"statements": [], "declined": True, "reason": "it says nothing at all"}
    silent = run(
        ["Ada.", " "],
        ["faithfulness"],
        lambda request: blank if str(request.variables.get("answer")) == " " else reply(request),
    )
    assert [outcome.is_excused for _, outcome in silent.outcomes()] == [False, False]
    assert list(read_scores(silent).sure["faithfulness/strict.1"].values()) == [1, 0]


def test_what_is_undecided_counts_as_declined_for_a_limit():
    # one of four is undecided: a step saw a refusal, another one an answer
    def doubtful(request):
        is_first = "Who 0?" in str(request.variables.get("question"))
        return contradictory(request) if is_first else reply(request)

    found = scores(["Ada."] * 4, "doubtful", metrics=["faithfulness", "abstention"], judge=doubtful)
    held = limit_of("declined=0.2", found, "max")
    assert decide_limits(found, [held]).failures == (
        "the share of answers that decline is 0.250 over 4 samples, 1 of them undecided and counted as the "
        "worst, above 0.2",
    )
    assert not decide_limits(found, [limit_of("declined=0.25", found, "max")]).failures


def test_a_limit_of_declines_has_an_interval():
    # Wilson's interval of 0 of 12 ends at 1.96^2 / (12 + 1.96^2) = 0.2425
    found = run(["Ada."] * COUNT)
    (told,) = doubts_of_mean(found, "declined", 0.1)
    assert told == (
        "the share of answers that decline is 0.000 (0.000, 0.242) over 12 samples: on others it may be "
        "above 0.1"
    )
    assert doubts_of_mean(found, "declined", 0.25) == ()


def test_rows_that_are_no_samples_and_samples_that_went_decline(before):
    limit = limit_of("declined=0.1", before, "max")
    assert decide_limits(replace(before, rejected=2), [limit]).code == 1  # 2 of 14
    fewer = before.only({f"s{n}" for n in range(10)})
    gate = decide(compare_runs(before, fewer), [], [limit], runs=(before, fewer))
    assert gate.failures == (  # 2 of 12
        "the share of answers that decline is 0.167 over 12 samples, 2 of them undecided and counted as the "
        "worst, above 0.1",
    )


# -- the condition


def gate(first, second):
    return decide(compare_runs(first, second), ["declines"], runs=(first, second))


def test_the_condition_counts(before, after):
    assert gate(before, after).failures == (
        "more answers decline: 0 of 12 in before, 4 in after, 0 of them undecided or missing",
    )
    assert gate(after, before).code == gate(after, after).code == gate(before, before).code == 0


def test_nothing_that_is_undecided_after_passes_the_condition(before):
    metrics = ["faithfulness", "abstention"]
    first = scores(["Ada."] * 4, "first", metrics=metrics)
    unsure = scores(["Ada."] * 4, "unsure", metrics=metrics, judge=contradictory)
    assert "0 of 4 in first, 4 in unsure, 4 of them undecided or missing" in gate(first, unsure).failures[-1]
    # what was undecided before has nothing to be compared with
    assert gate(unsure, first).failures == (
        "unsure knows of no answer whether it declines: there is nothing to compare with",
    )


def test_a_condition_that_there_is_not_is_refused(before):
    with pytest.raises(ConfigError, match=r"--fail-if takes .*declines.*, not 'declined'"):
        decide(compare_runs(before, before), ["declined"])
