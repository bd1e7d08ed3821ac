"""Answer relevance: the mean cosine between the question and the questions that the answer would answer."""

import pytest

from ragmetrics_core.metrics import AnswerRelevance

FRANCE = {
    "question": "Where is France and what is its capital?",
    "answer": "France is in western Europe.",
}
# cosines with (1, 0): 1, 0.6 and 0; their mean is 1.6 / 3
VECTORS = {FRANCE["question"]: [1, 0], "Where is it?": [1, 0], "Which part?": [3, 4], "What else?": [0, 1]}
MEAN = 1.6 / 3


def written(*questions, flags=(False, False, False)):
    pairs = zip(questions, flags, strict=False)
    return {"questions": {"questions": [{"question": text, "noncommittal": flag} for text, flag in pairs]}}


THREE = ("Where is it?", "Which part?", "What else?")


def test_it_is_the_mean_cosine_of_the_written_questions(measure):
    # (1 + 0.6 + 0) / 3 = 0.533
    measured = measure(AnswerRelevance(), written(*THREE), vectors=VECTORS, **FRANCE)
    score, shown = measured.score, measured.shown

    assert score.value == pytest.approx(MEAN, abs=1e-15)
    assert score.formula == "(1.000 + 0.600 + 0.000) / 3 = 0.533"
    assert [verdict.cosine for verdict in score.verdicts] == [1.0, 0.6, 0.0]
    # the judge sees the answer and not the question
    assert FRANCE["answer"] in shown
    assert FRANCE["question"] not in shown


def test_it_can_be_negative_and_is_not_clipped(measure):
    vectors = {FRANCE["question"]: [1, 0], "Where is it?": [-2, 0]}
    assert (
        measure(
            AnswerRelevance(n_questions=1), written("Where is it?"), vectors=vectors, **FRANCE
        ).score.value
        == -1.0
    )


def test_one_call_asks_for_as_many_questions_as_wanted(measure):
    measured = measure(AnswerRelevance(n_questions=2), written(*THREE[:2]), vectors=VECTORS, **FRANCE)

    assert "Write 2 different questions" in measured.shown
    assert len(measured.judge.asked) == 1
    # (1 + 0.6) / 2
    assert measured.score.value == pytest.approx(0.8, abs=1e-15)


@pytest.mark.parametrize("number", [0, 2, 4])
def test_another_number_of_questions_is_asked_again(measure, number):
    # the mean of other questions than were asked for is another score: (1 + 0.6 + 0) / 3
    replies = {
        "questions": [
            written(*([THREE[0]] * number), flags=(False,) * 4)["questions"],
            written(*THREE)["questions"],
        ]
    }

    score = measure(AnswerRelevance(), replies, vectors=VECTORS, **FRANCE).score

    assert score.value == pytest.approx(MEAN, abs=1e-15)
    assert score.steps[0].objections == (f"there are {number} questions, where 3 were asked for",)


@pytest.mark.parametrize(
    ("settings", "flagged", "is_zero"),
    [
        ({"noncommittal": "ignore"}, 3, False),
        ({"noncommittal": "any"}, 0, False),
        ({"noncommittal": "any"}, 1, True),
        ({"noncommittal": "all"}, 2, False),
        ({"noncommittal": "all"}, 3, True),
        ({"noncommittal": "majority"}, 1, False),
        ({"noncommittal": "majority"}, 2, True),
        ({"variant": "ragas-0.1"}, 1, True),
        ({"variant": "ragas-0.4"}, 2, False),
        ({"variant": "ragas-0.4"}, 3, True),
    ],
)
def test_the_policy_says_how_many_noncommittal_questions_make_the_score_zero(
    measure, settings, flagged, is_zero
):
    replies = written(*THREE, flags=[number < flagged for number in range(3)])

    score = measure(AnswerRelevance(**settings), replies, vectors=VECTORS, **FRANCE).score

    assert [verdict.label for verdict in score.verdicts].count("noncommittal") == flagged
    assert score.abstained.declined == (flagged == 3)
    assert score.value == pytest.approx(0.0 if is_zero else MEAN, abs=1e-15)
    assert score.counts == {"questions": 3, "noncommittal": flagged}


def test_a_zero_vector_makes_it_undefined(measure):
    vectors = VECTORS | {"What else?": [0, 0]}

    score = measure(AnswerRelevance(), written(*THREE), vectors=vectors, **FRANCE).score

    assert (score.status, score.reason, score.value) == ("undefined", "zero_vector", None)
    assert [verdict.cosine for verdict in score.verdicts] == [1.0, 0.6, None]


def test_the_paper_variant_draws_each_question_on_its_own(measure):
    # three draws of the same prompt, one question each: (1 + 0.6 + 0) / 3
    score, judge = measure(
        AnswerRelevance(variant="paper"), {"paper_question": list(THREE)}, vectors=VECTORS, **FRANCE
    )

    assert score.value == pytest.approx(MEAN, abs=1e-15)
    assert sum(request.draws for request in judge.asked) == 3
    assert [(step.draw, step.reply) for step in score.generate_steps] == list(enumerate(THREE))


def test_only_the_draw_that_is_not_one_question_is_asked_again(measure):
    given = iter(["Where is it?", "Where is it?\nWhich part?", "Which part?"])
    metric = AnswerRelevance(variant="paper", n_questions=2)

    score = measure(metric, lambda request: next(given), vectors=VECTORS, **FRANCE).score

    assert [verdict.text for verdict in score.verdicts] == ["Where is it?", "Which part?"]
    assert [(step.draw, step.again) for step in score.generate_steps] == [(0, False), (1, False), (1, True)]
