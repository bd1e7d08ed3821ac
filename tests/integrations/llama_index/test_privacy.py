"""Keys of LlamaIndex's models, texts that are private, and prompts of one's own."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, PrivateAttr, SecretStr

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.prompts import QUESTIONS, Message
from ragmetrics_core.protocol import Generate
from ragmetrics_llama_index import (
    ContextPrecision,
    FaithfulnessEvaluator,
    LlamaIndexJudge,
    RagMetricsEvaluator,
    instrument,
)
from tests.integrations.llama_index.fakes import FunctionLLM, judging, qa_engine
from tests.secrets.planted import KEY, NAME, PASSWORD, SAMPLE, Log, found, held, shown, told, without_name

PROMPTS = Path(__file__).parents[1] / "own_prompts"
OWN = "List what the answer says"
GIVEN: dict[str, Any] = {
    "query": f"Who is {NAME}?",
    "response": f"It is {NAME}.",
    "contexts": [f"It is {NAME}."],
}


class KeyedLLM(FunctionLLM):
    """A model with a key in a field, one in a private attribute, and a password in its address."""

    api_key: str = KEY
    api_base: str = f"https://user:{PASSWORD}@host/v1"
    additional_kwargs: dict[str, Any] = Field(
        default_factory=lambda: {"extra_headers": {"Authorization": f"Bearer {KEY}"}}
    )
    _token: SecretStr = PrivateAttr(default=SecretStr(f"{KEY}-2"))


def fails(prompt: str) -> str:
    raise ConnectionError(f"401: {KEY}, {KEY}-2 at https://user:{PASSWORD}@host/v1, about {NAME}")


def knowing(prompt: str) -> str:
    return re.sub(r'"reason": "[^"]*"', lambda _: f'"reason": {json.dumps(NAME)}', judging(prompt))


def test_the_key_of_a_model_is_in_neither_its_name_nor_its_errors(tmp_path):
    judge = LlamaIndexJudge(KeyedLLM(fails))
    request = Generate(prompt=QUESTIONS, variables={}, messages=(Message("user", "Tea?"),))
    with pytest.raises(ModelError) as raised:
        asyncio.run(judge.agenerate(request))

    assert found(shown(judge) + judge.identity) == []
    assert found(told(raised.value, variables=False)) == []
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / "run", attempts=1)
    assert next(run.records()).status == "model_error"
    assert held(tmp_path) == {}


def test_a_judge_whose_given_name_holds_its_key_is_refused():
    with pytest.raises(ConfigError, match="the identity of the judge holds a key"):
        evaluate([SAMPLE], metrics="faithfulness", judge=LlamaIndexJudge(KeyedLLM(fails), name=f"my {KEY}"))


def test_an_evaluator_redacts_what_it_judges_and_asks_prompts_of_ones_own():
    llm = FunctionLLM(knowing)

    result = FaithfulnessEvaluator(llm, redact=without_name, prompts=PROMPTS).evaluate(**GIVEN)

    assert result.score == 1.0
    assert any(OWN in each for each in llm.asked)
    assert found("".join(llm.asked) + shown(result.feedback) + shown(result.record), NAME) == []
    assert OWN in str(FaithfulnessEvaluator(llm, prompts=PROMPTS).get_prompts())


@pytest.mark.parametrize("llm", [FunctionLLM(fails), "embedded"], ids=["judge fails", "no sample"])
def test_what_an_evaluator_says_of_a_failure_is_redacted(llm):
    evaluator = RagMetricsEvaluator("faithfulness", llm, redact=without_name, attempts=1)
    given = GIVEN if llm != "embedded" else {**GIVEN, "response": f"\ud800 {NAME}"}
    with Log() as log:
        result = evaluator.evaluate(**given)

    assert result.invalid_result
    assert found(str(result.invalid_reason) + log.text, NAME) == []


def test_a_retrieval_metric_redacts_and_asks_prompts_of_ones_own(tmp_path):
    llm = FunctionLLM(knowing)
    metric = ContextPrecision(llm=llm, redact=without_name)

    result = metric.compute(query=f"Who is {NAME}?", expected_texts=[NAME], retrieved_texts=[f"{NAME}!"])

    assert llm.asked
    assert found("".join(llm.asked) + shown(result.metadata), NAME) == []
    with pytest.raises(ConfigError, match="no metric of this run uses the prompt 'statements'"):
        ContextPrecision(llm=llm, prompts=str(PROMPTS)).compute(
            query="Who?", expected_texts=["a"], retrieved_texts=["a"]
        )


def test_live_scores_are_redacted_and_ask_prompts_of_ones_own(tmp_path):
    judge = FunctionLLM(knowing)
    app = qa_engine(lambda question: f"{NAME} is 300 m high.", lambda question: [f"{NAME} is 300 m high."])
    with instrument(
        "faithfulness", judge, watch=[app], redact=without_name, prompts=PROMPTS, out=tmp_path / "run"
    ) as live:
        answer = app.query(f"How high is {NAME}?")
        assert live.flush()

        assert NAME in str(answer)
        assert live.stats.errors == []
        assert live.results[0].sample.answer == "[name] is 300 m high."
        assert any(OWN in each for each in judge.asked)
        assert found("".join(judge.asked) + shown(live.results), NAME) == []
    assert held(tmp_path, NAME) == {}
    assert dict(Run.load(tmp_path / "run").audit()) == {}
