"""Keys of LangChain's models, texts that are private, and prompts of one's own."""

import asyncio
import json
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import SecretStr

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_langchain import (
    LangChainEmbedder,
    LangChainJudge,
    LangSmithFeedbackSink,
    as_langsmith_evaluator,
    score_step,
)
from tests.integrations.langchain.apps import Shelf
from tests.integrations.langchain.test_langsmith import PROJECT, OfflineClient
from tests.integrations.langchain.test_models import ask
from tests.secrets.planted import KEY, NAME, PASSWORD, SAMPLE, found, held, shown, told, without_name

PROMPTS = Path(__file__).parents[1] / "own_prompts"
OWN = "List what the answer says"


class Keyed(SimpleChatModel):
    """A model with a key, whose server repeats it."""

    api_key: SecretStr = SecretStr(KEY)
    base_url: str = f"https://user:{PASSWORD}@host/v1?api-version=1"
    model_name: str = "keyed"

    @property
    def _llm_type(self) -> str:
        return "keyed"

    def _call(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> str:
        raise ConnectionError(
            f"401: {self.api_key.get_secret_value()} at {self.base_url}, {kwargs}, of {NAME}"
        )


class KeyedEmbeddings(Embeddings):
    def __init__(self) -> None:
        self.openai_api_key = SecretStr(KEY)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ValueError(f"no key {KEY}")

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.mark.parametrize(
    "model",
    [
        Keyed(),
        Keyed().bind(extra_headers={"Authorization": f"Bearer {KEY}"}),
        Keyed().bind(extra_headers={"X-Our-Gateway-Auth": KEY, "X-Tenant": "blue"}),
        Keyed().bind(default_headers=[("Authorization", f"Bearer {KEY}")], cookies={"session": KEY}),
        Keyed(api_key=SecretStr("other-key-0000")).bind(api_key=KEY, extra_body={"password": PASSWORD}),
    ],
    ids=["attribute", "bound header", "header of one's own", "pairs and cookies", "bound key"],
)
def test_the_key_of_a_model_is_in_neither_its_name_nor_its_errors(model, tmp_path):
    judge = LangChainJudge(model)
    with pytest.raises(ModelError) as raised:
        ask(judge)

    assert judge.identity.startswith(f"langchain:{Keyed.__module__}.Keyed/keyed@https://host/v1")
    assert found(shown(judge) + judge.identity) == []
    assert found(told(raised.value, variables=False)) == []
    run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, out=tmp_path / "run", attempts=1)
    assert next(run.records()).status == "model_error"
    assert held(tmp_path) == {}


def test_a_header_of_which_nothing_is_known_is_not_shown_in_a_name():
    # no word in it says that it is a key, and neither does its form
    judge = LangChainJudge(Keyed().bind(extra_headers={"X-Team": "fern-and-moss"}))

    assert "fern" not in judge.identity
    assert judge.identity != LangChainJudge(Keyed().bind(extra_headers={"X-Team": "other"})).identity


def test_the_organisation_that_pays_is_shown_in_a_name():
    judge = LangChainJudge(Keyed().bind(extra_headers={"OpenAI-Organization": "org-books"}))

    assert "org-books" in judge.identity


def test_the_key_of_embeddings_is_not_in_their_errors():
    with pytest.raises(ModelError) as raised:
        asyncio.run(LangChainEmbedder(KeyedEmbeddings()).aembed(["tea"]))

    assert found(told(raised.value, variables=False)) == []


def test_a_judge_whose_given_name_holds_its_key_is_refused():
    with pytest.raises(ConfigError, match="the identity of the judge holds a key"):
        evaluate([SAMPLE], metrics="faithfulness", judge=LangChainJudge(Keyed(), name=f"my {KEY}"))


def asked(seen: list[str]) -> RunnableLambda[Any, str]:
    """A judge that keeps what it is asked, and brings the name into its replies."""

    def reply(prompt: Any) -> str:
        text = "\n".join(each.text for each in prompt)
        seen.append(text)
        if "statements" in text and "<items>" not in text:
            return json.dumps({"statements": [f"It is {NAME}."]})
        return json.dumps({"verdicts": [{"number": 1, "reason": NAME, "evidence": "", "verdict": "yes"}]})

    return RunnableLambda(reply)


def chain() -> Any:
    return RunnablePassthrough.assign(context=itemgetter("question") | Shelf()) | RunnablePassthrough.assign(
        answer=RunnableLambda(lambda value: f"{NAME} says so.")
    )


def test_a_handler_redacts_before_judge_folder_and_feedback_and_asks_prompts_of_ones_own(
    make_handler, tmp_path
):
    seen: list[str] = []
    client = OfflineClient()
    handler = make_handler(
        judge=asked(seen),
        redact=without_name,
        prompts=PROMPTS,
        out=tmp_path / "run",
        sinks=[LangSmithFeedbackSink(client, project_id=PROJECT)],
    )

    given = chain().invoke({"question": f"What about {NAME}?"}, {"callbacks": [handler]})
    assert handler.flush()

    assert NAME in given["answer"]
    assert handler.stats.errors == []
    assert handler.results[0].sample.answer == "[name] says so."
    assert any(OWN in each for each in seen)
    assert len(client.feedback) == 1
    assert found("".join(seen) + shown(handler.results) + shown(client.feedback), NAME) == []
    handler.close()
    assert held(tmp_path, NAME) == {}
    assert dict(Run.load(tmp_path / "run").audit()) == {}


def test_a_step_redacts_and_asks_prompts_of_ones_own():
    seen: list[str] = []
    step = score_step(
        "faithfulness", judge=asked(seen), redact=without_name, prompts=PROMPTS, records_key="records"
    )

    value = (chain() | step).invoke({"question": f"What about {NAME}?"})

    assert value["scores"] == {"faithfulness": 1.0}
    assert any(OWN in each for each in seen)
    assert found("".join(seen) + shown(value["records"]), NAME) == []


def test_an_evaluator_of_langsmith_redacts_and_asks_prompts_of_ones_own():
    schemas = pytest.importorskip("langsmith.schemas", reason="langsmith is not installed")
    seen: list[str] = []
    judge = as_langsmith_evaluator("faithfulness", judge=asked(seen), redact=without_name, prompts=PROMPTS)
    run = schemas.Run(
        id=uuid4(),
        name=f"app of {NAME}",
        start_time="2026-01-01T00:00:00",
        run_type="chain",
        trace_id=uuid4(),
        inputs={"question": f"Who is {NAME}?"},
        outputs={"answer": f"It is {NAME}.", "context": [f"{NAME} it is."]},
    )

    (result,) = judge(run, None)["results"]

    assert result.score == 1.0
    assert any(OWN in each for each in seen)
    assert found("".join(seen) + shown(result) + json.dumps(result.metadata), NAME) == []
