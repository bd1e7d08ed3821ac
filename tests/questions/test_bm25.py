"""BM25 ranks as Lucene does."""

import math

import numpy as np
import pytest

from ragmetrics_core.questions import BM25


def test_scores_are_those_of_the_formula():
    # Texts of 3, 2 and 4 terms: 3 on average. "red" is in two of three, "dog" in two of three.
    index = BM25(["a red fox", "a dog", "a red red dog"])
    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def saturated(times, length):
        return times / (times + 1.2 * (1 - 0.75 + 0.75 * length / 3))

    expected = [
        rarity * saturated(1, 3),
        rarity * saturated(1, 2),
        rarity * (saturated(2, 4) + saturated(1, 4)),
    ]
    np.testing.assert_allclose(index.scores("Red DOG"), expected)
    assert index.rank("Red DOG", 2) == [2, 1]


def test_equal_texts_are_ranked_in_their_order_and_those_without_a_shared_word_last():
    index = BM25(["none", "red fox", "red fox", "none"])
    assert index.rank("fox", 10) == [1, 2, 0, 3]
    assert index.rank("absent", 2) == [0, 1]
    assert index.rank("", 1) == [0]
    assert BM25([]).rank("fox", 3) == []


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("古い寺", 1),
        ("東京都", 0),
        ("Jean Luc", 2),
        ("C++", 3),
        ("3,5 GHz", 4),
        ("ÖSTERREICH", 5),
        ("ราคา", 6),
    ],
)
def test_words_are_found_in_any_script_and_writing(query, best):
    texts = [
        "東京都の人口",
        "京都の古い寺",
        "of Jean-Luc",
        "in C++ code",
        "at 3,5 GHz",
        "aus O\u0308sterreich",
        "ราคาสินค้า",
    ]
    assert BM25(texts).rank(query, 1) == [best]
