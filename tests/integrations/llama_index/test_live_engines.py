"""Live scores of every kind of query engine: what was asked, what was answered, what the model was shown."""

import asyncio
import gc
import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import pytest

from tests.integrations.llama_index.scored import ANSWER, QUESTION, assert_is_the_sample, engine, only


def test_a_query_is_scored_with_its_source_nodes(live):
    hooks = live()

    response = engine().query(QUESTION)

    assert str(response) == ANSWER
    result = only(hooks)
    assert_is_the_sample(result)
    assert result.sample.context_ids == (f"{QUESTION}#0", f"{QUESTION}#1")
    assert result.sample.shown == ("verified", "verified")
    assert result.sample.labels["found_contexts"] == "FunctionRetriever, shown to FunctionLLM"


def printed() -> str:
    text = io.StringIO()
    with redirect_stdout(text):
        engine(streaming=True).query(QUESTION).print_response_stream()
    return text.getvalue()


async def read() -> str:
    response = await engine(streaming=True).aquery(QUESTION)
    return "".join([token async for token in response.async_response_gen()])


WAYS = {
    "awaited": lambda: str(asyncio.run(engine().aquery(QUESTION))),
    "str of a stream": lambda: str(engine(streaming=True).query(QUESTION)),
    "printed stream": printed,
    "asynchronous stream": lambda: asyncio.run(read()),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_is_scored_however_it_is_read(live, way):
    hooks = live()
    assert WAYS[way]() == ANSWER
    assert_is_the_sample(only(hooks))


def test_a_stream_that_is_iterated_is_scored_when_it_was_read(live):
    hooks = live()
    response = engine(streaming=True).query(QUESTION)

    tokens = response.response_gen
    first = next(tokens)

    assert hooks.stats.captured == 0
    assert first + "".join(tokens) == ANSWER
    assert_is_the_sample(only(hooks))


def test_a_stream_asks_the_model_for_no_token_before_the_user_does(live):
    # the time to the first token is the model's: nothing is read ahead
    live()
    given: list[str] = []

    def tokens() -> Iterator[str]:
        for token in ("The ", "tower"):
            given.append(token)
            yield token

    class Streaming(type(engine())):
        def _query(self, bundle: Any) -> Any:
            response = engine(streaming=True)._query(bundle)
            response.response_gen = tokens()
            return response

    plain = engine()
    stream = Streaming(plain._retriever, plain._response_synthesizer).query(QUESTION).response_gen
    assert given == []
    next(stream)
    assert given == ["The "]


def test_a_stream_that_is_closed_early_is_counted_and_not_scored(live):
    hooks = live()
    tokens = engine(streaming=True).query(QUESTION).response_gen
    next(tokens)
    tokens.close()
    assert hooks.flush(60)
    assert (hooks.results, hooks.stats.skipped) == ([], {"abandoned": 1})


def test_a_stream_that_nobody_begins_to_read_is_counted(live):
    hooks = live()
    engine(streaming=True).query(QUESTION)
    gc.collect()
    assert (hooks.stats.skipped, hooks.open_spans) == ({"abandoned": 1}, 0)


def test_an_asynchronous_stream_that_is_closed_early_is_counted(live):
    hooks = live()

    async def read_one() -> None:
        response = await engine(streaming=True).aquery(QUESTION)
        await anext(response.response_gen)
        await response.response_gen.aclose()

    asyncio.run(read_one())
    assert hooks.stats.skipped == {"abandoned": 1}
