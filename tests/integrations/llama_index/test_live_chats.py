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


async def read(chat: Any) -> str:
    response = await chat.astream_chat(QUESTION)
    return "".join([token async for token in response.async_response_gen()])


WAYS = {
    "chat": lambda chat: str(chat.chat(QUESTION)),
    "achat": lambda chat: str(asyncio.run(chat.achat(QUESTION))),
    "stream_chat": lambda chat: "".join(chat.stream_chat(QUESTION).response_gen),
    "astream_chat": lambda chat: asyncio.run(read(chat)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [condense_question, condense_plus_context, context_chat])
def test_a_chat_is_scored_with_the_users_message_as_the_question_when_it_was_written(live, make, way):
    hooks = live()
    assert WAYS[way](make()) == ANSWER
    result = only(hooks)
    assert_is_the_sample(result)
    assert result.sample.standalone == (None if make is context_chat else CONDENSED)
    assert hooks.open_spans == 0


def test_a_history_that_the_caller_passes_is_part_of_the_sample(live):
    hooks = live()
    history = [ChatMessage(role=role, content=content) for role, content in HISTORY]
    condense_question().chat(QUESTION, chat_history=history)
    turns = only(hooks).sample.history or ()
    assert [(turn.role, turn.content) for turn in turns] == HISTORY


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
        asyncio.run(read(chat))
    assert hooks.flush(60)
    assert (hooks.results, hooks.stats.skipped, hooks.open_spans) == ([], {"run_failed": 1}, 0)
