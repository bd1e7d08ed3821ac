"""Promises on `benchmarks.question_sets`: the counting behind the comparison with people's questions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.question_data import mtrag, ragtruth, squad
from benchmarks.question_sets import (
    SETUPS,
    Asked,
    Chunks,
    Measured,
    Resamples,
    SetUp,
    agreement,
    asked_by,
    comparable_pairs,
    first_gold,
    fused,
    halves,
    more_often,
    rates,
    report,
    shares,
    word_overlap,
)
from benchmarks.question_writer import candidates, first_tasks
from ragmetrics_core import evaluate
from ragmetrics_core.questions import Quote, generate_questions, read_corpus
from ragmetrics_core.runs import Run
from tests.questions.towers import Towers, documents, good

CORPUS = read_corpus([
    {"id": "a", "text": "Crab traps are baited. They stand on the sea floor.", "group": "sea"},
    {"id": "b", "text": "Sugar softens beside bread. It takes a day."},
])  # fmt: skip
THREE = [(0, 1), (0, 2), (1, 2)]


def test_pairs_that_differ_in_k_only_are_left_out():
    # 15 * 14 / 2 = 105 pairs; three rankers have 50 words twice and 100 words twice: 105 - 3 * 2
    assert len(SETUPS) == 15
    assert len(comparable_pairs(SETUPS)) == 99
    three = (SetUp("bm25", 50, 2), SetUp("bm25", 50, 4), SetUp("bm25", 100, 2))
    assert comparable_pairs(three) == [(0, 2), (1, 2)]


def test_the_share_of_equal_decisions_counts_pairs_that_both_sets_decide():
    # first set: 0 < 1, 0 > 2, 1 > 2; second set: 0 < 1, 0 < 2, and 1 = 2. Decided by both: 2; alike: 1
    found = agreement(np.array([0.5, 0.6, 0.4]), np.array([0.1, 0.3, 0.3]), THREE)
    assert found == (1, 2, 1, 0)
    assert found.share == 0.5


def test_sets_that_decide_nothing_have_no_share():
    tied = np.array([0.3, 0.3, 0.1 + 0.2])
    assert agreement(tied, tied, THREE) == (0, 0, 0, 3)
    assert agreement(tied, tied, THREE).share is None
    assert shares(np.array([tied]), np.array([tied]), THREE).tolist() == []


@given(st.lists(st.integers(0, 20), min_size=3, max_size=3, unique=True))
def test_a_set_agrees_with_itself_and_never_with_its_reverse(numbers):
    mine = np.array(numbers) / 20
    assert agreement(mine, mine, THREE).share == 1
    assert agreement(mine, -mine, THREE).share == 0


def test_fusion_adds_reciprocals_of_60_and_the_rank():
    # item 0: 1/61 + 1/62; item 1: 1/62 + 1/61; item 2: 1/63 + 1/63: a tie goes to the lower number
    assert fused([[0, 1, 2], [1, 0, 2]]) == [0, 1, 2]
    # item 2: 1/61 + 1/62; item 0: 1/62 + 1/63; item 1: 1/63 + 1/61 = 0.03227 < 0.03252
    assert fused([[2, 0, 1], [1, 2, 0]]) == [2, 1, 0]


def test_the_first_gold_item_has_its_rank_from_one():
    assert first_gold([4, 2, 0], frozenset({0, 2})) == 2
    assert first_gold([4], frozenset({0})) is None


def test_overlap_is_the_share_of_the_questions_different_words():
    # how, do, crab, traps, work: 2 of 5; "crab" twice counts once
    assert word_overlap("How do crab, crab traps work?", "Crab traps are baited.") == 0.4
    assert word_overlap("?", "Crab") is None


def test_the_chance_of_a_larger_value_counts_ties_half_and_takes_weights():
    # (3, 1) against (1, 2): 3 > 1, 3 > 2, 1 = 1, 1 < 2: 2.5 of 4
    one, other = np.array([3.0, 1.0]), np.array([1.0, 2.0])
    assert more_often(one, other) == 0.625
    # 3 weighs 3, and 2 weighs 0: (3 * 1 + 1 * 0.5) / 4
    assert more_often(one, other, np.array([3.0, 1.0]), np.array([1.0, 0.0])) == 0.875
    assert more_often(one, other, np.zeros(2), np.ones(2)) is None


def test_rates_in_a_resample_without_a_question_are_unknown_and_not_counted():
    # weights 2 and 1 of hits 1 and 0: 2 / 3
    hits = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    found = rates(hits, np.array([[2.0, 1.0], [0.0, 0.0]]))
    assert found[0].tolist() == pytest.approx([2 / 3, 0, 1])
    assert np.isnan(found[1]).all()
    assert shares(found, found, THREE).tolist() == [1.0]


def test_questions_of_a_group_are_drawn_together_in_both_sets():
    one, other = (Asked("?", (), group) for group in ("sea", "bread"))
    draws = Resamples(["sea", "bread"], 50, seed=3)
    mine, its = draws.weights([one, other, one]), draws.weights([other])
    assert (mine[:, 0] == mine[:, 2]).all()
    assert (mine[:, 1] == its[:, 0]).all()
    assert (mine[:, 0] + mine[:, 1] == 2).all()
    assert (Resamples(["bread", "sea"], 50, seed=3).weights([one]) == mine[:, :1]).all()


def test_halves_share_no_group_and_repeat_by_seed():
    drawn = list(halves(["a", "b", "b", "c"], 5, seed=1))
    assert all(len(first) == 1 and first | second == {"a", "b", "c"} for first, second in drawn)
    assert all(not first & second for first, second in drawn)
    assert drawn == list(halves(["c", "b", "a"], 5, seed=1))


def test_gold_is_the_chunk_of_the_quote_or_all_chunks_of_its_document():
    chunks = Chunks.of(CORPUS, 5)
    assert chunks.texts[:2] == ("Crab traps are baited.", "They stand on the sea floor.")
    quote = Quote(document="a", start=23, end=51, text="They stand on the sea floor.")
    question = Asked("Where do crab traps stand?", (quote,), "sea")
    assert chunks.holding(question, whole=False) == {1}
    assert chunks.holding(question, whole=True) == {0, 1}


def test_rows_whose_gold_is_not_in_the_documents_are_left_out():
    rows = [
        {"question": "Where do they stand?", "reference_contexts": ["They stand on the sea floor."]},
        {"user_input": "How long?", "reference_contexts": ["It takes a day."]},
        {"question": "Who?", "reference_contexts": ["It takes a day.", "Ada wrote it."]},
        {"question": "Who?"},
    ]
    asked = asked_by(rows, CORPUS)
    assert [(each.text, each.group) for each in asked] == [
        ("Where do they stand?", "sea"),
        ("How long?", "b"),
    ]


def test_a_document_of_ragtruth_is_all_that_was_found_for_a_question():
    row = {"task_type": "QA", "question": "how do crab traps work", "contexts": ["One.", "Two.", "Three."]}
    data = ragtruth(iter([row, dict(row), row | {"task_type": "Summary", "question": None}]))
    assert [each["text"] for each in data.documents] == ["One.\n\nTwo.\n\nThree."]
    assert [each["reference_context_ids"] for each in data.questions] == [["ragtruth-1"]]


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({}, 1),
        ({"question": "Spousal support"}, 0),
        ({"multi_turn": ["Clarification"]}, 0),
        ({"question_type": ["Non-Question"]}, 0),
        ({"contexts": []}, 0),
        ({"collection": "mt-rag-ibmcloud-elser"}, 0),
    ],
)
def test_turns_of_mtrag_that_ask_nothing_by_themselves_are_left_out(change, count):
    row = {
        "task_id": "t", "conversation_id": "c", "question": "How do I file it?", "contexts": ["One.", "Two."],
        "multi_turn": [], "question_type": ["How-To"], "collection": "mt-rag-govt-elser",
    }  # fmt: skip
    data = mtrag(iter([row | change]))
    assert len(data.questions) == count
    assert len(data.documents) == 2 * count


def test_a_paragraph_in_the_form_of_squad_is_the_gold_of_its_questions(tmp_path):
    asked = {"id": 7, "question": "Who?", "answers": [{"text": "Ada"}]}
    paragraph = {"context": "Ada wrote it.", "qas": [asked, {"id": 8, "question": "Why?", "answers": []}]}
    file = tmp_path / "tele.json"
    file.write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}), encoding="utf-8")
    data = squad(file)
    assert data.documents == [{"id": "p1", "text": "Ada wrote it.", "source": "tele", "group": "1"}]
    assert [(each["id"], each["reference_context_ids"]) for each in data.questions] == [("7", ["p1"])]


def test_candidates_are_the_questions_of_the_first_round_whose_quotes_are_found(tmp_path):
    corpus = read_corpus(documents())
    tasks = first_tasks(corpus, "country", 3)
    absent = {"Bodo": good("Bodo", quotes=["The tower of Bodo was never built."])}
    judge = Towers(written=lambda place: absent.get(place) or good(place)).judge
    samples = [task.sample for task in tasks]
    run = evaluate(samples, metrics="question_writing", judge=judge, out=tmp_path / "run", progress=False)
    rows = list(candidates(tasks, run, corpus))
    assert len(tasks) == 6
    assert {row["question"] for row in rows} == {
        f"Who built the tower of {place}?" for place in ("Oslo", "Bergen", "Santiago", "Arica", "Iquique")
    }
    assert all(len(row["reference_contexts"]) == len(row["reference_context_ids"]) == 1 for row in rows)


def test_the_tasks_are_those_of_a_generated_set(tmp_path):
    corpus = read_corpus(documents())
    generate_questions(
        corpus, out=tmp_path / "set", judge=Towers().judge, per={"country": 2}, tries=1, progress=False
    )
    written = {sample.id for sample in Run.load(tmp_path / "set" / "written").samples()}
    assert written == {task.sample.id for task in first_tasks(corpus, "country", 2)}


def test_sets_that_tie_on_every_pair_are_reported_without_a_share():
    asked = tuple(Asked("How?", (), group) for group in ("sea", "bread"))
    ones = np.ones((2, 15))
    same = Measured(asked, ones, ones, np.array([1.0, 1.0]), np.array([0.5, 1.0]), np.array([1.0, 2.0]))
    lines = list(report(same, same, seed=0))
    # decided by both, alike, share, by one, by neither
    assert "| by quotes | 0 | 0 | none (no resample has any) | 0 | 99 |" in lines
    # every one of the 4 pairs: 0.5 > 0.5 no, so 0.5 + 0 + 1 + 0.5 of 4
    assert any(line.startswith("| overlap") and "| 0.50 (" in line for line in lines)


def test_bm25_is_compared_with_the_other_rankers_on_average_of_the_chunkings():
    # hits of BM25 with 5 of 5 chunkings, of vectors with 0, of both with 2: 1 - 0 and 1 - 0.4
    hits = np.array([[1.0] * 5 + [0.0] * 5 + [1.0, 1.0, 0.0, 0.0, 0.0]])
    one = Measured((Asked("How?", (), "sea"),), hits, hits, *(np.ones((3, 1))))
    lines = list(report(one, one, seed=0))
    assert "| vectors | +1.00 (1.00 to 1.00) | +1.00 (1.00 to 1.00) | +0.00 (0.00 to 0.00) |" in lines
    assert "| hybrid | +0.60 (0.60 to 0.60) | +0.60 (0.60 to 0.60) | +0.00 (0.00 to 0.00) |" in lines
