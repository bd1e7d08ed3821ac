"""Whole measurements repeated: scores of their own, and a spread that says where it comes from."""

import json
from collections.abc import Sequence
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs import Outcome
from ragmetrics_core.runs._summary import averaged
from ragmetrics_core.scoring import nested_spread
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {"id": "q1", "question": "Where?", "answer": "In Ulm.", "contexts": ["He was born in Ulm."]}
FAITHFULNESS = "faithfulness/strict.1"
scores = st.floats(min_value=0, max_value=1)
repetitions = st.lists(st.lists(scores, min_size=2, max_size=2), min_size=2, max_size=4)


class Varying(ScriptedJudge):
    """Says something else in each repetition, and in each vote.

    Args:
        said: for each repetition, what it says in each draw: "yn" is yes to the first statement and no to the
            second one. Statements are as many as the verdicts on them; a repetition that says "" makes none.
    """

    def __init__(self, *said: Sequence[str]) -> None:
        super().__init__({}, identity="varying")
        self.said = said

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        self.asked.append(request)
        repetition, draw = divmod(request.draw, 1000)
        if request.prompt.name == "statements":
            reply: Any = {
                "statements": [f"{repetition}{place}." for place in range(len(self.said[repetition][0]))],
                "declined": False,
            }
        else:
            words = {"y": "yes", "n": "no"}
            votes = zip(request.expected.numbers, self.said[repetition][draw], strict=False)
            reply = {"verdicts": [{"number": number, "verdict": words[vote]} for number, vote in votes]}
        return [Completion(json.dumps(reply), held_to="graded" if "statements" in reply else None)]


def repeated(*said: Sequence[str], rows: Sequence[Any] = (SAMPLE,), **arguments: Any) -> Run:
    """A run with as many repetitions and votes as the judge has something to say."""
    counts = {"full_repeats": len(said), "repeats": len(said[0])}
    arguments = {"metrics": "faithfulness", "judge": Varying(*said), **counts, **arguments}
    return evaluate(rows, **arguments)


def values(run: Run) -> dict[str, float | None]:
    return {signature: score.value for signature, score in run.scores("q1").items()}


# -- scores of their own


def test_each_repetition_is_a_score_of_its_own():
    # one of two, none of one, two of two
    assert values(repeated(["yn"], ["n"], ["yy"])) == {
        FAITHFULNESS: 0.5,
        f"{FAITHFULNESS}(repetition=2)": 0.0,
        f"{FAITHFULNESS}(repetition=3)": 1.0,
    }


def test_a_repetition_shares_no_call_with_another():
    judge = Varying(["y"], ["y"], ["y"])
    repeated(["y"], ["y"], ["y"], judge=judge)
    asked = sorted((request.prompt.name, request.draw) for request in judge.asked)
    assert asked == [(name, draw) for name in ("statements", "verdicts") for draw in (0, 1000, 2000)]


def test_the_votes_of_a_repetition_are_draws_of_its_own():
    judge = Varying(["y", "n"], ["n", "y"])
    repeated(["y", "n"], ["n", "y"], judge=judge)
    draws = sorted(request.draw for request in judge.asked if request.prompt.name == "verdicts")
    assert draws == [0, 1, 1000, 1001]


def test_a_metrics_name_stands_for_its_first_repetition_and_each_has_a_mean():
    run = repeated(["yn"], ["n"])
    assert (run.mean("faithfulness").value, run.score("q1", "faithfulness").value) == (0.5, 0.5)
    assert run.mean(f"{FAITHFULNESS}(repetition=2)").value == 0.0


def test_going_on_asks_no_repetition_again(tmp_path):
    repeated(["yn"], ["n"], out=tmp_path, max_calls=3)
    judge = Varying(["yn"], ["n"])
    run = repeated(["yn"], ["n"], out=tmp_path, judge=judge)
    assert len(judge.asked) == 1
    assert list(values(run).values()) == [0.5, 0.0]


def test_more_repetitions_are_another_run(tmp_path):
    repeated(["yn"], ["n"], out=tmp_path)
    told = r"it does not measure faithfulness/strict\.1\(repetition=3\)"
    with pytest.raises(ConfigError, match=told):
        repeated(["yn"], ["n"], ["y"], out=tmp_path)


# -- all repetitions together


def test_a_mean_over_all_repetitions_takes_each_samples_mean():
    run = repeated(["yn"], ["n"], ["yy"])
    # (1/2 + 0 + 1) / 3, by whatever name of the metric
    assert run.averaged("faithfulness").value == pytest.approx(0.5)
    assert run.averaged(f"{FAITHFULNESS}(repetition=2)").value == pytest.approx(0.5)
    assert run.averaged("faithfulness").n == 1
    assert repeated(["yn"], ["n"]).averaged("faithfulness").value == 0.25


OK, BAD = Outcome("ok", 1.0, None, False), Outcome("ok", 0.0, None, False)
FAILED = Outcome("model_error", None, None, False, "timeout")
HALF = Outcome("incomplete", None, (0.5, 1.0), False, "verdicts_missing")
EXCUSED = Outcome("undefined", None, None, False, "no_reference")


def together(*outcomes):
    return averaged(outcomes, worst=0.0, best=1.0)


