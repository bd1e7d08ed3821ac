"""The ranking formulas beside trec_eval, ir-measures and what retrieval libraries gave.

trec_eval sorts by score and breaks ties by id; here every rank has a score of its own, so that its order is
that of the list. Where nothing is relevant it says 0 and we say undefined.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import scoring

pytrec_eval = pytest.importorskip("pytrec_eval", exc_type=ImportError)
ir_measures = pytest.importorskip("ir_measures", exc_type=ImportError)

DOCUMENTS = [f"d{number}" for number in range(12)]
retrieved_lists = st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1)
graded = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), min_size=1).filter(
    lambda grades: any(grade > 0 for grade in grades.values())
)
CUT = 5
TREC = {
    "P_5": lambda *query: scoring.precision_at(*query, CUT),
    "recall_5": lambda *query: scoring.recall_at(*query, CUT),
    "success_5": lambda *query: scoring.hit_at(*query, CUT),
    "recip_rank": scoring.reciprocal_rank_at,
    "map": scoring.average_precision_at,
    "map_cut_5": lambda *query: scoring.average_precision_at(*query, CUT),
    "ndcg": scoring.ndcg_at,
    "ndcg_cut_5": lambda *query: scoring.ndcg_at(*query, CUT),
}
TREC_NAMES = {"P.5", "recall.5", "success.5", "recip_rank", "map", "map_cut.5", "ndcg", "ndcg_cut.5"}
IR_MEASURES = {
    "P@5": TREC["P_5"],
    "R@5": TREC["recall_5"],
    "Success@5": TREC["success_5"],
    "RR@5": lambda *query: scoring.reciprocal_rank_at(*query, CUT),
    "AP": scoring.average_precision_at,
    "AP@5": TREC["map_cut_5"],
    "nDCG": scoring.ndcg_at,
    "nDCG@5": TREC["ndcg_cut_5"],
}


def scores_of(retrieved: list[str]) -> dict[str, float]:
    """A score for each rank, the first the highest."""
    return {document: float(len(retrieved) - rank) for rank, document in enumerate(retrieved)}


@given(retrieved=retrieved_lists, relevant=graded)
def test_every_score_is_that_of_trec_eval(retrieved, relevant):
    evaluator = pytrec_eval.RelevanceEvaluator({"q": relevant}, TREC_NAMES)
    theirs = evaluator.evaluate({"q": scores_of(retrieved)})["q"]

    for name, formula in TREC.items():
        assert formula(retrieved, relevant) == pytest.approx(theirs[name], abs=1e-9), name


def test_trec_eval_has_0_where_nothing_is_relevant_and_we_have_nothing():
    theirs = pytrec_eval.RelevanceEvaluator({"q": {"a": 0}}, {"map", "ndcg"}).evaluate({"q": {"a": 1.0}})["q"]
    assert theirs == {"map": 0.0, "ndcg": 0.0}
    assert scoring.average_precision_at(["a"], {"a": 0}) is None
    assert scoring.ndcg_at(["a"], {"a": 0}) is None


@given(retrieved=retrieved_lists, relevant=graded)
def test_every_score_is_that_of_ir_measures(retrieved, relevant):
    measures = {name: ir_measures.parse_measure(name) for name in IR_MEASURES}
    theirs = ir_measures.calc_aggregate(measures.values(), {"q": relevant}, {"q": scores_of(retrieved)})

    for name, formula in IR_MEASURES.items():
        assert formula(retrieved, relevant) == pytest.approx(theirs[measures[name]], abs=1e-9), name


# -- what LlamaIndex, Haystack and continuous-eval gave

LIBRARIES = {
    "hit_rate": scoring.hit_at,
    "mrr": scoring.reciprocal_rank_at,
    "precision": scoring.precision_at,
    "recall": scoring.recall_at,
    "average_precision": scoring.average_precision_at,
    "ndcg": scoring.ndcg_at,
    "f1": lambda *query: scoring.f_measure(scoring.precision_at(*query), scoring.recall_at(*query)),
}


REFUSED = "nothing retrieved is an error there; here it is 0"
LISTED = "a relevant id that is listed twice counts as two; here relevance is a set"


def fault(case: dict[str, Any]) -> str | None:
    """What a library gets wrong with this query; None when nothing is known."""
    if str(case["expected"]).startswith("ERROR"):
        return REFUSED
    return LISTED if len(set(case["relevant"])) < len(case["relevant"]) else None


def test_the_numbers_of_retrieval_libraries_are_ours_wherever_they_are_right(conformance):
    cases = json.loads(conformance("ir_formula_cases.json").read_text(encoding="utf-8"))
    cases = [case for case in cases if case["metric"] in LIBRARIES]
    differing = []
    for case in cases:
        value = LIBRARIES[case["metric"]](case["retrieved"], case["relevant"])
        if str(case["expected"]).startswith("ERROR") or value != pytest.approx(case["expected"]):
            differing.append(case)
    unexplained = [(case["id"], case["source"], case["case"]) for case in differing if fault(case) is None]

    assert unexplained == []
    assert len(cases) - len(differing) >= 90
    assert {fault(case) for case in differing} == {REFUSED, LISTED}


def test_average_precision_over_what_was_found_is_that_of_continuous_eval(conformance):
    cases = json.loads(conformance("ir_formula_cases.json").read_text(encoding="utf-8"))
    theirs = [
        case
        for case in cases
        if case["source"].startswith("continuous-eval") and case["metric"] == "average_precision"
        and case["retrieved"] and len(set(case["relevant"])) == len(case["relevant"]) > 0
    ]  # fmt: skip
    assert theirs
    for case in theirs:
        value = scoring.average_precision_at(case["retrieved"], case["relevant"], denominator="found")
        assert value == pytest.approx(case["expected"]), case["id"]
