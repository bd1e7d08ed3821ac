"""Decisions of reviewers: stored once, used as they stand, and never guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.questions import Question, Quote
from ragmetrics_core.questions._decisions import (
    DecisionFile,
    digest_of_shown,
    draw_questions,
    read_decisions,
    review_of,
    store_decisions,
    stored_decisions,
)
from ragmetrics_core.questions._reviewing import review_tables, shares_of
from ragmetrics_core.study import wilson_interval


def question(name, *documents, **more):
    quotes = [Quote(document=document, start=0, end=3, text="abc") for document in documents]
    texts = {"question": f"Is {name}?", "answer": f"{name} is.", **more}
    return Question(id=f"q-{name}", quotes=tuple(quotes), **texts)


def exported(*items, who="ann"):
    return DecisionFile(format="ragmetrics-question-decisions", version=1, annotator=who, items=items)


def made(on, decision="accept", **more):
    shown = {"question_id": on.id, "shown": digest_of_shown(on), "decision": decision}
    return shown | ({"reason": "wrong"} if decision == "reject" else {}) | more


def stored(folder, questions, *files):
    for file in files:
        store_decisions(folder, file, questions)
    return review_of(questions, stored_decisions(folder))


ONE, TWO, THREE = (question(name, "d") for name in ("one", "two", "three"))
ALL = (ONE, TWO, THREE)


def test_rejected_questions_leave_and_edited_ones_carry_their_edit_and_a_label(tmp_path):
    edit = made(TWO, "edit", question="Is it two?", answer="Two.")
    review = stored(tmp_path, ALL, exported(made(ONE, "reject"), edit, made(THREE)))
    assert [(each.id, each.question, each.answer, each.labels) for each in review.questions] == [
        ("q-two", "Is it two?", "Two.", {"reviewed": "edited"}),
        ("q-three", "Is three?", "three is.", {"reviewed": "accepted"}),
    ]


def test_a_question_that_nobody_decided_on_stays_as_it_is(tmp_path):
    review = stored(tmp_path, ALL, exported(made(ONE)))
    assert review.questions[1:] == (TWO, THREE)


def test_annotators_who_differ_are_reported_and_the_question_keeps_its_texts(tmp_path):
    edit = made(TWO, "edit", question="Is it two?", answer="Two.")
    review = stored(tmp_path, ALL, exported(made(ONE), made(TWO)), exported(made(ONE), edit, who="bob"))
    assert review.outcomes == {"q-one": "accepted", "q-two": "disputed"}
    assert review.questions[1] == TWO.model_copy(update={"labels": {"reviewed": "disputed"}})
    shares, disputed = review_tables(review)
    assert (shares.rows[0][2:], disputed.name) == ((1, 1), "disputed")
    assert [row[1:3] for row in disputed.rows] == [("ann", "accept"), ("bob", "edit")]


def test_the_same_edit_by_two_annotators_is_one_edit(tmp_path):
    edit = made(TWO, "edit", question="Is it two?", answer="Two.")
    review = stored(tmp_path, ALL, exported(edit), exported(edit, who="bob"))
    assert review.outcomes == {"q-two": "edited"}


def test_a_later_decision_of_an_annotator_replaces_the_earlier_one(tmp_path):
    review = stored(tmp_path, ALL, exported(made(ONE, "reject")), exported(made(ONE)))
    assert review.outcomes == {"q-one": "accepted"}
    assert len(stored_decisions(tmp_path)) == 2


def test_a_file_that_is_imported_twice_is_stored_once(tmp_path):
    file = exported(made(ONE), made(TWO))
    assert [len(store_decisions(tmp_path, file, ALL)) for _ in range(2)] == [2, 0]
    assert len(stored_decisions(tmp_path)) == 2


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (made(question("four")), "q-four is not in"),
        (made(ONE, shown="0" * 32), "q-one has changed since the sheet was written"),
        (made(ONE, "edit", question="Is one?", answer="one is."), "changes nothing"),
        (made(ONE, "edit", question="Is it one?", answer=" "), "leaves no answer"),
    ],
)
def test_a_decision_that_does_not_fit_the_set_is_refused_and_nothing_is_stored(tmp_path, item, told):
    with pytest.raises(ConfigError, match=told):
        store_decisions(tmp_path, exported(made(TWO), item), ALL)
    assert stored_decisions(tmp_path) == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"decision": "reject"}, "q-one is rejected without a reason"),
        ({"decision": "edit", "question": " "}, "leaves no question"),
        ({"question": "Is it one?"}, "has edited texts, but the decision is not an edit"),
        ({"decision": "perhaps"}, "items.0.decision"),
    ],
)
def test_an_incomplete_decision_is_refused_in_words(tmp_path, change, told):
    file = exported().model_dump(mode="json") | {"items": [made(ONE) | change]}
    path = tmp_path / "ann.json"
    path.write_text(json.dumps(file))
    with pytest.raises(ConfigError, match=told):
        read_decisions(path)


@pytest.mark.parametrize(
    ("text", "told"), [("{", "is not JSON"), ("{}", "is not an export of a review sheet")]
)
def test_a_file_of_something_else_is_refused(tmp_path, text, told):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ConfigError, match=told):
        read_decisions(tmp_path / "a.json")


def test_decisions_on_a_question_that_changed_afterwards_have_no_effect_and_are_reported(tmp_path):
    store_decisions(tmp_path, exported(made(ONE, "reject")), ALL)
    changed = ONE.model_copy(update={"answer": "one is not."})
    review = review_of([changed, TWO], stored_decisions(tmp_path))
    assert (review.questions, len(review.outdated)) == ((changed, TWO), 1)
    assert "1 decision without effect" in " ".join(review_tables(review)[0].notes)


def test_a_damaged_line_is_refused_with_its_place(tmp_path):
    (tmp_path / "decisions.jsonl").write_text('{"question_id": 1}\n')
    with pytest.raises(RecordError, match=r"decisions.jsonl, line 1"):
        stored_decisions(tmp_path)


def test_the_share_of_good_questions_has_wilsons_interval(tmp_path):
    # 12 questions on documents of their own: 9 accepted, 1 edited, 2 rejected
    questions = [question(f"n{n}", f"d{n}") for n in range(12)]
    items = [made(each) for each in questions[:9]]
    items.append(made(questions[9], "edit", question="New?", answer="Yes."))
    items += [made(each, "reject") for each in questions[10:]]
    good, usable = shares_of(stored(tmp_path, questions, exported(*items)))
    assert (good.share, good.questions, good.n) == (wilson_interval(9, 12), 9, 12)
    assert usable.share == wilson_interval(10, 12)


def test_questions_on_one_document_count_together(tmp_path):
    # 10 documents with 4 questions each, all good or all bad: worth about 10 questions, not 40
    questions = [question(f"n{n}", f"d{n // 4}") for n in range(40)]
    items = [made(each, "accept" if n < 20 else "reject") for n, each in enumerate(questions)]
    review = stored(tmp_path, questions, exported(*items))
    assert shares_of(review)[0].share.width > 1.5 * wilson_interval(20, 40).width
    assert "these treat questions as independent" not in " ".join(review_tables(review)[0].notes)


def test_with_few_documents_questions_count_alone_and_the_table_says_so(tmp_path):
    # one question on both documents makes them one group
    questions = [*(question(f"n{n}", f"d{n % 2}") for n in range(9)), question("both", "d0", "d1")]
    review = stored(tmp_path, questions, exported(*(made(each) for each in questions)))
    assert shares_of(review)[0].share == wilson_interval(10, 10)
    assert "these treat questions as independent" in " ".join(review_tables(review)[0].notes)


def test_without_decisions_there_is_no_share():
    assert [share.share.value for share in shares_of(review_of(ALL, ()))] == [None, None]


@given(st.integers(0, 12), st.integers(0, 5))
def test_a_larger_sample_begins_with_the_smaller_one_whatever_the_order_of_the_file(count, seed):
    questions = [question(f"n{n}") for n in range(10)]
    drawn = draw_questions(questions, count, seed=seed)
    assert len(drawn) == min(count, 10)
    assert draw_questions(questions[::-1], seed=seed)[:count] == drawn


def test_every_question_is_drawn_equally_often():
    # 2 of 3 questions over 600 seeds: each about 400 times; 5 standard deviations are 58
    counts = [sum(each in draw_questions(ALL, 2, seed=seed) for seed in range(600)) for each in ALL]
    assert all(abs(count - 400) < 58 for count in counts)
