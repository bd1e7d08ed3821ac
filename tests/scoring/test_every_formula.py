"""What every formula keeps to: its range, any order that does not count, what makes it better, and JSON.

A formula that is added to the package must be given its arguments here; a test sees that none is missing.
One that rightly depends on an order, or can get worse, says why, and a test sees that it does. The forms for
many queries give what these give (`test_retrieval`).
"""

import inspect
import json
import math
import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st

from ragmetrics_core import scoring

Arguments = list[Any]
Change = Callable[[Arguments, random.Random], Arguments]

few = settings(max_examples=30)
shares = st.floats(min_value=0, max_value=1)
ids = st.sampled_from("abcdef")
words = st.lists(st.sampled_from("abcd"), max_size=10)
counts = st.integers(0, 20)
betas = st.floats(min_value=0.1, max_value=10)
cuts = st.none() | st.integers(1, 8)


class Case(NamedTuple):
    """One formula: its arguments, and what may be done to them.

    Attributes:
        arguments: those that it is made for.
        reorder: puts them into another order that must not count; None where nothing is a list.
        ordered: why an order counts, and the change that shows it.
        improve: turns one thing right: a verdict to supported, one more match; None where there is no right.
        worse: why that can lower the score.
        limits: the range, where it depends on the arguments.
    """

    arguments: st.SearchStrategy[Arguments]
    reorder: Change | None = None
    ordered: tuple[str, Change] | None = None
    improve: Change | None = None
    worse: str = ""
    limits: Callable[[Arguments], tuple[float, float]] | None = None


# -- changes of arguments


def shuffled(*places: int) -> Change:
    """Each of these lists in another order."""

    def change(arguments: Arguments, chance: random.Random) -> Arguments:
        return [
            chance.sample(list(each), len(each)) if place in places and not isinstance(each, dict)
            else dict(chance.sample(list(each.items()), len(each))) if place in places
            else each
            for place, each in enumerate(arguments)
        ]  # fmt: skip

    return change


def together(arguments: Arguments, chance: random.Random) -> Arguments:
    """The first two lists in the same other order."""
    first, second, *rest = arguments
    pairs = list(zip(first, second, strict=True))
    chance.shuffle(pairs)
    return [[a for a, _ in pairs], [b for _, b in pairs], *rest]


def swapped(arguments: Arguments, chance: random.Random) -> Arguments:
    """The first two arguments in each other's place."""
    first, second, *rest = arguments
    return [second, first, *rest]


def votes_shuffled(arguments: Arguments, chance: random.Random) -> Arguments:
    """Samples, their repetitions and the votes in these, each in another order."""
    samples = [
        [chance.sample(votes, len(votes)) for votes in chance.sample(sample, len(sample))]
        for sample in arguments[0]
    ]
    return [chance.sample(samples, len(samples))]


def flipped(arguments: Arguments, chance: random.Random) -> Arguments:
    """One verdict that is not supported, or not known, turned to supported."""
    verdicts, *rest = arguments
    place = chance.choice([*(i for i, verdict in enumerate(verdicts) if not verdict), 0])
    return [[*verdicts[:place], True, *verdicts[place + 1 :]], *rest]


def one_more(*pairs: tuple[int, int]) -> Change:
    """One of these numbers higher by one, up to another one of the arguments."""

    def change(arguments: Arguments, chance: random.Random) -> Arguments:
        place, most = chance.choice(pairs)
        raised = list(arguments)
        raised[place] = min(arguments[place] + 1, arguments[most])
        return raised

    return change


def one_more_match(arguments: Arguments, chance: random.Random) -> Arguments:
    """One more matching n-gram, where there is one that does not match."""
    matches, *totals = arguments
    length = chance.randrange(len(matches))
    most = min(each[length] for each in totals if isinstance(each, list))
    matches = [min(count + (place == length), most) if place == length else count
               for place, count in enumerate(matches)]  # fmt: skip
    return [matches, *totals]


def one_put_right(arguments: Arguments, chance: random.Random) -> Arguments:
    """One that was wrong or missing is right."""
    tp, fp, fn, *rest = arguments
    if fp and (chance.random() < 0.5 or not fn):
        return [tp + 1, fp - 1, fn, *rest]
    return [tp + 1, fp, fn - 1, *rest] if fn else arguments


