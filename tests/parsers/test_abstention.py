"""Whether the answer under test declines to answer, as a reply says it."""

import pytest

from ragmetrics_core.parsers import Abstention, Hints, QuestionList, StatementList, VerdictList


@pytest.mark.parametrize(
    ("reply", "abstention"),
    [
        ('{"statements": ["A is B."], "declined": false}', Abstention(declined=False)),
        (
            '{"statements": [], "declined": "It says it cannot know."}',
            Abstention(True, "It says it cannot know."),
        ),
        (
            '{"statements": [], "declined": true, "declined_reason": "no source"}',
            Abstention(True, "no source"),
        ),
        ('{"statements": ["A is B."], "declined": "no"}', Abstention(declined=False)),
        ('{"statements": ["A is B."]}', None),
        ("1. A is B.", None),
    ],
)
def test_a_list_of_statements_says_whether_the_answer_declines(reply, abstention):
    assert StatementList.read(reply, Hints()).value.abstention() == abstention


@pytest.mark.parametrize(
    ("flags", "declined"), [((True, True), True), ((True, False), False), ((False, False), False)]
)
def test_an_answer_declines_when_every_question_is_noncommittal(flags, declined):
    items = ", ".join(f'{{"question": "What?", "noncommittal": {str(flag).lower()}}}' for flag in flags)

    value = QuestionList.read(f'{{"questions": [{items}]}}', Hints()).value

    assert value.abstention() == Abstention(declined=declined)


def test_questions_without_flags_do_not_say():
    assert QuestionList.read("What is it?", Hints()).value.abstention() is None


def test_verdicts_do_not_say():
    assert VerdictList.read("Yes", Hints.counting(1)).value.abstention() is None
