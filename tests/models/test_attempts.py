"""Asking again: how often, how long after, and what the caller gets in the end."""

import asyncio

import pytest

from ragmetrics_core.errors import (
    BudgetSpent,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelTimeout,
    TransientModelError,
)
from tests.models.waits import SlowJudge, line, now, request, run

LOST = TransientModelError("connection lost")


def ask(model: object) -> object:
    return run(model.agenerate(request()))


def test_a_failure_that_passes_is_not_seen_by_the_caller():
    judge = SlowJudge(failures=[LOST, LOST])
    model = line(judge, attempts=4)

    (completion,) = ask(model)

    assert completion.text == "ok"
    assert len(judge.begun) == 3
    assert model.meter.tally.retried == 2


@pytest.mark.parametrize("error", [ModelOverloaded("busy"), ModelTimeout("no answer within 5 s"), LOST])
def test_the_last_failure_keeps_its_class_and_says_how_many_attempts_there_were(error: Exception):
    judge = SlowJudge(failures=[error] * 9)

    with pytest.raises(TransientModelError) as raised:
        ask(line(judge, attempts=4))

    assert type(raised.value) is type(error)
    assert str(raised.value) == f"{error} (after 4 attempts)"
    assert len(judge.begun) == 4


def test_a_failure_with_a_constructor_of_its_own_is_told_too():
    class CodeError(TransientModelError):
        def __init__(self, code: int, *, where: str) -> None:
            super().__init__(f"code {code}")
            self.where = where

    with pytest.raises(CodeError, match=r"^code 7 \(after 2 attempts\)$") as raised:
        ask(line(SlowJudge(failures=[CodeError(7, where="here")] * 2), attempts=2))

    assert raised.value.where == "here"


@pytest.mark.parametrize(
    "error", [ModelRefused("wrong key"), BudgetSpent("no calls left"), ModelError("odd")]
)
def test_what_will_not_pass_is_not_asked_again(error: Exception):
    judge = SlowJudge(failures=[LOST, error])

    with pytest.raises(type(error)) as raised:
        ask(line(judge, attempts=4))

    assert raised.value is error
    assert len(judge.begun) == 2


def test_delays_grow_twofold_up_to_the_longest_and_are_spread_over_the_whole_time():
    # Upper bounds before attempts 2 to 7: 1, 2, 4, 8, then 10 (the longest) twice.
    bounds = [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    shares: list[float] = []
    for _ in range(50):
        judge = SlowJudge(seconds=0.0, failures=[LOST] * 6)
        ask(line(judge, attempts=7, first_delay=1.0, longest_delay=10.0))
        delays = [later - earlier for earlier, later in zip(judge.begun, judge.begun[1:], strict=False)]
        assert all(0 <= delay <= bound + 1e-6 for delay, bound in zip(delays, bounds, strict=True))
        shares += [delay / bound for delay, bound in zip(delays, bounds, strict=True)]
    # 300 draws from [0, 1]: that none falls into a given tenth has probability 0.9**300 < 1e-13.
    assert {min(9, int(10 * share)) for share in shares} == set(range(10))


def test_the_server_is_given_the_time_that_it_asked_for():
    judge = SlowJudge(seconds=0.0, failures=[ModelOverloaded("busy", retry_after=40.0)])

    ask(line(judge, attempts=4, first_delay=0.5))

    assert 40.0 - 1e-6 <= judge.begun[1] <= 40.5 + 1e-6


def test_a_wait_beyond_the_budget_is_not_begun():
    judge = SlowJudge(seconds=0.0, failures=[ModelOverloaded("quota", retry_after=3600.0)])

    async def scene() -> float:
        with pytest.raises(ModelOverloaded, match=r"quota$"):
            await line(judge, attempts=4, patience=300.0).agenerate(request())
        return now()

    assert run(scene()) == 0.0


def test_the_budget_ends_the_attempts_before_their_number_does():
    # Without delays an attempt takes 10 s: failures at 10, 20 and 30 s. From the first one on, 15 s allow
    # attempts that begin at 10 and at 20 s.
    judge = SlowJudge(seconds=10.0, failures=[LOST] * 9)

    with pytest.raises(TransientModelError, match="after 3 attempts"):
        ask(line(judge, attempts=9, first_delay=0.0, patience=15.0))

    assert judge.begun == pytest.approx([0, 10, 20])


def test_time_in_a_queue_is_not_taken_from_the_budget():
    # One call at a time. The second attempt of the first call waits behind 9 others, 10 s each.
    judge = SlowJudge(seconds=10.0, failures=[LOST, *[None] * 9, LOST])
    model = line(judge, concurrency=1, attempts=4, first_delay=0.0, patience=15.0)

    async def scene() -> None:
        await asyncio.gather(*(model.agenerate(request(str(number))) for number in range(10)))

    run(scene())

    assert [
        at for at, answer in zip(judge.begun, judge.answers, strict=True) if answer == "0"
    ] == pytest.approx([0, 100, 110])