def raised(arguments: Arguments, chance: random.Random) -> Arguments:
    """One of the values higher."""
    values, *rest = arguments
    place = chance.randrange(len(values))
    return [[min(value + 0.25, 1.0) if i == place else value for i, value in enumerate(values)], *rest]


def share_raised(arguments: Arguments, chance: random.Random) -> Arguments:
    """Precision or recall higher."""
    place = chance.randrange(2)
    value = arguments[place]
    return [*arguments[:place], None if value is None else min(value + 0.25, 1.0), *arguments[place + 1 :]]


def one_found(arguments: Arguments, chance: random.Random) -> Arguments:
    """One entity of the reference is found, or one word of the reference is added to the answer."""
    reference, found, *rest = arguments
    return [reference, [*found, *chance.sample(reference, min(1, len(reference)))], *rest]


def one_word(arguments: Arguments, chance: random.Random) -> Arguments:
    """One word of the reference more at the end of the answer."""
    answer, reference = arguments
    return [[*answer, *chance.sample(reference, min(1, len(reference)))], reference]


def one_relevant(arguments: Arguments, chance: random.Random) -> Arguments:
    """One retrieved result that was not relevant turns out to be."""
    retrieved, relevant, *rest = arguments
    others = [each for each in retrieved if each not in relevant]
    if not others:
        return arguments
    new = chance.choice(others)
    return [retrieved, {**relevant, new: 1} if isinstance(relevant, dict) else [*relevant, new], *rest]


# -- the formulas

RANKS = ("a rank counts", shuffled(0))
ranking = st.builds(list, st.tuples(st.lists(ids, max_size=8), st.lists(ids, max_size=5) | st.dictionaries(
    ids, st.sampled_from([-1, 0, 0.5, 1, 2, 3]), max_size=5), cuts))  # fmt: skip
vectors = st.integers(1, 4).flatmap(
    lambda size: st.lists(
        st.lists(st.floats(-1e6, 1e6), min_size=size, max_size=size), min_size=2, max_size=5
    )
)
weighted = st.lists(st.tuples(shares, st.floats(0, 10)), min_size=1, max_size=6).map(
    lambda pairs: [[value for value, _ in pairs], [weight for _, weight in pairs[:-1]] + [pairs[-1][1] + 0.5]]
)


@st.composite
def n_grams(draw: st.DrawFn) -> Arguments:
    """Matches by length, no more than each side has, and both sides."""
    lengths = draw(st.lists(st.tuples(counts, counts), min_size=1, max_size=4))
    matches = [draw(st.integers(0, min(each))) for each in lengths]
    return [matches, [answer for answer, _ in lengths], [reference for _, reference in lengths]]


@st.composite
def alignments(draw: st.DrawFn) -> Arguments:
    """What METEOR counts: matched words in at most as many runs, of texts that are as long."""
    answer, reference = draw(st.integers(1, 20)), draw(st.integers(0, 20))
    matched = draw(st.integers(0, min(answer, reference)))
    return [matched, draw(st.integers(1, matched)) if matched else 0, answer, reference]


def nuggets(verdict: st.SearchStrategy[Any]) -> st.SearchStrategy[Arguments]:
    """Verdicts on full support, support in part and importance, and two weights."""
    rows = st.lists(st.tuples(verdict, verdict, verdict), min_size=1, max_size=5)
    weights = st.tuples(st.sampled_from([0, 0.5]), st.sampled_from([0, 0.5, 1]))
    return st.tuples(rows, weights).map(lambda drawn: [*map(list, zip(*drawn[0], strict=True)), *drawn[1]])


def given_as(*each: st.SearchStrategy[Any]) -> st.SearchStrategy[Arguments]:
    return st.tuples(*each).map(list)


