"""A hundred thousand blank lines in a reply: nearly nothing is done for each of them."""

import sys

import pytest

from ragmetrics_core.parsers import (
    Answer,
    EntityList,
    FactLists,
    Hints,
    QuestionList,
    Rating,
    RelevantSentences,
    StatementList,
    VerdictList,
)

BLANK = 10_000
PARSERS = [EntityList, FactLists, QuestionList, Rating, RelevantSentences, StatementList, VerdictList]


def calls(parser: type[Answer], reply: str) -> int:
    """How many functions are called to read a reply, those of Python's own library too."""
    count = 0

    def counted(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    parser.read(reply, Hints.counting(2))  # patterns are compiled at their first use
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        parser.read(reply, Hints.counting(2))
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("first", ["True / False", "1. Yes.", "The score: 7"])
def test_a_blank_line_costs_a_handful_of_calls(parser, first):
    # a blank line took 23 calls of a reader of verdicts, and 31 of one of questions; 9 are the most now
    assert calls(parser, first + "\n" * BLANK + "The end.") < 12 * BLANK


@pytest.mark.parametrize("blank", ["\n", " \n", "*\n"])
def test_a_reason_far_below_its_rating_is_found(blank):
    # spaces were tried again from each line on: 100,000 blank lines took three minutes
    reading = Rating.read("Rating: 7\n" + blank * 100_000 + "Reason: it is said.", Hints())

    assert (reading.value.rating, reading.value.reason) == (7, "it is said.")


@pytest.mark.parametrize("blank", ["\n", " \n", "\t\n"])
def test_verdicts_far_apart_are_read(blank):
    reading = VerdictList.read("1. Yes\n" + blank * 30_000 + "2. No", Hints.counting(2))

    assert [(one.number, one.supported) for one in reading.value.verdicts] == [(1, True), (2, False)]
