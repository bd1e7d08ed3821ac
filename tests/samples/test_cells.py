"""Incoming values: absent, a text, a list of texts, or refused; the same from every source."""

import json
import math
from collections import deque
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import evaluate
from ragmetrics_core.errors import SampleError
from ragmetrics_core.runs import read_samples
from ragmetrics_core.samples import Sample
from tests.samples.cells import LISTS, PROSE, REFUSED

ROW = {"question": "Q?", "answer": "A."}


def contexts_of(value, **row):
    return Sample.from_mapping({**ROW, **row, "contexts": value}).contexts


@pytest.mark.parametrize(("name", "written", "expected"), LISTS, ids=[name for name, *_ in LISTS])
def test_a_printed_list_is_read_if_the_whole_of_it_can_be(name, written, expected):
    assert contexts_of(written) == expected


@pytest.mark.parametrize(("name", "written"), REFUSED, ids=[name for name, _ in REFUSED])
@pytest.mark.parametrize("field", ["contexts", "reference_contexts", "references", "context_ids"])
def test_what_is_printed_and_cannot_be_read_never_becomes_one_text(field, name, written):
    with pytest.raises(SampleError, match=f"'{field}'"):
        Sample.from_mapping({**ROW, field: written})


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_one_context_and_an_answer_whatever_it_starts_with(text):
    assert contexts_of(text) == (text,)
    assert Sample.from_mapping({"answer": text}).answer == text


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.integers(1, 60))
def test_a_list_that_was_cut_is_refused_or_complete(texts, cut):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    written = json.dumps(texts)
    if cut >= len(written):
        return
    with pytest.raises(SampleError):
        contexts_of(written[:-cut])


@given(st.text(alphabet="[](){}'\", \\nx=.\n1", max_size=40))
def test_any_text_is_read_or_refused(text):
    for field in ("contexts", "answer", "context_ids", "history", "stages", "reference_context_grades"):
        with suppress(SampleError):
            assert Sample.from_mapping({**ROW, field: text}).question == "Q?"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "(" * 100_000 + ")" * 100_000,
        "[" + "-" * 100_000 + "1]",
        "[" + "1+" * 100_000 + "1]",
        "['a'" + " " * 200_000 + "x]",
        "[" + "'a' " * 50_000 + "x]",
        "['" + "\\'" * 100_000 + "]",
        "[__import__('os').getcwd()]",
        "['a' * 9]",
        "[f'{x}']",
    ],
    ids=lambda text: text[:12],
)
def test_a_hostile_text_is_refused_and_nothing_is_executed(text):
    with pytest.raises(SampleError, match="cannot be read as one"):
        contexts_of(text)


@pytest.mark.parametrize(
    "answer",
    [
        "content='Five minutes.' additional_kwargs={} response_metadata={}",
        "AIMessage(content='Five minutes.', id='run-1')",
        "[AIMessage(content='Five minutes.')]",
        "{'role': 'assistant', 'content': 'Five minutes.'}",
        '[{"type": "text", "text": "Five minutes."}]',
        '["Five minutes."]',
        "ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='Five')])",
        "<openai.ChatCompletion object at 0x7f00aa>",
        "b'Five minutes.'",
    ],
)
@pytest.mark.parametrize("field", ["answer", "question", "reference"])
def test_a_printed_message_is_not_its_text(field, answer):
    with pytest.raises(SampleError, match=f"'{field}' is a printed object or list, not its text"):
        Sample.from_mapping({field: answer})


@pytest.mark.parametrize("ids", ["d1,d2", "d1; d2", "d1|d2", "d1 d2", "d1\nd2"])
def test_ids_in_one_text_are_not_one_id(ids):
    with pytest.raises(SampleError, match="'context_ids' may be one text or several"):
        Sample.from_mapping({**ROW, "context_ids": ids})
    assert Sample.from_mapping({**ROW, "context_ids": f'["{ids[:2]}", 7]'}).context_ids == ("d1", "7")


# -- absent and blank


@pytest.mark.parametrize("blank", ["", "  ", "\n", None, math.nan, np.float64("nan")])
@pytest.mark.parametrize("field", ["question", "reference", "references", "contexts", "reference_contexts"])
def test_what_is_blank_is_absent(field, blank):
    row = {"id": "a", "question": "Q?", "reference": "R.", "answer": "A.", field: blank}
    assert getattr(Sample.from_mapping(row), field) is None


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_answer_is_an_answer_in_every_format(tmp_path, blank):
    pandas = pytest.importorskip("pandas", reason="pandas")
    row = {"id": "a", "question": "Q?", "answer": blank, "reference": "R."}
    (tmp_path / "s.csv").write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
    (tmp_path / "s.json").write_text(json.dumps([row]))
    for source in ([row], pandas.DataFrame([row]), tmp_path / "s.csv", tmp_path / "s.json"):
        (sample,) = read_samples(source)
        assert (sample.answer, sample.reference) == (blank, "R.")
        run = evaluate(source, metrics="exact_match")
        assert [(each.status, each.reason) for _, each in run.outcomes()] == [("undefined", "no_answer")]


