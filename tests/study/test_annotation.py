"""The annotation sheet: blinded, safe, and what comes back from it."""

import json
import re

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report.annotation_sheet import sheet_html
from ragmetrics_core.study import items_of, judge_accuracy, ratings_of, read_annotations, verdict_changes
from ragmetrics_core.study._estimates import wilson_interval
from tests.study.judging import judge

SAMPLES = [
    {"id": f"s{n}", "question": f"Question {n}?", "contexts": ["c"], "answer": f"Answer {n}"}
    for n in range(1, 7)
]


def judged(verdict):
    return judge(lambda answer: [f"{answer} a", f"{answer} b"], verdict)


@pytest.fixture
def runs():
    def made(word):
        changed = [{**sample, "answer": f"{sample['answer']} {word}"} for sample in SAMPLES]
        return evaluate(changed, metrics="faithfulness", judge=judged(lambda item, _: item.number == 1))

    return {"secret-one": made("x"), "secret-two": made("y")}


def answered(tmp_path, runs, name, *statements, rating=None, added=(), who="ann"):
    """What `who` exported about the sample s1 of a run: (number, extracted, verdict) for each statement."""
    sheet = items_of(runs, seed=3)
    wanted = "Answer 1 x" if name == "secret-one" else "Answer 1 y"
    item = next(each.item for each in sheet.items if each.answer == wanted)
    metric = {
        "metric": "faithfulness/strict.1",
        "statements": [
            {"number": number, "extracted": extracted, "verdict": verdict}
            for number, extracted, verdict in statements
        ],
        "added": list(added),
    }
    found = {
        "format": "ragmetrics-annotations",
        "version": 1,
        "annotator": who,
        "seed": 3,
        "items": [{"item": item, "rating": rating, "note": "", "metrics": [metric]}],
    }
    path = tmp_path / f"{who}.json"
    path.write_text(json.dumps(found))
    return read_annotations(path)


def test_the_sheet_tells_neither_run_nor_sample(runs):
    page = sheet_html(items_of(runs))
    assert "Answer 1 x" in page
    assert not re.search("secret|s1|s6", page)


def test_the_order_of_questions_and_answers_is_shuffled_and_repeatable(runs):
    orders = {tuple(each.answer for each in items_of(runs, seed=seed).items) for seed in range(5)}
    assert len(orders) == 5
    assert items_of(runs, seed=1) == items_of(runs, seed=1)


def test_the_answers_to_a_question_stand_together(runs):
    questions = [each.question for each in items_of(runs).items]
    assert questions[::2] == questions[1::2]


def test_a_limit_draws_questions(runs):
    assert len(items_of(runs, limit=2).items) == 4


def test_ratings_come_back_as_labels_of_their_run(tmp_path, runs):
    found = answered(tmp_path, runs, "secret-two", rating=4)
    ((name, label),) = ratings_of(runs, [found])
    assert (name, label.unit.sample_id, label.annotator, label.value) == ("secret-two", "s1", "ann", 4.0)


def test_extraction_and_verdicts_are_judged_apart(tmp_path, runs):
    # the judge said yes, no. Statement 1 is said, and no; the verdict on 2, which is not said, is left out.
    found = answered(tmp_path, runs, "secret-one", (1, True, False), (2, False, True), added=["a third one"])
    (accuracy,) = judge_accuracy(runs, [found])
    assert accuracy.extraction.value == 0.5
    assert accuracy.found.value == 0.5
    assert (accuracy.verdicts.value, accuracy.judged) == (0.0, 1)


def test_a_verdict_changes_when_more_than_half_want_it(tmp_path, runs):
    first = answered(tmp_path, runs, "secret-one", (1, True, False), who="ann")
    second = answered(tmp_path, runs, "secret-one", (1, True, True), who="bob")
    third = answered(tmp_path, runs, "secret-one", (1, None, False), who="cid")
    assert list(verdict_changes(runs, [first, second])) == []
    ((name, unit, decision, who),) = verdict_changes(runs, [first, second, third])
    assert (name, unit.sample_id, unit.statement, decision, who) == ("secret-one", "s1", 1, False, "ann, cid")


def test_a_confirmed_verdict_changes_nothing(tmp_path, runs):
    found = answered(tmp_path, runs, "secret-one", (1, True, True), (2, True, False))
    assert list(verdict_changes(runs, [found])) == []


def test_texts_of_the_data_cannot_leave_their_place():
    evil = "</script><script>alert(1)</script> @@SCRIPT@@ \u2028 <!--"
    run = evaluate(
        [{"id": "s", "question": evil, "contexts": [evil], "answer": evil}],
        metrics="faithfulness",
        judge="embedded",
    )
    page = sheet_html(items_of({"run": run}))
    # the two of the page itself: the data and the script
    assert page.count("</script>") == 2
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(data)["items"][0]["answer"] == evil


def test_the_page_may_reach_nothing(runs):
    page = sheet_html(items_of(runs))
    assert "default-src 'none'" in page
    assert not re.search(r"https?://", page)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("{}", "is not an export of an annotation sheet"),
        (
            '{"format": "ragmetrics-annotations", "version": 1, "annotator": "a", "seed": 0,'
            ' "items": [{"item": "x", "rating": 6}]}',
            "items.0.rating",
        ),
    ],
)
def test_a_file_that_the_sheet_did_not_export_is_a_mistake(tmp_path, text, told):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ConfigError, match=told):
        read_annotations(tmp_path / "a.json")


def test_five_people_who_agree_are_one_trial_for_each_statement(tmp_path, runs):
    # the judge said yes, no; all five say yes, yes, and that the same statement is missing
    read = [
        answered(tmp_path, runs, "secret-one", (1, True, True), (2, True, True), added=["more"], who=who)
        for who in ("ann", "bob", "cid", "dan", "eve")
    ]
    (accuracy,) = judge_accuracy(runs, read)
    assert (accuracy.statements, accuracy.judged, accuracy.added) == (2, 2, 1)
    assert accuracy.verdicts == wilson_interval(1, 2)
    assert accuracy.found == wilson_interval(2, 3)


def test_a_statement_on_which_people_disagree_half_and_half_is_left_out(tmp_path, runs):
    first = answered(tmp_path, runs, "secret-one", (1, True, True), (2, True, True), added=["x"], who="ann")
    second = answered(tmp_path, runs, "secret-one", (1, False, None), (2, True, False), who="bob")
    (accuracy,) = judge_accuracy(runs, [first, second])
    # 1 is open; 2 is said, by both, but its verdict is open; one of two found a statement missing: not most
    assert (accuracy.extraction.value, accuracy.statements) == (1.0, 1)
    assert (accuracy.verdicts.value, accuracy.judged, accuracy.added) == (None, 0, 0)


def test_a_statement_without_a_verdict_gets_one_only_when_most_people_agree_on_it(tmp_path):
    only_first = judged(lambda item, _: True if item.number == 1 else None)
    samples = [{**each, "answer": f"{each['answer']} x"} for each in SAMPLES]
    incomplete = {"secret-one": evaluate(samples, metrics="faithfulness", judge=only_first)}
    assert [each.supported for each in incomplete["secret-one"].score("s1", "faithfulness").verdicts] == [
        True,
        None,
    ]
    ann, bob, cid = (
        answered(tmp_path, incomplete, "secret-one", (2, True, said), who=who)
        for who, said in (("ann", True), ("bob", False), ("cid", False))
    )
    assert list(verdict_changes(incomplete, [ann, bob])) == []
    ((_, unit, decision, who),) = verdict_changes(incomplete, [ann, bob, cid])
    assert (unit.statement, decision, who) == (2, False, "bob, cid")
