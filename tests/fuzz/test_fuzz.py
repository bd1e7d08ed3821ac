"""What once reached something new, or broke something, breaks nothing; nor do other inputs like it."""

import random

import pytest

from ragmetrics_core import parsers
from tests.fuzz.catalogue import CORPUS, TARGETS, kept
from tests.fuzz.mutation import mutated
from tests.fuzz.parser_targets import answer_types

# What the package offers beside the parsers: types of values, and what is read of records.
NO_PARSERS = {
    "ANYTHING", "AlternativeTokens", "Answer", "CONTRADICTED", "Declined", "ELLIPSIS", "END", "Expected",
    "GeneratedQuestion", "INSUFFICIENT", "IsotonicMap", "LONGEST", "NONE_OF_THESE", "NOT_MENTIONED",
    "NumberedVerdict", "PASSED_ON", "PlattMap", "ProbabilityMap", "RATED", "READER", "Reading", "STANCES",
    "SUPPORTED", "Scale", "Span", "UNKNOWN", "UNPROVEN", "WITH_CLAIM", "WrittenQuestion", "at_words",
    "comparable", "of_earlier", "plain_reply", "sentence_question", "yes_or_no_in",
}  # fmt: skip
EACH = 150


@pytest.mark.parametrize("name", TARGETS)
def test_every_kept_input_is_read_or_refused_in_an_error_of_ours(name):
    inputs = kept(name)
    assert inputs
    for data in inputs:
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_an_input_made_of_kept_ones_is_read_or_refused_in_an_error_of_ours(name):
    target = TARGETS[name]
    inputs = [*target.seeds(), *kept(name)]
    chance = random.Random(0)
    for _ in range(EACH if name.startswith("parser.") else EACH // 5):
        target(mutated(chance.choice(inputs), inputs, chance, target.largest))


def test_every_public_parser_has_a_target():
    fuzzed = {name.partition(".")[2] for name in TARGETS if name.startswith("parser.")}
    assert fuzzed == set(parsers.__all__) - NO_PARSERS
    assert {each.__name__ for each in answer_types()} < fuzzed


def test_the_kept_inputs_are_those_of_the_targets_and_take_little_room():
    files = list(CORPUS.glob("*"))
    assert {path.name for path in files} == {f"{name}.jsonl" for name in TARGETS}
    assert sum(path.stat().st_size for path in files) < 1_000_000