@pytest.mark.parametrize("field", ["references", "reference_contexts"])
def test_blank_items_of_what_is_expected_are_left_out(field):
    assert getattr(Sample.from_mapping({**ROW, field: ["x", " ", "y"]}), field) == ("x", "y")


def test_a_blank_chunk_keeps_its_rank_and_an_empty_list_is_nothing_retrieved():
    assert contexts_of(["", "b"]) == ("", "b")
    assert contexts_of([]) == contexts_of("[]") == ()


# -- objects


class Document:
    def __init__(self, page_content):
        self.page_content = page_content


class Node:
    def __init__(self, text):
        self.text = text

    def get_content(self):
        return self.text


class Scored:
    def __init__(self, node):
        self.node, self.score = node, 0.5

    @property
    def text(self):
        raise ValueError("the node has no text")


OBJECTS = [
    [Document("a"), Document("b")],
    (Document("a"), Document("b")),
    [(Document("a"), 0.9), (Document("b"), np.float32(0.3))],
    [Node("a"), Node("b")],
    [Scored(Node("a")), Scored(Node("b"))],
    deque([Document("a"), Document("b")]),
    np.array([Document("a"), Document("b")], dtype=object),
    [{"node": {"text": "a"}, "score": 0.9}, {"kwargs": {"page_content": "b"}}],
    [("a", 0.9), ["b", 0.3]],
]


@pytest.mark.parametrize("value", OBJECTS, ids=range(len(OBJECTS)))
@pytest.mark.parametrize("field", ["contexts", "reference_contexts"])
def test_documents_nodes_and_pairs_are_their_texts(field, value):
    assert getattr(Sample.from_mapping({**ROW, field: value}), field) == ("a", "b")


def test_one_document_is_a_list_of_one():
    assert contexts_of(Document("a")) == contexts_of({"page_content": "a"}) == ("a",)


@pytest.mark.parametrize(
    "value", [[object()], [Document(None)], {"a", "b"}, iter(["a"]), b"a", [b"a"]], ids=range(6)
)
def test_an_object_without_a_text_is_refused(value):
    with pytest.raises(SampleError, match="'contexts'"):
        contexts_of(value)


def test_documents_of_langchain_are_their_texts():
    documents = pytest.importorskip("langchain_core.documents", reason="langchain-core")
    messages = pytest.importorskip("langchain_core.messages", reason="langchain-core")
    docs = [documents.Document("a", metadata={"source": "x"}), documents.Document("b")]
    assert contexts_of(docs) == contexts_of([(doc, 0.5) for doc in docs]) == ("a", "b")
    history = [messages.HumanMessage("Hi"), messages.AIMessage("Hello")]
    sample = Sample.from_mapping({"answer": messages.AIMessage("A."), "history": history})
    assert sample.answer == "A."
    assert [(turn.role, turn.content) for turn in sample.history] == [("user", "Hi"), ("assistant", "Hello")]
    for value in (str(docs), str(docs[0]), repr(docs)):
        with pytest.raises(SampleError):
            contexts_of(value)
    with pytest.raises(SampleError):
        Sample.from_mapping({"answer": str(messages.AIMessage("A."))})


def test_documents_of_haystack_are_their_texts():
    haystack = pytest.importorskip("haystack", reason="haystack")
    docs = [haystack.Document(content="a", score=0.5), haystack.Document(content="b")]
    assert contexts_of(docs) == ("a", "b")
    message = pytest.importorskip("haystack.dataclasses", reason="haystack").ChatMessage.from_assistant("A.")
    assert Sample.from_mapping({"answer": message}).answer == "A."
    for value in (str(docs), str(docs[0])):
        with pytest.raises(SampleError):
            contexts_of(value)
    with pytest.raises(SampleError):
        Sample.from_mapping({"answer": str(message)})


def test_nodes_of_llama_index_are_their_texts():
    schema = pytest.importorskip("llama_index.core.schema", reason="llama-index-core")
    llms = pytest.importorskip("llama_index.core.llms", reason="llama-index-core")
    nodes = [schema.NodeWithScore(node=schema.TextNode(text=text), score=0.5) for text in "ab"]
    assert contexts_of(nodes) == contexts_of([each.node for each in nodes]) == ("a", "b")
    assert Sample.from_mapping({"answer": llms.ChatMessage("A.", role="assistant")}).answer == "A."
    for value in (str(nodes), str(nodes[0]), repr(nodes[0])):
        with pytest.raises(SampleError):
            contexts_of(value)
