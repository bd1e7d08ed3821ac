"""Chat engines as users build them."""

import asyncio
from typing import Any

from tests.integrations.llama_index.scored import memory
from tests.integrations.llama_index.shown.applications import Application, Applications, DropsAll
from tests.integrations.llama_index.shown.query_engines import EMPTY
from tests.integrations.llama_index.shown.served import HIGH, OPENED, QUESTION, ServedLLM, index

CHAT_ENGINES = Applications()
CONDENSED = ("standalone question", "How high is the tower in Paris?")
NEAREST = (HIGH, OPENED)
"""What is nearest to the condensed question."""


def chat(mode: str, llm: ServedLLM, **options: Any) -> Any:
    """A chat engine of an index, in the midst of a conversation."""
    history = memory(("user", "Do you know Paris?"), ("assistant", "I do."))
    return index().as_chat_engine(chat_mode=mode, llm=llm, memory=history, similarity_top_k=2, **options)


def streamed(engine: Any) -> str:
    return "".join(engine.stream_chat(QUESTION).response_gen)


def astreamed(engine: Any) -> str:
    async def read() -> str:
        response = await engine.astream_chat(QUESTION)
        return "".join([token async for token in response.async_response_gen()])

    return asyncio.run(read())


@CHAT_ENGINES("`ContextChatEngine`")
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: chat("context", llm).chat(QUESTION))


@CHAT_ENGINES("`ContextChatEngine` with `stream_chat`")
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: streamed(chat("context", llm)))


@CHAT_ENGINES("`ContextChatEngine` with `astream_chat`")
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: astreamed(chat("context", llm)))


@CHAT_ENGINES("`CondenseQuestionChatEngine`", CONDENSED)
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: chat("condense_question", llm).chat(QUESTION), contexts=NEAREST)


@CHAT_ENGINES("`CondenseQuestionChatEngine` with `stream_chat`", CONDENSED)
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: streamed(chat("condense_question", llm, streaming=True)), contexts=NEAREST)


@CHAT_ENGINES("`CondensePlusContextChatEngine`", CONDENSED)
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: chat("condense_plus_context", llm).chat(QUESTION), contexts=NEAREST)


@CHAT_ENGINES("`CondensePlusContextChatEngine` with `astream_chat`", CONDENSED)
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: astreamed(chat("condense_plus_context", llm)), contexts=NEAREST)


@CHAT_ENGINES("`SimpleChatEngine`")
def _(llm: ServedLLM) -> Application:
    return Application(ask=lambda: chat("simple", llm).chat(QUESTION), contexts=())


# A postprocessor finds nothing good enough


@CHAT_ENGINES("`ContextChatEngine`, a postprocessor drops every node", written=())
def _(llm: ServedLLM) -> Application:
    engine = chat("context", llm, node_postprocessors=[DropsAll()])
    return Application(ask=lambda: engine.chat(QUESTION), contexts=(), answer=EMPTY)


@CHAT_ENGINES("`ContextChatEngine` with `stream_chat`, a postprocessor drops every node", written=())
def _(llm: ServedLLM) -> Application:
    engine = chat("context", llm, node_postprocessors=[DropsAll()])
    return Application(ask=lambda: streamed(engine), contexts=(), answer=EMPTY)


@CHAT_ENGINES("`CondenseQuestionChatEngine`, a postprocessor drops every node", CONDENSED, written=())
def _(llm: ServedLLM) -> Application:
    engine = chat("condense_question", llm, node_postprocessors=[DropsAll()])
    return Application(ask=lambda: engine.chat(QUESTION), contexts=(), answer=EMPTY)


@CHAT_ENGINES("`CondensePlusContextChatEngine`, a postprocessor drops every node", CONDENSED, written=())
def _(llm: ServedLLM) -> Application:
    engine = chat("condense_plus_context", llm, node_postprocessors=[DropsAll()])
    return Application(ask=lambda: engine.chat(QUESTION), contexts=(), answer=EMPTY)
