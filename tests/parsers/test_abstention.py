"""Whether the answer under test declines to answer, as a reply says it."""

import json

import pytest

from ragmetrics_core.parsers import Declined, Hints, QuestionList, StatementList, VerdictList


@pytest.mark.parametrize(
    ("reply", "abstention"),
    [
        ('{"statements": ["A is B."], "declined": false}', Declined(declined=False)),
        (
            '{"statements": [], "declined": "It says it cannot know."}',
            Declined(True, "It says it cannot know."),
        ),
        (
            '{"statements": [], "declined": true, "declined_reason": "no source"}',
            Declined(True, "no source"),
        ),
        ('{"statements": ["A is B."], "declined": "no"}', Declined(declined=False)),
        ('{"statements": ["A is B."]}', None),
        ("1. A is B.", None),
    ],
)
def test_a_list_of_statements_says_whether_the_answer_declines(reply, abstention):
    assert StatementList.read(reply, Hints()).value.abstention() == abstention


@pytest.mark.parametrize(
    "said",
    [
        "No, it answers directly.",
        "No - the answer is given.",
        "No because it names the capital",
        "Nein, sie nennt die Hauptstadt.",
        "The answer does not decline.",
        "It doesn't really decline to answer.",
        "not declined",
        "It answers the question directly.",
        "Partly",
    ],
)
def test_words_that_deny_it_are_no_reason_why_an_answer_declines(said):
    reply = json.dumps({"statements": ["A is B."], "declined": said})
    assert StatementList.read(reply, Hints()).value.abstention() == Declined(declined=False)


@pytest.mark.parametrize(
    "said",
    [
        "No information about it is given.",
        "No answer was found.",
        "Not mentioned.",
        "Not stated, so it says that it cannot tell.",
        "Cannot be determined from the contexts.",
        "It answers that it does not know.",
        "The answer does not say it and declines.",
    ],
)
def test_a_lack_that_is_named_is_why_an_answer_declines(said):
    reply = json.dumps({"statements": [], "declined": said})
    assert StatementList.read(reply, Hints()).value.abstention() == Declined(declined=True, reason=said)


@pytest.mark.parametrize(
    ("flags", "declined"), [((True, True), True), ((True, False), False), ((False, False), False)]
)
def test_an_answer_declines_when_every_question_is_noncommittal(flags, declined):
    items = ", ".join(f'{{"question": "What?", "noncommittal": {str(flag).lower()}}}' for flag in flags)

    value = QuestionList.read(f'{{"questions": [{items}]}}', Hints()).value

    assert value.abstention() == Declined(declined=declined)


def test_questions_without_flags_do_not_say():
    assert QuestionList.read("What is it?", Hints()).value.abstention() is None


def test_verdicts_do_not_say():
    assert VerdictList.read("Yes", Hints.counting(1)).value.abstention() is None
