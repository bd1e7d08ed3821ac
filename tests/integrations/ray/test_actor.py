"""One actor: its models are kept busy from one block to the next, and never asked more than they should."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("ray", reason="the package ray is not installed (pip install 'ragmetrics-core[ray]')")

import pyarrow as pa

from ragmetrics_core.metrics import resolve
from ragmetrics_core.models import Traffic
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_embedded import LexicalJudge
from ragmetrics_ray._worker import Actor, WorkerPlan


def block(*words: str) -> pa.Table:
    """Samples in which a word tells the judge which they are."""
    return pa.Table.from_pylist(
        [
            {
                "id": word,
                "question": f"What is {word}?",
                "answer": f"The house is {word}.",
                "contexts": [f"A {word} is."],
            }
            for word in words
        ]
    )


@dataclass
class Watched:
    """The lexical judge; it counts the calls in flight and answers about "slow" once asked about "next"."""

    identity: str = "watched"
    in_flight: int = 0
    most: int = 0
    asked_slow: threading.Event = field(default_factory=threading.Event)
    asked_next: asyncio.Event = field(default_factory=asyncio.Event)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        asked = request.messages[-1].content
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            if "slow" in asked:
                self.asked_slow.set()
                await self.asked_next.wait()
            if "next" in asked:
                self.asked_next.set()
            await asyncio.sleep(0)
            return await LexicalJudge().agenerate(request)
        finally:
            self.in_flight -= 1


def statuses(judge: Watched, first: pa.Table, second: pa.Table) -> list[str]:
    """Hand two blocks to an actor as Ray does, from two threads; the second once the first is asked about."""
    plan = WorkerPlan(
        metrics=resolve("faithfulness"),
        models={"judge": lambda: judge},
        traffic=Traffic(concurrency=2, timeout=60),
    )
    actor = Actor(plan)
    with ThreadPoolExecutor(2) as threads:
        running = threads.submit(actor, first)
        judge.asked_slow.wait(60)
        done = [threads.submit(actor, second), running]
        return [row["status"] for each in done for row in each.result().to_pylist()]


def test_the_next_block_starts_before_the_last_call_of_the_one_before_has_come_back():
    # the slow sample of the first block is answered only when the second block is asked about
    assert statuses(Watched(), block("slow", "a", "b"), block("next", "c")) == ["ok"] * 5


def test_the_calls_in_flight_of_all_blocks_together_stay_within_the_limit():
    # while the slow call of the first block is in flight, the second has room for one: "next" is its fourth
    judge = Watched()
    assert statuses(judge, block("slow", "a", "b"), block("c", "d", "e", "next")) == ["ok"] * 7
    assert judge.most == 2


def test_a_block_without_rows_gives_no_rows():
    plan = WorkerPlan(metrics=resolve("faithfulness"), models={"judge": "embedded"})
    assert Actor(plan)(block("a").slice(0, 0)).num_rows == 0
