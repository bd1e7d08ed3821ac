"""Ratings on a scale: the RAG triad, the double judges, rubrics and criteria of the user's own."""

import pytest

from ragmetrics_core import evaluate, recompute
from ragmetrics_core.drivers import correct
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerRelevanceRating,
    ContextRelevanceRating,
    Criterion,
    GroundednessRating,
    Rubric,
    get,
)
from ragmetrics_core.testing import ScriptedJudge

PARIS = {"question": "Where is Paris?", "answer": "In France. It is large.", "reference": "In France."}
CONTEXTS = ["Paris is in France.", "Rome is in Italy."]


def rated(number, reason="because"):
    return {"reason": reason, "rating": number}


def by_chunk(**ratings):
    """Rates a chunk by the first word of it."""
    return lambda request: rated(ratings[request.variables["contexts"][0].split()[0]])


def test_each_chunk_is_rated_from_0_to_10_and_the_mean_counts(measure):
    # (9 + 2) / 20
    score, judge = measure(ContextRelevanceRating(), by_chunk(Paris=9, Rome=2), **PARIS, contexts=CONTEXTS)

    assert (score.value, score.formula) == (11 / 20, "(9 + 2) / (2 × 10) = 0.55")
    assert judge.count("chunk_rating") == 2


def test_a_blank_chunk_is_rated_0_without_a_call(measure):
    score, judge = measure(ContextRelevanceRating(), by_chunk(Paris=8), **PARIS, contexts=[CONTEXTS[0], " "])
    assert (score.value, len(judge.asked)) == (0.4, 1)


def test_each_sentence_of_the_answer_is_rated_for_its_support(measure):
    def reply(request):
        return rated(10 if "France" in request.variables["answer"] else 1)

    score = measure(GroundednessRating(), reply, **PARIS, contexts=CONTEXTS).score
    assert (score.value, score.formula) == (11 / 20, "(10 + 1) / (2 × 10) = 0.55")


def test_the_answer_is_rated_for_its_relevance_and_the_reason_is_kept(measure):
    score = measure(AnswerRelevanceRating(), {"answer_rating": rated(7, "it says where")}, **PARIS).score

    assert (score.value, score.formula) == (0.7, "7 / 10 = 0.7")
    assert list(score.ratings) == [(7.0, "it says where")]
    assert "rated 7: it says where" in score.explain()


def test_the_papers_answer_relevance_shows_the_judge_the_query_and_the_retrieved_passages(measure):
    metric = AnswerRelevanceRating(variant="paper")
    replies = {"answer_rating_with_contexts": rated(6)}
    score, judge = measure(metric, replies, **PARIS, contexts=CONTEXTS)

    assert (score.value, score.formula) == (0.6, "6 / 10 = 0.6")
    (request,) = judge.asked
    shown = request.messages[-1].content
    assert all(text in shown for text in (PARIS["question"], PARIS["answer"], *CONTEXTS))


@pytest.mark.parametrize(
    ("contexts", "status", "reason"),
    [(None, "skipped", "contexts"), ([" "], "undefined", "no_contexts")],
)
def test_the_papers_answer_relevance_needs_contexts(measure, contexts, status, reason):
    fields = {} if contexts is None else {"contexts": contexts}
    score, judge = measure(AnswerRelevanceRating(variant="paper"), {}, **PARIS, **fields)
    assert (score.status, score.reason, judge.asked) == (status, reason, [])


@pytest.mark.parametrize(
    ("metric", "grades", "value", "formula"),
    [
        (ContextRelevanceRating, ("context_grade", 2, 1), 3 / 4, "(2 + 1) / (2 × 2) = 0.75"),
        (GroundednessRating, ("grounding_grade", 0, 1), 1 / 4, "(0 + 1) / (2 × 2) = 0.25"),
    ],
)
def test_two_prompts_grade_0_1_2_under_the_ragas_variant(measure, metric, grades, value, formula):
    name, first, second = grades
    replies = {name: rated(first), f"{name}_again": rated(second)}
    score = measure(metric(variant="ragas-0.4"), replies, **PARIS, contexts=CONTEXTS).score
    assert (score.value, score.formula) == (value, formula)


def test_accuracy_is_rated_in_both_directions(measure):
    def reply(request):
        return rated(4 if request.variables["second"] == PARIS["reference"] else 2)

    measured = measure(AnswerAccuracy(), reply, **PARIS)

    assert (measured.score.value, measured.score.formula) == (6 / 8, "(4 + 2) / (2 × 4) = 0.75")
    answers = [request.variables["first"] for request in measured.judge.asked]
    assert answers == [PARIS["answer"], PARIS["reference"]]


# -- what is no rating


@pytest.mark.parametrize("number", [-1, 10.5, 11, 7.5, 100])
def test_a_rating_beyond_the_scale_is_no_rating_and_is_never_clipped(measure, number):
    score = measure(AnswerRelevanceRating(), {"answer_rating": rated(number)}, **PARIS).score
    assert (score.status, score.value) == ("parse_error", None)
    assert f'"rating" is {number:g}, which is none of 0 to 10' in score.reason
    assert len(score.steps) == 2  # it was asked for once more


