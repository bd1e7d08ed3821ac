"""`note_contexts`: what an application says that it retrieved."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.adapting import chunks_of
from ragmetrics_core.live import (
    Capture,
    LiveScorer,
    Notes,
    note_contexts,
    notes_before,
    noting,
    take_notes,
)


class Hook:
    """An adapter's hook: `begin` opens a run in the caller's context; `here` says which one is running."""

    def __init__(self) -> None:
        self.here: Notes | None = None
        take_notes(self)

    def notes_here(self) -> Notes | None:
        return self.here


def texts(notes: Notes) -> list[str] | None:
    return None if notes.contexts is None else [chunk.text for chunk in notes.contexts]


@pytest.fixture(autouse=True)
def own_context():
    """Each test begins without notes of another one."""
    with noting():
        pass


def in_own_context(function, *args):
    return copy_context().run(function, *args)


def test_what_was_noted_are_the_contexts_and_their_ids():
    with noting() as notes:
        note_contexts([{"id": 7, "text": "The SMF selects the UPF."}, {"id": 8, "text": "It is big."}])
    capture = Capture(
        translate=lambda c: Sample(question=c.question, contexts=["seen by a hook"], answer=c.answer),
        question="Who selects the UPF?",
        answer="The SMF.",
        noted=notes.contexts,
    )

    with LiveScorer("faithfulness", judge="embedded") as live:
        live.submit(capture)
    sample = live.results[0].sample

    assert sample.contexts == ("The SMF selects the UPF.", "It is big.")
    assert sample.context_ids == ("7", "8")
    assert sample.labels["found_contexts"] == "note_contexts"


@pytest.mark.parametrize(
    ("noted", "expected"),
    [
        ([], None),  # the contexts are those that the hook saw
        ([[]], []),  # nothing was retrieved
        ([["a", "b"], "b", ["c"]], ["a", "b", "c"]),
        ([["a", "b", "a"], "a"], ["a", "b"]),
    ],
)
def test_notes_are_put_together_each_text_once_and_an_empty_one_says_so(noted: list[Any], expected: Any):
    with noting() as notes:
        for documents in noted:
            note_contexts(documents)

    assert texts(notes) == expected


def test_threads_and_tasks_note_for_the_request_that_started_them():
    async def request() -> list[str] | None:
        with noting() as notes:
            await asyncio.to_thread(note_contexts, ["from a thread"])
            await asyncio.create_task(a_task())
            with ThreadPoolExecutor(1) as pool:
                pool.submit(copy_context().run, note_contexts, ["from a pool"]).result()
        return texts(notes)

    async def a_task() -> None:
        note_contexts(["from a task"])

    assert asyncio.run(request()) == ["from a thread", "from a task", "from a pool"]


def test_a_note_before_a_run_belongs_to_the_next_one_of_each_hook_and_to_no_later_one():
    def application() -> list[list[str] | None]:
        note_contexts(["for the first"])
        first = notes_before(one), notes_before(other)
        second = notes_before(one)
        note_contexts(["for the third"])
        return [*map(texts, first), texts(second), texts(notes_before(one))]

    one, other = Hook(), Hook()

    expected = [["for the first"], ["for the first"], None, ["for the third"]]
    assert in_own_context(application) == expected


def test_texts_are_those_of_the_moment():
    documents = [{"text": "whole"}]
    with noting() as notes:
        note_contexts(documents)
    documents[0]["text"] = "cut"

    assert texts(notes) == ["whole"]


class Broken:
    @property
    def page_content(self) -> str:
        raise ValueError("lost")


@pytest.mark.parametrize("documents", [4.2, object(), [b"bytes"], iter(["a"]), [Broken()]])
def test_what_has_no_text_or_raises_reaches_neither_the_sample_nor_the_application(documents: Any):
    with noting() as notes:
        note_contexts(documents)

    assert notes.contexts is None


def test_documents_of_every_framework_are_read_with_their_ids():
    langchain = pytest.importorskip("langchain_core.documents")
    llama_index = pytest.importorskip("llama_index.core.schema")
    haystack = pytest.importorskip("haystack")
    node = llama_index.TextNode(text="node", id_="n1")
    documents = [
        langchain.Document(page_content="page", id="p1"),
        (langchain.Document(page_content="scored", metadata={"id": "p2"}), 0.7),
        node,
        llama_index.NodeWithScore(node=llama_index.TextNode(text="with score", id_="n2"), score=0.4),
        haystack.Document(id="h1", content="content"),
        haystack.Document(id="h2", content=None),
    ]

    chunks, unknown = chunks_of(documents)

    assert [chunk[:2] for chunk in chunks] == [
        ("page", "p1"),
        ("scored", "p2"),
        ("node", "n1"),
        ("with score", "n2"),
        ("content", "h1"),
    ]
    assert unknown == []


def test_concurrent_requests_share_nothing():
    async def request(number: int) -> list[str] | None:
        with noting() as notes:
            note_contexts(f"first of {number}")
            await asyncio.sleep(0)
            note_contexts(f"second of {number}")
            await asyncio.sleep(0)
        return texts(notes)

    async def main() -> list[list[str] | None]:
        return await asyncio.gather(*(request(number) for number in range(50)))

    found = asyncio.run(main())

    assert found == [[f"first of {number}", f"second of {number}"] for number in range(50)]
