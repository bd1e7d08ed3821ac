"""Texts of several callers in one call."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from ragmetrics_core.errors import ConfigError, ModelError, TransientModelError
from ragmetrics_core.models import Batched
from tests.models.waits import SlowEmbedder, SlowJudge, line, now, run


async def embed_all(model: Batched, *callers: Sequence[str]) -> list[object]:
    return await asyncio.gather(*(model.aembed(list(texts)) for texts in callers), return_exceptions=True)


def test_texts_of_concurrent_callers_are_embedded_together():
    embedder = SlowEmbedder()

    first, second = run(embed_all(Batched(embedder), ["a", "bb"], ["ccc"]))

    assert embedder.asked == [["a", "bb", "ccc"]]
    assert first.tolist() == [[1, 1], [2, 1]]
    assert second.tolist() == [[3, 1]]


def test_a_text_that_several_ask_for_is_embedded_once():
    embedder = SlowEmbedder()

    results = run(embed_all(Batched(embedder), ["a", "bb", "a"], ["bb", "a"]))

    assert embedder.asked == [["a", "bb"]]
    assert [result.tolist() for result in results] == [[[1, 1], [2, 1], [1, 1]], [[2, 1], [1, 1]]]


def test_a_full_batch_goes_off_at_once():
    embedder = SlowEmbedder(seconds=1.0)

    async def scene() -> float:
        await embed_all(Batched(embedder, 3, wait=100.0), ["a", "b"], ["c"])
        return now()

    assert run(scene()) == pytest.approx(1)


def test_a_batch_that_does_not_fill_goes_off_after_the_wait():
    embedder = SlowEmbedder(seconds=1.0)

    async def scene() -> float:
        model = Batched(embedder, 3, wait=0.5)
        first = asyncio.create_task(model.aembed(["a"]))
        await asyncio.sleep(0.4)
        second = asyncio.create_task(model.aembed(["b"]))
        await asyncio.gather(first, second)
        return now()

    # The wait counts from the first text.
    assert run(scene()) == pytest.approx(1.5)
    assert embedder.asked == [["a", "b"]]


def test_a_caller_with_many_texts_has_batches_side_by_side_and_its_rows_in_order():
    embedder = SlowEmbedder(seconds=1.0)
    texts = ["x" * length for length in range(1, 11)]

    async def scene() -> float:
        vectors = await Batched(embedder, 4, wait=0.0).aembed(texts)
        assert vectors[:, 0].tolist() == list(range(1, 11))
        return now()

    assert run(scene()) == pytest.approx(1)
    assert list(map(len, embedder.asked)) == [4, 4, 2]


def test_a_failing_batch_fails_its_callers_with_the_same_error_and_no_others():
    failure = TransientModelError("lost")
    embedder = SlowEmbedder(failures=[failure])

    first, second, third = run(embed_all(Batched(embedder, 2), ["a"], ["b"], ["c"]))

    assert first is failure
    assert second is failure
    assert third.tolist() == [[1, 1]]


def test_a_cancelled_caller_does_not_take_the_others_with_it():
    embedder = SlowEmbedder(seconds=10.0)
    model = Batched(embedder)

    async def scene() -> object:
        tasks = [asyncio.create_task(model.aembed([text])) for text in ("a", "bb")]
        await asyncio.sleep(5)
        tasks[0].cancel()
        return (await tasks[1]).tolist()

    assert run(scene()) == [[2, 1]]
    assert embedder.cancelled == 0


def test_a_batch_that_nobody_waits_for_is_cancelled():
    embedder = SlowEmbedder(seconds=10.0)
    model = Batched(embedder)

    async def scene() -> None:
        tasks = [asyncio.create_task(model.aembed(["a"])) for _ in range(2)]
        await asyncio.sleep(5)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (await model.aembed(["a"])).tolist() == [[1, 1]]

    run(scene())

    assert embedder.asked == [["a"], ["a"]]
    assert embedder.cancelled == 1


def test_texts_of_a_caller_that_left_before_the_batch_went_off_are_not_embedded():
    embedder = SlowEmbedder()
    model = Batched(embedder, wait=10.0)

    async def scene() -> None:
        tasks = [asyncio.create_task(model.aembed(texts)) for texts in (["a", "bb"], ["bb", "ccc"])]
        await asyncio.sleep(5)
        tasks[0].cancel()
        await tasks[1]

    run(scene())

    assert embedder.asked == [["bb", "ccc"]]


def test_a_blank_text_alone_in_a_batch_has_the_length_of_the_others():
    class SendsNoBlankText(SlowEmbedder):
        async def aembed(self, texts):
            # As OpenAIEmbedder does: without any other text the length of a vector is not known.
            return await super().aembed(texts) if any(texts) else np.zeros((len(texts), 1))

    vectors = run(Batched(SendsNoBlankText(), 2).aembed(["a", "bb", ""]))

    assert vectors.tolist() == [[1, 1], [2, 1], [0, 0]]


def test_an_embedder_that_loses_a_text_is_told():
    class Loses(SlowEmbedder):
        async def aembed(self, texts):
            return (await super().aembed(texts))[1:]

    results = run(embed_all(Batched(Loses()), ["a"], ["bb"]))

    assert [str(result) for result in results] == [
        "the embedder slow-embedder gave an array of shape (1, 2) for 2 texts"
    ] * 2
    assert all(isinstance(result, ModelError) for result in results)


def test_an_embedder_that_works_on_one_call_at_a_time_still_gets_full_batches():
    embedder = SlowEmbedder()

    run(embed_all(Batched(line(embedder, concurrency=1)), "a", "b", "c"))

    assert embedder.asked == [["a", "b", "c"]]


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"size": 0}, "size must be at least 1, not 0"), ({"wait": -1}, "wait must not be negative, not -1")],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], told: str):
    with pytest.raises(ConfigError, match=told):
        Batched(SlowEmbedder(), **settings)


def test_a_judge_cannot_be_batched():
    with pytest.raises(ConfigError, match="Batched wraps an embedder, not SlowJudge"):
        Batched(line(SlowJudge()))
