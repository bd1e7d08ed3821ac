"""Live scores of every kind of query engine: what was asked, what was answered, what the model was shown."""

import asyncio
import gc
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import pytest
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.query_engine import RouterQueryEngine, SubQuestionQueryEngine, TransformQueryEngine
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool

from tests.integrations.llama_index.fakes import FunctionLLM, qa_engine
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


def test_an_asynchronous_query_is_scored(live):
    hooks = live()
    assert str(asyncio.run(engine().aquery(QUESTION))) == ANSWER
    assert_is_the_sample(only(hooks))


def test_a_stream_that_is_iterated_is_scored_when_it_was_read(live):
    hooks = live()
    response = engine(streaming=True).query(QUESTION)

    tokens = response.response_gen
    first = next(tokens)

    assert hooks.stats.captured == 0
    assert first + "".join(tokens) == ANSWER
    assert_is_the_sample(only(hooks))


def test_a_stream_gives_the_same_tokens_one_by_one_as_without_us(live):
    plain = list(engine(streaming=True).query(QUESTION).response_gen)
    live()
    assert list(engine(streaming=True).query(QUESTION).response_gen) == plain


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


def test_a_stream_that_is_read_by_str_is_scored(live):
    hooks = live()
    assert str(engine(streaming=True).query(QUESTION)) == ANSWER
    assert_is_the_sample(only(hooks))


def test_a_stream_that_is_printed_is_scored(live):
    hooks = live()
    printed = io.StringIO()
    with redirect_stdout(printed):
        engine(streaming=True).query(QUESTION).print_response_stream()
    assert printed.getvalue() == ANSWER
    assert_is_the_sample(only(hooks))


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


def test_an_asynchronous_stream_is_scored_when_it_was_read(live):
    hooks = live()

    async def read() -> str:
        response = await engine(streaming=True).aquery(QUESTION)
        return "".join([token async for token in response.async_response_gen()])

    assert asyncio.run(read()) == ANSWER
    assert_is_the_sample(only(hooks))


def test_an_asynchronous_stream_that_is_closed_early_is_counted(live):
    hooks = live()

    async def read_one() -> None:
        response = await engine(streaming=True).aquery(QUESTION)
        await anext(response.response_gen)
        await response.response_gen.aclose()

    asyncio.run(read_one())
    assert hooks.stats.skipped == {"abandoned": 1}


def test_hyde_is_one_sample_with_the_users_question(live):
    hooks = live()
    transform = HyDEQueryTransform(llm=FunctionLLM(lambda prompt: "A tower may be 100 m high."))
    TransformQueryEngine(engine(), transform).query(QUESTION)
    assert_is_the_sample(only(hooks))


def test_a_router_is_one_sample_with_the_contexts_of_the_engine_it_chose(live):
    hooks = live()
    other = qa_engine(lambda question: "Nothing.", lambda question: ["Something else."])
    tools = [
        QueryEngineTool.from_defaults(other, name="other", description="of no use"),
        QueryEngineTool.from_defaults(engine(), name="towers", description="knows towers"),
    ]
    choice = FunctionLLM(lambda prompt: json.dumps([{"choice": 2, "reason": "towers"}]))
    RouterQueryEngine(
        LLMSingleSelector.from_defaults(choice),
        tools,
        llm=choice,
        summarizer=get_response_synthesizer(choice),
    ).query(QUESTION)
    assert_is_the_sample(only(hooks))


@pytest.mark.parametrize("use_async", [False, True])
def test_sub_questions_are_one_sample_with_what_the_last_model_was_shown(live, use_async):
    hooks = live()
    questions = [
        {"sub_question": "How high?", "tool_name": "towers"},
        {"sub_question": "How old?", "tool_name": "towers"},
    ]
    towers = QueryEngineTool.from_defaults(
        qa_engine(lambda question: f"Reply to {question}", lambda question: [f"Text for {question}"]),
        name="towers",
        description="knows towers",
    )
    final = FunctionLLM(lambda prompt: ANSWER)
    SubQuestionQueryEngine.from_defaults(
        [towers],
        llm=final,
        question_gen=LLMQuestionGenerator.from_defaults(FunctionLLM(lambda prompt: json.dumps(questions))),
        response_synthesizer=get_response_synthesizer(final, use_async=use_async),
        verbose=False,
        use_async=use_async,
    ).query(QUESTION)

    assert hooks.flush(60)
    (result,) = hooks.results
    contexts = result.sample.contexts or ()
    assert (result.sample.question, result.sample.answer) == (QUESTION, ANSWER)
    # the replies to the sub-questions; what these were made of are stages before
    assert sorted(contexts) == [
        f"Sub question: {asked}\nResponse: Reply to {asked}" for asked in ("How high?", "How old?")
    ]
    found = {stage.query: [chunk.text for chunk in stage.chunks] for stage in result.sample.stages}
    assert found["How old?"] == ["Text for How old?"]
