"""Shares, F-measures, entity recall, weighted and harmonic means."""

import math
import statistics
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import scoring

counts = st.integers(min_value=0, max_value=50)
shares = st.floats(min_value=0, max_value=1)
betas = st.floats(min_value=0.01, max_value=100)


@pytest.mark.parametrize(
    ("supported", "expected"),
    [
        ([True, False], 1 / 2),  # "born in Germany" is supported, "born on 20th March 1879" is not
        ([True, True, True, True], 1.0),  # the landlords' four statements
        (np.array([True, True, False, True]), 3 / 4),
    ],
)
def test_a_supported_share_is_that_of_all_statements(supported, expected):
    assert scoring.supported_share(supported) == expected


def test_a_score_of_numpy_numbers_is_a_plain_float():
    # a record is JSON, which knows no numpy types
    values = [
        scoring.supported_share(np.array([True, False])),
        scoring.share(np.int64(1), np.int64(2)),
        scoring.f_beta(np.int64(1), np.int64(1), np.int64(1)),
        scoring.f_measure(np.float64(0.5), np.float64(0.5)),
        scoring.weighted_mean(np.array([0.5]), np.array([1.0])),
        scoring.harmonic_mean(np.array([0.5])),
    ]
    assert [(type(value), value) for value in values] == [(float, 0.5)] * 6


@pytest.mark.parametrize(("part", "whole"), [(-1, 2), (3, 2), (1, 0), (0, -1)])
def test_a_part_that_is_not_within_its_whole_is_refused(part, whole):
    with pytest.raises(ValueError, match=f"between 0 and its whole, got {part} of {whole}"):
        scoring.share(part, whole)


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "expected"),
    [
        (2, 2, 1, 4 / 7),  # 2 / (2 + 0.5 * (2 + 1)) = 2 / 3.5
        (1, 1, 1, 0.5),  # Einstein: TP "in 1879", FP "in Spain", FN "in Germany": 1 / (1 + 0.5 * 2)
        (0, 1, 1, 0.0),  # nothing agrees: 0 / (0 + 1)
        (1, 0, 0, 1.0),  # CAMEL: 1 / (1 + 0)
        (1, 0, 1, 2 / 3),  # 1 / (1 + 0.5)
    ],
)
def test_factual_correctness_is_equation_7(tp, fp, fn, expected):
    assert scoring.f_beta(tp, fp, fn) == pytest.approx(expected, abs=1e-15)


@given(st.integers(1, 50), counts, counts, betas)
def test_f_beta_agrees_with_precision_and_recall(tp, fp, fn, beta):
    # the textbook formulation: (1 + b²) P R / (b² P + R)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    assert scoring.f_beta(tp, fp, fn, beta) == pytest.approx(expected)
    assert scoring.f_measure(precision, recall, beta) == pytest.approx(expected)


@pytest.mark.parametrize("beta", [1e-320, 1e-200, 1e200, 1.7e308])
def test_an_extreme_beta_leaves_precision_or_recall_alone(beta):
    # TP 1, FP 1, FN 3: precision 1/2, recall 1/4
    assert scoring.f_beta(1, 1, 3, beta) == pytest.approx(0.5 if beta < 1 else 0.25)
    assert scoring.f_measure(0.5, 0.25, beta) == pytest.approx(0.5 if beta < 1 else 0.25)


@pytest.mark.parametrize("beta", [0, -1, math.inf, math.nan])
def test_a_beta_that_is_not_a_positive_number_is_refused(beta):
    with pytest.raises(ValueError, match="beta must be a positive finite number"):
        scoring.f_beta(1, 1, 1, beta)
    with pytest.raises(ValueError, match="beta must be a positive finite number"):
        scoring.f_measure(1, 1, beta)


@pytest.mark.parametrize(("tp", "fp", "fn"), [(-1, 0, 0), (1, -1, 0), (1, 0, -1)])
def test_negative_counts_are_refused(tp, fp, fn):
    with pytest.raises(ValueError, match=f"counts cannot be negative, got TP {tp}, FP {fp}, FN {fn}"):
        scoring.f_beta(tp, fp, fn)


@pytest.mark.parametrize(
    ("precision", "recall"), [(1.0, None), (None, 1.0), (0.0, None), (0.0, 0.0), (0.0, 1.0)]
)
def test_f_measure_is_zero_when_one_side_has_nothing(precision, recall):
    assert scoring.f_measure(precision, recall) == 0.0


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_a_precision_or_recall_outside_its_range_is_refused(value):
    with pytest.raises(ValueError, match="precision must be between 0 and 1"):
        scoring.f_measure(value, 0.5)
    with pytest.raises(ValueError, match="recall must be between 0 and 1"):
        scoring.f_measure(0.5, value)


TAJ_MAHAL = ["Taj Mahal", "Yamuna", "Agra", "1631", "Shah Jahan", "Mumtaz Mahal"]


