"""Questions written on passages, their quality, and what a model answers without any document."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import ClosedBookAccuracy, QuestionQuality, QuestionWriting
from ragmetrics_core.parsers import WrittenQuestion
from ragmetrics_core.questions import KINDS, written_in
from ragmetrics_core.runs import Run, plan
from ragmetrics_core.testing import ScriptedJudge

ULM = "Ulm is a city on the Danube.  It was “founded” in the year 854. Its **old town** has _2_ parts."
BERN = "Bern is the capital of Switzerland. Einstein lived there from 1902."
PROMPT_OF = {kind: f"write_{kind}" for kind in KINDS} | {"single_hop_specific": "write_single_hop"}
QUESTION = {
    "quotes": ["Ulm is a city on the Danube."],
    "question": "Where is Ulm?",
    "answer": "On the Danube.",
}


def reply(*questions, **changes):
    return {"questions": [{**QUESTION, **each, **changes} for each in questions or ({},)]}


def test_a_question_counts_if_the_passages_contain_all_of_its_quotes(measure):
    wrong = {"quotes": ["Ulm is a city on the Danube.", "Ulm is a city on the Rhine."]}
    replies = {"write_single_hop": reply({}, wrong, {"quotes": []})}
    measured = measure(QuestionWriting(), replies, question="count: 3", contexts=[ULM])

    # the first of three
    assert (measured.score.value, measured.score.formula) == (1 / 3, "1 / 3 = 0.333")
    assert [verdict.reason for verdict in measured.score.verdicts] == [
        None,
        'no chunk contains the quote "Ulm is a city on the Rhine." word for word; '
        'the nearest sentence is "Ulm is a city on the Danube."',
        "it has no quote",
    ]
    assert [verdict.label for verdict in measured.score.verdicts] == ["quoted", "not quoted", "not quoted"]


@pytest.mark.parametrize(
    ("copied", "quote"),
    [
        ("It was “founded” in the year 854.", "It was “founded” in the year 854."),
        ('it was "founded"\nin the  year 854', "It was “founded” in the year 854"),
        ("[2] It was “founded” in the year 854.", "It was “founded” in the year 854."),
        (
            "[1] Ulm is a city on the Danube. [2] It was “founded”",
            "Ulm is a city on the Danube.  It was “founded”",
        ),
        ("Its old town has 2 parts.", "Its **old town** has _2_ parts."),
        ("It was founded in the year 855.", "It was founded in the year 855."),
        ("Its old town has 21 parts.", "Its old town has 21 parts."),
    ],
)
def test_a_record_has_a_quote_as_the_passage_has_it(measure, copied, quote):
    replies = {"write_single_hop": reply(quotes=[copied])}
    record = measure(QuestionWriting(), replies, question="", contexts=[ULM]).score
    (written,) = written_in(record)
    assert written == WrittenQuestion(question="Where is Ulm?", answer="On the Danube.", quotes=(quote,))
    assert record.value == (quote in ULM)
    (evidence,) = record.verdicts[0].evidence
    assert evidence.span is None or ULM[evidence.span.start : evidence.span.end] == quote


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_prompt_and_the_brief_shows_all_other_lines(measure, kind):
    fields = {"question", "quotes"} if kind == "unanswerable" else {*QUESTION}
    fields |= {"earlier_question", "earlier_answer"} if kind == "follow_up" else set()
    question = {"earlier_question": "What is Ulm?", "earlier_answer": "A city.", **QUESTION}
    question["quotes"] = ["a city on the Danube", "the capital of Switzerland"]
    replies = {PROMPT_OF[kind]: {"questions": [{name: question[name] for name in fields}]}}
    brief = f"persona: Ada: an engineer\nkind: {kind}\nlanguage: de\ncount: 1"
    measured = measure(QuestionWriting(), replies, question=brief, contexts=[ULM, BERN])

    assert measured.score.value == 1.0
    assert "<brief>\npersona: Ada: an engineer\nlanguage: de\n</brief>" in measured.shown
    (written,) = written_in(measured.score)
    assert written.model_dump(exclude_defaults=True).keys() == fields


@pytest.mark.parametrize("kind", ["multi_hop_specific", "multi_hop_abstract"])
def test_a_multi_hop_question_quotes_each_passage(measure, kind):
    replies = {PROMPT_OF[kind]: reply()}
    score = measure(QuestionWriting(), replies, question=f"kind: {kind}", contexts=[ULM, BERN]).score
    assert (score.value, score.verdicts[0].reason) == (0.0, "it has no quote from chunk 2")


@pytest.mark.parametrize(
    ("brief", "contexts", "reason"),
    [
        ("kind: single_hop", [ULM], "unknown_kind"),
        ("count: some", [ULM], "unknown_count"),
        ("count: 0", [ULM], "unknown_count"),
        ("", [], "no_contexts"),
        ("", [ULM, " "], "no_contexts"),
        ("kind: multi_hop_abstract", [ULM], "no_contexts"),
    ],
)
def test_a_brief_that_cannot_be_followed_is_undefined_without_a_call(measure, brief, contexts, reason):
    measured = measure(QuestionWriting(), {}, question=brief, contexts=contexts)
    assert (measured.score.status, measured.score.reason) == ("undefined", reason)
    assert measured.judge.asked == []
    assert written_in(measured.score) == ()


@pytest.mark.parametrize(
    ("first", "objection"),
    [
        (reply({}, {}), "There are 2 questions, but 1 were asked for."),
        (reply(answer=" "), 'Question 1: "answer" is empty.'),
        (
            reply(quotes=["Ulm lies in Spain."]),
            'Question 1: no chunk contains the quote "Ulm lies',
        ),
        (reply(earlier_question="What is Ulm?"), '"earlier_question" was not asked for.'),
    ],
)
def test_the_judge_is_told_what_is_wrong_and_asked_again(first, objection):
    judge = ScriptedJudge({"write_single_hop": [first, reply()]})
    row = {"id": "q1", "question": "count: 1", "contexts": [ULM]}
    (record,) = evaluate([row], metrics=[QuestionWriting()], judge=judge).records()
    assert record.value == 1.0
    assert objection in judge.asked[1].messages[-1].content
    assert audit(record) == []


@pytest.mark.parametrize("second", [reply(quotes=["Ulm lies in Spain."]), "I cannot.", {"questions": 1}])
def test_a_question_is_kept_although_its_quote_is_found_nowhere(tmp_path, second):
    judge = ScriptedJudge({"write_single_hop": [reply(quotes=["Ulm lies in Spain."]), second]})
    row = {"id": "q1", "question": "count: 1", "contexts": [ULM]}
    evaluate([row], metrics=[QuestionWriting()], judge=judge, out=tmp_path / "run")
    (record,) = Run.load(tmp_path / "run").records()
    assert (record.status, record.value) == ("ok", 0.0)
    assert [each.quotes for each in written_in(record)] == [("Ulm lies in Spain.",)]
    assert audit(record) == []


def test_a_plan_counts_one_call_for_each_brief():
    rows = [{"id": kind, "question": f"kind: {kind}\ncount: 2", "contexts": [ULM, BERN]} for kind in KINDS]
    assert plan(rows, metrics=["question_writing"], judge="openai:gpt-4.1-mini").total.calls == len(KINDS)


def test_the_two_criteria_of_a_question_are_read_by_name(measure, verdicts):
    replies = {"question_quality": verdicts("no", "yes")}
    history = [{"role": "user", "content": "What is Ulm?"}, {"role": "assistant", "content": "A city."}]
    measured = measure(QuestionQuality(), replies, question="Where is it?", history=history)

    # one of two
    assert (measured.score.value, measured.score.formula) == (0.5, "1 of 2 met = 0.5")
    assert {each.text: each.supported for each in measured.score.verdicts} == {
        "understandable": False,
        "one question": True,
    }
    assert "<history>\nuser: What is Ulm?\nassistant: A city.\n</history>" in measured.shown


def test_a_blank_question_has_no_quality_and_no_answer(measure):
    for metric in (QuestionQuality(), ClosedBookAccuracy()):
        measured = measure(metric, {}, question=" ", reference="Ulm.")
        assert (measured.score.reason, measured.judge.asked) == ("no_question", [])


@pytest.mark.parametrize(
    ("answer", "verdict", "value"),
    [
        ({"answer": "In Ulm.", "known": True}, "yes", 1.0),
        ({"answer": "In Bern.", "known": True}, "no", 0.0),
        ({"answer": "", "known": False}, None, 0.0),
        ({"answer": "Perhaps in Ulm.", "known": False}, None, 0.0),
    ],
)
def test_a_model_knows_an_answer_that_agrees_with_the_reference(measure, verdicts, answer, verdict, value):
    replies = {"closed_book": answer, "answer_verdicts": verdicts(verdict)}
    measured = measure(
        ClosedBookAccuracy(),
        replies,
        question="Where was Einstein born?",
        reference="In Ulm.",
        contexts=[BERN],
    )
    assert measured.score.value == value
    assert measured.judge.count("answer_verdicts") == (verdict is not None)
    # neither call shows a document, the first not even the reference
    assert BERN not in measured.shown
    assert "In Ulm." not in measured.judge.asked[0].messages[-1].content


def test_one_answer_is_compared_with_one_reference_after_the_other(measure, verdicts):
    replies = {
        "closed_book": {"answer": "In Ulm.", "known": True},
        "answer_verdicts": [verdicts("no"), verdicts("yes"), verdicts("no")],
    }
    measured = measure(
        ClosedBookAccuracy(), replies, question="Where?", references=["Württemberg.", "Ulm.", "Bern."]
    )
    # the second reference agrees, so the third is not compared
    assert measured.score.value == 1.0
    assert (measured.judge.count("closed_book"), measured.judge.count("answer_verdicts")) == (1, 2)


@pytest.mark.parametrize("metric", ["question_writing", "question_quality", "closed_book_accuracy"])
def test_the_embedded_judge_refuses_to_write_and_names_the_prompt(metric):
    row = {"id": "q", "question": "Where?", "contexts": [ULM], "reference": "In Ulm."}
    with pytest.raises(ConfigError, match="the embedded judge has no rule for the prompt '"):
        evaluate([row], metrics=[metric], judge="embedded")
