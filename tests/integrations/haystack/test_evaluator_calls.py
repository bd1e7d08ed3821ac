"""How batch evaluators call their models: in both ways of a pipeline, as many at a time as the limit says."""

import asyncio
import threading
from typing import Any

import pytest

from haystack_integrations.components.evaluators.ragmetrics import AnswerSimilarityEvaluator
from tests.integrations.haystack.asked import INPUTS, faithfulness
from tests.integrations.haystack.generators import Asynchronous, Synchronous
from tests.integrations.haystack.mocks import MockTextEmbedder


def many(count: int) -> dict[str, Any]:
    return {
        "questions": [f"What is capital {number}?" for number in range(count)],
        "contexts": [["Paris is a capital."]] * count,
        "predicted_answers": [f"Capital {number} is Paris." for number in range(count)],
    }


@pytest.mark.parametrize("generator", [Synchronous, Asynchronous, lambda: "embedded"])
def test_run_and_run_async_give_equal_outputs(generator: Any):
    # one generator each: what it holds is part of the judge's name, and it remembers its calls
    evaluators = [faithfulness(chat_generator=generator()) for _ in range(2)]

    assert asyncio.run(evaluators[0].run_async(**INPUTS)) == evaluators[1].run(**INPUTS)


def test_as_many_calls_are_in_flight_as_the_limit_says_and_no_more():
    # no call returns before three are there: it would hang with two, and four would be counted
    generator = Synchronous(together=3)

    found = faithfulness(chat_generator=generator, concurrency=3).run(**many(6))

    assert found["score"] == 1.0
    assert generator.most == 3


def test_the_limit_holds_for_an_asynchronous_generator():
    generator = Asynchronous()

    asyncio.run(faithfulness(chat_generator=generator, concurrency=3).run_async(**many(12)))

    assert generator.most == 3
    assert generator.synchronous == 0


def test_the_limit_holds_for_the_texts_of_an_embedder():
    barrier = threading.Barrier(2)
    lock = threading.Lock()
    now, most = 0, 0

    def embed(text: str) -> list[float]:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        barrier.wait(timeout=30)
        with lock:
            now -= 1
        return [1.0, float(len(text))]

    evaluator = AnswerSimilarityEvaluator(
        text_embedder=MockTextEmbedder(embedding_fn=embed), concurrency=2, progress_bar=False
    )
    answers = [f"answer {'x' * number}" for number in range(8)]
    evaluator.run(predicted_answers=answers, ground_truth_answers=[f"{each}, really" for each in answers])

    assert most == 2


def test_a_generator_without_run_async_does_not_block_the_loop():
    generator = Synchronous()

    async def evaluated() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(tick())
        await faithfulness(chat_generator=generator).run_async(**many(4))
        task.cancel()
        return ticks

    assert asyncio.run(evaluated()) > 0
    assert threading.main_thread().name not in generator.threads


def test_an_asynchronous_client_is_used_only_on_the_loop_of_the_pipeline():
    generator = Asynchronous()
    evaluator = faithfulness(chat_generator=generator)

    evaluator.run(**INPUTS)
    assert not generator.loops
    assert generator.synchronous == 4

    async def run() -> bool:
        await evaluator.run_async(**INPUTS)
        return generator.loops == {asyncio.get_running_loop()}

    assert asyncio.run(run())