@pytest.mark.parametrize(
    ("reference", "found", "expected"),
    [
        # missing: Yamuna and 1631; India is not in the reference
        (TAJ_MAHAL, ["Taj Mahal", "Agra", "Shah Jahan", "Mumtaz Mahal", "India"], 4 / 6),
        (TAJ_MAHAL, ["Taj Mahal", "UNESCO", "India"], 1 / 6),
        (["Agra", "Agra", "1631"], ["Agra", "Agra"], 1 / 2),  # an entity that is named twice counts once
        (TAJ_MAHAL, TAJ_MAHAL, 1.0),  # exactly
    ],
)
def test_entity_recall_is_the_share_of_the_references_entities(reference, found, expected):
    assert scoring.entity_recall(reference, found) == expected


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        ([1, 0.704], [0.75, 0.25], 0.926),  # CAMEL: FacCor 1, AnsSim 0.704
        ([1, 0.5], [3, 1], 0.875),  # (3 * 1 + 1 * 0.5) / 4
        ([0.4, None], [1, 0], 0.4),
        ([0.4, None], [1, 0.001], None),
    ],
)
def test_a_weighted_mean_needs_the_values_that_have_weight(values, weights, expected):
    assert scoring.weighted_mean(values, weights) == expected


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([1], [1, 1], "each value needs one weight, got 1 values and 2 weights"),
        ([1, 1], [1, -1], r"weights must be finite and not negative, got \[1, -1\]"),
        ([1], [math.nan], r"weights must be finite and not negative, got \[nan\]"),
        ([1, 1], [0, 0], r"at least one weight must be above 0, got \[0, 0\]"),
        ([], [], r"at least one weight must be above 0, got \[\]"),
        ([math.nan], [1], "a score must be a finite number, got nan"),
    ],
)
def test_weights_and_values_that_make_no_mean_are_refused(values, weights, message):
    with pytest.raises(ValueError, match=message):
        scoring.weighted_mean(values, weights)


@given(st.lists(st.tuples(shares, st.floats(min_value=0)), min_size=1))
def test_a_weighted_mean_lies_within_its_values_for_weights_of_any_size(pairs):
    values = [value for value, _ in pairs]
    weights = [min(weight, 1e308) for _, weight in pairs]
    if not any(weights):
        weights[0] = 5e-324
    value = scoring.weighted_mean(values, weights)
    assert min(values) - 1e-12 <= value <= max(values) + 1e-12


def test_the_harmonic_mean_of_four_scores():
    # 4 / (1/1 + 1/0.5 + 1/0.5 + 1/0.25) = 4 / 9
    assert scoring.harmonic_mean([1, 0.5, 0.5, 0.25]) == pytest.approx(4 / 9)


@pytest.mark.parametrize("values", [[], [None], [1, None], [0, None], [0.5, -0.1], [0, -0.1]])
def test_a_harmonic_mean_without_values_or_with_an_unusable_one_is_undefined(values):
    assert scoring.harmonic_mean(values) is None


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_harmonic_mean_of_a_value_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="a score must be a finite number"):
        scoring.harmonic_mean([0.5, value])


@given(st.lists(st.floats(min_value=1e-6, max_value=1), min_size=1))
def test_the_harmonic_mean_agrees_with_the_standard_library(values):
    assert scoring.harmonic_mean(values) == pytest.approx(statistics.harmonic_mean(values))


SMALL = [Fraction(part, whole) for whole in range(1, 13) for part in range(1, whole + 1)]


@pytest.mark.parametrize("beta", [1, 2, 0.5])
def test_the_f_measure_of_fractions_is_the_float_of_its_fraction(beta):
    # a score that equals a tenth must not miss a threshold of a tenth
    square = Fraction(beta) ** 2
    for precision in SMALL:
        for recall in SMALL:
            exact = (1 + square) * precision * recall / (square * precision + recall)
            assert scoring.f_measure(float(precision), float(recall), beta) == float(exact)


def test_the_f_of_counts_is_the_float_of_its_fraction():
    for tp, fp, fn in product(range(1, 8), repeat=3):
        assert scoring.f_beta(tp, fp, fn) == float(Fraction(2 * tp, 2 * tp + fp + fn))
        assert scoring.f_beta(tp, fp, fn, 2) == float(Fraction(5 * tp, 5 * tp + 4 * fn + fp))


def test_weighted_and_harmonic_means_of_fractions_are_the_floats_of_their_fractions():
    for one in SMALL:
        for other in SMALL:
            values = [float(one), float(other)]
            for weights in ([0.75, 0.25], [0.7, 0.3], [1, 2]):
                first, second = (Fraction(str(each)) for each in weights)
                exact = (first * one + second * other) / (first + second)
                assert scoring.weighted_mean(values, weights) == float(exact)
            assert scoring.harmonic_mean(values) == float(2 / (1 / one + 1 / other))


def test_a_float_that_is_no_small_fraction_counts_as_it_is():
    # sqrt(1/2): no fraction with a small denominator has this float
    root = math.sqrt(0.5)
    assert scoring.weighted_mean([root, root], [1, 3]) == root
    assert scoring.harmonic_mean([root]) == root
    assert scoring.weighted_mean([1e-300, 3e-300], [1e-200, 1e-200]) == 2e-300
