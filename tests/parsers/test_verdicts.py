"""Verdicts stand beside their statements, or are missing; the denominator never shifts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.parsers import Hints, NumberedVerdict, VerdictList, align

VERDICTS = st.lists(
    st.builds(NumberedVerdict, number=st.integers(-2, 9), supported=st.booleans()), max_size=12
)


def verdict(number, supported=True):
    return NumberedVerdict(number=number, supported=supported)


def test_a_verdict_stands_at_its_statements_number_whatever_the_order():
    aligned = align([1, 2, 3], [verdict(3), verdict(1, supported=False), verdict(2)])

    assert {number: one.supported for number, one in aligned.verdicts.items()} == {1: False, 2: True, 3: True}


def test_a_statement_without_a_verdict_is_missing_and_not_left_out():
    # two verdicts for four statements: 2 and 4 are missing, the score is not 2/2
    assert align([1, 2, 3, 4], [verdict(1), verdict(3)]).missing == (2, 4)


def test_two_contrary_verdicts_on_a_number_are_a_conflict_and_the_number_is_missing():
    aligned = align([1, 2], [verdict(1), verdict(2), verdict(1, supported=False)])

    assert (list(aligned.verdicts), aligned.missing) == ([2], (1,))
    assert aligned.dropped == (
        "verdict 1: contradicts an earlier one",
        "verdict 1: contradicted by a later one",
    )


def test_a_number_that_was_not_asked_about_is_recorded_and_does_not_count():
    aligned = align([1, 2], [verdict(0), verdict(3), verdict(2)])

    assert list(aligned.verdicts) == [2]
    assert len(aligned.dropped) == 2


def test_a_later_chunk_of_statements_has_its_own_numbers():
    assert align([21, 22], [verdict(21)]).missing == (22,)


def test_numbers_asked_again_need_not_be_in_a_row():
    assert align((2, 5, 9), [verdict(5), verdict(3)]).missing == (2, 9)


@given(st.integers(0, 8), VERDICTS, st.integers(-1, 3))
def test_every_statement_has_a_verdict_or_is_missing_and_every_verdict_counts_or_is_recorded(
    count, verdicts, first
):
    asked = range(first, first + count)
    aligned = align(asked, verdicts)

    assert set(aligned.verdicts) | set(aligned.missing) == set(asked)
    assert not set(aligned.verdicts) & set(aligned.missing)
    assert len(aligned.verdicts) + len(aligned.dropped) == len(verdicts)


def test_unnumbered_verdicts_take_the_numbers_that_were_asked_about():
    reading = VerdictList.read("Yes. No.", Hints((4, 7)))

    assert [(one.number, one.supported) for one in reading.value.verdicts] == [(4, True), (7, False)]


def test_a_bare_word_is_the_verdict_on_the_one_statement_asked_about():
    reading = VerdictList.read("No", Hints((21,)))

    assert [(one.number, one.supported) for one in reading.value.verdicts] == [(21, False)]


@pytest.mark.parametrize(
    "reply", ["1.", "1)", "(1)", "1:", " 1. ", "1", "#1", "[1]", "- 1", "**1**", "\\boxed{1}"]
)
def test_the_number_of_the_statement_alone_is_no_yes(reply):
    assert VerdictList.read(reply, Hints((1,))).value is None


@pytest.mark.parametrize("reply", ["1", "1."])
def test_one_is_a_yes_where_it_is_not_the_statements_own_number(reply):
    reading = VerdictList.read(reply, Hints((2,)))

    assert [(one.number, one.supported) for one in reading.value.verdicts] == [(2, True)]


YES_OR_NO = ("Reply with one line for each number and nothing else: the number, then yes or no.",)
ONE_OR_ZERO = ("Reply with 1 if the contexts support the statement, and with 0 if they do not.",)


@pytest.mark.parametrize("reply", ["1", "0", "#1", "[1]", "[0]", '"1"'])
def test_a_digit_is_no_verdict_where_the_prompt_asks_for_yes_or_no(reply):
    assert VerdictList.read(reply, Hints((2,), form=YES_OR_NO)).value is None


@pytest.mark.parametrize(
    ("reply", "supported"), [("1", True), ("0", False), ("[1]", True), ("Answer: 0", False)]
)
def test_a_digit_is_the_verdict_where_the_prompt_asks_for_1_or_0(reply, supported):
    reading = VerdictList.read(reply, Hints((1,), form=ONE_OR_ZERO))

    assert [(one.number, one.supported) for one in reading.value.verdicts] == [(1, supported)]


def test_the_number_in_the_form_of_a_prompt_is_no_digit_that_it_asks_for():
    form = ('Reply with {"verdicts": [{"number": 1, "verdict": "yes"}]}; the first of 0 or more.',)

    assert VerdictList.read("1", Hints((1,), form=form)).value is None


@pytest.mark.parametrize("reply", ["1. 0\n2. 1", "1 0\n2 1", "1. 0\n2. 0", "1. 0", "1.0", "0.1"])
def test_a_number_with_its_verdict_is_not_taken_for_two_verdicts(reply):
    # "1. 0" says no of statement 1; read as a list of two verdicts it would be a yes on it
    assert VerdictList.read(reply, Hints.counting(2)).value is None


@pytest.mark.parametrize("reply", ["1, 0", "1 0", "1\n0", "Final verdicts in order: 1. 0."])
def test_ones_and_zeros_in_a_row_are_the_verdicts_in_order(reply):
    reading = VerdictList.read(reply, Hints.counting(2))

    assert [(one.number, one.supported) for one in reading.value.verdicts] == [(1, True), (2, False)]


def test_what_does_not_count_is_said():
    reply = '{"verdicts": [{"number": 1, "verdict": "perhaps so"}, {"number": 2, "verdict": "yes"}]}'

    assert VerdictList.read(reply, Hints.counting(2)).dropped == ("verdict 1: 'perhaps so' is no verdict",)


TEXT = st.text(max_size=30)
ITEM = st.fixed_dictionaries(
    {"number": st.integers(-1, 12), "verdict": st.sampled_from(["yes", "no"])},
    optional={"reason": TEXT, "evidence": TEXT},
)


@given(st.lists(ITEM, max_size=5))
def test_the_very_form_of_the_prompts_reads_as_the_chain_of_rules_reads_it(items):
    exact = json.dumps({"verdicts": items})
    # a line break in front is enough to be read by the chain
    one, other = (VerdictList.read(text, Hints.counting(12)) for text in (exact, "\n" + exact))
    assert one == other


@pytest.mark.parametrize(("given", "kept"), [("0.83", 0.83), ("1", 1.0), ("1.2", None), ('"high"', None)])
def test_a_probability_from_0_to_1_is_the_verdicts_confidence_and_anything_else_costs_no_verdict(given, kept):
    reply = f'{{"verdicts": [{{"number": 1, "verdict": "yes", "probability": {given}}}]}}'

    reading = VerdictList.read(reply, Hints.counting(1))

    assert [(each.supported, each.confidence) for each in reading.value.verdicts] == [(True, kept)]
