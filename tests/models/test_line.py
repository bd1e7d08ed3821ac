"""A line to a model: what it is, from several event loops, and whatever is cancelled."""

import asyncio
import gc
import operator
import threading
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.errors import ConfigError, ModelOverloaded, TransientModelError
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import (
    Batched,
    CallableJudge,
    Line,
    Meter,
    Traffic,
    as_embedder,
    as_judge,
)
from ragmetrics_core.models.per_loop import PerLoop
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.protocol import Completion
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from ragmetrics_embedded import LexicalJudge
from tests.models.waits import SlowEmbedder, SlowJudge, line, now, request, run

TRAFFIC = {
    "concurrency": 4,
    "timeout": 10.0,
    "attempts": 8,
    "first_delay": 0.1,
    "requests_per_minute": 600.0,
    "tokens_per_minute": 600_000.0,
}


async def ask_many(model: Any, count: int, turn: int = 0) -> list[Any]:
    """Ask side by side; every turn has other questions, so that none is answered from the journal."""
    asked = (model.agenerate(request(f"{turn} {number}")) for number in range(count))
    return await asyncio.gather(*asked, return_exceptions=True)


def test_every_call_is_answered_and_every_limit_holds():
    judge = SlowJudge(failures=[ModelOverloaded("busy", retry_after=1.0), TransientModelError("lost")])
    model = line(judge, journal=Journal(), **TRAFFIC)

    assert run(ask_many(model, 40)) == [[Completion(text="ok")]] * 40
    assert judge.most == 4
    assert len(judge.begun) == 42


def test_a_loop_that_ends_with_calls_under_way_does_not_harm_the_next():
    judge = SlowJudge(seconds=5.0)
    model = line(judge, journal=Journal(), concurrency=4, timeout=10.0, attempts=8, first_delay=0.1)

    async def interrupted() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask_many(model, 20), 7)

    run(interrupted())
    judge.most = 0

    assert run(ask_many(model, 8, 1)) == [[Completion(text="ok")]] * 8
    assert judge.most == 4
    assert judge.in_flight == 0


@given(cancelled=st.dictionaries(st.integers(0, 19), st.floats(0, 12)), failing=st.sets(st.integers(0, 30)))
def test_whatever_is_cancelled_nothing_leaks(cancelled: dict[int, float], failing: set[int]):
    overload = ModelOverloaded("busy", retry_after=1.0)
    judge = SlowJudge(failures=[overload if number in failing else None for number in range(31)])

    async def scene() -> None:
        model = line(judge, journal=Journal(), **TRAFFIC)
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


def test_batches_go_by_the_line_as_single_calls_do():
    embedder = SlowEmbedder(seconds=2.0, failures=[TransientModelError("lost")])
    model = Batched(line(embedder, concurrency=1, timeout=3, attempts=4, first_delay=0.1), 4)

    async def scene() -> list[Any]:
        return await asyncio.gather(*(model.aembed([chr(97 + number)] * 2) for number in range(12)))

    results = run(scene())

    assert [result.tolist() for result in results] == [[[1, 1], [1, 1]]] * 12
    assert len(embedder.asked) == 4


def test_a_line_that_several_runs_are_handed_keeps_its_pace_for_all_of_them():
    judge = SlowJudge()
    shared = line(judge, concurrency=2)

    async def scene() -> None:
        lines = [
            Line.to(shared, Traffic(), journal=None, meter=Meter(), redactor=Redactor(judge))
            for _ in range(3)
        ]
        await asyncio.gather(*(ask_many(each, 4, turn) for turn, each in enumerate(lines)))
        assert [each.meter.tally.calls for each in lines] == [4, 4, 4]

    run(scene())
    assert judge.most == 2


# -- what a line is


def test_a_line_to_a_judge_is_a_judge_and_one_to_an_embedder_an_embedder():
    judge, embedder = Line(ScriptedJudge({})), Batched(Line(HashEmbedder()))

    assert as_judge(judge) is judge
    assert as_embedder(embedder) is embedder


def test_a_line_to_a_judge_is_no_embedder():
    with pytest.raises(ConfigError, match="not Line around ScriptedJudge"):
        as_embedder(Line(ScriptedJudge({})))


@pytest.mark.parametrize("inner", [str.upper, "embedded", None, ScriptedJudge])
def test_to_what_is_no_model_there_is_no_line(inner: object):
    with pytest.raises(ConfigError, match="Line wraps a judge, an embedder or a scorer, not "):
        Line(inner)


def test_a_line_says_which_prompts_its_judge_cannot_answer():
    with pytest.raises(ConfigError) as alone:
        LexicalJudge().check_prompts(["no_such_prompt"])
    with pytest.raises(ConfigError) as inside:
        Line(LexicalJudge()).check_prompts(["no_such_prompt"])

    assert str(inside.value) == str(alone.value)
    Line(ScriptedJudge({})).check_prompts(["no_such_prompt"])


def test_what_a_line_does_not_have_is_the_models():
    class Noted(ScriptedJudge):
        note = "worthless"

    assert Line(Noted({})).note == "worthless"
    assert getattr(Line(ScriptedJudge({})), "note", None) is None


# -- event loops


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


# -- functions as judges


def test_a_function_is_kept_for_later_runs_unless_nothing_tells_it_from_others():
    lock = threading.Lock()

    def locked(text: str) -> str:
        with lock:
            return text

    assert as_judge(lambda text: text).cacheable
    assert not as_judge(locked).cacheable
    assert not Line(as_judge(locked)).cacheable
    assert CallableJudge(function=locked, identity="mine-v1").cacheable


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"concurrency": 0}, "concurrency must be at least 1, not 0"),
        ({"timeout": 0}, "timeout must be above 0 seconds, or None, not 0"),
        ({"timeout": float("nan")}, "timeout must be above 0"),
        ({"attempts": 0}, "attempts must be at least 1, not 0"),
        ({"longest_delay": float("nan")}, "longest_delay must not be negative, not nan"),
        ({"patience": -0.1}, r"patience must not be negative, not -0\.1"),
        ({"requests_per_minute": 0}, "requests_per_minute must be above 0"),
        ({"tokens_per_minute": float("nan")}, "tokens_per_minute must be above 0"),
    ],
)
def test_traffic_that_makes_no_sense_is_refused(settings: dict[str, float], told: str):
    with pytest.raises(ConfigError, match=told):
        Traffic(**settings)
