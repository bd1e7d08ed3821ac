"""Whatever a model writes is read or objected to: nothing is raised, and what is told of it stays short."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragmetrics_core import prompts
from ragmetrics_core.parsers import Expected, Scale, locate, split_sentences, without_reasoning
from ragmetrics_core.prompts import Prompt

PROMPTS = [value for value in vars(prompts).values() if isinstance(value, Prompt)]
FORMS = {(prompt.answer, prompt.as_json): prompt for prompt in PROMPTS}
# Pieces that replies are made of, so that random texts come close to every form.
PIECES = [
    '{"', '"}', '": "', '": [', '", "', "[", "]", "{", "}", ":", ",", "'", '"', "\\", "\\u12", "```",
    "```json\n", "A. ", "\n", " ", "<think>", "</think>", "1. ", "2. ", "yes", "no", "Verdict: Yes.",
    "Final verdicts: ", "1. Yes.", "END", "true", "false", "null", "NaN", "1e999", "-", "0", "1",
    "9" * 20, "TP", "FP", "FN", "statements", "verdicts", "number", "verdict", "reason", "evidence",
    "relevant", "questions", "question", "entities", "rating", "noncommittal", "declined",
    "Insufficient Information", "...", "?", "。", "是", "\ufeff", "\x00", "\ud800", "\\ud800", "\u2028",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
)
VALUES = st.recursive(
    st.sampled_from([None, True, -1, 0, 1, 2, 0.5, 1e300, "yes", "no", "A b.", "<why>", ""]) | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(PIECES), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("prompt", FORMS.values(), ids=lambda prompt: prompt.id)
@given(reply=TEXTS | VALUES.map(json.dumps), numbers=st.lists(st.integers(1, 9), max_size=3, unique=True))
@example(reply="[" * 100_000, numbers=[1])
@example(reply='{"verdicts": ' + "[" * 5000 + "]" * 5000 + "}", numbers=[])
@example(reply='{"a": "\\ud800"}', numbers=[])
def test_any_reply_is_read_or_objected_to(prompt, reply, numbers):
    for is_graded in (False, True):
        expected = Expected(tuple(numbers), ("a b",) * len(numbers), 1, Scale(0, 10), prompt.user, is_graded)
        reading = prompt.answer.read(reply, expected)
        assert (reading.value is None) == (reading.rule == "unread")
        assert reading.value is not None or reading.objections
        assert len(reading.objections) <= 12
        assert all(len(objection) < 400 for objection in reading.objections)
        if reading.value is not None:
            assert prompt.answer.checked(reading.value.written()) == reading.value
            reading.value.abstention()


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_any_quote_is_found_within_its_chunk_or_not_found(quote, chunks):
    span = locate(quote, chunks)
    assert span is None or 0 <= span.start < span.end <= len(chunks[span.chunk - 1])


@given(TEXTS, st.sampled_from([None, "en", "de", "zh", "hi", "xx-unknown"]))
def test_any_text_is_split_into_sentences_with_a_letter_or_digit(text, language):
    assert all(any(map(str.isalnum, sentence)) for sentence in split_sentences(text, language))


@given(TEXTS)
def test_what_is_left_without_reasoning_is_the_end_of_the_text(text):
    assert text.endswith(without_reasoning(text))
