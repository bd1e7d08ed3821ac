"""A reply that is not in the form that was asked for: what the judge is told, and what is on record of it."""

import json

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ModelError
from ragmetrics_core.testing import ScriptedJudge
from tests.runs.capital import NO, REPLIES, SAMPLE, YES

PROSE = "The capital is Paris, so yes."


def test_the_judge_sees_its_reply_what_is_wrong_with_it_and_the_form_again():
    judge = ScriptedJudge({**REPLIES, "verdicts": [PROSE, YES]})
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge)

    _, first, second = judge.asked
    assert second.messages[:2] == first.messages
    reply, told = second.messages[2:]
    assert (reply.role, reply.content) == ("assistant", PROSE)
    assert told.role == "user"
    assert told.content.startswith("It holds no JSON object.\n")
    assert '{"verdicts": [{"number": <number>' in told.content
    assert run.score("q1", "faithfulness").value == 1.0


def test_what_a_model_thinks_aloud_is_not_shown_to_it_again():
    judge = ScriptedJudge({**REPLIES, "verdicts": [f"<think>Perhaps no.</think>{PROSE}", YES]})
    evaluate([SAMPLE], metrics="faithfulness", judge=judge)
    assert judge.asked[-1].messages[2].content == PROSE


def test_both_replies_stand_in_the_record_and_prove_it():
    judge = ScriptedJudge({**REPLIES, "verdicts": [PROSE, YES]})
    record = evaluate([SAMPLE], metrics="faithfulness", judge=judge).score("q1", "faithfulness")

    assert [(step.reply, step.again, step.objections) for step in record.generate_steps][1:] == [
        (PROSE, False, ("it holds no JSON object",)),
        (json.dumps(YES), True, ()),
    ]
    assert audit(record) == []


@pytest.mark.parametrize(
    ("attempts", "replies"), [(1, [PROSE]), (2, [PROSE, "No."]), (3, [PROSE, "No.", "Yes."])]
)
def test_a_reply_is_asked_for_as_often_as_the_run_says_and_is_then_a_parse_error(attempts, replies):
    judge = ScriptedJudge({**REPLIES, "verdicts": replies})
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, form_attempts=attempts)

    record = run.score("q1", "faithfulness")
    assert (judge.count("verdicts"), record.status) == (attempts, "parse_error")
    assert [step.reply for step in record.generate_steps][1:] == replies
    assert audit(record) == []


def test_a_third_asking_is_of_the_whole_conversation_also_where_the_judge_repeats_itself():
    judge = ScriptedJudge({**REPLIES, "verdicts": [PROSE, PROSE, NO]})
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, form_attempts=3)

    roles = [message.role for message in judge.asked[-1].messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert run.score("q1", "faithfulness").value == 0.0
    assert list(run.audit()) == []


def test_a_call_that_fails_when_asking_again_fails_the_score_and_the_record_holds():
    judge = ScriptedJudge({**REPLIES, "verdicts": [PROSE, ModelError("down")]})
    record = evaluate([SAMPLE], metrics="faithfulness", judge=judge, attempts=1).score("q1", "faithfulness")
    assert (record.status, record.reason) == ("model_error", "verdicts.v5: down")
    assert [step.reply for step in record.generate_steps][1:] == [PROSE]
    assert audit(record) == []
