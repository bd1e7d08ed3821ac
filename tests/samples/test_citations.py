"""Structured citations are read in the forms in which providers return them."""

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.errors import SampleError

ANSWER = "Sun shines. Rain falls. It is nice."
ROW = {"question": "How is it?", "answer": ANSWER, "contexts": ["Sun is hot.", "Rain is wet.", "Wind."]}
IDS = {"context_ids": ["a", "b", "https://c.example"]}


def read(**row):
    """Answer, and for each citation the words at its place and its chunks."""
    sample = Sample.from_mapping(ROW | row)
    return sample.answer, [(sample.answer[c.start : c.end], c.chunks) for c in sample.citations or ()]


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        ({"start": 0, "end": 11, "chunks": [1]}, ("Sun shines.", (1,))),
        ({"text": "Rain falls", "chunks": ["b", "other.pdf", 9]}, ("Rain falls", (2, "other.pdf", 9))),
        # Cohere, first and second version
        ({"start": 12, "end": 22, "text": "Rain falls", "document_ids": {"b"}}, ("Rain falls", (2,))),
        (
            {"start": 12, "end": 22, "text": "Rain falls", "sources": [{"type": "document", "id": "b"}]},
            ("Rain falls", (2,)),
        ),
        # OpenAI: a page and a file, the older forms nested
        (
            {"type": "url_citation", "start_index": 0, "end_index": 3, "url": "https://c.example"},
            ("Sun", (3,)),
        ),
        (
            {"type": "url_citation", "url_citation": {"start_index": 0, "end_index": 3, "url": "https://d"}},
            ("Sun", ("https://d",)),
        ),
        ({"type": "file_citation", "file_id": "b", "filename": "b.pdf", "index": 23}, ("", (2,))),
        (
            {"text": "Sun", "start_index": 0, "end_index": 3, "file_citation": {"file_id": "a"}},
            ("Sun", (1,)),
        ),
    ],
)
def test_a_citation_has_a_place_and_chunks(citation, expected):
    assert read(citations=[citation], **IDS) == (ANSWER, [expected])


BLOCK = {"type": "text", "text": "Rain falls."}


@pytest.mark.parametrize(
    ("citation", "chunks"),
    [
        ({"type": "char_location", "cited_text": "Rain is wet.", "document_index": 1}, (2,)),
        ({"type": "content_block_location", "cited_text": "Sun  is\nhot", "document_index": 0}, (1,)),
        # the request had one document, of which the contexts are parts
        ({"type": "page_location", "cited_text": "Rain is wet.", "document_index": 0}, (2,)),
        ({"type": "search_result_location", "cited_text": "wet", "source": "b", "title": "B"}, (2,)),
    ],
)
def test_blocks_of_anthropic_cite_as_a_whole(citation, chunks):
    answer = [{"type": "text", "text": "Sun shines. "}, BLOCK | {"citations": [citation]}]
    expected = ("Sun shines. Rain falls.", [("Rain falls.", chunks)])
    assert read(answer=answer, **IDS) == expected
    assert read(answer={"role": "assistant", "content": answer}, **IDS) == expected


def test_a_response_of_openai_cites_where_its_annotations_are():
    text = "Sun shines ([c](https://c.example)). Rain falls."
    marker = {
        "type": "url_citation",
        "url": "https://c.example",
        "title": "C",
        "start_index": 11,
        "end_index": 35,
    }
    parts = [{"type": "output_text", "text": text, "annotations": [marker]}]
    response = {"output": [{"type": "reasoning"}, {"type": "message", "content": parts}]}
    assert read(answer=response, **IDS) == (text, [("([c](https://c.example))", (3,))])


