"""How runs go: streamed, interrupted and resumed, failed, side by side."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from haystack import Pipeline
from haystack.core.errors import BreakpointException
from haystack.dataclasses.breakpoints import Breakpoint

from tests.integrations.body_keeping import BodyKeeper, assert_shown
from tests.integrations.haystack.generators import AsyncPipeline
from tests.integrations.haystack.shown.applications import (
    ANSWER,
    CORPUS,
    answering,
    asked,
    asynchronous,
    captured,
    connected,
    llm,
    plain,
    samples,
    synchronous,
)


@pytest.mark.parametrize(("kind", "run"), [(Pipeline, synchronous), (AsyncPipeline, asynchronous)])
def test_a_streamed_answer(kind: Any, run: Any):
    pieces: list[str] = []

    async def hear_async(chunk: Any) -> None:
        pieces.append(chunk.content)

    def hear(chunk: Any) -> None:
        pieces.append(chunk.content)

    with BodyKeeper(answering) as model:
        streaming = llm(model, streaming_callback=hear_async if run is asynchronous else hear)
        sample = captured(plain(model, kind=kind, llm=streaming), asked(), run=run)

    assert "".join(pieces) == ANSWER
    assert_shown(sample, model, CORPUS)
    assert (sample.answer, len(sample.contexts or ())) == (ANSWER, 2)


def test_a_pipeline_that_is_read_step_by_step():
    async def read(pipeline: Any) -> None:
        async for _ in pipeline.run_async_generator(asked()):
            pass

    with BodyKeeper(answering) as model:
        sample = captured(plain(model, kind=AsyncPipeline), {}, run=lambda pipeline, _: asyncio.run(read(pipeline)))

    assert_shown(sample, model, CORPUS)


@pytest.mark.parametrize("stop", ["retriever", "prompt", "llm"])
def test_a_run_that_stops_at_a_break_point_is_counted_and_the_resumed_one_captured(stop: str, tmp_path: Any):
    with BodyKeeper(answering) as model:
        pipeline = plain(model)
        connector = connected(pipeline)
        with pytest.raises(BreakpointException) as stopped:
            pipeline.run(asked(), break_point=Breakpoint(stop, snapshot_file_path=str(tmp_path)))
        assert connector.flush()
        assert connector.stats.skipped == {"interrupted": 1}
        pipeline.run({}, pipeline_snapshot=snapshot_of(stopped.value, tmp_path))
        (sample,) = samples(connector)

    assert sample.answer == ANSWER
    # what ran before the break is in no event of this run: it is known where the last request shows it, or unknown
    if stop == "llm":
        assert sample.contexts is None
    else:
        assert_shown(sample, model, CORPUS)
        assert len(sample.contexts or ()) == 2


def snapshot_of(error: Any, folder: Any) -> Any:
    kept = getattr(error, "pipeline_snapshot", None)
    if kept is not None:
        return kept
    from haystack.core.pipeline.breakpoint import load_pipeline_snapshot  # noqa: PLC0415

    (file,) = folder.rglob("*.json")
    return load_pipeline_snapshot(file)


QUESTIONS = [f"What is the capital of {place}?" for place in ("France", "Germany", "Italy", "Peru")]


def replies(text: str) -> str:
    return f"An answer to: {text.rpartition('Question: ')[2]}"


def assert_own(found: list[Any], model: BodyKeeper) -> None:
    assert sorted(each.question for each in found) == sorted(QUESTIONS * 2)
    for each in found:
        assert each.answer == f"An answer to: {each.question}"
        assert_shown(each, model, CORPUS)


def test_two_pipelines_in_threads_keep_their_own():
    with BodyKeeper(replies) as model:
        pipelines = [plain(model), plain(model)]
        connectors = [connected(each) for each in pipelines]
        with ThreadPoolExecutor(8) as threads:
            runs = [threads.submit(each.run, asked(question)) for each in pipelines for question in QUESTIONS]
            for each in runs:
                each.result()
        assert_own([each for connector in connectors for each in samples(connector)], model)


def test_two_pipelines_on_one_loop_keep_their_own():
    async def all_at_once(pipelines: list[Any]) -> None:
        await asyncio.gather(*(each.run_async(asked(question)) for each in pipelines for question in QUESTIONS))

    with BodyKeeper(replies) as model:
        pipelines = [plain(model, kind=AsyncPipeline), plain(model, kind=AsyncPipeline)]
        connectors = [connected(each) for each in pipelines]
        asyncio.run(all_at_once(pipelines))
        assert_own([each for connector in connectors for each in samples(connector)], model)
