"""A chain is scored once, with its own texts, however it is called; what does not end well is counted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda

from ragmetrics_core import Sample, recompute
from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.langchain.apps import (
    Echo,
    Shelf,
    answer,
    assert_about,
    expect_skip,
    question,
    rag_chain,
    retrieval_chain,
    texts,
)

OnlySample = Callable[[RagMetricsCallbackHandler], Sample]
MakeHandler = Callable[..., RagMetricsCallbackHandler]

FOUND_IN_LCEL = {
    "found_question": "the inputs",
    "found_contexts": "Shelf, shown to Echo",
    "found_answer": "the output, by Echo",
}


def found(sample: Sample) -> dict[str, Any]:
    return {name: value for name, value in sample.labels.items() if name.startswith("found_")}


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
def test_an_lcel_chain_is_scored_however_it_is_called(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample, way: str
):
    CALLS[way](rag_chain(), question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert sample.context_ids == ("shelf-tea-0", "shelf-tea-1")
    assert found(sample) == FOUND_IN_LCEL
    assert handler.open_runs == 0


@pytest.mark.parametrize("way", CALLS)
def test_a_chain_of_mappings_is_scored_however_it_is_called(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample, way: str
):
    CALLS[way](retrieval_chain(), {"input": question("tea"), "chat_history": []}, {"callbacks": [handler]})

    sample = only_sample(handler)
    assert_about(sample, "tea")
    assert found(sample)["found_question"] == "inputs['input']"
    assert found(sample)["found_answer"] == "outputs['answer'], by Echo"


def test_the_score_is_recomputed_from_the_record(handler: RagMetricsCallbackHandler):
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})
    handler.flush()

    (record,) = handler.results[0].records
    # one statement, which the first document supports: 1/1
    assert record.value == 1.0
    assert recompute(record).value == 1.0


@pytest.mark.parametrize("way", ["batch", "abatch", "mixed"])
def test_200_questions_at_once_keep_their_own_contexts_and_answers(
    handler: RagMetricsCallbackHandler, way: str
):
    chain = retrieval_chain()
    given = [{"input": question(number)} for number in range(200)]
    config: Any = {"callbacks": [handler], "max_concurrency": 32}

    async def mixed() -> None:
        ways = (_ainvoke, _astream, _astream_events)
        await asyncio.gather(*(ways[n % 3](chain, each, config) for n, each in enumerate(given)))

    match way:
        case "batch":
            chain.batch(given, config)
        case "abatch":
            asyncio.run(chain.abatch(given, config))
        case _:
            asyncio.run(mixed())

    assert handler.flush()
    samples = {result.sample.question: result.sample for result in handler.results}
    assert len(handler.results) == 200
    for number in range(200):
        assert_about(samples[question(number)], number)
    assert handler.open_runs == 0


# What ends before its end


def test_a_stream_that_is_broken_off_is_counted_and_not_scored(handler: RagMetricsCallbackHandler):
    stream = rag_chain().stream(question("tea"), {"callbacks": [handler]})
    next(stream)
    stream.close()  # type: ignore[attr-defined]

    expect_skip(handler, "abandoned")


def test_an_asynchronous_stream_that_is_broken_off_is_counted_and_not_scored(
    handler: RagMetricsCallbackHandler,
):
    async def begin() -> None:
        stream: AsyncIterator[str] = rag_chain().astream(question("tea"), {"callbacks": [handler]})
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(begin())

    expect_skip(handler, "abandoned")


def test_a_cancelled_task_is_counted_and_not_scored(handler: RagMetricsCallbackHandler):
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
def test_an_error_of_the_application_reaches_it_unchanged_and_is_counted(
    handler: RagMetricsCallbackHandler, way: str, error: BaseException
):
    chain = rag_chain(model=Echo(error=error))

    with pytest.raises(type(error)) as raised:
        CALLS[way](chain, question("tea"), {"callbacks": [handler]})

    assert raised.value is error
    expect_skip(handler, "run_failed")


def test_a_retriever_that_fails_is_counted_and_one_that_stands_in_for_it_is_used(
    handler: RagMetricsCallbackHandler, only_sample: OnlySample
):
    with pytest.raises(ConnectionError):
        rag_chain(Shelf(failing=True)).invoke(question("tea"), {"callbacks": [handler]})
    rag_chain(Shelf(failing=True).with_fallbacks([Shelf()])).invoke(question("tea"), {"callbacks": [handler]})

    assert_about(only_sample(handler), "tea")
    assert handler.stats.skipped == {"run_failed": 1}


def test_failed_items_of_a_batch_do_not_touch_the_others(handler: RagMetricsCallbackHandler):
    chain = RunnableLambda(lambda given: given if "tea" in given else 1 / 0) | rag_chain()

    given = [question("tea"), question("salt")]
    results = chain.batch(given, {"callbacks": [handler]}, return_exceptions=True)

    assert results[0] == answer("tea")
    assert isinstance(results[1], ZeroDivisionError)
    handler.flush()
    assert [result.sample.question for result in handler.results] == [question("tea")]
    assert handler.stats.skipped == {"run_failed": 1}


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "batch", "abatch"])
def test_a_chain_with_fallbacks_gives_one_sample_for_each_question(
    handler: RagMetricsCallbackHandler, how: str
):
    chain = rag_chain(model=Echo(error=ConnectionError())).with_fallbacks([rag_chain()])
    config = {"callbacks": [handler], "run_name": "support"}
    asked = [question("tea"), question("milk")]

    if how == "invoke":
        for each in asked:
            chain.invoke(each, config)
    elif how == "batch":
        chain.batch(asked, config)
    elif how == "ainvoke":

        async def ask_all() -> None:
            await asyncio.gather(*(chain.ainvoke(each, config) for each in asked))

        asyncio.run(ask_all())
    else:
        asyncio.run(chain.abatch(asked, config))

    assert handler.flush()
    found = sorted((result.sample.question, result.sample.answer) for result in handler.results)
    assert found == sorted((question(topic), answer(topic)) for topic in ("tea", "milk"))
    assert all(len(result.sample.contexts or ()) == len(texts("tea")) for result in handler.results)