def test_statements_are_an_answer_or_parts_of_one():
    statements = [{"text": "Sun shines.", "cites": [1, "2"]}, {"text": "It is nice.", "cites": []}]
    cited = [("Sun shines.", (1, 2))]
    alone = {name: value for name, value in ROW.items() if name != "answer"} | {"statements": statements}
    sample = Sample.from_mapping(alone)
    assert sample.answer == "Sun shines. It is nice."
    assert read(statements=statements) == (ANSWER, cited)
    assert read(answer={"statements": statements}) == (sample.answer, cited)
    assert read(answer='{"statements": [{"text": "Sun shines.", "cites": [1, 2]}]}') == ("Sun shines.", cited)
    assert Sample.from_mapping(ROW | {"statements": "two"}).labels == {"statements": "two"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"citations": 3}, r"'citations' must be a list of citations, got 3"),
        ({"citations": ["https://a"]}, "'citations' item 1 names no source, got 'https://a'"),
        (
            {"citations": [{"chunks": [1]}]},
            "citation 1 has no place in the answer: give its start and end, or its text",
        ),
        ({"citations": [{"start": 0, "end": 99, "chunks": [1]}]}, "the answer has 35 characters"),
        (
            {"citations": [{"text": "Snow.", "chunks": [1]}]},
            "citation 1 is about 'Snow.', which is not in the answer",
        ),
        ({"answer": "Yes. Yes.", "citations": [{"text": "Yes.", "chunks": [1]}]}, "in the answer 2 times"),
        (
            {"citations": [{"text": "Rain falls", "chunks": [1]}], "context_ids": ["3", "2", "1"]},
            "1 is the rank of one chunk and the id of another; write the id as a text",
        ),
        (
            {"answer": [BLOCK | {"citations": [{"cited_text": "Snow.", "document_index": 1}]}]},
            "quotes 'Snow.' from document 2, but no chunk has these words",
        ),
        (
            {"answer": [BLOCK | {"citations": [{"cited_text": "is", "document_index": 2}]}]},
            "but several other chunks have these words",
        ),
        (
            {
                "answer": [BLOCK | {"citations": [{"cited_text": "Wind.", "document_index": 2}]}],
                "citations": [{"text": "Rain falls", "chunks": [1]}],
            },
            "'citations' and the citations in the answer disagree; keep one of them",
        ),
    ],
)
def test_what_is_ambiguous_is_refused_with_the_reason(row, message):
    with pytest.raises(SampleError, match=message):
        Sample.from_mapping(ROW | row)


def test_equal_texts_are_cited_in_their_order():
    citations = [{"text": "Yes.", "chunks": [1]}, {"text": "Yes.", "chunks": [2]}]
    sample = Sample.from_mapping(ROW | {"answer": "Yes. Yes.", "citations": citations})
    assert [(c.start, c.chunks) for c in sample.citations or ()] == [(0, (1,)), (5, (2,))]


def test_citations_are_content_and_without_them_nothing_changes():
    plain = Sample.from_mapping(ROW)
    assert Sample.from_mapping(ROW | {"citations": []}) == plain
    cited = Sample.from_mapping(ROW | {"citations": [{"text": "Sun shines", "chunks": [1]}]})
    assert cited.digest != plain.digest
    assert "citations" not in plain.model_dump(exclude_none=True)
    assert Sample.from_mapping(cited.model_dump()) == cited
    assert Sample.model_validate_json(cited.model_dump_json()) == cited


def test_citations_keep_their_places_in_a_redacted_answer():
    answer = "Anna Smith sings. Rain falls."
    citations = [
        {"text": "Smith sings.", "chunks": [1, "Anna Smith.pdf"]},
        {"text": "Rain falls.", "chunks": [2]},
    ]
    sample = Sample.from_mapping(ROW | {"answer": answer, "citations": citations})
    clean = sample.redacted(lambda text: text.replace("Anna Smith", "X"))
    first, second = clean.citations or ()
    # the first began inside of the name
    assert [clean.answer[c.start : c.end] for c in (first, second)] == ["X sings.", "Rain falls."]
    assert (first.chunks, second.chunks) == ((1, "X.pdf"), (2,))
