"""A chain is scored once, with its own texts, however it is called; what does not end well is counted."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda

from tests.integrations.langchain.apps import (
    Echo,
    Shelf,
    answer,
    assert_about,
    expect_skip,
    found,
    question,
    rag_chain,
    retrieval_chain,
)
from tests.integrations.langchain.graphs import generate, graph, retrieve

# Ways of calling


async def _ainvoke(chain: Runnable[Any, Any], given: Any, config: Any) -> None:
    await chain.ainvoke(given, config)


async def _astream(chain: Runnable[Any, Any], given: Any, config: Any) -> None:
    async for _ in chain.astream(given, config):
        pass


async def _astream_events(chain: Runnable[Any, Any], given: Any, config: Any) -> None:
    async for _ in chain.astream_events(given, config, version="v2"):
        pass


CALLS: dict[str, Callable[[Runnable[Any, Any], Any, Any], Any]] = {
    "invoke": lambda chain, given, config: chain.invoke(given, config),
    "stream": lambda chain, given, config: list(chain.stream(given, config)),
    "batch": lambda chain, given, config: chain.batch([given], config),
    "ainvoke": lambda chain, given, config: asyncio.run(_ainvoke(chain, given, config)),
    "astream": lambda chain, given, config: asyncio.run(_astream(chain, given, config)),
    "astream_events": lambda chain, given, config: asyncio.run(_astream_events(chain, given, config)),
}


@pytest.mark.parametrize("way", CALLS)
@pytest.mark.parametrize(
    ("make", "given", "rules"),
    [
        (rag_chain, question("tea"), {"found_question": "the inputs", "found_answer": "the output, by Echo"}),
        (
            retrieval_chain,
            {"input": question("tea"), "chat_history": []},
            {"found_question": "inputs['input']", "found_answer": "outputs['answer'], by Echo"},
        ),
        (
            lambda: graph(retrieve, generate),
            {"question": question("tea")},
            {"found_question": "inputs['question']", "found_answer": "outputs['answer'], by Echo"},
        ),
    ],
    ids=["lcel", "mappings", "graph"],
)
def test_an_application_is_scored_however_it_is_called(handler, only_sample, way, make, given, rules):
    CALLS[way](make(), given, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert sample.context_ids == ("shelf-tea-0", "shelf-tea-1")
    assert found(sample) == rules | {"found_contexts": "Shelf, shown to Echo"}
    assert handler.open_runs == 0


@pytest.mark.parametrize("way", ["batch", "abatch"])
def test_200_questions_at_once_keep_their_own_contexts_and_answers(handler, way):
    chain = retrieval_chain()
    given = [{"input": question(number)} for number in range(200)]
    config: Any = {"callbacks": [handler], "max_concurrency": 32}
    _ = chain.batch(given, config) if way == "batch" else asyncio.run(chain.abatch(given, config))

    assert handler.flush()
    samples = {result.sample.question: result.sample for result in handler.results}
    assert len(handler.results) == 200
    for number in range(200):
        assert_about(samples[question(number)], number)
    assert handler.open_runs == 0


# What ends before its end


def test_a_stream_that_is_broken_off_is_counted_and_not_scored(make_handler):
    handler, ahandler = make_handler(), make_handler()
    stream: Any = rag_chain().stream(question("tea"), {"callbacks": [handler]})
    next(stream)
    stream.close()

    async def begin() -> None:
        astream: Any = rag_chain().astream(question("tea"), {"callbacks": [ahandler]})
        await anext(astream)
        await astream.aclose()

    asyncio.run(begin())

    expect_skip(handler, "abandoned")
    expect_skip(ahandler, "abandoned")


def test_a_cancelled_task_is_counted_and_not_scored(handler):
    async def cancel() -> None:
        waiting = asyncio.Event()

        async def wait(documents: list[Document]) -> str:
            waiting.set()
            await asyncio.Event().wait()
            return ""

        chain = Shelf() | RunnableLambda(wait)
        task = asyncio.create_task(_ainvoke(chain, question("tea"), {"callbacks": [handler]}))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())

    expect_skip(handler, "cancelled")


@pytest.mark.parametrize(
    ("way", "error"),
    [
        *((way, ValueError("no")) for way in ("invoke", "stream", "ainvoke", "astream")),
        *((way, error) for way in ("invoke", "stream") for error in (KeyboardInterrupt(), SystemExit(3))),
    ],
    ids=repr,
)
def test_an_error_of_the_application_reaches_it_unchanged_and_is_counted(handler, way, error):
    chain = rag_chain(model=Echo(error=error))

    with pytest.raises(type(error)) as raised:
        CALLS[way](chain, question("tea"), {"callbacks": [handler]})

    assert raised.value is error
    expect_skip(handler, "run_failed")


def test_a_retriever_that_fails_is_counted_and_one_that_stands_in_for_it_is_used(handler, only_sample):
    with pytest.raises(ConnectionError):
        rag_chain(Shelf(failing=True)).invoke(question("tea"), {"callbacks": [handler]})
    rag_chain(Shelf(failing=True).with_fallbacks([Shelf()])).invoke(question("tea"), {"callbacks": [handler]})

    assert_about(only_sample(handler), "tea")
    assert handler.stats.skipped == {"run_failed": 1}


def test_failed_items_of_a_batch_do_not_touch_the_others(handler):
    chain = RunnableLambda(lambda given: given if "tea" in given else 1 / 0) | rag_chain()

    given = [question("tea"), question("salt")]
    results = chain.batch(given, {"callbacks": [handler]}, return_exceptions=True)

    assert results[0] == answer("tea")
    assert isinstance(results[1], ZeroDivisionError)
    handler.flush()
    assert [result.sample.question for result in handler.results] == [question("tea")]
    assert handler.stats.skipped == {"run_failed": 1}


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch"])
def test_a_chain_with_fallbacks_gives_one_sample_for_each_question(handler, way):
    chain = rag_chain(model=Echo(error=ConnectionError())).with_fallbacks([rag_chain()])
    for topic in ("tea", "milk"):
        CALLS[way](chain, question(topic), {"callbacks": [handler], "run_name": "support"})

    assert handler.flush()
    for result, topic in zip(handler.results, ("tea", "milk"), strict=True):
        assert_about(result.sample, topic)
