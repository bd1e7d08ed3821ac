"""Chat engines as users build them."""

import asyncio
from functools import partial
from typing import Any

from tests.integrations.llama_index.scored import memory
from tests.integrations.llama_index.shown.applications import TOP_TWO, Application, Applications, DropsAll
from tests.integrations.llama_index.shown.query_engines import EMPTY
from tests.integrations.llama_index.shown.served import ANSWER, HIGH, OPENED, QUESTION, ServedLLM, index

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


WAYS = {
    "": lambda engine: engine.chat(QUESTION),
    " with `stream_chat`": streamed,
    " with `astream_chat`": astreamed,
}
# What a kind of engine is called, what its model is shown, and what else it is asked.
KINDS: dict[str, tuple[str, Any, Any]] = {
    "context": ("`ContextChatEngine`", TOP_TWO, ()),
    "condense_question": ("`CondenseQuestionChatEngine`", NEAREST, (CONDENSED,)),
    "condense_plus_context": ("`CondensePlusContextChatEngine`", NEAREST, (CONDENSED,)),
    "simple": ("`SimpleChatEngine`", (), ()),
}


def made(mode: str, way: str, dropping: bool, llm: ServedLLM) -> Application:
    # a postprocessor finds nothing good enough
    options: dict[str, Any] = {"node_postprocessors": [DropsAll()]} if dropping else {}
    engine = chat(mode, llm, streaming="stream" in way, **options)
    if dropping:
        return Application(ask=lambda: WAYS[way](engine), contexts=None, answer=EMPTY)
    return Application(ask=lambda: WAYS[way](engine), contexts=KINDS[mode][1])


for mode, way, dropping in [
    ("context", "", False),
    ("context", " with `stream_chat`", False),
    ("context", " with `astream_chat`", False),
    ("condense_question", "", False),
    ("condense_question", " with `stream_chat`", False),
    ("condense_plus_context", "", False),
    ("condense_plus_context", " with `astream_chat`", False),
    ("simple", "", False),
    ("context", "", True),
    ("context", " with `stream_chat`", True),
]:
    called, _, replies = KINDS[mode]
    name = f"{called}{way}{', a postprocessor drops every node' * dropping}"
    CHAT_ENGINES(name, *replies, written=() if dropping else (ANSWER,))(partial(made, mode, way, dropping))
