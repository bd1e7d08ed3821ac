"""Sentences in many scripts; no letter is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.parsers import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "3GPP TS 23.501 v15.2.0 (Fig. 5.1-2) defines this. See Sec. 4. "
            "The AMF, e.g. in the EPC, cf. 3GPP TR 21.905, handles it.",
            (
                "3GPP TS 23.501 v15.2.0 (Fig. 5.1-2) defines this.",
                "See Sec. 4.",
                "The AMF, e.g. in the EPC, cf. 3GPP TR 21.905, handles it.",
            ),
        ),
        (
            "Dr. Smith went to Washington. He met Mrs. Jones. They had tea.",
            ("Dr. Smith went to Washington.", "He met Mrs. Jones.", "They had tea."),
        ),
        ("J. R. R. Tolkien wrote it.", ("J. R. R. Tolkien wrote it.",)),
        ("It costs 3.5 million. Really!", ("It costs 3.5 million.", "Really!")),
        ("See https://a.example/b.c?d=e.f for it. Write to a.b@c.example now.",
         ("See https://a.example/b.c?d=e.f for it.", "Write to a.b@c.example now.")),
        ("It is No. 5 of approx. 40, i.e. 5 vs. 35.", ("It is No. 5 of approx. 40, i.e. 5 vs. 35.",)),
        ("No. That is wrong.", ("No.", "That is wrong.")),
        ('He said: "Hello. I am here." Then he left.', ('He said: "Hello. I am here."', "Then he left.")),
        ("Am 3. Oktober kam er. Das gilt z. B. für Nr. 5.", ("Am 3. Oktober kam er.",
        "Das gilt z. B. für Nr. 5.")),
        ("SCM模型有6条路径。带宽不应超过5MHz。这是什么？5G呢？",
         ("SCM模型有6条路径。", "带宽不应超过5MHz。", "这是什么？", "5G呢？")),
        ("これは文です。次の文です！", ("これは文です。", "次の文です！")),
        ("यह एक वाक्य है। यह दूसरा है॥ क्या यह तीसरा है?", ("यह एक वाक्य है।", "यह दूसरा है॥", "क्या यह तीसरा है?")),
        ("ما هذا؟ هذا كتاب. نعم.", ("ما هذا؟", "هذا كتاب.", "نعم.")),
        ("- one\n- two\n• three", ("one", "two", "three")),
        ("1. Register.\n2. Attach. Then wait.", ("Register.", "Attach.", "Then wait.")),
        ("A line that is\nwrapped hard.", ("A line that is", "wrapped hard.")),
        ("3. Quarter results\nrose.", ("3. Quarter results", "rose.")),
        ("Wait ... what?! --- \n ***\n", ("Wait ... what?! ---",)),
        ("", ()),
        ("...\n---\n?!", ()),
    ],
)  # fmt: skip
def test_text_is_split_where_a_reader_would_split_it(text, sentences):
    assert split_sentences(text) == sentences


@pytest.mark.parametrize("language", ["de", "DE", "de-AT", "de_AT"])
def test_a_text_is_split_by_the_rules_of_its_language_however_the_tag_is_spelled(language):
    # "Str." is short for "Straße" in German, and no English abbreviation
    assert len(split_sentences("Die Str. Nord ist zu.", language="en")) == 2
    assert len(split_sentences("Die Str. Nord ist zu.", language=language)) == 1


def test_an_unknown_language_is_split_like_english():
    assert split_sentences("One is here. Two is there.", language="xx-unknown") == (
        "One is here.",
        "Two is there.",
    )


LETTERS = st.text(st.sampled_from("abcXYZ äß012.!?,;:()\"'“”«»\n\t。？！是文।हिؤ؟-…/@&"))


@given(LETTERS)
def test_no_letter_or_digit_is_lost_apart_from_list_numbers(text):
    # a number before ")" or "." and a space at a line's start may be a list marker: those lines are tested
    # above
    text = "\n".join("x" + line for line in text.splitlines())

    joined = "".join(split_sentences(text))

    assert [char for char in joined if char.isalnum()] == [char for char in text if char.isalnum()]


@given(LETTERS)
def test_sentences_stand_in_the_text_in_their_order(text):
    position = 0
    for sentence in split_sentences(text):
        position = text.index(sentence, position) + len(sentence)


def test_a_long_text_keeps_all_its_sentences():
    # 4,000 sentences in one line
    assert len(split_sentences("The limit is 5 MHz. " * 4000)) == 4000
    assert len(split_sentences("带宽不应超过5MHz。" * 4000)) == 4000


def test_milliseconds_end_a_sentence_and_a_title_does_not():
    text = "Ms. Smith measured it. It answers within 50 ms. Its records are kept."
    expected = ("Ms. Smith measured it.", "It answers within 50 ms.", "Its records are kept.")

    assert split_sentences(text) == expected
