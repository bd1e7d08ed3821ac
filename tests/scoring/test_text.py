"""Words, what two texts share of them, and the formulas over counted n-grams."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import scoring

words = st.lists(st.sampled_from("abcd"), max_size=12)


# -- words


@pytest.mark.parametrize(
    ("language", "kept"), [(None, 1), ("en", 1), ("EN-gb", 1), ("en_GB", 1), ("", 1), ("de", 2), ("de-en", 2)]
)
def test_english_articles_are_left_out_unless_the_text_is_in_another_language(language, kept):
    # "die" means something else in German
    assert scoring.words_of("The cat", language=language) == ["the", "cat"][-kept:]


@pytest.mark.parametrize("rules", ["unicode", "squad"])
def test_each_english_article_is_left_out(rules):
    assert scoring.words_of("An ape, a bee, the cat: Athens.", rules=rules) == ["ape", "bee", "cat", "athens"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Xa and Xan left", ["xa", "and", "xan", "left"]),  # only quotes and brackets go before an article
        ("(the “a «an left", ["left"]),
        ("Model X A left", ["model", "x", "a", "left"]),  # a capital A inside of a sentence is a name
        ("Model X. A left", ["model", "x", "left"]),
    ],
)
def test_what_only_looks_like_an_article_stays(text, expected):
    assert scoring.words_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000.5 kg.", ["1,000.5", "kg"]),  # points and commas inside of a number stay
        ("5-3, x-4", ["5-3", "x4"]),  # between two digits it says something, behind a letter nothing
        (
            "so… «ﬁve»™",
            ["so", "five"],
        ),  # compatibility forms are letters first, a sign of a trade mark is none
        ("bell\a, a\tb\u2003c", ["bell", "b", "c"]),  # controls go, blanks of all kinds divide
    ],
)
def test_punctuation_symbols_and_controls_are_taken_out(text, expected):
    assert scoring.words_of(text) == expected


def test_an_underscore_is_taken_out_of_a_word_and_takes_a_name_apart():
    assert scoring.words_of("_max_users_") == ["maxusers"]
    assert scoring.words_of("_max_users_", rules="names") == ["max", "users"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-40 °C", "40 °C"),
        ("1.500", "1,500"),
        ("3/4", "3.4"),
        ("3/4", "34"),
        ("2-1", "21"),
        ("10:30", "1030"),
        (".5", "5"),
        ("<5", ">5"),
        ("$5", "5"),
        ("$5", "€5"),
        ("-$5", "$5"),
        ("50 %", "50"),
        ("50%", "50‰"),
        ("C++", "C"),
        ("C++", "C#"),
        ("C#", "C"),
        ("C++14", "C14"),
        (".NET", "net"),
        ("A+", "A-"),
        ("A-", "A"),
        ("A*", "A"),
        ("AB-", "AB+"),
        ("Cl-", "Cl"),
        ("Na+", "Na"),
        ("Ca2+", "Ca2"),
        ("Vitamin A", "vitamin"),
        ("A", ""),
        ("hepatitis A virus", "hepatitis virus"),
    ],
)
@pytest.mark.parametrize("rules", ["unicode", "names"])
def test_what_a_sign_tells_apart_stays_apart(one, other, rules):
    assert scoring.words_of(one, rules=rules) != scoring.words_of(other, rules=rules)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("50 %", "50%", ["50", "%"]),
        ("€5", "5 €", ["5", "€"]),
        ("-$5.00.", "$-5.00", ["-5.00", "$"]),
        ("US$5", "US 5 $", ["us", "5", "$"]),
        ("–40", "−40", ["-40"]),
        ("1990–1995", "1990-1995", ["1990-1995"]),
        ("½", "1/2", ["1/2"]),
        ("**A**", "(A)", ["a"]),
        ("*A*", "a.", ["a"]),
        ("U.S.", "US", ["us"]),
        ('"A dog"', "the dog", ["dog"]),
        ("SEE A DOG", "see a dog", ["see", "dog"]),
        ("Yes: A dog", "yes dog", ["yes", "dog"]),
        ("a+b, c-", "ab c-", ["ab", "c"]),
    ],
)
def test_what_is_only_written_otherwise_is_the_same(one, other, expected):
    assert scoring.words_of(one) == scoring.words_of(other) == expected


def test_an_article_is_left_out_before_another_word_alone():
    assert scoring.words_of("the A, a B, The") == ["a", "b", "the"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("J.R.R. Tolkien", "J. R. R. Tolkien"), ("Jean-Luc", "Jean Luc"), ("U. S.", "US"), ("Ph.D.", "PhD")],
)
def test_names_are_the_same_however_they_are_joined(one, other):
    assert scoring.words_of(one, rules="names") == scoring.words_of(other, rules="names")


def test_a_minus_sign_is_a_hyphen_before_a_number():
    assert scoring.words_of("−5 °C, -5 °C") == ["-5", "c", "-5", "c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東a京b", ["東", "a", "京", "b"]),  # a Latin letter does not join the character before it
        ("ab東cd", ["ab", "東", "cd"]),
        ("ที่นี่", ["ที่", "นี่"]),  # Thai vowels and tones stay with their consonant
        ("東\u0301b", ["東\u0301", "b"]),  # an accent on a character that stands alone opens no word
        ("e\u0331x東", ["e\u0331x", "東"]),  # and one within a word does not end it
        ("\u0331b東", ["\u0331", "b", "東"]),  # one with nothing before it stands alone
        ("ひカ", ["ひ", "カ"]),
        ("ㇰㇱ", ["ㇰ", "ㇱ"]),  # small kana for Ainu
        ("ကခ", ["က", "ခ"]),  # Burmese
        ("កខ", ["ក", "ខ"]),  # Khmer
        ("ກຂ", ["ກ", "ຂ"]),  # Lao
        ("㐀㐁", ["㐀", "㐁"]),  # rare Han characters
        ("\ufa0e\ufa0f", ["\ufa0e", "\ufa0f"]),
        ("\U00020000\U00020001", ["\U00020000", "\U00020001"]),
    ],
)
def test_each_character_of_a_script_without_spaces_is_a_word(text, expected):
    assert scoring.words_of(text) == expected


# -- words that two texts share


def longest_by_table(answer, reference):
    """The textbook's table of the lengths for all beginnings of both texts."""
    row = [0] * (len(reference) + 1)
    for word in answer:
        above, row = row, [0]
        for place, other in enumerate(reference):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[place]))
    return row[-1]


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("", "ab", 0),
        ("xy", "ab", 0),
        ("ab", "", 0),
        ("ba", "ab", 1),  # the order counts
        ("ab", "aab", 2),  # a word that the reference repeats
        ("aab", "ab", 2),  # and one that the answer does
        ("cabbac", "abcabba", 5),  # "cabba", of which nothing can be added
    ],
)
def test_the_longest_common_subsequence(answer, reference, expected):
    assert scoring.common_length(answer, reference) == expected


