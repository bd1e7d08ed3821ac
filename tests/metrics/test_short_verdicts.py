"""Verdicts without reasons, a line each: what small models keep to."""

import re

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.metrics import get
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {
    "id": "t",
    "question": "Where does the Thames flow?",
    "answer": "The Thames flows through London. It is 500 km long.",
    "contexts": ["The Thames flows through London; it is 346 km long."],
    "reference": "Through London.",
}


@pytest.mark.parametrize(
    "reply",
    [
        "1. yes\n2. no", "1: yes\n2: no", "1 yes\n2 no", "1. Yes.\n2. No.", "2) no\n\n1) yes\n",
    ],
)  # fmt: skip
def test_a_line_for_each_sentence(reply):
    metric = "faithfulness(granularity=sentence, verify=verdicts.v6)"
    run = evaluate([SAMPLE], metrics=metric, judge=ScriptedJudge({"verdicts": reply}))
    (record,) = run.records()
    assert [verdict.label for verdict in record.verdicts] == ["supported", "not supported"]
    assert record.value == 0.5
    assert not any(differences for _, differences in run.audit())


@pytest.mark.parametrize(
    ("form", "value"),
    [(form, 0.0) for form in ("{}. no", "{}. No", "{}: no", "{} no")]
    + [
        (form, None)
        for form in ("{}", "#{} no", "[{}] no", "no", "{}. no, or yes", "{}. nein", "{0}. no\n{0}. yes")
    ],
)
def test_one_sentence_a_call_is_answered_in_a_line_and_without_a_verdict_in_it_no_score(form, value):
    def judge(prompt):
        number = re.search(r"<items>\n(\d+)\.", prompt)
        assert number is not None
        return form.format(number[1])

    metric = "faithfulness(granularity=sentence, per_call=1, verify=verdicts.v6)"
    (record,) = evaluate([SAMPLE], metrics=metric, judge=judge).records()
    assert (record.value, record.status) == (value, "parse_error" if value is None else "ok")
    assert {step.prompt for step in record.steps if step.kind == "generate"} == {"verdicts.v6"}


def test_the_embedded_judge_answers_the_short_prompts_as_the_long_ones():
    for name, short in (
        ("faithfulness", "faithfulness(verify=verdicts.v6)"),
        (
            "factual_correctness",
            "factual_correctness(verify=reference_verdicts.v5, cover=answer_verdicts.v5)",
        ),
    ):
        run = evaluate([SAMPLE], metrics=[name, short], judge="embedded")
        scores = {record.signature: record.value for record in run.records()}
        assert len(scores) == 2
        assert scores[get(name).signature] == scores[get(short).signature]


def test_the_other_way_of_a_pair_is_asked_in_short_too():
    replies = {
        "statements": {
            "statements": ["The Thames flows through London.", "It is 500 km long."],
            "declined": False,
        },
        "reference_statements": {"statements": ["The Thames flows through London."]},
        "reference_verdicts": "1. yes\n2. no",
        "answer_verdicts": "1. yes",
    }
    metric = "factual_correctness(verify=reference_verdicts.v5, cover=answer_verdicts.v5)"
    run = evaluate([SAMPLE], metrics=metric, judge=ScriptedJudge(replies))
    (record,) = run.records()
    assert record.value == pytest.approx(2 / 3, abs=1e-12)  # precision 1/2, recall 1
