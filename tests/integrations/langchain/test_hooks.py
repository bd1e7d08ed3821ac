"""The hooks leave the application alone: no error, no reading of its texts, no task on its loop."""

import asyncio
import logging
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.callbacks import AsyncCallbackManager, CallbackManager
from langchain_core.documents import Document

from ragmetrics_langchain import RagMetricsCallbackHandler
from tests.integrations.langchain.apps import answer, question, rag_chain


class Untouchable(str):
    """A text that must not be read, copied, compared or hashed in a hook."""

    __slots__ = ()

    def _refuse(self, *args: Any) -> Any:
        raise AssertionError("a hook read a text of the application")

    __str__ = __repr__ = __iter__ = __len__ = __add__ = __contains__ = __getitem__ = _refuse
    __eq__ = __ne__ = __lt__ = __format__ = encode = strip = split = lower = _refuse  # type: ignore[assignment]
    __hash__ = _refuse  # type: ignore[assignment]


def touched_by_a_run(handler: RagMetricsCallbackHandler, metadata: dict[str, Any]) -> None:
    """What a run of a chain tells a handler, with texts that must not be touched."""
    text = Untouchable("text")
    root, retriever, prompt = uuid4(), uuid4(), uuid4()
    document = Document.model_construct(page_content=text, metadata={}, id=None, type="Document")
    handler.on_chain_start(None, {"question": text}, run_id=root, name="app", metadata=metadata)
    handler.on_retriever_start(None, text, run_id=retriever, parent_run_id=root)
    handler.on_retriever_end([document], run_id=retriever, parent_run_id=root)
    handler.on_chain_start(None, {"context": [document]}, run_id=prompt, parent_run_id=root)
    handler.on_chain_end(text, run_id=prompt, parent_run_id=root)
    handler.on_chain_end({"answer": text, "context": [document]}, run_id=root)


@pytest.mark.parametrize("metadata", [{}, {"thread_id": "1"}], ids=["alone", "in a conversation"])
def test_hooks_read_hash_and_serialise_nothing(make_handler, metadata):
    # nothing is scored, so that whoever reads a text is a hook
    handler = make_handler(sample_rate=0.0)
    touched_by_a_run(handler, metadata)

    assert handler.stats.errors == []
    assert handler.stats.skipped == {"not_sampled": 1}
    assert handler.open_runs == 0


def test_nothing_is_created_on_the_applications_loop(handler):
    async def ask() -> int:
        await rag_chain().ainvoke(question("tea"), {"callbacks": [handler]})
        return len(asyncio.all_tasks())

    assert asyncio.run(ask()) == 1
    assert handler.flush()
    assert handler.stats.scored == 1


def test_hooks_run_in_place(handler):
    assert handler.run_inline
    assert not handler.raise_error
    assert not any((handler.ignore_chain, handler.ignore_llm, handler.ignore_retriever, handler.ignore_agent))


def test_events_that_come_twice_make_one_sample(make_handler):
    handler = make_handler(scope="inner")
    root, inner = uuid4(), uuid4()
    for _ in range(2):
        handler.on_chain_start(None, "all", run_id=root, name="outer")
    for _ in range(2):
        handler.on_chain_start(
            None, {"question": "q", "context": ["c"]}, run_id=inner, parent_run_id=root, name="inner"
        )
    for _ in range(2):
        handler.on_chain_end("It is so.", run_id=inner)
    handler.on_chain_error(ValueError("too late"), run_id=inner)
    handler.on_chain_end("all", run_id=root)

    assert handler.flush()
    assert len(handler.results) == 1
    assert handler.stats.skipped == {}
    assert handler.open_runs == 0


def test_events_that_make_no_sense_reach_nobody(handler, caplog):
    unknown = uuid4()
    handler.on_chain_end("late", run_id=unknown)
    handler.on_chain_error(ValueError("late"), run_id=unknown)
    handler.on_retriever_end([], run_id=unknown)
    handler.on_tool_error(KeyboardInterrupt(), run_id=unknown)
    with caplog.at_level(logging.ERROR):
        handler.on_chain_start(None, "q", run_id=[], name="unhashable id")  # type: ignore[arg-type]

    assert handler.open_runs == 0
    assert handler.stats.skipped == {"hook_failed": 1}
    # the traceback is in our log: LangChain would log one line without it
    assert "unhashable" in caplog.text
    assert "Traceback" in caplog.text


def test_a_hook_that_fails_leaves_the_answer_alone(handler, monkeypatch):
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("ragmetrics_langchain._runs._shallow", broken)

    assert rag_chain().invoke(question("tea"), {"callbacks": [handler]}) == answer("tea")
    assert list(rag_chain().stream(question("tea"), {"callbacks": [handler]}))
    assert handler.open_runs == 0
    assert "a bug of ours" in handler.stats.errors[0]


def test_what_the_application_changes_after_its_answer_does_not_change_the_sample(make_handler):
    seen: list[Any] = []
    handler = make_handler(mode="inline", extract=seen.append)
    root = uuid4()
    inputs: dict[str, Any] = {"question": question("tea"), "context": ["Tea is green."]}
    handler.on_chain_start(None, inputs, run_id=root, name="app")
    inputs["context"].append("added later")
    inputs["question"] = "changed later"
    handler.on_chain_end({"answer": "Tea is green."}, run_id=root)

    (result,) = handler.results
    assert result.sample.question == question("tea")
    assert result.sample.contexts == ("Tea is green.",)
    assert seen[0].inputs["context"] == ["Tea is green."]


def test_inline_scores_are_there_when_the_answer_is(make_handler):
    handler = make_handler(mode="inline")
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})
    assert handler.stats.scored == 1

    asyncio.run(rag_chain().ainvoke(question("tea"), {"callbacks": [handler]}))
    assert handler.stats.scored == 2


def test_langchains_managers_take_the_handler_as_one_of_theirs(handler):
    manager = CallbackManager.configure(inheritable_callbacks=[handler], local_callbacks=[handler])
    assert manager.handlers == [handler]
    merged = AsyncCallbackManager([handler]).merge(AsyncCallbackManager([handler]))
    assert merged.handlers == [handler]


def test_open_runs_that_never_end_are_bounded_and_counted(make_handler):
    handler = make_handler(max_open=10)
    for _ in range(100):
        handler.on_chain_start(None, "q", run_id=uuid4(), name="app")

    assert handler.open_runs == 10
    assert handler.stats.skipped == {"never_ended": 90}


def test_conversations_that_wait_for_a_person_are_bounded(handler):
    for number in range(1500):
        root = uuid4()
        metadata = {"thread_id": str(number)}
        handler.on_chain_start(None, {"question": "q"}, run_id=root, name="app", metadata=metadata)
        handler.on_chain_end({}, run_id=root)

    assert len(handler._recorder._waiting) == 1000
    assert handler.stats.skipped == {"no_answer": 1500}
