"""Abstention: four cases of declining and answering, with and without what is needed."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit, correct
from ragmetrics_core.metrics import Abstention
from ragmetrics_core.testing import ScriptedJudge

# after the telecom appendix of Roychowdhury et al. (2024): a right refusal that other metrics score as wrong
NO_ANSWER = {
    "question": "What is the bandwidth for 6 paths in the channel model?",
    "answer": "NO ANSWER FOUND. The provided text does not mention the bandwidth.",
    "contexts": ["The spatial channel model has 6 paths."],
}


def says(declines, suffices):
    def verdict(said):
        return {"verdicts": [{"number": 1, "reason": f"it {said}", "verdict": said}]}

    return {"declining": verdict(declines), "sufficiency": verdict(suffices)}


@pytest.mark.parametrize(
    ("declines", "suffices", "value", "case"),
    [
        ("yes", "no", 1.0, "declined_rightly"),
        ("yes", "yes", 0.0, "declined_wrongly"),
        ("no", "yes", 1.0, "answered_rightly"),
        ("no", "no", 0.0, "answered_wrongly"),
    ],
)
def test_the_four_cases(measure, declines, suffices, value, case):
    score = measure(Abstention(), says(declines, suffices), **NO_ANSWER).score

    assert score.value == value
    assert {name for name, count in score.counts.items() if count} == {case}
    assert score.formula == f"{case.replace('_', ' ')} = {value:g}"


def test_the_record_says_that_the_answer_declines_and_why(measure):
    record = measure(Abstention(), says("yes", "no"), **NO_ANSWER).score
    assert (record.abstained.declined, record.abstained.reason) == (True, "it yes")


def test_the_majority_of_votes_says_whether_the_answer_declines():
    def voted(*ballots):
        replies = {**says("yes", "no"), "declining": [says(each, "no")["declining"] for each in ballots]}
        run = evaluate([NO_ANSWER], metrics="abstention", judge=ScriptedJudge(replies), repeats=3)
        (record,) = run.records()
        assert audit(record) == []
        return record.verdicts[0].supported, record.abstained.declined, record.abstained.reason

    # two of three, whichever comes last, and the words of the first that voted so
    assert voted("yes", "yes", "no") == (True, True, "it yes")
    assert voted("yes", "no", "no") == (False, False, "it no")


def test_a_correction_of_the_verdict_also_says_whether_the_answer_declines(measure):
    record = measure(Abstention(), says("yes", "no"), **NO_ANSWER).score
    corrected = correct(record, number=1, supported=False)
    assert (corrected.abstained.declined, corrected.abstained.reason) == (False, None)
    assert audit(corrected) == []


def test_without_contexts_and_with_a_blank_answer_nobody_is_asked(measure):
    score, judge = measure(Abstention(), {}, **{**NO_ANSWER, "answer": " ", "contexts": []})
    assert (score.value, score.formula, judge.asked) == (1.0, "declined rightly = 1", [])
    assert (score.abstained.declined, score.abstained.reason) == (True, "it is blank")


def test_a_person_may_overrule_either_verdict(measure):
    record = measure(Abstention(), says("yes", "no"), **NO_ANSWER).score
    assert correct(record, number=2, supported=True).value == 0.0
    assert correct(record, number=1, supported=False).value == 0.0


def test_the_refusal_of_the_telecom_appendix_is_right_where_faithfulness_calls_it_wrong():
    # the embedded judge: the refusal is recognised, and no sentence of the contexts has the bandwidth
    question = {"question": "Which bandwidth suits six paths?", "answer": NO_ANSWER["answer"]}
    row = {"id": "q1", **question, "contexts": ["The weather in Paris is fine today."]}
    score = evaluate([row], metrics="abstention", judge="embedded").score("q1", "abstention")
    assert (score.value, score.formula) == (1.0, "declined rightly = 1")
