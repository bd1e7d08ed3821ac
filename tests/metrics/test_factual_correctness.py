"""Factual correctness: F-beta of what answer and reference state alike."""

import pytest

from ragmetrics_core.drivers import correct
from ragmetrics_core.metrics import FactualCorrectness

EINSTEIN = {
    "question": "Where and when was Einstein born?",
    "answer": "Einstein was born in Spain in 1879.",
    "reference": "Einstein was born in 1879 in Germany.",
}


def test_einstein_born_in_spain_in_1879_is_half_correct(measure, sides):
    # answer: 1879 (TP), Spain (FP); reference: 1879 (covered), Germany (FN). P 1/2, R 1/2, F1 1/2
    score = measure(FactualCorrectness(), sides(("yes", "no"), ("yes", "no")), **EINSTEIN).score

    assert score.value == 0.5
    assert (score.counts["num_tp"], score.counts["num_fp"], score.counts["num_fn"]) == (1, 1, 1)
    assert [verdict.label for verdict in score.verdicts] == ["TP", "FP", "covered", "FN"]


def test_the_uk_law_example_scores_four_sevenths(measure, sides):
    # TP: 1879, relativity; FP: Spain, Nobel prize; FN: Germany. 2 / (2 + 0.5 x (2 + 1)) = 0.5714;
    # in own units P = 2/4 and R = 2/3, and 2PR / (P + R) = (2/3) / (7/6) = 4/7 as well
    replies = sides(("yes", "no", "yes", "no"), ("yes", "no", "yes"))

    score = measure(FactualCorrectness(), replies, **EINSTEIN).score

    assert score.value == pytest.approx(4 / 7, abs=1e-15)
    assert (score.counts["num_tp"], score.counts["num_fp"], score.counts["num_fn"]) == (2, 2, 1)


def test_mixed_recall_is_inflated_by_saying_one_fact_ten_times(measure, sides):
    # ten answer statements of one fact, one of two reference statements covered: 10 / (10 + 1), own units 1/2
    replies = sides(("yes",) * 10, ("yes", "no"))

    mixed = measure(FactualCorrectness(mode="recall", recall="mixed"), replies, **EINSTEIN).score
    own = measure(FactualCorrectness(mode="recall"), replies, **EINSTEIN).score

    assert (mixed.value, own.value) == (10 / 11, 0.5)


@pytest.mark.parametrize(
    ("mode", "beta", "value"),
    [
        # P = 1/2, R = 1
        ("precision", 1.0, 0.5),
        ("recall", 1.0, 1.0),
        ("f", 1.0, 2 / 3),
        # F2 = 5PR / (4P + R) = 2.5 / 3
        ("f", 2.0, 2.5 / 3),
        # F0.5 = 1.25PR / (0.25P + R) = 0.625 / 1.125
        ("f", 0.5, 0.625 / 1.125),
    ],
)
def test_mode_and_beta_choose_what_is_reported(measure, sides, mode, beta, value):
    replies = sides(("yes", "no"), ("yes",))
    score = measure(FactualCorrectness(mode=mode, beta=beta), replies, **EINSTEIN).score
    assert score.value == pytest.approx(value, abs=1e-15)


def test_each_side_is_judged_against_the_other(measure, sides):
    judge = measure(FactualCorrectness(), sides(("yes",), ("no",)), **EINSTEIN).judge

    asked = {request.prompt.name: request.variables for request in judge.asked}
    assert asked["reference_verdicts"]["reference"] == EINSTEIN["reference"]
    assert asked["answer_verdicts"]["answer"] == EINSTEIN["answer"]


def test_evidence_is_looked_up_in_the_other_side(measure, sides):
    replies = sides(("yes",), ("yes",))
    replies["reference_verdicts"] = {"verdicts": [{"number": 1, "evidence": "in Germany", "verdict": "yes"}]}
    replies["answer_verdicts"] = {"verdicts": [{"number": 1, "evidence": "in Germany", "verdict": "yes"}]}

    score = measure(FactualCorrectness(), replies, **EINSTEIN).score

    # only the reference has these words
    places = [verdict.evidence[0].span for verdict in score.verdicts]
    assert [place is not None for place in places] == [True, False]