verdicts = st.lists(st.booleans(), max_size=8)
CASES = {
    "average_precision": Case(
        given_as(verdicts), ordered=RANKS, improve=flipped,
        worse="a relevant result behind others lowers the mean precision",
    ),
    "average_precision_at": Case(
        ranking, shuffled(1), RANKS, one_relevant, "as `average_precision`, and there is one more to find"
    ),
    "average_precision_bounds": Case(
        given_as(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=8)),
        ordered=RANKS, improve=flipped, worse="as `average_precision`",
    ),
    "bleu": Case(
        st.integers(0, 8).flatmap(
            lambda words: given_as(
                st.tuples(*(st.integers(0, max(words - n, 0)) for n in range(4))).map(list),
                st.just([max(words - n, 0) for n in range(4)]), st.just(words), counts,
            )
        ),
        improve=one_more_match,
    ),
    "chrf": Case(n_grams(), improve=one_more_match),
    "common_length": Case(
        given_as(words, words), swapped, ("words must stand in the same order", shuffled(0)), one_word,
        limits=lambda a: (0, min(map(len, a))),
    ),
    "cosine": Case(vectors.map(lambda found: found[:2]), swapped),
    "entity_recall": Case(given_as(st.lists(ids), st.lists(ids)), shuffled(0, 1), improve=one_found),
    "f_beta": Case(given_as(counts, counts, counts, betas), improve=one_put_right),
    "f_measure": Case(given_as(st.none() | shares, st.none() | shares, betas), improve=share_raised),
    "harmonic_mean": Case(
        given_as(st.lists(shares, min_size=1)), shuffled(0), improve=raised, limits=lambda a: (0, 1)
    ),
    "hit_at": Case(ranking, shuffled(1), RANKS, one_relevant),
    "mean_cosine": Case(vectors.map(lambda found: [found[0], found[1:]]), shuffled(1)),
    "meteor": Case(alignments(), improve=one_more((0, 2))),
    "ndcg_at": Case(
        ranking, shuffled(1), RANKS, one_relevant, "with one more relevant result the best ranking has more"
    ),
    "nested_spread": Case(
        given_as(st.lists(st.lists(st.lists(shares, min_size=1, max_size=3), max_size=3), max_size=4)),
        votes_shuffled,
    ),
    "nugget_recall": Case(nuggets(st.booleans()), improve=flipped),
    "nugget_recall_bounds": Case(nuggets(st.sampled_from([True, False, None])), improve=flipped),
    "precision_at": Case(ranking, shuffled(1), RANKS, one_relevant),
    "recall_at": Case(
        ranking, shuffled(1), RANKS, one_relevant, "behind the cut-off it is one more that was not found"
    ),
    "reciprocal_rank_at": Case(ranking, shuffled(1), RANKS, one_relevant),
    "reciprocal_ranks_at": Case(
        ranking, shuffled(1), RANKS, one_relevant, "a relevant result behind others lowers the mean"
    ),
    "share": Case(
        counts.flatmap(lambda whole: given_as(st.integers(0, whole), st.just(whole))),
        improve=one_more((0, 1)),
    ),
    "shared_words": Case(
        given_as(words, words), shuffled(0, 1), improve=one_word, limits=lambda a: (0, min(map(len, a)))
    ),
    "supported_share": Case(given_as(verdicts), shuffled(0), improve=flipped),
    "weighted_mean": Case(weighted, together, improve=raised, limits=lambda a: (0, 1)),
    "words_of": Case(given_as(st.text()), limits=lambda a: (0, math.inf)),
}  # fmt: skip


def formula(name: str, arguments: Arguments) -> Any:
    return getattr(scoring, name)(*arguments)


def numbers(value: Any) -> list[float]:
    """The numbers of a result, which may be none or several; of words, how many there are."""
    if isinstance(value, list):
        return [len(value)]
    several = value if isinstance(value, tuple) else (value,)
    return [each for each in several if each is not None]


def limits(name: str, arguments: Arguments) -> tuple[float, float]:
    """The range that the docstring states, unless it depends on the arguments."""
    if (case := CASES[name]).limits is not None:
        return case.limits(arguments)
    low, high = re.search(r"Range \[(-?\d+), (\d+|inf)[\])]", getattr(scoring, name).__doc__).groups()
    return float(low), float(high)


def gains(name: str, before: Arguments, after: Arguments) -> list[float]:
    """By how much each number of the result rises."""
    was, becomes = numbers(formula(name, before)), numbers(formula(name, after))
    return [b - a for a, b in zip(was, becomes, strict=True)] if was else []


