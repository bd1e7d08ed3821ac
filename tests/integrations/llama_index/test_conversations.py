"""Conversations of LlamaIndex: session, turn, history and the question as it was rewritten."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    SimpleChatEngine,
)
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.memory import Memory

from tests.integrations.llama_index.agents import RepliesLLM
from tests.integrations.llama_index.fakes import FunctionLLM, FunctionRetriever
from tests.integrations.llama_index.scored import ANSWER, CONTEXTS, engine, memory, settled
from tests.integrations.running_examples import EXAMPLES, assert_repeated

QUESTIONS = ("Tell me about the Eiffel tower.", "How high is it?", "When did it open?")
REWRITTEN = {
    "How high is it?": "How high is the Eiffel tower?",
    "When did it open?": "When did the tower open?",
}

IN_SESSION = """
import json, sys
from pathlib import Path
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, Memory
from ragmetrics_llama_index import instrument
from tests.integrations.llama_index.test_conversations import condense_question, plus_context

way, store, *questions = sys.argv[1:]
if "sqlite" in way:
    kept = Memory.from_defaults(session_id="s", async_database_uri=f"sqlite+aiosqlite:///{store}")
else:
    said = json.loads(Path(store).read_text()) if Path(store).exists() else []
    said = [ChatMessage(role=role, content=text) for role, text in said]
    kept = ChatMemoryBuffer.from_defaults(chat_history=said, chat_store_key="s")
hooks = instrument("faithfulness", "embedded")
chat = (plus_context if "context" in way else condense_question)(kept)
for question in questions:
    chat.chat(question)
if "sqlite" not in way:
    Path(store).write_text(json.dumps([[each.role.value, each.content] for each in kept.get_all()]))
hooks.flush()
print(json.dumps([[r.sample.session, r.sample.turn, len(r.sample.history or ())] for r in hooks.results]))
hooks.close()
"""


@pytest.fixture
def stored() -> Iterator[Any]:
    """Makes memories in SQLite, and ends their connections."""
    made: list[Memory] = []

    def make() -> Memory:
        made.append(Memory.from_defaults(session_id="s"))
        return made[-1]

    yield make
    for each in made:
        store: Any = each.sql_store
        if store._async_engine is not None:
            asyncio.run(store._async_engine.dispose())


def rewritten(prompt: str) -> str:
    return REWRITTEN[max(REWRITTEN, key=prompt.rfind)]


def condense_question(kept: Any) -> Any:
    template = PromptTemplate("{chat_history}\nRewrite: {question}")
    llm = FunctionLLM(rewritten)
    return CondenseQuestionChatEngine(
        query_engine=engine(), condense_question_prompt=template, memory=kept, llm=llm
    )


def plus_context(kept: Any) -> Any:
    def reply(messages: Sequence[ChatMessage]) -> ChatMessage:
        return ChatMessage(role="assistant", content=ANSWER)

    class Both(RepliesLLM):
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            return FunctionLLM(rewritten).complete(prompt)

    return CondensePlusContextChatEngine(
        FunctionRetriever(lambda question: CONTEXTS), llm=Both(reply), memory=kept
    )


def simple(kept: Any) -> Any:
    llm = RepliesLLM(lambda messages: ChatMessage(role="assistant", content=ANSWER))
    prefix = [ChatMessage(role="system", content="Be brief."), ChatMessage(role="user", content="Be kind.")]
    return SimpleChatEngine(llm, kept, prefix_messages=prefix)


def asked(hooks: Any, chat: Any) -> list[Any]:
    for question in QUESTIONS:
        chat.chat(question)
        assert settled(hooks)
    return [result.sample for result in hooks.results]


@pytest.mark.parametrize("make", [condense_question, plus_context, simple])
@pytest.mark.parametrize("is_stored", [True, False])
def test_each_turn_of_a_chat_has_its_number_and_what_was_said_before(
    live: Any, make: Any, is_stored: bool, stored: Any
):
    samples = asked(live(), make(stored() if is_stored else memory()))

    assert [sample.question for sample in samples] == list(QUESTIONS)
    said = [text for question in QUESTIONS for text in (question, ANSWER)]
    for number, sample in enumerate(samples):
        assert [turn.content for turn in sample.history or ()] == said[: 2 * number]
    assert [sample.turn for sample in samples][1:] == [2, 3]
    searched = [None, *REWRITTEN.values()] if make is not simple else [None] * 3
    assert [sample.standalone for sample in samples] == searched


def test_the_memory_or_a_tag_names_the_session(live: Any, stored: Any):
    hooks = live()
    chat = plus_context(stored())
    chat.chat(QUESTIONS[0])
    with instrument_tags({"session_id": "tag"}):
        chat.chat(QUESTIONS[1])
    assert settled(hooks)
    found = {(result.sample.session, result.sample.turn) for result in hooks.results}
    assert found == {("s", 1), ("tag", 2)}


def test_the_contexts_of_earlier_answers_are_known_in_a_session(live: Any, stored: Any):
    samples = asked(live(), plus_context(stored()))
    answers = [turn for turn in samples[2].history or () if turn.role == "assistant"]
    assert [turn.contexts for turn in answers] == [sample.contexts for sample in samples[:2]]
    assert set(answers[0].contexts or ()) == set(CONTEXTS)


def test_an_agent_goes_on_with_its_memory(live: Any, stored: Any):
    llm = RepliesLLM(lambda messages: ChatMessage(role="assistant", content=ANSWER))
    agent = FunctionAgent(tools=[], llm=llm, system_prompt="Be brief.")
    hooks = live(watch=[agent])

    async def ask() -> None:
        kept = stored()
        for question in QUESTIONS:
            await agent.run(user_msg=question, memory=kept)

    asyncio.run(ask())
    assert settled(hooks)
    samples = sorted((result.sample for result in hooks.results), key=lambda sample: sample.turn or 0)
    assert [(sample.session, sample.turn) for sample in samples] == [("s", 1), ("s", 2), ("s", 3)]


@pytest.mark.parametrize("way", ["sqlite, condense question", "sqlite, with context", "file"])
def test_a_session_continues_in_a_new_process(tmp_path: Path, way: str):
    def asked(*questions: str) -> Any:
        command = [sys.executable, "-c", IN_SESSION, way, str(tmp_path / "store"), *questions]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLES.parent)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first = asked(*QUESTIONS[:2])
    assert first in ([["s", 1, 0], ["s", 2, 2]], [["s", None, 0], ["s", 2, 2]])
    assert asked(QUESTIONS[2]) == [["s", 3, 4]]


def test_the_example_prints_what_the_second_answer_repeats():
    command = [sys.executable, str(EXAMPLES / "conversation_llama_index.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLES.parent)
    assert done.returncode == 0, done.stderr
    assert_repeated(done.stdout)