def test_one_missing_rating_of_two_leaves_bounds(measure):
    # 2 is certain, the other one is anything from 0 to 2: [2/4, 4/4]
    replies = {"context_grade": rated(2), "context_grade_again": "I cannot say."}
    metric = ContextRelevanceRating(variant="ragas-0.4", missing_ratings="bounds")
    score = measure(metric, replies, **PARIS, contexts=CONTEXTS).score

    assert (score.status, score.reason, score.bounds) == ("incomplete", "missing_ratings", (0.5, 1.0))
    assert score.formula == "(2 + ?) / (2 × 2): 0.500 to 1.000"


def test_under_the_ragas_variant_the_other_rating_counts_alone(measure):
    # five attempts at the second, then 2 / 2
    replies = {"context_grade": rated(2), "context_grade_again": "I cannot say."}
    score, judge = measure(ContextRelevanceRating(variant="ragas-0.4"), replies, **PARIS, contexts=CONTEXTS)
    assert (score.value, score.formula, len(judge.asked)) == (1.0, "2 / 2 = 1", 6)


def test_a_sentence_is_rated_beside_its_question_and_neighbours(measure):
    answer = "Ann lives in Ulm. She paints. It rains."
    sample = {**PARIS, "answer": answer, "contexts": CONTEXTS}
    _, judge = measure(GroundednessRating(), {"sentence_rating": rated(10)}, **sample)
    shown = [[request.variables[name] for name in ("before", "answer", "after")] for request in judge.asked]
    assert shown == [
        ["", "Ann lives in Ulm.", "She paints."],
        ["Ann lives in Ulm.", "She paints.", "It rains."],
        ["She paints.", "It rains.", ""],
    ]
    assert {request.variables["question"] for request in judge.asked} == {PARIS["question"]}


def test_answers_that_are_compared_are_called_neither_answer_nor_reference(measure):
    shown = measure(AnswerAccuracy(), {"accuracy_grade": rated(4)}, **PARIS).shown
    assert "<first>" in shown
    assert "<reference>" not in shown
    assert "<answer>\n" not in shown


def test_several_votes_on_a_rating_count_with_their_mean():
    given = iter([rated(6), rated(8), rated(99), rated(98)])
    judge = ScriptedJudge(lambda request: next(given))
    run = evaluate([{"id": "q1", **PARIS}], metrics="answer_relevance_rating", judge=judge, repeats=3)
    # the third is not on the scale, also when it is asked for again: (6 + 8) / 2 of 10
    assert run.score("q1", "answer_relevance_rating").value == 0.7


@pytest.mark.parametrize(
    ("metric", "sample", "reason"),
    [
        (ContextRelevanceRating(), {"contexts": []}, "no_contexts"),
        (GroundednessRating(), {"contexts": [""]}, "no_contexts"),
        (GroundednessRating(), {"contexts": CONTEXTS, "answer": " "}, "no_answer"),
        (AnswerRelevanceRating(), {"answer": ""}, "no_answer"),
        (AnswerAccuracy(), {"answer": "", "reference": "x"}, "no_answer"),
        (AnswerAccuracy(), {"reference": ""}, "no_reference"),
    ],
)
def test_nothing_to_rate_is_undefined_without_a_call(measure, metric, sample, reason):
    score, judge = measure(metric, {}, **{**PARIS, **sample})
    assert (score.status, score.reason, judge.asked) == ("undefined", reason, [])


# -- the user's own


def test_a_criterion_is_met_or_not_with_a_reason_and_a_person_may_overrule_it(measure):
    reply = {"verdicts": [{"number": 1, "reason": "none named", "evidence": "", "verdict": "no"}]}
    measured = measure(Criterion("names the release"), {"criterion": reply}, **PARIS)

    assert (measured.score.value, measured.score.formula) == (0.0, "0 of 1 met = 0")
    assert "1. names the release" in measured.shown
    assert measured.score.verdicts[0].reason == "none named"
    assert correct(measured.score, number=1, supported=True).value == 1.0


def test_two_criteria_are_two_metrics_and_a_record_says_which_it_is(measure):
    criterion = Criterion("names the release")
    assert criterion == get("criterion", text="names the release") != Criterion("is polite")
    assert criterion.signature == "criterion/strict.1(text=names the release)"

    reply = {"criterion": {"verdicts": [{"number": 1, "verdict": "yes"}]}}
    assert recompute(measure(criterion, reply, **PARIS).score).value == 1.0


def test_a_rubric_gives_the_place_of_the_level_between_the_lowest_and_the_highest(measure):
    rubric = Rubric(levels=("wrong", "partly right", "right", "right and clear"))
    measured = measure(rubric, {"rubric": rated(3)}, **PARIS)

    assert measured.score.value == 2 / 3
    assert measured.score.formula == "(3 - 1) / (4 - 1) = 0.667"
    assert "1. wrong\n2. partly right\n3. right\n4. right and clear" in measured.shown


@pytest.mark.parametrize("number", [0, 5])
def test_a_level_that_the_rubric_does_not_have_is_no_rating(measure, number):
    rubric = Rubric(levels=("wrong", "partly right", "right", "right and clear"))
    assert measure(rubric, {"rubric": rated(number)}, **PARIS).score.status == "parse_error"
