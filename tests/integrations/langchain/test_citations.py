"""Citations that a provider returns beside the text of its reply are those of the sample."""

import pytest
from langchain_core.messages import AIMessage

from tests.integrations.langchain.apps import Echo, Shelf, question, rag_chain, texts

FIRST, SECOND = texts("tea")
ANSWER = "Tea is hot. Tea is green."

# As langchain-anthropic keeps the reply.
ANTHROPIC = AIMessage([
    {"type": "text", "text": "Tea is hot. "},
    {
        "type": "text",
        "text": "Tea is green.",
        "citations": [
            {
                "type": "char_location",
                "cited_text": SECOND,
                "document_index": 1,
                "document_title": None,
                "start_char_index": 0,
                "end_char_index": len(SECOND),
            }
        ],
    },
])  # fmt: skip
# As langchain-openai keeps the reply of the Responses API, whose annotations name files.
OPENAI = AIMessage([
    {
        "type": "text",
        "text": ANSWER,
        "annotations": [
            {"type": "file_citation", "file_id": "shelf-tea-1", "filename": "tea.txt", "index": 25},
            {"type": "file_path", "file_id": "shelf-tea-0", "index": 0},
        ],
    }
])  # fmt: skip
# As langchain-cohere keeps it.
COHERE = AIMessage(
    ANSWER,
    additional_kwargs={
        "citations": [{"start": 12, "end": 24, "text": "Tea is green", "document_ids": ["shelf-tea-1"]}]
    },
)


@pytest.mark.parametrize(
    ("reply", "place"),
    [(ANTHROPIC, (12, 25)), (OPENAI, (25, 25)), (COHERE, (12, 24))],
    ids=["anthropic", "openai", "cohere"],
)
@pytest.mark.parametrize("standard", [False, True], ids=["provider", "standard"])
def test_citations_of_a_reply_are_those_of_the_sample(handler, only_sample, reply, place, standard):
    if standard and not isinstance(reply.content, str):
        provider = "anthropic" if reply is ANTHROPIC else "openai"
        own = reply.model_copy(update={"response_metadata": {"model_provider": provider}})
        reply = AIMessage(list(own.content_blocks), response_metadata={"output_version": "v1"})
    rag_chain(Shelf(), Echo(replies=[reply])).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    (citation,) = sample.citations
    assert ((citation.start, citation.end), citation.chunks) == (place, (2,))
    assert (sample.answer, sample.labels["found_citations"]) == (ANSWER, "reply of Echo")


def test_a_citation_that_cannot_be_read_is_told_and_the_sample_is_scored(handler, only_sample):
    blocks = [dict(block) for block in ANTHROPIC.content if isinstance(block, dict)]
    blocks[1]["citations"] = [{"type": "char_location", "cited_text": "No chunk.", "document_index": 1}]
    rag_chain(Shelf(), Echo(replies=[AIMessage(blocks)])).invoke(question("tea"), {"callbacks": [handler]})

    sample = only_sample(handler)
    assert sample.citations is None
    assert sample.labels["found_citations"] == (
        "not read: citation 1 quotes 'No chunk.' from document 2, but no chunk has these words"
    )


def test_a_sample_without_citations_has_no_label_of_them(handler, only_sample):
    rag_chain().invoke(question("tea"), {"callbacks": [handler]})
    sample = only_sample(handler)
    assert (sample.citations, sample.labels.get("found_citations")) == (None, None)
