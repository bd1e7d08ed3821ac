"""Ranking formulas: duplicates, grades, cut-offs, nothing retrieved, nothing relevant; one query and many."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import scoring
from ragmetrics_core.scoring import _rankings as rankings

FORMULAS = [
    scoring.precision_at,
    scoring.recall_at,
    scoring.hit_at,
    scoring.reciprocal_rank_at,
    scoring.reciprocal_ranks_at,
    scoring.average_precision_at,
    scoring.ndcg_at,
]
BATCHED = [
    (scoring.precision_at, rankings.precisions),
    (scoring.recall_at, rankings.recalls),
    (scoring.hit_at, rankings.hits),
    (scoring.reciprocal_rank_at, rankings.reciprocal_ranks),
    (scoring.average_precision_at, rankings.average_precisions),
    (scoring.ndcg_at, rankings.ndcgs),
]
by_name = {"ids": lambda formula: getattr(formula, "__name__", "")}

ids = st.lists(st.sampled_from("abcdefgh"), max_size=10)
grades = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 1, 2, 3]), max_size=6)
cuts = st.none() | st.integers(1, 12)


@pytest.mark.parametrize("formula", FORMULAS, **by_name)
@given(retrieved=ids, relevant=grades, k=cuts)
def test_a_repeated_result_counts_at_its_first_rank_only(formula, retrieved, relevant, k):
    assert formula(retrieved + retrieved[:2], relevant, k) == formula(
        list(dict.fromkeys(retrieved)), relevant, k
    )


@pytest.mark.parametrize("formula", FORMULAS, **by_name)
def test_nothing_retrieved_is_0_and_nothing_relevant_is_undefined(formula):
    assert formula([], {"a"}) == 0.0
    assert formula(["a"], []) is None
    assert formula(["a"], {"a": 0, "b": -2}) is None


@pytest.mark.parametrize("formula", FORMULAS, **by_name)
def test_a_cut_off_below_1_is_a_mistake(formula):
    with pytest.raises(ValueError, match="k must be at least 1, or None, not 0"):
        formula(["a"], {"a"}, 0)


def test_a_cut_off_beyond_the_list_divides_precision_by_the_cut_off():
    # one of two results is relevant, ten were asked for: 1/10; all else sees the two results
    assert scoring.precision_at(["a", "x"], {"a"}, 10) == 0.1
    assert scoring.recall_at(["a", "x"], {"a"}, 10) == 1.0
    assert scoring.ndcg_at(["a", "x"], {"a"}, 10) == 1.0


def test_a_grade_of_0_or_below_is_not_relevant():
    # b has no relevance, so the ranking is that of one relevant result at rank 2
    assert scoring.ndcg_at(["b", "a"], {"a": 2, "b": -1}) == pytest.approx(1 / math.log2(3))
    assert scoring.recall_at(["b"], {"a": 2, "b": 0}) == 0.0


def test_the_exponential_gain_is_that_of_the_formula():
    # DCG = (2^1 - 1)/log2(2) + (2^3 - 1)/log2(3), ideal = (2^3 - 1)/1 + (2^1 - 1)/log2(3)
    dcg = 1 + 7 / math.log2(3)
    ideal = 7 + 1 / math.log2(3)
    value = scoring.ndcg_at(["b", "a"], {"a": 3, "b": 1}, gain="exponential")
    assert value == pytest.approx(dcg / ideal)


def test_grades_too_high_for_a_power_still_give_a_score():
    value = scoring.ndcg_at(["b", "a"], {"a": 5000, "b": 4999}, gain="exponential")
    # the gains are as 2 to 1: (1 + 2/log2(3)) / (2 + 1/log2(3))
    assert value == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))


@pytest.mark.parametrize(("one", "many"), BATCHED, ids=[many.__name__ for _, many in BATCHED])
@given(queries=st.lists(st.tuples(ids, grades), max_size=6), k=cuts)
def test_many_queries_at_once_have_the_scores_of_each_alone(one, many, queries, k):
    ranked = rankings.table([retrieved for retrieved, _ in queries], [relevant for _, relevant in queries])
    values = many(ranked, k).tolist()
    alone = [one(retrieved, relevant, k) for retrieved, relevant in queries]
    assert [value is None for value in values] == [value is None for value in alone]
    assert [value for value in values if value is not None] == pytest.approx(
        [value for value in alone if value is not None]
    )


def test_the_settings_of_the_formulas_hold_for_many_queries_too():
    retrieved, relevant = ["b", "x", "a"], {"a": 3, "b": 1, "c": 1}
    ranked = rankings.table([retrieved], [relevant])
    found = rankings.average_precisions(ranked, denominator="found").tolist()
    assert found == pytest.approx([scoring.average_precision_at(retrieved, relevant, denominator="found")])
    exponential = rankings.ndcgs(ranked, gain="exponential").tolist()
    assert exponential == pytest.approx([scoring.ndcg_at(retrieved, relevant, gain="exponential")])


def test_rankings_and_relevant_ids_of_different_numbers_are_a_mistake():
    with pytest.raises(ValueError, match="got 2 rankings and relevant ids for 1"):
        rankings.table([["a"], ["b"]], [{"a"}])
