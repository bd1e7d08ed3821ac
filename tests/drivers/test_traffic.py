"""A run's lines to its models: what reaches them, and what is counted on the way."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.drivers import Models, wired
from ragmetrics_core.errors import BudgetSpent, ConfigError, ModelError, ModelTimeout, TransientModelError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import Budget, Line, Meter, Price, Tally, Traffic
from ragmetrics_core.protocol import Completion, Usage
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.models.waits import SlowEmbedder, SlowJudge, now, request, run

REPLY = [Completion(text="ok", usage=Usage(100, 20))]


class Lengths:
    """A scorer whose number for a pair is the length of both texts."""

    identity = "lengths"

    async def arate(self, pairs: Any) -> list[float]:
        return [float(len(one) + len(other)) for one, other in pairs]


def calls_to(judge: Any, *, traffic: Traffic | None = None, **limits: Any) -> Any:
    return wired(Models(judges=(judge,)), traffic or Traffic(), Journal(), Budget(**limits))


async def ask(calls: Any, *questions: str) -> list[Any]:
    """Ask the judge side by side; what failed stands in its reply's place."""
    found = (calls.models.judge.agenerate(request(question, digest=question)) for question in questions)
    return await asyncio.gather(*found, return_exceptions=True)


# -- the lines


def test_the_settings_reach_the_lines():
    traffic = Traffic(concurrency=7, timeout=3.0, attempts=2)
    calls = wired(Models(judges=(ScriptedJudge({}),), scorer=Lengths()), traffic, Journal(), Budget())
    for model in (calls.models.judge, calls.models.scorer):
        assert (model.traffic, model.concurrency) == (traffic, 7)


@pytest.mark.parametrize("model", [HashEmbedder(), Lengths(), Line(HashEmbedder())])
def test_limits_of_a_minute_are_the_judges_only(model):
    assert Line(model, Traffic(requests_per_minute=60.0)).pace.allowance is None
    assert Line(ScriptedJudge({}), Traffic(requests_per_minute=60.0)).pace.allowance is not None


def test_a_line_that_is_handed_in_keeps_its_own_traffic():
    own = Line(ScriptedJudge({}), Traffic(attempts=9))
    found = calls_to(own).models.judge
    assert (found.traffic.attempts, found.pace is own.pace, found.inner) == (9, True, own.inner)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"concurrency": 0}, "concurrency must be at least 1, not 0"),
        ({"timeout": 0.0}, "timeout must be above 0 seconds, or None, not 0"),
        ({"attempts": 0}, "attempts must be at least 1, not 0"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, told):
    with pytest.raises(ConfigError, match=told):
        Traffic(**settings)


# -- what the order does


def test_every_attempt_has_its_own_time_and_waiting_for_a_turn_has_none():
    # four calls of 4 s with one in flight: the last one waits for 12 s, and a call may take 5 s
    async def scene() -> list[Any]:
        return await ask(
            calls_to(SlowJudge(seconds=4.0), traffic=Traffic(concurrency=1, timeout=5.0)), *"abcd"
        )

    assert all(reply[0].text == "ok" for reply in run(scene()))


def test_a_call_that_takes_too_long_is_made_again_with_new_time():
    judge = SlowJudge(seconds=9.0)

    async def scene() -> tuple[list[Any], Tally, float]:
        calls = calls_to(judge, traffic=Traffic(timeout=5.0, attempts=3))
        return await ask(calls, "a"), calls.tally, now()

    (failure,), tally, seconds = run(scene())
    assert isinstance(failure, ModelTimeout)
    assert (len(judge.begun), judge.cancelled, tally.calls, tally.retried) == (3, 3, 3, 2)
    assert seconds >= 15.0


def test_while_a_failed_call_waits_to_be_made_again_others_have_its_turn():
    # The first call fails at once with a request to wait for a minute; the second one does not wait for it.
    slow = TransientModelError("busy")
    slow.retry_after = 60.0
    judge = SlowJudge(failures=[slow])

    async def scene() -> list[Any]:
        return await ask(calls_to(judge, traffic=Traffic(concurrency=1)), "a", "b")

    assert all(reply[0].text == "ok" for reply in run(scene()))
    assert judge.answers == ["a", "b", "a"]
    assert judge.begun[1] == 1.0
    assert judge.begun[2] >= 61.0


def test_the_same_call_is_made_once_while_in_flight_and_never_again():
    judge = SlowJudge()

    async def scene() -> Tally:
        calls = calls_to(judge)
        await ask(calls, "a", "a", "b")
        await ask(calls, "a")
        return calls.tally

    tally = run(scene())
    assert judge.answers == ["a", "b"]
    assert (tally.calls, tally.shared, tally.cached) == (2, 1, 1)


def test_a_stored_reply_is_given_even_when_nothing_may_be_asked_any_more():
    async def scene() -> list[Any]:
        journal = Journal()
        models = Models(judges=(SlowJudge(),))
        await ask(wired(models, Traffic(), journal, Budget()), "a")
        return await ask(wired(models, Traffic(), journal, Budget(calls=0)), "a", "b")

    stored, refused = run(scene())
    assert stored[0].text == "ok"
    assert isinstance(refused, BudgetSpent)


