"""Yes and no in many languages, and the words that are neither."""

import pytest

from ragmetrics_core.parsers import verdict_value, verdict_word
from ragmetrics_core.parsers._words import digit_word, leading_verdict


@pytest.mark.parametrize(
    "word",
    [
        "yes", "YES.", "**Yes**", '"Yes"', "`true`", "Supported", "relevant", "1", "Ja",
        "oui", "Sí", "sì", "sim", "waar", "是", "是的。",
        "はい", "हाँ", "जी हाँ", "✅", "✓ Yes", "Yes ✔️", "supported by the context",
        "The statement is supported", "_correct_", "ＹＥＳ",
    ],
)  # fmt: skip
def test_yes_is_read_in_many_spellings(word):
    assert verdict_word(word) is True


@pytest.mark.parametrize(
    "word",
    [
        "no", "NO!", "**No**", "false", "unsupported", "not supported",
        "Not  supported by the given context.", "irrelevant", "0",
        "nein", "nicht gestützt", "non", "não", "nee", "否", "不是", "不支持", "いいえ", "नहीं", "❌",
        "isn't supported", "not_relevant",
        "partially", "Partially supported", "partly", "teilweise", "en partie", "部分",
        "contradicted", "neutral",
    ],
)  # fmt: skip
def test_no_and_partly_count_as_not_supported(word):
    assert verdict_word(word) is False


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "...", "unclear", "unknown", "maybe", "n/a", "null", "Yes/No", "yes or no",
        "yes and no", "Yesterday", "nothing", "2", "-1",
        "0.5", "10", "eyes", "Yes, because it says so", "The answer is no good", "❌ Yes",
        "✅❌", "yes " * 100,
    ],
)  # fmt: skip
def test_what_is_no_verdict_decides_nothing(text):
    assert verdict_word(text) is None


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (True, True), (False, False), (1, True), (0, False), (2, None), (-1, None),
        (0.5, None), (1.0, None), (None, None),
        ([], None), ({}, None), ("Yes, it does.", True), ("No - it does not", False), ("Yesterday", None),
    ],
)  # fmt: skip
def test_values_of_json_are_verdicts_only_when_they_say_so(value, verdict):
    assert verdict_value(value) is verdict


@pytest.mark.parametrize(
    ("text", "supported", "rest"),
    [
        ("NO. The context is from yesterday", False, "The context is from yesterday"),
        ("Yes, the text says so.", True, "the text says so."),
        ("**No**: wrong year", False, "wrong year"),
        ("Yes, but only partially.", False, "but only partially."),
        ("supported because it is there", True, "because it is there"),
        ("是的，文中提到了", True, "文中提到了"),
        ("Unclear. It may be.", None, "It may be."),
    ],
)
def test_a_verdict_before_a_reason_is_read(text, supported, rest):
    assert leading_verdict(text) == (supported, rest)


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday it rained",
        "Yes/No",
        "No. 5 is a perfume",
        "1. The cat sat",
        "N. Armstrong walked",
        "No one came",
        "Notable: it is",
    ],
)
def test_words_that_only_begin_like_a_verdict_decide_nothing(text):
    led = leading_verdict(text)

    assert led is None or led.supported is None


@pytest.mark.parametrize(
    "text",
    [
        "Yes, but no", "no, but yes", "Yes. No.", "yes - no", "yes (no)", "Yes... no", "yes, actually no",
        "Yes, no, the year differs", "Yes, but unclear", "ja, aber nein", "oui, mais non", "sí, pero no",
        "supported, not supported", "✅ ❌", "✅ but no", "Yes. ❌", "Relevant: no",
    ],
)  # fmt: skip
def test_a_verdict_that_its_contrary_follows_decides_nothing(text):
    assert leading_verdict(text).supported is None


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("Yes, but no date is given", True),
        ("Yes, no other company did it", True),
        ("Yes, and correct.", True),
        ('Yes. "No" is what he says', True),
        ("No. True, the name is there, but the year differs", False),
        ("No - not supported.", False),
        ("Yes. Wrong Turn is a film", True),
    ],
)
def test_a_reason_that_begins_like_the_contrary_takes_no_verdict_back(text, supported):
    assert leading_verdict(text).supported is supported


@pytest.mark.parametrize(
    ("text", "digit"),
    [
        ("1", 1),
        ("#1", 1),
        ("[0]", 0),
        ("**1**", 1),
        ("10", None),
        ("1.0", None),
        ("1 ✅", None),
        ("-1", None),
    ],
)
def test_a_digit_alone_is_known_as_one(text, digit):
    assert digit_word(text) == digit