def grade(result: Any, relevant: Any = None) -> float:
    """How relevant a result is: by its own verdict, or by its id."""
    if relevant is None:
        return float(bool(result))
    return max(0.0, relevant.get(result, 0)) if isinstance(relevant, dict) else float(result in relevant)


def having(part: str) -> list[str]:
    return [name for name, case in CASES.items() if getattr(case, part)]


@pytest.mark.parametrize("name", CASES)
@few
@given(data=st.data())
def test_a_formula_stays_in_its_range_and_says_nothing_else_than_numbers(name, data):
    arguments = data.draw(CASES[name].arguments)
    low, high = limits(name, arguments)
    assert all(math.isfinite(each) and low <= each <= high for each in numbers(formula(name, arguments)))


@pytest.mark.parametrize("name", CASES)
@few
@given(data=st.data())
def test_a_formula_gives_the_same_again_and_of_arguments_that_were_written_as_json(name, data):
    arguments = data.draw(CASES[name].arguments)
    value = json.dumps(formula(name, arguments), allow_nan=False)
    assert json.dumps(formula(name, arguments)) == value
    assert json.dumps(formula(name, json.loads(json.dumps(arguments)))) == value
    assert json.dumps(json.loads(value)) == value


@pytest.mark.parametrize("name", having("reorder"))
@few
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_an_order_that_says_nothing_does_not_move_a_formula_by_one_bit(name, data, chance):
    arguments = data.draw(CASES[name].arguments)
    assert formula(name, CASES[name].reorder(arguments, chance)) == formula(name, arguments)


@pytest.mark.parametrize("name", [name for name in having("improve") if not CASES[name].worse])
@few
@given(data=st.data(), chance=st.randoms(use_true_random=False))
def test_one_thing_more_that_is_right_never_lowers_a_formula(name, data, chance):
    arguments = data.draw(CASES[name].arguments)
    assume(numbers(formula(name, arguments)))
    # a mean of quotients is not exact in its last bits
    assert all(gain >= -1e-15 for gain in gains(name, arguments, CASES[name].improve(arguments, chance)))


def example(name: str, condition: Callable[[Arguments, random.Random], bool]) -> Arguments:
    """Arguments of a formula for which the condition holds; there must be some."""
    enough = settings(max_examples=2000, derandomize=True, database=None, phases=[Phase.generate])
    return find(CASES[name].arguments, lambda found: condition(found, random.Random(0)), settings=enough)


@pytest.mark.parametrize("name", having("ordered"))
def test_a_formula_that_is_said_to_depend_on_an_order_does(name):
    why, change = CASES[name].ordered
    assert why
    assert example(name, lambda found, chance: formula(name, change(found, chance)) != formula(name, found))


@pytest.mark.parametrize("name", having("worse"))
def test_a_formula_that_is_said_to_get_worse_does(name):
    improve = CASES[name].improve

    def falls(found: Arguments, chance: random.Random) -> bool:
        return any(gain < -1e-9 for gain in gains(name, found, improve(found, chance)))

    assert example(name, falls)


@pytest.mark.parametrize("name", [name for name in having("ordered") if CASES[name].ordered == RANKS])
@few
@given(data=st.data())
def test_a_better_result_that_changes_places_with_the_one_before_it_never_lowers_a_formula(name, data):
    ranked, *rest = data.draw(CASES[name].arguments)
    # results by their ids count once; behind a cut-off a result may come into the mean that lowers it
    ranked, rest = (list(dict.fromkeys(ranked)), rest[:1]) if rest else (ranked, rest)
    worth = [grade(each, *rest) for each in ranked]
    for place in range(1, len(ranked)):
        if worth[place] > worth[place - 1]:
            moved = [*ranked[: place - 1], ranked[place], ranked[place - 1], *ranked[place + 1 :]]
            assert all(gain >= -1e-15 for gain in gains(name, [ranked, *rest], [moved, *rest]))


def test_every_formula_is_tested_here():
    assert set(CASES) == {name for name in scoring.__all__ if inspect.isfunction(getattr(scoring, name))}
