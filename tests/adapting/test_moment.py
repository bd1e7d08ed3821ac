"""Objects of an application, held as they are now."""

import threading
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ragmetrics_core import Sample
from ragmetrics_core.adapting import as_now
from ragmetrics_core.live import Capture, LiveScorer

NESTED = st.recursive(
    st.text() | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


class Document(BaseModel):
    page_content: str
    metadata: dict[str, object] = {}


@dataclass
class Message:
    parts: list[Document] = field(default_factory=list)


def test_what_the_application_changes_afterwards_changes_nothing():
    documents = [Document(page_content="whole", metadata={"id": "1"})]
    message = Message([Document(page_content="said")])

    held, kept = as_now(documents), as_now(message)
    documents[0].page_content = "cut"
    documents[0].metadata["id"] = "2"
    documents.clear()
    message.parts[0].page_content = "changed"

    assert held == [Document(page_content="whole", metadata={"id": "1"})]
    assert kept == Message([Document(page_content="said")])


@given(NESTED)
def test_plain_values_stay_equal(value):
    assert as_now(value) == value


def test_streams_clients_and_locks_stay_the_hosts_own():
    lock, stream = threading.Lock(), iter(["a"])

    held = as_now({"lock": lock, "stream": stream})

    assert held["lock"] is lock
    assert list(held["stream"]) == ["a"]


def test_what_holds_itself_ends():
    value: list[object] = ["a"]
    value.append(value)

    assert as_now(value)[0] == "a"


def test_what_cannot_be_copied_is_left_as_it_is():
    class Stubborn(BaseModel):
        text: str = "a"

        def __copy__(self):
            raise RuntimeError("no copies")

    stubborn = Stubborn()

    assert as_now([stubborn])[0] is stubborn


def test_a_capture_is_scored_with_the_texts_of_the_moment_of_the_hook():
    documents = [Document(page_content="The SMF selects the UPF.")]
    capture = Capture(
        translate=lambda c: Sample(
            question="q", contexts=[each.page_content for each in c.contexts], answer=c.answer["text"]
        ),
        contexts=documents,
        answer=(answer := {"text": "The SMF selects it."}),
    )
    with LiveScorer("faithfulness", judge="embedded") as live:
        with_gate = threading.Event()
        translate, capture.translate = capture.translate, lambda c: (with_gate.wait(30), translate(c))[1]
        live.submit(capture)
        documents[0].page_content = "cut for display"
        answer["text"] = "changed"
        with_gate.set()

    assert live.results[0].sample.contexts == ("The SMF selects the UPF.",)
    assert live.results[0].sample.answer == "The SMF selects it."