def test_a_repetition_that_failed_leaves_no_mean_and_counts_as_the_worst():
    found = together(OK, FAILED)
    # what failed may have been anything from 0 to 1
    assert (found.status, found.value, found.bounds) == ("model_error", None, (0.5, 1.0))
    assert found.sure(worst=0.0, best=1.0) == 0.5
    assert together(FAILED, FAILED) == FAILED
    # (1 + 1/2 + 0) / 3 and (1 + 1 + 1) / 3
    assert together(OK, HALF, FAILED).bounds == (0.5, 1.0)


def test_a_repetition_that_rightly_has_no_score_counts_only_where_all_have_none():
    assert together(EXCUSED, OK, BAD).value == 0.5
    assert together(EXCUSED, EXCUSED) == EXCUSED
    assert together(OK._replace(corrected=True), BAD).corrected


def test_a_sample_that_lacks_a_repetition_is_not_there_yet(tmp_path):
    repeated(["yn"], ["n"], out=tmp_path, max_calls=3)
    run = Run.load(tmp_path)
    assert [key.signature for key, each in run.outcomes() if each.value is not None] == [FAITHFULNESS]
    assert run.averaged("faithfulness").value is None


# -- the spread of a run


def test_with_one_vote_the_spread_is_that_of_the_scores():
    # 1 and 0.5: mean 0.75, variance 2 × 0.25² = 0.125
    spread = repeated(["yy"], ["yn"]).spread("faithfulness")
    assert spread == (pytest.approx(sqrt(0.125)), None, None, 1)


def test_with_several_votes_it_is_split_into_verdicts_and_statements():
    # first repetition: 1 and 0.5 by vote, mean 0.75, variance 0.125
    # second repetition: 0 and 0.5 by vote, mean 0.25, variance 0.125
    # verdicts: 0.125. Between the means: 0.125, of which verdicts explain 0.125 / 2; statements: 0.0625
    spread = repeated(["yy", "yn"], ["nn", "yn"]).spread("faithfulness")
    assert spread == pytest.approx((sqrt(0.1875), sqrt(0.125), 0.25, 1))


def test_votes_that_agree_leave_all_of_it_to_the_statements():
    # 0.5 and 0.5, 1 and 1: between 0.5 and 1 the variance is 0.125
    spread = repeated(["yn", "ny"], ["y", "y"]).spread("faithfulness")
    assert spread == pytest.approx((sqrt(0.125), 0.0, sqrt(0.125), 1))


def test_a_repetition_without_a_score_is_left_out():
    # the second repetition makes no statement; 1 and 0 are left: variance 0.5
    spread = repeated(["y"], [""], ["n"]).spread("faithfulness")
    assert spread == (pytest.approx(sqrt(0.5)), None, None, 1)


@pytest.mark.parametrize("said", [[["y"]], [["y"], [""]]])
def test_a_sample_with_one_score_has_no_spread(said):
    assert repeated(*said).spread("faithfulness") == (None, None, None, 0)


def test_the_spread_of_a_metric_with_settings_is_its_own():
    # the answer has one sentence, which is supported both times; of two statements it is two, then one
    metrics = [Faithfulness(), Faithfulness(granularity="sentence")]
    run = repeated(["yy"], ["yn"], metrics=metrics)
    assert run.spread(metrics[0]) == (pytest.approx(sqrt(0.125)), None, None, 1)
    assert run.spread(metrics[1]) == (0.0, None, None, 1)
    with pytest.raises(ConfigError, match="the run has several metrics 'faithfulness'"):
        run.spread("faithfulness")


# -- the formula


def test_samples_are_averaged_by_their_variances():
    # the first sample: within 0.125, between 0.125, as above; the second one has no spread: half of each
    # statements: 0.0625 - 0.0625 / 2 = 0.03125
    found = nested_spread([[[1.0, 0.5], [0.0, 0.5]], [[1.0, 1.0], [1.0, 1.0]]])
    assert found == pytest.approx((sqrt(0.09375), sqrt(0.0625), sqrt(0.03125), 2))


def test_votes_may_differ_in_number():
    # Within the one repetition with two votes: variance of 0 and 1 is 0.5. Means 0.5 and 1: variance 0.125.
    # With (2 + 1) / 2 votes on average, verdicts explain 0.5 / 1.5 = 0.333, more than there is.
    assert nested_spread([[[0.0, 1.0], [1.0]]]) == pytest.approx((sqrt(0.5), sqrt(0.5), 0.0, 1))


@given(st.lists(repetitions, min_size=1, max_size=4))
def test_the_parts_of_the_spread_add_up_as_variances(samples):
    total, verdicts, statements, count = nested_spread(samples)
    assert total**2 == pytest.approx(verdicts**2 + statements**2)
    assert min(total, verdicts, statements) >= 0
    assert count == len(samples)


@given(st.lists(repetitions, min_size=1, max_size=3), st.floats(-1, 1), st.floats(0.5, 4))
def test_the_spread_ignores_a_shift_and_follows_a_scale(samples, shift, scale):
    moved = [[[scale * each + shift for each in votes] for votes in sample] for sample in samples]
    expected = [None if each is None else scale * each for each in nested_spread(samples)[:3]]
    assert nested_spread(moved)[:3] == pytest.approx(expected, abs=1e-6)
