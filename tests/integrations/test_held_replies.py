"""Judges of the frameworks and the schema of a reply: sent to real servers by the frameworks' own clients."""

import pytest

from ragmetrics_core import Judge, Sample, evaluate
from ragmetrics_core.boundary.shapes import Json
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.prompts import VERDICTS, load_version
from ragmetrics_core.records import GenerateStep, Record
from tests.judges import DOORS, FRAMEWORKS, Door
from tests.servers import OpenAIServer, chat

SAMPLE = Sample(id="a", question="How high is it?", answer="300 m.", contexts=("It is 300 m high.",))
# 9 of 10 is 0.9
RATED = chat('{"reason": "It says so.", "rating": 9}')


EACH = pytest.mark.parametrize("judge", DOORS.values(), ids=DOORS)
EACH_FRAMEWORK = pytest.mark.parametrize("judge", FRAMEWORKS.values(), ids=FRAMEWORKS)


def first_step(record: Record) -> GenerateStep:
    step = record.steps[0]
    assert isinstance(step, GenerateStep)
    return step


def rated(judge: Judge, *, samples: tuple[Sample, ...] = (SAMPLE,)) -> list[Record]:
    return list(evaluate(samples, metrics="answer_relevance_rating", judge=judge).records())


@EACH
def test_the_schema_of_the_reply_goes_along_and_the_record_says_so(judge: Door):
    with OpenAIServer(RATED) as server:
        (record,) = rated(judge(server.base_url))

    form = server.seen[0].body["response_format"]
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "rating": {"type": "integer", "enum": list(range(11))},
        },
        "required": ["reason", "rating"],
        "additionalProperties": False,
    }
    assert form == {
        "type": "json_schema",
        "json_schema": {"name": "Rating", "strict": True, "schema": schema},
    }
    assert (record.value, first_step(record).held_to) == (0.9, "json_schema")


@EACH
def test_a_reply_that_is_not_read_is_asked_for_again_in_the_same_conversation(judge: Door):
    replies = iter([chat("Nine, I think."), RATED])
    with OpenAIServer(lambda _: next(replies)) as server:
        (record,) = rated(judge(server.base_url))

    first, second = (
        [(each["role"], each["content"]) for each in seen.body["messages"]] for seen in server.seen
    )
    assert second[:-2] == first
    assert [role for role, _ in second] == ["system", "user", "assistant", "user"]
    assert second[2][1] == "Nine, I think."
    assert second[3][1].startswith("It holds no JSON object.")
    assert record.value == 0.9


@EACH_FRAMEWORK
def test_a_reply_that_was_cut_is_kept_and_says_that_it_was_cut(judge: Door):
    with OpenAIServer(chat('{"reason": "It', finish_reason="length")) as server:
        (record,) = rated(judge(server.base_url))

    step = first_step(record)
    assert record.status == "parse_error"
    assert (step.reply, step.finish_reason, step.held_to) == ('{"reason": "It', "length", "json_schema")


@EACH_FRAMEWORK
def test_lines_of_text_are_held_to_nothing(judge: Door):
    lines = Faithfulness(granularity="answer", verify=load_version("verdicts.v6", usual=VERDICTS))
    with OpenAIServer(chat("1. yes")) as server:
        (record,) = evaluate([SAMPLE], metrics=lines, judge=judge(server.base_url)).records()

    assert "response_format" not in server.seen[0].body
    assert (record.value, first_step(record).held_to) == (1.0, None)


@EACH_FRAMEWORK
def test_a_form_of_the_users_own_is_left_as_it_is(judge: Door):
    own = {"type": "json_object"}
    with OpenAIServer(RATED) as server:
        (record,) = rated(judge(server.base_url, response_format=own))

    assert server.seen[0].body["response_format"] == own
    assert first_step(record).held_to is None


@EACH_FRAMEWORK
def test_the_name_of_a_judge_says_whether_it_may_be_held(judge: Door):
    url = "http://127.0.0.1:9/v1"

    assert "response_format=json_schema" in judge(url).identity
    assert "response_format=json_schema" not in judge(url, response_format={"type": "text"}).identity
