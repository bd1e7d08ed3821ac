"""A cut list is never a shorter list, and a cut verdict is none."""

import pytest

from ragmetrics_core.parsers import (
    EntityList,
    FactLists,
    Hints,
    QuestionList,
    Rating,
    RelevantSentences,
    StatementList,
    VerdictList,
)

LISTS = [
    (StatementList, '{"statements": ["A is B.", "C is D (really).", "E runs."], "declined": false}'),
    (EntityList, '{"entities": ["Paris", "Rome, Italy", "12 MB"]}'),
    (
        QuestionList,
        '{"questions": [{"question": "What is A?", "noncommittal": false}, {"question": "Who?"}]}',
    ),
    (FactLists, '{"TP": ["A is B."], "FP": ["C is D."], "FN": []}'),
    (FactLists, '"TP": ["A is B."],\n"FP": ["C is D."],\n"FN": []'),
    (RelevantSentences, '{"relevant": [1, 12]}'),
    (Rating, '{"reason": "why not", "rating": 10}'),
    (Rating, '{"rating": 10, "reason": "why not"}'),
]
BEFORE = ["", "Sure, here it is:\n", "```json\n", "<think>Let me see.</think>\n", "Sure: "]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(("kind", "good"), LISTS, ids=lambda value: getattr(value, "__name__", None))
def test_a_json_list_that_is_cut_anywhere_is_not_read(kind, good, before):
    if "```" in before and not good.startswith("{"):
        return  # a fence that nothing closes shows the cut of any plain text
    for stopped in (None, True) if good.startswith("{") else (None,):
        whole = kind.read(before + good, Hints(stopped=stopped)).value
        assert whole is not None
        for end in range(1, len(good)):
            reading = kind.read(before + good[:end], Hints(stopped=stopped))
            # what is read of a reply that only lacks its fence or brackets behind the last character counts
            assert reading.value is None, good[:end]


@pytest.mark.parametrize("before", BEFORE)
def test_cut_verdicts_are_those_that_are_complete(before):
    good = (
        '{"verdicts": [{"number": 1, "reason": "so", "evidence": "it is", "verdict": "yes"}, '
        '{"number": 2, "reason": "so", "evidence": "", "verdict": "no"}, '
        '{"number": 3, "verdict": "not supported", "evidence": ["a", "b"]}]}'
    )
    whole = {1: True, 2: False, 3: False}
    hints = Hints.counting(3)
    for end in range(1, len(good)):
        reading = VerdictList.read(before + good[:end], hints)
        found = {one.number: one.supported for one in reading.value.verdicts} if reading.value else {}
        complete = good[:end].count("}")
        assert found == {number: whole[number] for number in range(1, min(complete, 3) + 1)}
        assert reading.cut or end < 2


def test_a_cut_mapping_of_verdicts_loses_the_last_one():
    reading = VerdictList.read(
        '{"1": {"verdict": "no"}, "2": {"verdict": "yes", "reason": "bec', Hints.counting(2)
    )
    assert [one.number for one in reading.value.verdicts] == [1]


@pytest.mark.parametrize(
    "reply",
    [
        "Here are the three statements:\n1. A is B.\n2. C is D.",
        '1. A is B.\n2. C is called "D',
        "1. A is B.\n2. C is D (and",
        "```\n1. A is B.\n2. C is D.",
    ],
)
def test_a_text_list_that_shows_its_cut_is_read_only_where_the_provider_says_that_it_is_whole(reply):
    assert StatementList.read(reply, Hints()).cut
    assert len(StatementList.read(reply, Hints(stopped=True)).value.statements) == 2


def test_the_last_verdict_of_a_cut_text_is_asked_about_again():
    reply = '1. yes\n2. no, for the text says "it'
    assert [one.number for one in VerdictList.read(reply, Hints.counting(2)).value.verdicts] == [1]
    assert len(VerdictList.read(reply, Hints((1, 2), stopped=True)).value.verdicts) == 2
    assert [
        one.number for one in VerdictList.read("1. yes\n2. no", Hints((1, 2), stopped=False)).value.verdicts
    ] == [1]
