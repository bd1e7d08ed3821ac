"""Passages cover a document, end where it does, and never end inside of a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.questions import Corpus, Document

PARTS = st.sampled_from(
    [
        "# Heading", "A short line", "One sentence here.", "Another one, e.g. this!", "- item", "1. first",
        "| a | b |", "```", "---", "日本語の文です。", "wrapped\nline. And", "***", "\n", "\n\n", "\r\n", " ",
        "\t", "\u2028", "\x0c",
    ]
)  # fmt: skip


def passages(text, words=150):
    return Corpus({"a": Document(id="a", text=text)}).passages(words)


@given(
    text=st.lists(PARTS | st.text(max_size=20)).map(" ".join) | st.lists(PARTS).map("\n".join),
    words=st.integers(1, 40),
)
def test_passages_are_stretches_of_the_text_in_order_and_have_all_that_is_not_blank(text, words):
    text = text.encode("utf-8", "replace").decode()
    found = passages(text, words)
    assert all(passage.text == text[passage.start : passage.end] == passage.text.strip() for passage in found)
    edges = [0, *(edge for passage in found for edge in (passage.start, passage.end)), len(text)]
    assert edges == sorted(edges)
    between = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    assert not "".join(between).strip()
    assert all(passage.text for passage in found)


SENTENCE = "The power of a base station is limited by its licence, as e.g. No. 7 says."  # 17 words


@pytest.mark.parametrize("joint", [" ", "\n", "\n\n", "\n- "])
def test_a_passage_has_about_as_many_words_and_ends_with_a_sentence(joint):
    found = passages(joint.join([SENTENCE] * 24), words=60)
    # 4 x 17 is nearer to 60 than 3 x 17; a paragraph ends a passage from 40 words on, which 3 have
    assert {passage.text.count("limited") for passage in found} == {3 if joint == "\n\n" else 4}
    assert all(passage.text.endswith("says.") for passage in found)


def test_a_sentence_is_not_cut_where_its_line_is_wrapped():
    text = SENTENCE.replace(" of ", " of\n").replace("licence, ", "licence,\n")
    assert [passage.text for passage in passages(f"{text} {text}", words=15)] == [text, text]


@pytest.mark.parametrize("heading", ["## Limits", "Limits\n------", "Limits of power"])
def test_a_heading_begins_a_passage_and_is_never_its_end(heading):
    text = f"{SENTENCE}\n\n{heading}\n\n{SENTENCE}\n\n{heading}\n\n### Deeper\n\n{SENTENCE}"
    found = passages(text, words=20)
    assert [passage.text.startswith(heading) for passage in found] == [False, True, True]
    assert all(passage.text.endswith("says.") for passage in found)


def test_a_script_without_spaces_is_cut_at_its_sentences():
    sentence = "電力の上限は免許によって定められている。"  # 19 characters
    assert [passage.text for passage in passages(sentence * 4, words=38)] == [sentence * 2, sentence * 2]


@pytest.mark.parametrize("endless", ["word " * 1000, "x" * 30_000, "字" * 1000, "- row\n" * 1000], ids=len)
def test_a_text_without_sentences_is_cut_as_well(endless):
    assert len(passages(endless, words=100)) == 10


def test_the_end_of_a_document_is_not_a_passage_of_a_few_words():
    assert len(passages(f"{SENTENCE} {SENTENCE} That is all.", words=30)) == 1
