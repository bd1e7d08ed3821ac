"""What goes around the models of a run: which layers, in which order, and what is counted on the way."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.drivers import Models, Price, Spending, Tally, Traffic, wired
from ragmetrics_core.drivers.traffic import Meter, Metered, tokens_in
from ragmetrics_core.errors import BudgetSpent, ConfigError, ModelError, ModelTimeout, TransientModelError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import Batched, Cached, Limited, OpenAIJudge, RateLimited, Retrying, TimeLimited
from ragmetrics_core.models.wrapper import Wrapper, unwrapped
from ragmetrics_core.protocol import Completion, Usage
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.models.waits import SlowEmbedder, SlowJudge, now, request, run

REPLY = [Completion(text="ok", usage=Usage(100, 20))]


class Lengths:
    """A scorer whose number for a pair is the length of both texts."""

    identity = "lengths"

    async def arate(self, pairs: Any) -> list[float]:
        return [float(len(one) + len(other)) for one, other in pairs]


def layers(model: Any) -> list[type]:
    """What is around a model, from the outside in."""
    found = []
    while isinstance(model, Wrapper):
        found.append(type(model))
        model = model.inner
    return found


def around(model: Any, **settings: Any) -> Cached:
    return Traffic(**settings).around(model, Journal(), Meter(Tally(), Spending()))


def calls_to(judge: Any, *, traffic: Traffic | None = None, **limits: Any) -> Any:
    return wired(Models(judges=(judge,)), traffic or Traffic(), Journal(), Spending(**limits))


async def ask(calls: Any, *questions: str) -> list[Any]:
    """Ask the judge side by side; what failed stands in its reply's place."""
    found = (calls.models.judge.agenerate(request(question)) for question in questions)
    return await asyncio.gather(*found, return_exceptions=True)


# -- the layers


def test_a_model_has_its_layers_in_the_documented_order():
    assert layers(around(ScriptedJudge({}))) == [Cached, Retrying, Limited, TimeLimited, Metered]


def test_limits_of_a_minute_are_between_attempts_and_calls_in_flight():
    expected = [Cached, Retrying, RateLimited, Limited, TimeLimited, Metered]
    for settings in ({"requests_per_minute": 60.0}, {"tokens_per_minute": 1e6}):
        found = around(ScriptedJudge({}), **settings)
        assert layers(found) == expected
    limiter = found.inner.inner
    assert (limiter.requests_per_minute, limiter.tokens_per_minute) == (None, 1e6)


@pytest.mark.parametrize("model", [HashEmbedder(), Lengths(), Limited(HashEmbedder(), 2)])
def test_limits_of_a_minute_are_the_judges_only(model):
    assert RateLimited not in layers(around(model, requests_per_minute=60.0))


def test_the_settings_reach_their_layers():
    cached = around(ScriptedJudge({}), concurrency=7, timeout=3.0, attempts=2)
    retrying = cached.inner
    limited = retrying.inner
    assert (retrying.attempts, limited.limit, limited.inner.seconds) == (2, 7, 3.0)


def test_without_a_time_limit_there_is_no_layer_for_it():
    assert layers(around(ScriptedJudge({}), timeout=None)) == [Cached, Retrying, Limited, Metered]


def test_a_judge_that_retries_by_itself_is_not_retried_twice():
    pytest.importorskip("openai", reason="needs the extra openai: pip install 'ragmetrics[openai]'")
    own = Retrying(OpenAIJudge("small", api_key="none"), 9)
    for model in (own, Limited(own, 4)):
        found = around(model)
        assert layers(found).count(Retrying) == 1
        assert found.attempts == 9


def test_the_model_itself_is_not_changed():
    judge = ScriptedJudge({})
    found = around(judge)
    assert unwrapped(found) is judge
    assert found.identity == "scripted"


def test_embeddings_are_gathered_before_they_are_looked_up():
    calls = wired(Models(embedder=HashEmbedder(), scorer=Lengths()), Traffic(), Journal(), Spending())
    assert layers(calls.models.embedder)[:2] == [Batched, Cached]
    assert layers(calls.models.scorer)[0] is Cached


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
        await ask(wired(models, Traffic(), journal, Spending()), "a")
        return await ask(wired(models, Traffic(), journal, Spending(calls=0)), "a", "b")

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


def test_attempts_that_a_judge_makes_by_itself_are_calls_too():
    inner = SlowJudge(failures=[TransientModelError("busy")] * 2)
    own = Retrying(inner, 5)

    async def scene() -> Tally:
        await own.agenerate(request("before the run"))
        calls = calls_to(own)
        inner.failures = [None] * 3 + [TransientModelError("busy")]
        await ask(calls, "a")
        return calls.tally

    tally = run(scene())
    # what was retried before the run is not the run's
    assert tally.calls == 2
    assert len(inner.begun) == 5


def test_texts_are_counted_as_they_reach_the_embedder():
    embedder = SlowEmbedder()

    async def scene() -> Tally:
        calls = wired(Models(embedder=embedder), Traffic(), Journal(), Spending(calls=0))
        texts = ["a", "b", "a"], ["b", "c"]
        await asyncio.gather(*(calls.embed(each) for each in texts))
        await calls.embed(["a"])
        return calls.tally

    tally = run(scene())
    assert embedder.asked == [["a", "b", "c"]]
    # embedding is no call of the judge and no budget of calls stops it
    assert (tally.embedded, tally.calls) == (3, 0)


def test_a_failed_call_leaves_no_call_in_flight():
    meter = Meter(Tally(), Spending(tokens=1000))
    metered = Metered(SlowJudge(failures=[ModelError("no")] * 3, usage=REPLY[0].usage), meter=meter)

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


def meter(**limits: Any) -> Meter:
    return Meter(Tally(), Spending(**limits))


def test_calls_in_flight_are_taken_to_become_what_the_others_were():
    # one of four calls has ended with 120 tokens: 120 × (1 + 3 / 1) = 480 are expected
    for limit, is_spent in ((480, True), (481, False)):
        counted = meter(tokens=limit)
        for _ in range(4):
            counted.start()
        counted.end(request(), REPLY)
        if is_spent:
            with pytest.raises(BudgetSpent, match=f"no more than {limit} tokens"):
                counted.start()
        else:
            counted.start()


def test_the_cost_is_taken_in_the_same_way():
    # 100 × 10 + 20 × 20 = 1,400 millionths for the one call that ended, as many for the one in flight
    price = Price(10.0, 20.0)
    for limit, is_spent in ((0.0028, True), (0.0029, False)):
        counted = meter(cost=limit, price=price)
        counted.start()
        counted.start()
        counted.end(request(), REPLY)
        if is_spent:
            with pytest.raises(BudgetSpent, match="may cost no more than"):
                counted.start()
        else:
            counted.start()


def test_before_the_first_reply_nothing_is_known_and_calls_may_begin():
    counted = meter(tokens=1)
    for _ in range(16):
        counted.start()
    assert counted.tally.calls == 16


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


@given(st.integers(0, 10**6))
def test_a_token_is_four_characters_begun(characters):
    assert tokens_in(characters) == len(range(0, characters, 4))


def test_attempts_of_an_earlier_run_are_not_counted_again():
    # the caller's own layer makes the first run's second attempt, and counts for its lifetime
    judge = Retrying(SlowJudge(failures=[TransientModelError("busy")]), first_delay=0)
    retried = []
    for question in ("One?", "Two?"):
        calls = calls_to(judge)
        run(ask(calls, question))
        retried.append(calls.tally.retried)
    assert retried == [1, 0]
