"""Cosines and their mean."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragmetrics_core import scoring

vectors = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[arrays(np.float64, n, elements=st.floats(-1e6, 1e6, width=32))] * 2)
)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 0], [0, 1], 0.0),  # a right angle
        ([1, 0], [5, 0], 1.0),  # the same direction
        ([1, 0], [-2, 0], -1.0),  # the opposite one
        ([1, 0], [1, 1], math.sqrt(0.5)),  # 45 degrees
        ([3, 4], [4, 3], 24 / 25),  # (12 + 12) / (5 * 5)
        ((1.0, 2.0), np.array([2.0, 4.0]), 1.0),  # tuples and arrays
    ],
)
def test_the_cosine_of_two_vectors(a, b, expected):
    assert scoring.cosine(a, b) == pytest.approx(expected, abs=1e-15)


def test_single_precision_vectors_give_a_plain_float():
    value = scoring.cosine(np.array([1, 0], dtype=np.float32), np.array([1, 1], dtype=np.float16))
    assert type(value) is float
    assert value == pytest.approx(math.sqrt(0.5), abs=1e-15)


def test_half_precision_vectors_are_summed_in_double_precision():
    # sums of products rounded to 11 bits would differ from the third decimal on
    a, b = np.array([1 / 3, 2 / 3, 1], dtype=np.float16), np.array([1, 1 / 7, 1 / 9], dtype=np.float16)
    assert scoring.cosine(a, b) == scoring.cosine(a.astype(np.float64), b.astype(np.float64))


def test_rounding_never_takes_parallel_vectors_out_of_the_range():
    # without a limit about one in five of these pairs comes out a bit beyond 1
    rows = np.random.default_rng(0).random((1000, 5))
    pairs = [(row, row * factor) for row in rows for factor in (3.0, -0.7)]
    assert all(-1 <= scoring.cosine(a, b) <= 1 for a, b in pairs)


@given(vectors)
def test_a_vector_is_exactly_like_itself_and_exactly_unlike_its_opposite(pair):
    a, _ = pair
    assume(a.any())
    assert scoring.cosine(a, a) == 1.0
    assert scoring.cosine(a, -a) == -1.0


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e200, 1e308])
def test_the_length_of_a_vector_does_not_matter_however_small_or_large(size):
    assert scoring.cosine([size, 0], [1, 1]) == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1, 0], [1, 0, 0], "vectors must have the same length, got 2 and 3"),
        ([1, math.nan], [1, 0], "^a vector must contain finite numbers only$"),
        ([1, 0], [math.inf, 0], "^a vector must contain finite numbers only$"),
        ([], [], r"a vector must be a flat list of at least one number, got the shape \(0,\)"),
        ([[1, 0]], [1, 0], r"a vector must be a flat list of at least one number, got the shape \(1, 2\)"),
    ],
)
def test_vectors_that_cannot_be_compared_are_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        scoring.cosine(a, b)


@pytest.mark.parametrize(
    ("question", "others", "expected"),
    [
        ([1, 0], [[1, 0], [0, 2], [3, 4]], 1.6 / 3),  # cosines 1, 0 and 3/5
        (np.array([1, 0]), np.eye(2), 1 / 2),
        ([1, 0], [[-1, 0], [0, 1]], -1 / 2),  # it is not clipped
    ],
)
def test_the_mean_cosine_is_the_mean_over_the_generated_questions(question, others, expected):
    assert scoring.mean_cosine(question, others) == pytest.approx(expected)


@pytest.mark.parametrize(("question", "others"), [([0, 0], [[1, 0]]), ([1, 0], [[1, 0], [0, 0]])])
def test_a_zero_vector_makes_the_mean_undefined_and_does_not_shorten_it(question, others):
    assert scoring.mean_cosine(question, others) is None
