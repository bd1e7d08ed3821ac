"""Nugget recall, relevance grades and sufficiency: what is asked, and what is left open."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import evaluate, scoring
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Abstention, NuggetRecall, RelevanceGrade, Sufficiency
from ragmetrics_core.testing import ScriptedJudge

FACTS = {"reference_statements": {"statements": ["Ulm is a town.", "It is old."]}}
ULM = {"question": "What is Ulm?", "answer": "A town.", "reference": "Ulm is a town. It is old."}
KNOWN = st.sampled_from([True, False, None])


def rated(*grades):
    return [{"reason": "because", "rating": grade} for grade in grades]


def test_only_the_questions_that_a_variant_counts_are_asked(measure, verdicts):
    replies = FACTS | dict.fromkeys(
        ("answer_verdicts", "nugget_parts", "nugget_importance"), verdicts("yes", "no")
    )
    asked = {
        variant: {
            request.prompt.name
            for request in measure(NuggetRecall(variant=variant), replies, **ULM).judge.asked
        }
        for variant in ("strict", "vital", "all", "all-strict")
    }
    shared = {"reference_statements", "answer_verdicts"}
    assert asked == {
        "strict": shared | {"nugget_importance"},
        "vital": shared | {"nugget_importance", "nugget_parts"},
        "all": shared | {"nugget_parts"},
        "all-strict": shared,
    }


def test_without_a_vital_nugget_the_vital_score_is_undefined_and_the_weighted_one_is_not(measure, verdicts):
    replies = FACTS | {"answer_verdicts": verdicts("yes", "no"), "nugget_importance": verdicts("no", "no")}
    vital = measure(NuggetRecall(), replies, **ULM).score
    assert (vital.status, vital.reason) == ("undefined", "no_vital_nuggets")
    # 0.5 × 1 / (0.5 × 2)
    assert measure(NuggetRecall(variant="weighted-strict"), replies, **ULM).score.value == 0.5


def test_the_formula_names_vital_and_okay_nuggets(measure, verdicts):
    replies = FACTS | {
        "answer_verdicts": verdicts("yes", "no"),
        "nugget_parts": verdicts("yes", "yes"),
        "nugget_importance": verdicts("yes", "no"),
    }
    # (1 + 0.5 × 0.5) / (1 + 0.5)
    score = measure(NuggetRecall(variant="weighted"), replies, **ULM).score
    assert score.value == pytest.approx(1.25 / 1.5)
    assert score.formula == "(1 + 0.5 × 0 + 0.5 × (0 + 0.5 × 1)) / (1 + 0.5 × 1) = 0.833"


def test_a_nugget_of_unknown_importance_leaves_the_score_open(measure, verdicts):
    replies = FACTS | {"answer_verdicts": verdicts("yes", "no"), "nugget_importance": verdicts("yes")}
    # the second nugget is okay: 1 / 1; it is vital: 1 / 2
    score = measure(NuggetRecall(), replies, **ULM).score
    assert score.status == "incomplete"
    assert tuple(score.bounds) == (0.5, 1.0)


@given(
    st.lists(st.tuples(KNOWN, KNOWN, KNOWN), min_size=1, max_size=3),
    st.sampled_from([0, 0.5]),
    st.sampled_from([0, 0.5, 1]),
)
def test_the_bounds_are_those_of_all_completions(rows, credit, okay):
    columns = [list(column) for column in zip(*rows, strict=True)]
    values = [
        scoring.nugget_recall(*completed, credit, okay)
        for completed in product(
            *(product(*([True, False] if each is None else [each] for each in column)) for column in columns)
        )
    ]
    known = [value for value in values if value is not None]
    expected = (min(known), max(known)) if known else (None, None)
    assert scoring.nugget_recall_bounds(*columns, credit, okay) == expected


def test_a_grade_outside_the_scale_leaves_the_ranking_open(measure):
    contexts = ["a", "b"]
    mean = measure(RelevanceGrade(), {"relevance_grade": rated(3, 4)}, question="?", contexts=contexts).score
    # (3 + 0) / 6 to (3 + 3) / 6
    assert tuple(mean.bounds) == (0.5, 1.0)
    ranked = measure(
        RelevanceGrade(variant="ndcg"), {"relevance_grade": rated(3, 4)}, question="?", contexts=contexts
    ).score
    assert tuple(ranked.bounds) == (0.0, 1.0)


def test_a_ranking_without_a_relevant_chunk_has_no_ndcg(measure):
    score = measure(
        RelevanceGrade(variant="ndcg"), {"relevance_grade": rated(0)}, question="?", contexts=["a", " "]
    ).score
    assert (score.status, score.reason) == ("undefined", "no_relevant")


@pytest.mark.parametrize("settings", [{"k": 0, "aggregate": "ndcg"}, {"k": 2}, {"gain": "exponential"}])
def test_a_cut_off_needs_a_ranking(settings):
    with pytest.raises(ConfigError, match="relevance_grade: k"):
        RelevanceGrade(**settings)


@pytest.mark.parametrize(("verdict", "value"), [("yes", 1.0), ("no", 0.0)])
def test_contexts_suffice_or_do_not(measure, verdicts, verdict, value):
    replies = {"sufficiency": verdicts(verdict)}
    assert measure(Sufficiency(), replies, question="?", contexts=["a"]).score.value == value


def test_nothing_retrieved_is_insufficient_without_a_call(measure):
    score, judge = measure(Sufficiency(), {}, question="?", contexts=[" "])
    assert (score.value, judge.asked) == (0.0, [])


def test_sufficiency_and_abstention_share_their_call(verdicts):
    judge = ScriptedJudge({"sufficiency": verdicts("yes"), "declining": verdicts("no")})
    sample = {"question": "What is Ulm?", "answer": "A town.", "contexts": ["Ulm is a town."]}
    evaluate([sample], metrics=[Sufficiency(), Abstention()], judge=judge)
    assert judge.count("sufficiency") == 1