@given(words, words)
def test_the_longest_common_subsequence_is_that_of_the_table(answer, reference):
    assert scoring.common_length(answer, reference) == longest_by_table(answer, reference)


# -- BLEU


@pytest.mark.parametrize(
    ("matches", "totals", "lengths", "expected"),
    [
        ([2, 1], [4, 3], (4, 2), math.sqrt(1 / 6)),  # longer than the reference: no bonus, exp(1 - 2/4) is 1
        ([2, 1, 0, 0], [2, 1, 0, 0], (2, 4), math.exp(-1)),  # shorter: exp(1 - 4/2)
        ([1, 0, 0, 0], [1, 0, 0, 0], (1, 1), 1.0),  # one word is its only n-gram
        # each length without a match half as much: 2/4, 1/(2 * 3), 1/(4 * 2), 1/(8 * 1)
        ([2, 0, 0, 0], [4, 3, 2, 1], (4, 4), (1 / 768) ** 0.25),
        ([0, 0, 0, 0], [2, 1, 0, 0], (2, 0), None),  # no word in the reference
    ],
)
def test_bleu_is_the_mean_of_shares_less_what_is_too_short(matches, totals, lengths, expected):
    assert scoring.bleu(matches, totals, *lengths) == (expected and pytest.approx(expected))


def test_n_grams_of_different_lengths_are_a_mistake():
    with pytest.raises(ValueError, match="zip"):
        scoring.bleu([1], [1, 2], 1, 1)
    with pytest.raises(ValueError, match="zip"):
        scoring.chrf([1], [1, 2], [1])


# -- chrF


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (([2], [4], [2]), 2.5 / 3),  # P = 2/4, R = 2/2: 5 * 0.5 * 1 / (4 * 0.5 + 1)
        # only the length that both texts have: P = 2/2, R = 2/3: 5 * 2/3 / (4 + 2/3)
        (([2, 0], [2, 1], [3, 0]), 10 / 14),
        (([2, 0], [2, 0], [3, 2]), 10 / 14),
        # P = (4/4 + 1/2) / 2 = 3/4, R = (4/8 + 1/4) / 2 = 3/8: (45/32) / (27/8)
        (([4, 1], [4, 2], [8, 4]), 45 / 108),
    ],
)
def test_chrf_weighs_mean_recall_twice_as_much_as_mean_precision(counts, expected):
    assert scoring.chrf(*counts) == pytest.approx(expected)


@pytest.mark.parametrize("answer", [0, 3])
def test_chrf_is_0_when_nothing_is_shared(answer):
    assert scoring.chrf([0], [answer], [3]) == 0.0


# -- METEOR


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # P = 2/4, R = 2/3: 1/3 / (0.9 * 1/2 + 0.1 * 2/3) = 20/31; one run of two: 1 - 0.5 * (1/2)³ = 15/16
        ((2, 1, 4, 3), 20 / 31 * 15 / 16),
        ((1, 1, 1, 1), 1 / 2),  # one word pays for its only run: 1 - 0.5 * (1/1)³
        ((0, 0, 2, 0), None),  # no word in the reference
    ],
)
def test_meteor_weighs_recall_nine_times_as_much_as_precision_and_pays_for_runs(counts, expected):
    assert scoring.meteor(*counts) == (expected and pytest.approx(expected))
