"""Live scores of chat engines, workflows and agents."""

import asyncio
from typing import Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step

from tests.integrations.llama_index.agents import agent, ran, tool_of
from tests.integrations.llama_index.fakes import FunctionLLM, FunctionRetriever
from tests.integrations.llama_index.scored import (
    ANSWER,
    CONTEXTS,
    QUESTION,
    assert_is_the_sample,
    engine,
    memory,
    only,
)

CONDENSED = "How high is the Eiffel tower?"
HISTORY = [("user", "Tell me about the Eiffel tower."), ("assistant", "Gladly.")]


def condense_question() -> CondenseQuestionChatEngine:
    return CondenseQuestionChatEngine(
        query_engine=engine(),
        condense_question_prompt=PromptTemplate("{chat_history} {question}"),
        memory=memory(*HISTORY),
        llm=FunctionLLM(lambda prompt: CONDENSED),
    )


def condense_plus_context() -> CondensePlusContextChatEngine:
    replies = {"rephrase": CONDENSED}
    llm = FunctionLLM(lambda prompt: next((v for k, v in replies.items() if k in prompt), ANSWER))
    return CondensePlusContextChatEngine(
        FunctionRetriever(lambda question: CONTEXTS), llm=llm, memory=memory(*HISTORY)
    )


def context_chat() -> ContextChatEngine:
    return ContextChatEngine(
        FunctionRetriever(lambda question: CONTEXTS),
        llm=FunctionLLM(lambda prompt: ANSWER),
        memory=memory(),
        prefix_messages=[],
    )


CHATS = pytest.mark.parametrize("make", [condense_question, condense_plus_context, context_chat])


@CHATS
def test_a_chat_is_scored_with_the_users_message_as_the_question(live, make):
    hooks = live()
    assert str(make().chat(QUESTION)) == ANSWER
    assert_is_the_sample(only(hooks))


@CHATS
def test_an_asynchronous_chat_is_scored(live, make):
    hooks = live()
    assert str(asyncio.run(make().achat(QUESTION))) == ANSWER
    assert_is_the_sample(only(hooks))


@CHATS
def test_a_streaming_chat_is_scored_when_it_was_written(live, make):
    hooks = live()
    response = make().stream_chat(QUESTION)
    assert "".join(response.response_gen) == ANSWER
    assert_is_the_sample(only(hooks))


@CHATS
def test_an_asynchronous_streaming_chat_is_scored_when_it_was_written(live, make):
    hooks = live()

    async def read() -> str:
        response = await make().astream_chat(QUESTION)
        return "".join([token async for token in response.async_response_gen()])

    assert asyncio.run(read()) == ANSWER
    assert_is_the_sample(only(hooks))
    assert hooks.open_spans == 0


@pytest.mark.parametrize("make", [condense_question, condense_plus_context])
def test_the_rewritten_question_is_kept_as_a_label(live, make):
    hooks = live()
    make().chat(QUESTION)
    assert only(hooks).sample.labels["standalone_question"] == CONDENSED


def test_a_history_that_the_caller_passes_is_part_of_the_sample(live):
    hooks = live()
    history = [ChatMessage(role=role, content=content) for role, content in HISTORY]
    condense_question().chat(QUESTION, chat_history=history)
    turns = only(hooks).sample.history or ()
    assert [(turn.role, turn.content) for turn in turns] == HISTORY


def test_to_a_chat_without_retrieval_nothing_was_shown(live):
    hooks = live()
    SimpleChatEngine(FunctionLLM(lambda prompt: ANSWER), memory(), prefix_messages=[]).chat(QUESTION)
    assert hooks.flush(60)
    (result,) = hooks.results
    assert result.sample.contexts == ()
    assert [(record.status, record.reason) for record in result.records] == [("undefined", "no_contexts")]


def test_a_chat_without_retrieval_is_left_out_when_contexts_are_needed(live):
    hooks = live(needs_contexts=True)
    SimpleChatEngine(FunctionLLM(lambda prompt: ANSWER), memory(), prefix_messages=[]).chat(QUESTION)
    assert hooks.flush(60)
    assert (hooks.results, hooks.stats.skipped) == ([], {"no_contexts": 1})


def test_a_streaming_chat_whose_model_fails_is_counted_and_not_scored(live):
    hooks = live()

    def fails(prompt: str) -> str:
        raise ConnectionError("the model is down")

    chat = SimpleChatEngine(FunctionLLM(fails), memory(), prefix_messages=[])
    with pytest.raises(ConnectionError):
        asyncio.run(drained(chat))
    assert hooks.flush(60)
    assert (hooks.results, hooks.stats.skipped, hooks.open_spans) == ([], {"run_failed": 1}, 0)


async def drained(chat: SimpleChatEngine) -> str:
    response = await chat.astream_chat(QUESTION)
    return "".join([token async for token in response.async_response_gen()])


# Workflows and agents


class Fetched(Event):
    nodes: list[Any]


class RagWorkflow(Workflow):
    """Retrieval and synthesis in two steps, as LlamaIndex's guides write it; only the first node is used."""

    @step
    async def fetch(self, ctx: Context, event: StartEvent) -> Fetched:
        nodes = await FunctionRetriever(lambda question: CONTEXTS).aretrieve(event.query)
        return Fetched(nodes=nodes[:1])

    @step
    async def write(self, ctx: Context, event: Fetched) -> StopEvent:
        synthesizer = get_response_synthesizer(llm=FunctionLLM(lambda prompt: ANSWER))
        return StopEvent(result=await synthesizer.asynthesize(QUESTION, nodes=event.nodes))


class TextWorkflow(RagWorkflow):
    """The same, but the result is a text that knows nothing of nodes."""

    @step
    async def write(self, ctx: Context, event: Fetched) -> StopEvent:
        synthesizer = get_response_synthesizer(llm=FunctionLLM(lambda prompt: ANSWER))
        return StopEvent(result=str(await synthesizer.asynthesize(QUESTION, nodes=event.nodes)))


@pytest.mark.parametrize("kind", [RagWorkflow, TextWorkflow])
def test_a_watched_workflow_is_one_sample_with_what_the_model_was_shown(live, kind):
    workflow = kind()
    hooks = live([workflow])

    async def run() -> Any:
        return await workflow.run(query=QUESTION)

    assert str(asyncio.run(run())) == ANSWER
    result = only(hooks)
    assert_is_the_sample(result, contexts=CONTEXTS[:1])
    # the step that leaves one out is a stage
    stages = [(stage.name, stage.component, len(stage.chunks)) for stage in result.sample.stages]
    assert stages[:2] == [("retrieved", "FunctionRetriever", 2), ("filtered", "fetch", 1)]


def test_a_workflow_that_is_not_watched_is_no_sample(live):
    hooks = live()

    async def run() -> Any:
        return await RagWorkflow().run(query=QUESTION)

    asyncio.run(run())
    assert hooks.stats.captured == 0


def test_an_agents_query_engine_is_a_sample_of_its_own(live):
    hooks = live()
    assert ran(agent(tool_of(engine())), user_msg=QUESTION) == ANSWER
    assert_is_the_sample(only(hooks), question="tower height")
