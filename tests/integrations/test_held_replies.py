"""Judges of the frameworks and the schema of a reply: sent to real servers by the frameworks' own clients."""

from collections.abc import Callable
from typing import Any

import pytest

from ragmetrics_core import Judge, Sample, evaluate
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.prompts import VERDICTS, load_version
from ragmetrics_core.records import GenerateStep, Record
from ragmetrics_core.shapes import Json
from tests.servers import Answer, OpenAIServer, Seen, chat

SAMPLE = Sample(id="a", question="How high is it?", answer="300 m.", contexts=("It is 300 m high.",))
# 9 of 10 is 0.9
RATED = chat('{"reason": "It says so.", "rating": 9}')
REFUSED = Answer(status=400, body={"error": {"message": "response_format is not known here"}})


def openai(url: str, **settings: Any) -> Judge:
    pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")
    return OpenAIJudge("m", base_url=url, api_key="k", **settings)


def langchain(url: str, **settings: Any) -> Judge:
    models = pytest.importorskip("langchain_openai", reason="needs the package langchain-openai")
    from ragmetrics_langchain import LangChainJudge

    bound = {name: settings.pop(name) for name in ("response_format",) if name in settings}
    model = models.ChatOpenAI(model="m", base_url=url, api_key="k", max_retries=0, **settings)
    return LangChainJudge(model.bind(**bound) if bound else model)


def haystack(url: str, **settings: Any) -> Judge:
    pytest.importorskip("haystack", reason="needs haystack: pip install 'ragmetrics-core[haystack]'")
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    from haystack_integrations.components.evaluators.ragmetrics import HaystackJudge

    key = Secret.from_token("k")
    return HaystackJudge(
        OpenAIChatGenerator(
            model="m", api_base_url=url, api_key=key, max_retries=0, generation_kwargs=settings
        )
    )


def llama_index(url: str, **settings: Any) -> Judge:
    models = pytest.importorskip(
        "llama_index.llms.openai_like", reason="needs the package llama-index-llms-openai-like"
    )
    from ragmetrics_llama_index import LlamaIndexJudge

    model = models.OpenAILike(
        model="m", api_base=url, api_key="k", max_retries=0, is_chat_model=True, additional_kwargs=settings
    )
    return LlamaIndexJudge(model)


DOORS = pytest.mark.parametrize("judge", [openai, langchain, haystack, llama_index])
FRAMEWORKS = pytest.mark.parametrize("judge", [langchain, haystack, llama_index])
Door = Callable[..., Judge]


def first_step(record: Record) -> GenerateStep:
    step = record.steps[0]
    assert isinstance(step, GenerateStep)
    return step


def rated(judge: Judge, *, samples: tuple[Sample, ...] = (SAMPLE,)) -> list[Record]:
    return list(evaluate(samples, metrics="answer_relevance_rating", judge=judge).records())


def refusing(seen: Seen) -> Answer:
    return REFUSED if "response_format" in seen.body else RATED


@DOORS
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


@DOORS
def test_a_server_that_refuses_the_schema_loses_no_reply_and_is_not_sent_it_again(judge: Door):
    samples = (SAMPLE, SAMPLE.model_copy(update={"id": "b", "answer": "About 300 m."}))
    with OpenAIServer(refusing) as server:
        its = judge(server.base_url)
        records = [record for sample in samples for record in rated(its, samples=(sample,))]

    assert [(record.value, first_step(record).held_to) for record in records] == [(0.9, None), (0.9, None)]
    assert ["response_format" in seen.body for seen in server.seen][-2:] == [False, False]


@DOORS
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


@FRAMEWORKS
def test_a_reply_that_was_cut_is_kept_and_says_that_it_was_cut(judge: Door):
    with OpenAIServer(chat('{"reason": "It', finish_reason="length")) as server:
        (record,) = rated(judge(server.base_url))

    step = first_step(record)
    assert record.status == "parse_error"
    assert (step.reply, step.finish_reason, step.held_to) == ('{"reason": "It', "length", "json_schema")


@FRAMEWORKS
def test_lines_of_text_are_held_to_nothing(judge: Door):
    lines = Faithfulness(granularity="answer", verify=load_version("verdicts.v6", usual=VERDICTS))
    with OpenAIServer(chat("1. yes")) as server:
        (record,) = evaluate([SAMPLE], metrics=lines, judge=judge(server.base_url)).records()

    assert "response_format" not in server.seen[0].body
    assert (record.value, first_step(record).held_to) == (1.0, None)


@FRAMEWORKS
def test_a_form_of_the_users_own_is_left_as_it_is(judge: Door):
    own = {"type": "json_object"}
    with OpenAIServer(RATED) as server:
        (record,) = rated(judge(server.base_url, response_format=own))

    assert server.seen[0].body["response_format"] == own
    assert first_step(record).held_to is None


@FRAMEWORKS
def test_the_name_of_a_judge_says_whether_it_may_be_held(judge: Door):
    url = "http://127.0.0.1:9/v1"

    assert "response_format=json_schema" in judge(url).identity
    assert "response_format=json_schema" not in judge(url, response_format={"type": "text"}).identity