def test_two_sides_without_statements_are_undefined_and_nothing_is_judged(measure, sides):
    score, judge = measure(FactualCorrectness(), sides((), ()), **EINSTEIN)

    assert (score.status, score.reason, score.value) == ("undefined", "no_statements", None)
    assert sorted(request.prompt.name for request in judge.asked) == ["reference_statements", "statements"]


@pytest.mark.parametrize(("answer", "reference"), [((), ("no",)), (("no",), ())])
def test_one_side_without_statements_scores_zero(measure, sides, answer, reference):
    assert measure(FactualCorrectness(), sides(answer, reference), **EINSTEIN).score.value == 0.0


def test_missing_verdicts_on_both_sides_give_bounds(measure, sides):
    # answer: yes, ?; reference: yes, ?. At worst P = R = 1/2, F 1/2; at best both 1, F 1
    score = measure(FactualCorrectness(), sides(("yes", None), ("yes", None)), **EINSTEIN).score

    assert (score.status, score.bounds) == ("incomplete", (0.5, 1.0))
    assert (score.counts["num_fp"], score.counts["num_fn"], score.counts["missing"]) == (0, 0, 2)


def test_the_paper_variant_takes_three_lists_from_one_reply(measure):
    # equation 7: 2 / (2 + 0.5 x (2 + 1)) = 0.5714
    reply = {
        "TP": ["Einstein was born in 1879", "Einstein developed relativity"],
        "FP": ["Einstein was born in Spain", "Einstein won the Nobel Prize"],
        "FN": ["Einstein was born in Germany"],
    }

    score, judge = measure(FactualCorrectness(variant="paper"), {"paper_facts": reply}, **EINSTEIN)

    assert score.value == pytest.approx(4 / 7, abs=1e-15)
    assert score.formula == "2 / (2 + 0.5 × (2 + 1)) = 0.571"
    assert len(judge.asked) == 1


def test_in_the_paper_variant_a_statement_in_two_lists_is_asked_again(measure):
    # "in 1879" is in TP and FP: that says nothing of it. Then TP 1, FP 1, FN 0: 1 / 1.5
    two = {"TP": ["Born in 1879", "Born a human"], "FP": ["born in 1879"], "FN": []}
    replies = {"paper_facts": [two, two | {"TP": ["Born a human"]}]}

    score = measure(FactualCorrectness(variant="paper"), replies, **EINSTEIN).score

    assert score.value == pytest.approx(2 / 3, abs=1e-15)
    assert [step.objections for step in score.generate_steps] == [
        ("a statement stands in TP and in FP: born in 1879",),
        (),
    ]


def test_the_paper_variant_without_any_statement_is_undefined(measure):
    replies = {"paper_facts": {"TP": [], "FP": [], "FN": []}}
    score = measure(FactualCorrectness(variant="paper"), replies, **EINSTEIN).score
    assert (score.status, score.reason) == ("undefined", "no_statements")


def test_in_the_paper_variant_an_omission_that_a_person_finds_in_the_answer_is_a_true_positive(measure):
    # TP 0, FP 1, FN 1 is 0; with the FN covered after all TP 1, FP 1, FN 0: 1 / 1.5
    replies = {"paper_facts": {"TP": [], "FP": ["Born in Spain"], "FN": ["Born in 1879"]}}
    record = measure(FactualCorrectness(variant="paper"), replies, **EINSTEIN).score

    corrected = correct(record, number=2, supported=True, by="ada")

    assert (record.value, corrected.value) == (0.0, 1 / 1.5)
    assert (corrected.counts["num_tp"], corrected.counts["num_fn"]) == (1, 0)


def test_ragas_04_mixes_the_units_and_rounds_to_two_digits(measure, sides):
    # TP 2, FP 1, FN 1: 2 / 3 = 0.67
    replies = sides(("yes", "yes", "no"), ("no",))
    assert measure(FactualCorrectness(variant="ragas-0.4"), replies, **EINSTEIN).score.value == 0.67


@pytest.mark.parametrize("variant", ["ragas-0.1", "ragas-0.4"])
def test_the_ragas_variants_score_two_empty_sides_zero(measure, sides, variant):
    score = measure(FactualCorrectness(variant=variant), sides((), ()), **EINSTEIN).score
    assert (score.status, score.value) == ("ok", 0.0)
