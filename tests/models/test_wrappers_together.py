"""Wrappers around one another: in any order, from two event loops, and whatever is cancelled."""

import asyncio
import functools
import gc
import operator
import time
import weakref
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.errors import ConfigError, ModelOverloaded, TransientModelError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import (
    Batched,
    Cached,
    CallableJudge,
    LexicalJudge,
    Limited,
    RateLimited,
    Retrying,
    TimeLimited,
    as_embedder,
    as_judge,
)
from ragmetrics_core.models.wrapper import PerLoop, Wrapper
from ragmetrics_core.protocol import Completion
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.models.waits import SlowEmbedder, SlowJudge, now, request, run

Wrap = Callable[[Any], Wrapper]

WRAPS: dict[str, Wrap] = {
    "Retrying": lambda inner: Retrying(inner, 8, first_delay=0.1),
    "Limited": lambda inner: Limited(inner, 4),
    "RateLimited": lambda inner: RateLimited(
        inner, requests_per_minute=600, tokens_per_minute=600_000, clock=now
    ),
    "TimeLimited": lambda inner: TimeLimited(inner, 10),
    "Cached": lambda inner: Cached(inner, Journal()),
}
ORDERS = [pytest.param(order, id=" ".join(order)) for order in permutations(WRAPS)]
ORDERS_INSIDE_RATE_LIMITED = [
    pytest.param(order, id=" ".join(order))
    for order in permutations(name for name in WRAPS if name != "RateLimited")
]


def wrapped(model: Any, order: Sequence[str]) -> Any:
    """The model with wrappers around it, the first of the order outermost."""
    return functools.reduce(lambda inner, name: WRAPS[name](inner), reversed(order), model)


async def ask_many(model: Any, count: int, turn: int = 0) -> list[Any]:
    """Ask side by side; every turn has other questions, so that none is answered from the journal."""
    calls = (model.agenerate(request(f"{turn}, {number}")) for number in range(count))
    return await asyncio.gather(*calls, return_exceptions=True)


# In any order


@pytest.mark.parametrize("order", ORDERS)
def test_in_any_order_every_call_is_answered_and_every_limit_holds(order: Sequence[str]):
    # A call takes 1 s, so 40 calls with 4 in flight queue for 10 s and more: beyond what one call may take.
    # Every fifth call fails for now, some of them with a request to wait.
    failures = [TransientModelError("lost"), ModelOverloaded("busy", retry_after=3.0)]
    judge = SlowJudge(failures=[None if n % 5 else failures[n % 2] for n in range(40)])

    async def scene() -> list[Any]:
        return await ask_many(wrapped(judge, order), 40)

    results = run(scene())

    assert results == [[Completion(text="ok")]] * 40
    assert judge.most <= 4
    assert len(judge.begun) == 48
    assert all(sum(begin <= at < begin + 59 for at in judge.begun) <= 600 for begin in judge.begun)


@pytest.mark.parametrize("order", ORDERS_INSIDE_RATE_LIMITED)
def test_in_any_order_the_wrappers_serve_event_loops_one_after_another(order: Sequence[str]):
    judge = SlowJudge()
    # The allowance's clock must be one that goes on from loop to loop, as the real one does.
    begun = time.monotonic()
    model = wrapped(judge, order)
    model = RateLimited(model, requests_per_minute=60_000, clock=lambda: time.monotonic() - begun)

    for turn in range(3):
        judge.most = 0
        # More calls than may be in flight, so that every loop has a queue.
        assert run(ask_many(model, 9, turn)) == [[Completion(text="ok")]] * 9
        assert judge.most == 4


@pytest.mark.parametrize("order", ORDERS_INSIDE_RATE_LIMITED)
def test_in_any_order_a_loop_that_ends_with_calls_under_way_does_not_harm_the_next(order: Sequence[str]):
    judge = SlowJudge(seconds=5.0)
    model = wrapped(judge, order)

    async def interrupted() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask_many(model, 20), 7)

    run(interrupted())
    judge.most = 0

    assert run(ask_many(model, 8, 1)) == [[Completion(text="ok")]] * 8
    assert judge.most == 4
    assert judge.in_flight == 0


@given(
    order=st.permutations(list(WRAPS)),
    cancelled=st.dictionaries(st.integers(0, 19), st.floats(0, 12)),
    failing=st.sets(st.integers(0, 30)),
)
def test_whatever_is_cancelled_nothing_leaks(
    order: list[str], cancelled: dict[int, float], failing: set[int]
):
    overload = ModelOverloaded("busy", retry_after=1.0)
    judge = SlowJudge(failures=[overload if number in failing else None for number in range(31)])

    async def scene() -> None:
        model = wrapped(judge, order)
        tasks = [asyncio.create_task(model.agenerate(request(str(number)))) for number in range(20)]
        for number, at in sorted(cancelled.items(), key=operator.itemgetter(1)):
            await asyncio.sleep(max(0.0, at - now()))
            tasks[number].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() <= (number in cancelled) for number, task in enumerate(tasks))
        assert judge.in_flight == 0
        # Once it has recovered, as many calls are in flight as ever.
        judge.failures = ()
        await ask_many(model, 30, 1)
        judge.most = 0
        assert all(isinstance(result, list) for result in await ask_many(model, 8, 2))
        assert judge.most == 4

    run(scene())


