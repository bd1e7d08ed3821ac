"""No reply breaks a parser: whatever a model writes is read or stated to be unread."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragmetrics_core.parsers import (
    Answer,
    EntityList,
    ExtractedSentences,
    FactLists,
    Hints,
    QuestionList,
    Rating,
    RelevantSentences,
    StatementList,
    VerdictList,
    locate,
    split_sentences,
    verdict_word,
)

PARSERS = [
    EntityList,
    ExtractedSentences,
    FactLists,
    QuestionList,
    Rating,
    RelevantSentences,
    StatementList,
    VerdictList,
]

# Pieces that replies are made of, so that random texts come close to every rule.
PIECES = [
    '{"', '"}', "[", "]", "{", "}", ":", ",", "'", '"', "“", "”", "\\", "\\u12", "```",
    "```json\n", "\n", "\n\n", " ",
    "<think>", "</think>", "1. ", "2) ", "(3) ", "- ", "* ", "| ", "Statement 1: ",
    "Verdict: ", "Yes", "No", "yes. no. ",
    "Final verdicts: ", "partially", "true", "false", "null", "NaN", "1e999", "-", "0", "1",
    "99999999999999999999", "3-5",
    "TP: ", '"FP": ', "statements", "verdicts", "number", "verdict", "relevant", "questions",
    "entities", "rating", "noncommittal",
    "declined", "Insufficient Information", "None", "...", "?", "。", "是", "हाँ", "✅", "❌",
    "&quot;", "&amp;", "I'm sorry", "\ufeff",
    "\x00", "\ud800", "\udc00", "\u2028", "\x85", "word", "A. ", "e.g. ", "[12] ",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
)
HINTS = st.builds(
    Hints,
    numbers=st.lists(st.integers(1, 30), max_size=5, unique=True).map(sorted).map(tuple),
    sample=st.lists(st.text(max_size=20), max_size=2).map(tuple),
)


def garbage(unit: str) -> str:
    return unit * (100_000 // len(unit))


def assert_is_stated(parser: type[Answer], text: str, hints: Hints) -> None:
    """The reading says what it is, and can be written to a file and read back."""
    reading = parser.read(text, hints)
    assert (reading.value is None) == (reading.rule == "unread")
    json.dumps(reading.dropped, ensure_ascii=False).encode("utf-8")
    if reading.value is not None:
        stored = reading.value.model_dump_json()
        assert parser.model_validate_json(stored) == reading.value


@pytest.mark.parametrize("parser", PARSERS)
@given(text=TEXTS, hints=HINTS)
@example(text="[" * 5000, hints=Hints.counting(1))
@example(text='{"a":' * 5000, hints=Hints.counting(1))
@example(text='"\\ud800"', hints=Hints.counting(1))
@example(text='{"statements": ["\\ud800"], "rating": 1e400}', hints=Hints.counting(1))
@example(text='{"verdicts": [{"number": 1e300, "verdict": "yes"}]}', hints=Hints.counting(1))
@example(text='{"rating": 1' + "0" * 400 + "}", hints=Hints.counting(1))
@example(text="1" * 5000, hints=Hints.counting(1))
def test_any_text_is_read_or_stated_to_be_unread(parser, text, hints):
    assert_is_stated(parser, text, hints)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    "unit",
    ["[", "{", '{"a":', '["', "{'", '"', "\\", "- ", "1. a\n", "Yes ", "Verdict: ", "```",
    "<think>", "|", "。", "\x00", "\ud800", "a", '{```json ["', '{}\n', "{`", "1. yes | no |\n"],
)  # fmt: skip
def test_a_hundred_kilobytes_of_garbage_is_stated(parser, unit):
    assert_is_stated(parser, garbage(unit), Hints.counting(2))


@pytest.mark.parametrize("unit", ["[", "{", '{"statements":', '["', "\\", "<think>", "|", "\x00", "..."])
def test_a_hundred_kilobytes_without_a_word_are_no_statements(unit):
    assert StatementList.read(garbage(unit), Hints()).value is None


def test_an_answer_behind_much_garbage_is_still_found():
    reply = "(" * 20_000 + '\n{"statements": ["Tin is soft."]}'

    assert StatementList.read(reply, Hints()).value == StatementList(statements=("Tin is soft.",))


@given(TEXTS)
def test_any_text_is_a_verdict_word_or_none(text):
    assert verdict_word(text) in {True, False, None}


@given(TEXTS, TEXTS)
def test_any_quote_is_located_or_not(quote, context):
    span = locate(quote, [context])

    assert span is None or 0 <= span.start < span.end <= len(context)


@given(TEXTS, st.none() | st.text(max_size=5))
def test_any_text_splits_into_sentences_with_letters_or_digits(text, language):
    assert all(any(char.isalnum() for char in sentence) for sentence in split_sentences(text, language))


@given(st.lists(st.text(st.characters(categories=["L", "Nd", "Zs"]), min_size=1), max_size=6))
def test_statements_come_back_from_the_json_that_asked_for_them(texts):
    reading = StatementList.read(json.dumps({"statements": texts}), Hints())

    kept = {" ".join(text.split()) for text in texts if any(char.isalnum() for char in text)}
    if texts and not kept:
        assert reading.value is None
    else:
        assert reading.rule == "json"
        assert {text.casefold() for text in reading.value.statements} == {text.casefold() for text in kept}


@given(
    st.lists(st.booleans(), min_size=1, max_size=12), st.sampled_from([". ", ", ", "\n", "; ", " | ", " "])
)
def test_a_final_list_gives_every_verdict_in_its_place(verdicts, separator):
    words = separator.join("Yes" if verdict else "No" for verdict in verdicts)

    reading = VerdictList.read(f"Final verdicts: {words}", Hints.counting(len(verdicts)))

    assert [verdict.supported for verdict in reading.value.verdicts] == verdicts
    assert [verdict.number for verdict in reading.value.verdicts] == list(range(1, len(verdicts) + 1))


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(0, 200))
def test_a_cut_verdict_list_gives_no_verdict_that_was_not_there(verdicts, cut):
    items = [
        {"number": n, "reason": "why", "verdict": "yes" if v else "no"} for n, v in enumerate(verdicts, 1)
    ]
    reply = json.dumps({"verdicts": items})

    reading = VerdictList.read(reply[: len(reply) - cut], Hints.counting(len(verdicts)))

    said = dict(enumerate(verdicts, 1))
    for verdict in reading.value.verdicts if reading.value else ():
        assert said[verdict.number] == verdict.supported
