"""The items that a small model is asked about: the same each time, half of them good, and made as is said."""

from functools import cache

import pytest

from benchmarks.earlier_prompts import metric_of
from benchmarks.small_model import CARDS
from benchmarks.small_model_sets import (
    SETS,
)
from ragmetrics_core import evaluate
from ragmetrics_core.parsers import Rating
from ragmetrics_core.probe import read_cards, read_labelled
from ragmetrics_core.prompts import load
from ragmetrics_core.testing import ScriptedJudge


def _way(card):
    return f"{card.set_name}, {card.metric} by {card.judge}"


@cache
def _rows(name, shared, n):
    return list(SETS[name].rows(shared, n))


@pytest.fixture
def drawn(shared_data):
    return lambda name, n: _rows(name, shared_data(SETS[name].file).parents[1], n)


@pytest.mark.parametrize("name", SETS)
def test_half_of_the_items_are_good_and_more_items_begin_with_the_fewer(drawn, name):
    rows, again = drawn(name, 20), drawn(name, 10)
    assert [SETS[name].good(row) for row in rows] == [False, True] * 10
    assert len({row["id"] for row in rows}) == 20
    assert again == rows[:10]


@pytest.mark.parametrize("name", [name for name, drawn in SETS.items() if drawn.label])
def test_a_made_item_says_by_its_label_alone_what_it_is(drawn, name):
    label = SETS[name].label
    for row in drawn(name, 20):
        assert row[label] is SETS[name].good(row)
        assert not [each for each in row if each.startswith("label")]


@pytest.mark.parametrize("card", [card for card in read_cards(CARDS) if SETS[card.set_name].label], ids=_way)
def test_the_items_are_those_that_the_page_has_figures_of(drawn, card):
    made = SETS[card.set_name]
    rows = drawn(card.set_name, sum(card.statuses.values()))
    assert read_labelled(rows, label=made.label, source=made.source).digest == card.set_digest


def test_a_version_from_before_a_variable_was_renamed_is_asked_in_its_own_words():
    prompt = metric_of("answer_accuracy(rate=accuracy_grade.v1)").rate
    asked = prompt.render({"question": "Where?", "first": "in Ulm", "second": "Ulm"})[-1].content
    assert "<answer>\nin Ulm\n</answer>\nSecond answer:\n<reference>\nUlm\n</reference>" in asked
    assert (prompt.id, prompt.digest) == ("accuracy_grade.v1", _in_the_library("accuracy_grade.v1").digest)


def test_a_version_from_before_a_variable_was_added_leaves_it_out():
    judge = ScriptedJudge({"sentence_rating": {"reason": "there", "rating": 5}})
    metric = metric_of("groundedness_rating(rate=sentence_rating.v1)")
    sample = {"question": "Where was he?", "answer": "In Ulm.", "contexts": ["He was in Ulm."]}
    (record,) = evaluate([sample], metrics=metric, judge=judge).records()
    assert record.value == 0.5
    (step,) = record.generate_steps
    assert step.prompt_digest == _in_the_library("sentence_rating.v1").digest
    shown = {"contexts": ["He was in Ulm."], "answer": "In Ulm."}
    given = {**shown, "question": "Where was he?", "before": "", "after": ""}
    assert metric.rate.render(given) == _in_the_library("sentence_rating.v1").render(shown)


def _in_the_library(written):
    name, _, version = written.partition(".v")
    return load(name, version=int(version), answer=Rating)