def test_a_spent_budget_is_not_a_failure_that_may_pass():
    judge = SlowJudge(failures=[TransientModelError("busy")] * 9)

    async def scene() -> tuple[list[Any], Tally]:
        calls = calls_to(judge, traffic=Traffic(attempts=9), calls=2)
        return await ask(calls, "a"), calls.tally

    (failure,), tally = run(scene())
    assert isinstance(failure, BudgetSpent)
    assert (len(judge.begun), tally.calls) == (2, 2)


# -- what is counted


def test_every_attempt_is_a_call_whatever_becomes_of_it():
    judge = SlowJudge(failures=[TransientModelError("busy"), ModelError("no"), None], usage=Usage(100, 20))

    async def scene() -> Tally:
        calls = calls_to(judge, traffic=Traffic(concurrency=1))
        await ask(calls, "a", "b")
        return calls.tally

    tally = run(scene())
    # a fails for now, b for good, then a again
    assert (tally.calls, tally.retried) == (3, 1)
    assert (tally.prompt_tokens, tally.completion_tokens) == (100, 20)


def test_texts_are_counted_as_they_reach_the_embedder():
    embedder = SlowEmbedder()

    async def scene() -> Tally:
        calls = wired(Models(embedder=embedder), Traffic(), Journal(), Budget(calls=0))
        texts = ["a", "b", "a"], ["b", "c"]
        await asyncio.gather(*(calls.models.embedder.aembed(each) for each in texts))
        await calls.models.embedder.aembed(["a"])
        return calls.tally

    tally = run(scene())
    assert embedder.asked == [["a", "b", "c"]]
    # embedding is no call of the judge and no budget of calls stops it
    assert (tally.embedded, tally.calls) == (3, 0)


def test_a_failed_call_leaves_no_call_in_flight():
    meter = Meter(Tally(), Budget(tokens=1000))
    metered = Line(SlowJudge(failures=[ModelError("no")] * 3, usage=REPLY[0].usage), meter=meter)

    async def scene() -> None:
        for question in "abcdefghijk":
            try:
                await metered.agenerate(request(question))
            except ModelError:
                continue

    # Three fail and use nothing; after eight more, 960 of 1,000 tokens are used and none is in flight.
    run(scene())
    assert meter.tally.calls == 11


# -- the meter


def meter(price: Price | None = None, **limits: Any) -> Meter:
    return Meter(Tally(), Budget(**limits, prices={} if price else None), price)


@pytest.mark.parametrize(
    ("calls", "ends", "limits", "is_spent"),
    [
        # one of four calls has ended with 120 tokens: 120 × (1 + 3 / 1) = 480 are expected
        (4, True, {"tokens": 480}, True),
        (4, True, {"tokens": 481}, False),
        # 100 × 10 + 20 × 20 = 1,400 millionths for the one call that ended, as many for the one in flight
        (2, True, {"cost": 0.0028, "price": Price(10.0, 20.0)}, True),
        (2, True, {"cost": 0.0029, "price": Price(10.0, 20.0)}, False),
        # before the first reply nothing is known
        (16, False, {"tokens": 1}, False),
    ],
)
def test_calls_in_flight_are_taken_to_become_what_the_others_were(calls, ends, limits, is_spent):
    counted = meter(**limits)
    for _ in range(calls):
        counted.start()
    if ends:
        counted.end(request(), REPLY)
    if is_spent:
        with pytest.raises(BudgetSpent, match="the run may"):
            counted.start()
    else:
        counted.start()


def test_tokens_that_were_not_counted_are_estimated_for_the_limit_and_not_shown():
    asked = request("x" * 4000)
    prompt = sum(len(message.content) for message in asked.messages)
    # the prompt by four characters a token, and a reply of nine characters: three tokens
    used = -(-prompt // 4) + 3
    for limit, is_spent in ((used, True), (used + 1, False)):
        counted = meter(tokens=limit)
        counted.start()
        counted.end(asked, [Completion(text="123456789")])
        assert (counted.tally.prompt_tokens, counted.tally.completion_tokens) == (0, 0)
        if is_spent:
            with pytest.raises(BudgetSpent):
                counted.start()
        else:
            counted.start()


def test_several_replies_to_one_call_are_counted_as_the_server_counts_them():
    counted = meter()
    counted.start()
    counted.end(request(draws=2), [*REPLY, Completion(text="ok")])
    assert counted.tally == Tally(calls=1, prompt_tokens=100, completion_tokens=20)


@given(st.integers(0, 30), st.lists(st.booleans(), max_size=60))
def test_no_order_of_calls_exceeds_their_limit(limit, begins):
    counted = meter(calls=limit)
    begun = ended = 0
    for begin in begins:
        if begin:
            try:
                counted.start()
                begun += 1
            except BudgetSpent:
                assert begun == limit
        elif ended < begun:
            counted.end(request(), ())
            ended += 1
    assert counted.tally.calls == begun <= limit
