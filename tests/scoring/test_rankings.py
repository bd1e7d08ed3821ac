"""The ranking formulas over many queries at once, with numbers by hand."""

import math

import numpy as np
import pytest

from ragmetrics_core import scoring
from ragmetrics_core.scoring import _rankings as rankings

# relevant results at the ranks 2 and 3, at rank 1 of 2, nowhere; nothing is relevant
RANKED = rankings.table(
    [["x", "a", "b"], ["a", "x"], ["x"], ["x"]], [{"a", "b"}, {"a"}, {"a"}, {"b": 0, "c": -1}]
)
FORMULAS = [
    rankings.precisions,
    rankings.recalls,
    rankings.hits,
    rankings.reciprocal_ranks,
    rankings.average_precisions,
    rankings.ndcgs,
]
# as 2 to 1 at the ranks 2 and 1, over the ranks 1 and 2
TURNED = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))


def test_a_table_holds_what_is_relevant_and_nothing_else():
    ranked = rankings.table([["a", "x", "a"], []], [{"a": 1, "b": 0}, {"c"}])
    assert ranked.grades.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert ranked.lengths.tolist() == [2, 0]
    assert ranked.ideal.tolist() == [[1.0], [1.0]]
    assert ranked.relevant.tolist() == [1, 1]


def test_without_queries_there_are_no_ranks_and_no_scores():
    ranked = rankings.table([], [])
    assert (ranked.grades.shape, ranked.ideal.shape) == ((0, 0), (0, 0))
    assert ranked.lengths.dtype == np.int64
    assert [formula(ranked).tolist() for formula in FORMULAS] == [[]] * len(FORMULAS)


@pytest.mark.parametrize(
    ("formula", "k", "expected"),
    [
        (rankings.precisions, None, [2 / 3, 1 / 2, 0, None]),
        (rankings.precisions, 1, [0, 1, 0, None]),
        (rankings.precisions, 2, [1 / 2, 1 / 2, 0, None]),
        (rankings.recalls, None, [1, 1, 0, None]),
        (rankings.recalls, 1, [0, 1, 0, None]),
        (rankings.recalls, 2, [1 / 2, 1, 0, None]),
        (rankings.hits, None, [1, 1, 0, None]),
        (rankings.hits, 1, [0, 1, 0, None]),
        (rankings.reciprocal_ranks, None, [1 / 2, 1, 0, None]),
        (rankings.reciprocal_ranks, 1, [0, 1, 0, None]),
        # (1/2 + 2/3) / 2
        (rankings.average_precisions, None, [7 / 12, 1, 0, None]),
        (rankings.average_precisions, 1, [0, 1, 0, None]),
        # (1/2) / 2
        (rankings.average_precisions, 2, [1 / 4, 1, 0, None]),
        (rankings.ndcgs, None, [(1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3)), 1, 0, None]),
        (rankings.ndcgs, 1, [0, 1, 0, None]),
    ],
)
def test_each_query_has_its_own_score(formula, k, expected):
    values = formula(RANKED, k)
    assert values.dtype == np.float64
    assert [value is None for value in values.tolist()] == [value is None for value in expected]
    assert values.compressed().tolist() == pytest.approx([value for value in expected if value is not None])


def test_average_precision_over_what_was_found_divides_each_query_by_its_own_number():
    # one of two relevant results, at rank 1: 1/1; both, at the ranks 1 and 2: (1 + 1) / 2
    ranked = rankings.table([["a", "x"], ["b", "c"]], [{"a", "b"}, {"b", "c"}])
    assert rankings.average_precisions(ranked, denominator="found").tolist() == [1.0, 1.0]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_cut_off_below_1_is_a_mistake_for_many_queries_too(formula):
    with pytest.raises(ValueError, match=r"^k must be at least 1, or None, not 0$"):
        formula(RANKED, 0)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize(("high", "low"), [(2e200, 1e200), (2e-200, 1e-200)])
def test_grades_of_any_size_give_a_score(gain, high, low):
    # linear gains are as 2 to 1, and so are exponential ones of tiny grades, for 2^g - 1 is about g ln 2;
    # exponential gains of huge grades are as 1 to 0
    expected = 1 / math.log2(3) if gain == "exponential" and high > 1 else TURNED
    relevant = {"a": high, "b": low}
    many = rankings.ndcgs(rankings.table([["b", "a"]], [relevant]), gain=gain)
    assert many.tolist() == pytest.approx([expected])
    assert scoring.ndcg_at(["b", "a"], relevant, gain=gain) == pytest.approx(expected)


def test_the_exponential_gain_of_fractions_is_that_of_the_formula():
    # 2^0.5 - 1 and 2^1.5 - 1
    half, more = 2**0.5 - 1, 2**1.5 - 1
    expected = (half + more / math.log2(3)) / (more + half / math.log2(3))
    relevant = {"a": 1.5, "b": 0.5}
    many = rankings.ndcgs(rankings.table([["b", "a"]], [relevant]), gain="exponential")
    assert many.tolist() == pytest.approx([expected])
    assert scoring.ndcg_at(["b", "a"], relevant, gain="exponential") == pytest.approx(expected)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
def test_half_a_grade_is_the_best_there_is_where_nothing_has_more(gain):
    # the only relevant result stands first, or second
    ranked = rankings.table([["a"], ["x", "a"]], [{"a": 0.5}, {"a": 0.5}])
    assert rankings.ndcgs(ranked, gain=gain).tolist() == pytest.approx([1.0, 1 / math.log2(3)])