def test_batches_may_be_limited_retried_and_timed_inside_and_outside():
    embedder = SlowEmbedder(seconds=2.0, failures=[TransientModelError("lost")])
    inside = Retrying(Limited(TimeLimited(embedder, 3), 1), first_delay=0.1)
    model = TimeLimited(Retrying(Limited(Batched(inside, 4), 16)), 6)

    async def scene() -> list[Any]:
        return await asyncio.gather(*(model.aembed([chr(97 + number)] * 2) for number in range(12)))

    results = run(scene())

    assert [result.tolist() for result in results] == [[[1, 1], [1, 1]]] * 12
    assert len(embedder.asked) == 4


# What a wrapped model is


def test_wrappers_have_the_identity_of_the_model():
    assert wrapped(ScriptedJudge({}, identity="mine"), list(WRAPS)).identity == "mine"


def test_a_wrapped_judge_is_a_judge_and_a_wrapped_embedder_an_embedder():
    judge, embedder = Retrying(Limited(ScriptedJudge({}))), Retrying(Batched(HashEmbedder()))

    assert as_judge(judge) is judge
    assert as_embedder(embedder) is embedder


def test_a_wrapped_embedder_is_no_judge():
    with pytest.raises(ConfigError, match="not Retrying around Limited around HashEmbedder"):
        as_judge(Retrying(Limited(HashEmbedder())))


def test_a_wrapped_judge_is_no_embedder():
    with pytest.raises(ConfigError, match="not Limited around ScriptedJudge"):
        as_embedder(Limited(ScriptedJudge({})))


@pytest.mark.parametrize("inner", [str.upper, "embedded", None, ScriptedJudge])
def test_what_is_no_model_cannot_be_wrapped(inner: object):
    with pytest.raises(ConfigError, match="Limited goes around a judge, an embedder or a scorer, not "):
        Limited(inner)


def test_a_wrapped_judge_says_which_prompts_it_cannot_answer():
    with pytest.raises(ConfigError) as alone:
        LexicalJudge().check_prompts(["no_such_prompt"])
    with pytest.raises(ConfigError) as inside:
        Retrying(Limited(LexicalJudge())).check_prompts(["no_such_prompt"])

    assert str(inside.value) == str(alone.value)


def test_a_judge_that_answers_any_prompt_does_so_in_a_wrapper():
    Retrying(ScriptedJudge({})).check_prompts(["no_such_prompt"])


def test_what_a_wrapper_does_not_have_is_the_models():
    class Noted(ScriptedJudge):
        note = "worthless"

    model = Limited(Retrying(Noted({})), 3)

    assert (model.note, model.retries) == ("worthless", 0)
    assert getattr(Limited(ScriptedJudge({})), "note", None) is None


def test_wrappers_are_values():
    judge = LexicalJudge()

    assert Limited(judge, 3) == Limited(judge, 3) != Limited(judge, 4)
    assert repr(Limited(judge, 3)) == f"Limited(inner={judge!r}, limit=3, adaptive=True)"


def test_a_scorer_goes_through_the_same_wrappers():
    class Scorer:
        identity = "lengths"
        asked = 0

        async def arate(self, pairs):
            self.asked += 1
            if self.asked == 1:
                raise TransientModelError("lost")
            return [float(len(left) + len(right)) for left, right in pairs]

    async def scene() -> Sequence[float]:
        return await wrapped(Scorer(), list(WRAPS)).arate([("ab", "c"), ("", "d")])

    assert run(scene()) == [3.0, 1.0]


# Event loops


def test_each_event_loop_has_an_object_of_its_own_which_is_gone_when_another_loop_runs():
    class State:
        def __init__(self) -> None:
            self.loop = asyncio.get_running_loop()  # as locks and futures do

    per_loop: PerLoop[State] = PerLoop(State)

    async def scene() -> weakref.ref[State]:
        assert per_loop() is per_loop()
        return weakref.ref(per_loop())

    loops = [asyncio.new_event_loop() for _ in range(2)]
    first, second = (loop.run_until_complete(scene()) for loop in loops)
    assert first() is not second()
    assert loops[0].run_until_complete(scene()) is first

    for loop in loops:
        loop.close()
    del loop, loops
    asyncio.run(scene())
    gc.collect()
    assert first() is second() is None


# Functions as judges


def test_a_function_is_kept_for_later_runs_only_under_a_name_that_was_chosen():
    class Callable:
        def __call__(self, text: str) -> str:
            return text

        def method(self, text: str) -> str:
            return text

    unnamed = [lambda text: text, Callable(), Callable().method, functools.partial(str.replace, "a")]

    functions = [a_named_function, *unnamed]
    assert [as_judge(function).cacheable for function in functions] == [False] * 5
    assert CallableJudge(function=unnamed[0], identity="mine-v1").cacheable
    assert not Retrying(as_judge(unnamed[0])).cacheable


def a_named_function(text: str) -> str:
    return text
