"""The items that a small model is asked about: the same each time, half of them good, and made as is said."""

from functools import cache

import pytest

from benchmarks.earlier_prompts import metric_of
from benchmarks.small_model import CARDS
from benchmarks.small_model_sets import (
    SETS,
    declining,
    passages,
    ranked,
    turns,
    useful,
    without_answer,
    years,
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


QUESTIONS = [
    {
        "id": "1",
        "source_id": "tea",
        "question": "how hot is tea water",
        "answer": "Water for tea boils.",
        "contexts": ["Milk is white.", "Tea wants water that boils."],
        "label_hallucinated": False,
    },
    {
        "id": "2",
        "source_id": "tea",
        "question": "how hot is tea water",
        "answer": "Tea.",
        "contexts": ["Milk is white.", "Tea wants water that boils."],
        "label_hallucinated": True,
    },
    {
        "id": "3",
        "source_id": "sea",
        "question": "how deep is the sea",
        "answer": "The sea is deep.",
        "contexts": ["The deep sea is cold water.", "A ship sails."],
        "label_hallucinated": False,
    },
]


def test_a_question_gets_the_passage_of_its_answer_and_the_nearest_of_another_question():
    # of tea's answer 'water', 'tea' and 'boils' stand in its second chunk; of its question 'is' and 'water'
    # stand in the sea's first one; of the sea's question 'is' stands in milk's, nothing in that of tea
    assert [(row["id"], row["contexts"], row["relevant"]) for row in passages(QUESTIONS)] == [
        ("3-own", ["The deep sea is cold water."], True),
        ("3-other", ["Milk is white."], False),
        ("1-own", ["Tea wants water that boils."], True),
        ("1-other", ["The deep sea is cold water."], False),
    ]


def test_to_decline_is_right_beside_the_passage_of_another_question():
    made = list(without_answer(QUESTIONS))
    assert {row["answer"] for row in made} == {""}
    assert [row["insufficient"] for row in made] == [False, True, False, True]


def test_of_two_chunks_the_own_one_stands_first_or_last():
    made = {row["id"]: row for row in ranked(QUESTIONS)}
    own, other = "Tea wants water that boils.", "The deep sea is cold water."
    assert made["1-own-first"]["contexts"] == [own, other]
    assert made["1-own-last"]["contexts"] == [other, own]
    assert made["1-own-last"]["reference"] == "Water for tea boils."
    assert [row["own_first"] for row in made.values()] == [True, False, True, False]


def test_turns_are_single_sentences_that_are_entailed_or_hold_a_hallucination():
    told = ["Entailment", "entailment,hallucination", "Hallucination", "Generic", "entailment,uncooperative"]
    rows = [
        {
            "id": label,
            "answer": "He sang and danced for sixty years.",
            "contexts": ["He sang."],
            "label_begin": label,
        }
        for label in told
    ]
    long = {**rows[0], "id": "long", "contexts": ["He sang. " * 100]}
    twice = {**rows[0], "id": "twice", "answer": "He sang for many years. He danced as well."}
    made = {row["id"]: row["faithful"] for row in turns([*rows, long, twice])}
    assert made == {"Entailment": True, "entailment,hallucination": False, "Hallucination": False}


def test_an_answer_rated_in_the_middle_is_neither_of_use_nor_of_none():
    rows = [{"id": str(n), "answer": "It was built in 1889.", "label_utility": n} for n in range(1, 6)]
    assert {row["id"]: row["useful"] for row in useful(rows)} == {
        "1": False,
        "2": False,
        "4": True,
        "5": True,
    }


def test_an_apology_that_people_call_wrong_declines_and_a_right_answer_does_not():
    sorry = "I'm sorry, but I couldn't find any information about that."
    told = "The tower was built by Gustave Eiffel in 1889 for a fair."
    rows = [
        {"id": "wrong apology", "answer": sorry, "label_correct": False},
        {"id": "right apology", "answer": sorry, "label_correct": True},
        {"id": "apology and more", "answer": f"{sorry} However, it is Eiffel.", "label_correct": False},
        {"id": "wrong", "answer": told, "label_correct": False},
        {"id": "right", "answer": told, "label_correct": True},
    ]
    made = {row["id"]: row["declines"] for row in declining([{"model": "newbing", **row} for row in rows])}
    assert made == {"wrong apology": True, "right": False}


@pytest.mark.parametrize(
    ("text", "named"),
    [("in May 1889", True), ("after 2024.", True), ("12,889 of them", False), ("in 3000", False)],
)
def test_a_year_is_four_digits_of_the_second_or_the_third_millennium(text, named):
    row = {"id": "1", "model": "chatgpt", "answer": f"The tower was built by Gustave Eiffel, {text}"}
    assert [made["names_a_year"] for made in years([row])] == [named]


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
