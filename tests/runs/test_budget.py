"""A run that may ask only so much: it stops cleanly, says so, and goes on where it stopped."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError, ModelError, TransientModelError
from ragmetrics_core.models import Budget, Line, Price, Traffic
from ragmetrics_core.protocol import Completion, Generate, Usage
from ragmetrics_core.testing import ScriptedJudge

STATEMENTS = '{"statements": ["He was born in Ulm."], "declined": false}'
VERDICTS = '{"verdicts": [{"number": 1, "verdict": "yes"}]}'
# a call costs 100 × 10 + 20 × 20 = 1,400 millionths
USED = Usage(100, 20)
PRICES = {"counting": Price(10.0, 20.0)}
ROWS: list[dict[str, Any]] = [
    {
        "id": f"q{n}",
        "question": "Where was he born?",
        "answer": f"In Ulm, {chr(97 + n)}.",
        "contexts": [f"Ulm {n}."],
    }
    for n in range(4)
]


def counting(usage: Usage | None = USED) -> ScriptedJudge:
    """A judge that counts its tokens; two calls for each sample, eight in all."""

    def reply(request: Generate[Any]) -> Completion:
        return Completion(text=STATEMENTS if request.prompt.name == "statements" else VERDICTS, usage=usage)

    return ScriptedJudge(reply, identity="counting")


def spent(judge: Any, **arguments: Any) -> Run:
    """A run with one call in flight at a time, so that every number is certain."""
    return evaluate(ROWS, **{"metrics": "faithfulness", "judge": judge, "concurrency": 1, **arguments})


# -- calls


@settings(max_examples=12)
@given(limit=st.integers(0, 10), concurrency=st.sampled_from([1, 3, 16]))
def test_no_call_too_many_is_made_and_the_rest_of_them_later(tmp_path_factory, limit, concurrency):
    out = tmp_path_factory.mktemp("budget")
    first, rest = counting(), counting()
    run = spent(first, out=out, max_calls=limit, concurrency=concurrency)
    assert len(first.asked) == run.tally["calls"] == min(limit, 8)
    assert set(run.mean("faithfulness").statuses) <= {"ok", "cancelled"}
    whole = spent(rest, out=out)
    # each call is made once, in the one part of the run or in the other
    assert len(first.asked) + len(rest.asked) == whole.tally["calls"] == 8
    assert whole.mean("faithfulness").statuses == {"ok": 4}
    assert list(whole.audit()) == []


def test_what_was_not_reached_is_cancelled_and_says_why():
    run = spent(counting(), max_calls=3)
    reasons = [run.score(f"q{number}", "faithfulness").reason for number in range(4)]
    assert reasons == [None, *["the run may make no more than 3 calls"] * 3]
    assert run.mean("faithfulness").statuses == {"ok": 1, "cancelled": 3}
    assert run.tally["failed"] == 0


def test_the_mean_says_how_far_the_cancelled_could_move_it():
    mean = spent(counting(), max_calls=2).mean("faithfulness")
    # one of four is 1, the others anything from 0 to 1
    assert (mean.value, mean.n, mean.worst, mean.best) == (1.0, 1, 0.25, 1.0)


def test_further_attempts_are_calls():
    judge = ScriptedJudge(lambda request: TransientModelError("busy"))
    run = spent(Line(judge, Traffic(attempts=5, first_delay=0.0)), max_calls=3)
    assert len(judge.asked) == run.tally["calls"] == 3
    assert run.mean("faithfulness").statuses == {"cancelled": 4}


def test_what_the_journal_answers_costs_nothing(tmp_path):
    cache = tmp_path / "cache.sqlite"
    spent(counting(), cache=cache)
    run = spent(counting(), cache=cache, max_calls=0, max_tokens=0, max_cost=0.0, prices=PRICES)
    assert run.mean("faithfulness").statuses == {"ok": 4}


@pytest.mark.parametrize(("beside", "limit"), [("cancelled", 1), ("model_error", None)])
def test_a_bad_reply_beside_a_call_that_was_not_answered_leaves_a_record_that_holds(beside, limit):
    # the statements of the answer cannot be read; those of the reference are asked for at the same time
    judge = ScriptedJudge({"statements": "I cannot.", "reference_statements": ModelError("down")})
    run = evaluate(
        [{**ROWS[0], "reference": "In Ulm."}],
        metrics="factual_correctness",
        judge=judge,
        concurrency=1,
        max_calls=limit,
    )
    # statements of answer and reference; those of the answer once more
    assert len(judge.asked) == (limit or 3)
    assert list(run.audit()) == []
    assert run.score("q0", "factual_correctness").status == beside


# -- tokens and cost


def test_a_run_stops_when_its_tokens_are_used():
    # 120 tokens a call: after two calls 240 of 240 are used
    judge = counting()
    run = spent(judge, max_tokens=240)
    assert len(judge.asked) == 2
    assert run.score("q1", "faithfulness").reason == "the run may use no more than 240 tokens"
    assert (run.tally["prompt_tokens"], run.tally["completion_tokens"]) == (200, 40)


def test_a_run_stops_when_its_cost_is_reached():
    # 0.0014 a call: 0.0028 after two calls is below 0.003, 0.0042 after three is not
    judge = counting()
    run = spent(judge, max_cost=0.003, prices=PRICES)
    assert len(judge.asked) == 3
    assert run.score("q3", "faithfulness").reason == "the run may cost no more than 0.003"


def test_nothing_is_asked_without_tokens_or_money():
    for limit in ({"max_tokens": 0}, {"max_cost": 0.0, "prices": PRICES}, {"max_calls": 0}):
        judge = counting()
        assert spent(judge, **limit).mean("faithfulness").statuses == {"cancelled": 4}
        assert judge.asked == []


def test_tokens_of_a_judge_that_does_not_count_are_estimated_from_the_characters():
    # A prompt is some hundreds of characters, so a limit of one token stops after the first call. What was
    # not counted is not shown as if it had been.
    judge = counting(usage=None)
    run = spent(judge, max_tokens=1)
    assert (len(judge.asked), run.tally["prompt_tokens"]) == (1, 0)


# -- mistakes


@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_cost"])
def test_a_limit_below_nothing_is_refused(name):
    with pytest.raises(ConfigError, match=f"{name} must be 0 or more, or None, not -1"):
        spent(counting(), prices=PRICES, **{name: -1})


def test_a_limit_of_cost_needs_prices():
    with pytest.raises(ConfigError, match="max_cost needs the judge's price"):
        spent(counting(), max_cost=1.0)
    with pytest.raises(ConfigError, match="max_cost needs the judge's price"):
        Budget(cost=1.0)
