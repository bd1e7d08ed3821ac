"""A cached model: nothing is asked twice, and nothing wrong is stored."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmetrics_core import prompts
from ragmetrics_core.errors import ModelError, RecordError
from ragmetrics_core.journal import Journal, call_address
from ragmetrics_core.protocol import Completion, Generate, Usage
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.models.slow_model import Slow, request, texts
from tests.models.waits import line


def test_a_later_run_asks_nothing_again(tmp_path: Path):
    reply = Completion("yes", "gpt", Usage(12, 3), "stop")
    judge = ScriptedJudge({"statements": reply})
    for _ in range(2):
        with Journal(tmp_path / "j") as journal:
            assert asyncio.run(line(judge, journal=journal).agenerate(request())) == [reply]
    assert len(judge.asked) == 1


@pytest.mark.parametrize(
    "other",
    [request("b"), request(draw=1)],
    ids=["other messages", "other draw"],
)
def test_another_call_is_another_call(other: Generate[Any]):
    judge = ScriptedJudge({"statements": ["first", "second"]})
    cached = line(judge, journal=Journal())
    asyncio.run(cached.agenerate(request()))
    assert texts(asyncio.run(cached.agenerate(other))) == ["second"]


def test_a_draw_is_found_under_the_address_that_others_know_it_by():
    # the run forgets bad replies by this address
    journal = Journal()
    asyncio.run(line(ScriptedJudge({"statements": "yes"}), journal=journal).agenerate(request("a", draw=3)))
    assert journal.get(call_address("scripted", "a", "3")) is not None


def test_requests_without_a_digest_are_told_apart_by_their_messages():
    judge = ScriptedJudge({"statements": ["first", "second"]})
    cached = line(judge, journal=Journal())
    for text, reply in [("x", "first"), ("y", "second"), ("x", "first")]:
        asked = request("")._replace(messages=(prompts.Message("user", text),))
        assert texts(asyncio.run(cached.agenerate(asked))) == [reply]


def test_draws_are_stored_one_by_one():
    judge = ScriptedJudge({"statements": ["0", "1", "2"]})
    cached = line(judge, journal=Journal())
    asyncio.run(cached.agenerate(request(draws=3)))

    assert texts(asyncio.run(cached.agenerate(request(draw=1, draws=2)))) == ["1", "2"]
    assert texts(asyncio.run(cached.agenerate(request(draws=3)))) == ["0", "1", "2"]
    assert len(judge.asked) == 1


def test_only_draws_that_are_not_stored_are_asked_for():
    judge = ScriptedJudge(lambda asked: f"call of {asked.draws} from {asked.draw}")
    cached = line(judge, journal=Journal())
    asyncio.run(cached.agenerate(request(draw=2)))

    replies = asyncio.run(cached.agenerate(request(draws=5)))
    assert texts(replies) == [*["call of 2 from 0"] * 2, "call of 1 from 2", *["call of 2 from 3"] * 2]


def test_a_judge_that_gives_fewer_or_more_replies_than_asked_gets_them_stored_right():
    class Odd(Slow):
        async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
            count = 1 if request.draw == 0 else request.draws + 5
            return [Completion(f"{request.draw}+{number}") for number in range(count)]

    cached = line(Odd(), journal=Journal())
    assert texts(asyncio.run(cached.agenerate(request(draws=3)))) == ["0+0", "1+0", "1+1"]
    assert texts(asyncio.run(cached.agenerate(request(draws=4)))) == ["0+0", "1+0", "1+1", "3+0"]


def test_an_altered_reply_is_an_error_and_not_a_reply():
    journal = Journal()
    journal.put(call_address("scripted", "a", "0"), b'{"kind":"rating","rating":1.0}', identity="scripted")
    judge = ScriptedJudge({"statements": "yes"})
    with pytest.raises(RecordError):
        asyncio.run(line(judge, journal=journal).agenerate(request()))
    assert judge.asked == []


def test_only_texts_that_are_not_known_are_embedded():
    class Counting(HashEmbedder):
        async def aembed(self, texts: Sequence[str]) -> Any:
            seen.append(list(texts))
            return await super().aembed(texts)

    seen: list[list[str]] = []
    cached = line(Counting(), journal=Journal())
    asyncio.run(cached.aembed(["a", "b"]))
    rows = asyncio.run(cached.aembed(["b", "c", "a", "c"]))

    assert seen == [["a", "b"], ["c"]]
    assert cached.meter.tally.cached == 2
    assert np.array_equal(rows, asyncio.run(HashEmbedder().aembed(["b", "c", "a", "c"])))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_vectors_from_the_journal_are_those_of_the_embedder(dtype: Any):
    class Typed(Slow):
        async def aembed(self, texts: Sequence[str]) -> Any:
            return np.linspace(0.1, 0.9, 3 * len(texts)).astype(dtype).reshape(len(texts), 3)

    cached = line(Typed(), journal=Journal())
    fresh = asyncio.run(cached.aembed(["a", "b"]))
    stored = asyncio.run(cached.aembed(["a", "b"]))
    assert fresh.dtype == stored.dtype == dtype
    assert fresh.tobytes() == stored.tobytes()


def test_a_blank_text_that_was_embedded_alone_gets_the_length_of_the_others():
    class Blank(Slow):
        async def aembed(self, texts: Sequence[str]) -> Any:
            return np.zeros((len(texts), 1)) if not any(texts) else np.ones((len(texts), 3))

    cached = line(Blank(), journal=Journal())
    asyncio.run(cached.aembed([""]))
    assert asyncio.run(cached.aembed(["", "a"])).tolist() == [[0, 0, 0], [1, 1, 1]]


def test_vectors_of_another_length_under_the_same_name_are_said():
    journal = Journal()
    asyncio.run(line(HashEmbedder(dimensions=3, vectors={"a": [1, 2, 3]}), journal=journal).aembed(["a"]))
    journal.flush()

    class Renamed(HashEmbedder):
        identity = "hash-3"

    with pytest.raises(ModelError, match="vectors of a different length"):
        asyncio.run(line(Renamed(dimensions=4), journal=journal).aembed(["a", "b"]))


@pytest.mark.parametrize(
    "rows", [[[1.0]], [1.0, 2.0], [[1.0], [float("nan")]], [[1.0], [2.0], [3.0]]], ids=str
)
def test_vectors_that_are_not_one_for_each_text_are_refused_and_not_stored(rows: Any):
    class Wrong(Slow):
        async def aembed(self, texts: Sequence[str]) -> Any:
            return np.array(rows)

    journal = Journal()
    with pytest.raises(ModelError, match="for 2 texts"):
        asyncio.run(line(Wrong(), journal=journal).aembed(["a", "b"]))
    assert len(journal) == 0


@pytest.mark.parametrize("ratings", [[1.0], [1.0, float("inf")]], ids=str)
def test_ratings_that_are_not_one_for_each_pair_are_refused_and_not_stored(ratings: Any):
    class Wrong(Slow):
        async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
            return ratings

    journal = Journal()
    with pytest.raises(ModelError, match="for 2 pairs"):
        asyncio.run(line(Wrong(), journal=journal).arate([("a", "b"), ("c", "d")]))
    assert len(journal) == 0


def test_ratings_come_back_in_the_order_of_the_pairs():
    class Counting(Slow):
        async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
            self.asked.append(list(pairs))
            return [np.float32(len(one) - len(other)) for one, other in pairs]

    model = Counting()
    cached = line(model, journal=Journal())
    asyncio.run(cached.arate([("a", "b")]))
    ratings = asyncio.run(cached.arate([("aaa", "b"), ("a", "b"), ("a", "bb"), ("aaa", "b")]))
    assert ratings == [2.0, 0.0, -1.0, 2.0]
    assert model.asked == [[("a", "b")], [("aaa", "b"), ("a", "bb")]]
