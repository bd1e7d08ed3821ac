"""Keys of generators, texts that are private, and prompts of one's own, in every component."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, GeneratedAnswer
from haystack.utils import Secret
from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError, PromptError

from haystack_integrations.components.evaluators.ragmetrics import (
    FaithfulnessEvaluator,
    HaystackJudge,
    RagMetricsAgentHook,
    RagMetricsConnector,
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
)
from tests.integrations.haystack.functions import ANN, without_ann
from tests.integrations.haystack.generators import judged, question_data, rag_pipeline
from tests.integrations.haystack.mocks import MockChatGenerator
from tests.secrets.planted import KEY, PASSWORD, Log, found, held, shown
from tests.servers import Answer, OpenAIServer, Seen

PROMPTS = str(Path(__file__).parents[1] / "own_prompts")
OWN = "List what the answer says"  # how the prompt in that folder begins
INPUTS: dict[str, Any] = {
    "questions": ["Who?", "Who?", "And now?"],
    "contexts": [[f"{ANN} did it."], [f"{ANN} did it."], ["Bob did."]],
    "predicted_answers": [f"{ANN} did it.", f"{ANN} did it.", "Bob did it."],
}


def echo(seen: Seen) -> Answer:
    return Answer(status=400, body={"error": {"message": f"{seen.headers} {PASSWORD}"}})


@component
class Knowing:
    """A judge that remembers what it was asked, and knows who Ann-Sophie is."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        self.asked.append("\n".join(each.text or "" for each in messages))
        asked = [ChatMessage.from_user(self.asked[-1].replace(OWN, "Split the answer into statements"))]
        said = json.loads(judged(asked))
        if "declined" in said:
            # beside what declines there is an answer: a refusal alone has no score
            said |= {"declined": True, "reason": f"{ANN} is {ANN}"}
            statements = (said.get("sentences") or [said])[0]["statements"]
            statements.append(f"{statements[0]} So it is.")
        return {"replies": [ChatMessage.from_assistant(json.dumps(said), meta={"model": f"{ANN}'s"})]}


def test_the_key_of_a_generator_is_in_no_result_log_or_file_when_its_server_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PLANTED_FOR_A_TEST", KEY)
    for number, secret in enumerate([Secret.from_token(KEY), Secret.from_env_var("PLANTED_FOR_A_TEST")]):
        with OpenAIServer(echo) as server, Log() as log:
            url = server.base_url.replace("://", f"://user:{PASSWORD.replace('/', '%2F')}@")
            generator = OpenAIChatGenerator(api_key=secret, api_base_url=url, max_retries=0, model="m")
            evaluator = RagMetricsEvaluator(
                "faithfulness",
                generator,
                progress_bar=False,
                attempts=1,
                out=str(tmp_path / str(number)),
            )
            results = evaluator.run(**INPUTS)
        judge = HaystackJudge(generator)

        assert results["results"][0]["ragmetrics_status"] in {"model_error", "timeout"}
        assert found(json.dumps(results, default=str) + shown(judge.identity)) == []
        assert ".OpenAIChatGenerator/m@http://127.0.0.1:" in judge.identity
        assert found("\n".join(line for line in log.lines if line.startswith("ragmetrics"))) == []
    assert held(tmp_path) == {}


def test_yaml_names_the_variable_of_a_key_and_not_the_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLANTED_FOR_A_TEST", KEY)
    generator = OpenAIChatGenerator(api_key=Secret.from_env_var("PLANTED_FOR_A_TEST"))
    pipeline = Pipeline()
    pipeline.add_component("evaluator", FaithfulnessEvaluator(chat_generator=generator))

    text = pipeline.dumps()

    assert "PLANTED_FOR_A_TEST" in text
    assert found(text + shown(pipeline.to_dict())) == []


def test_a_batch_is_redacted_before_it_is_judged_and_each_sample_finds_its_score(tmp_path: Path):
    judge = Knowing()
    evaluator = RagMetricsEvaluator(
        ["faithfulness", "context_relevance"],
        judge,
        progress_bar=False,
        out=str(tmp_path / "run"),
        redact=without_ann,
    )

    results = evaluator.run(**INPUTS)

    assert len(results["individual_scores"]) == 3
    assert [each["status"] for each in results["results"]] == ["evaluated"] * 3
    assert judge.asked
    assert found(json.dumps(results, default=str) + "".join(judge.asked), ANN) == []
    assert held(tmp_path, ANN) == {}
    assert dict(Run.load(tmp_path / "run").audit()) == {}


@pytest.mark.parametrize("mode", ["background", "inline"])
def test_a_live_component_is_redacted_while_the_pipeline_keeps_its_answers(mode: Any, tmp_path: Path):
    judge = Knowing()
    scores = RagMetricsLiveEvaluator(
        "faithfulness", judge, mode=mode, name=f"{ANN}'s app", out=str(tmp_path / "run"), redact=without_ann
    )
    answer = GeneratedAnswer(data=f"{ANN} did it.", query=f"Who is {ANN}?", documents=[], meta={})

    given = scores.run(answers=[answer])["answers"][0]
    scores.close()

    assert given.data == f"{ANN} did it."
    assert Run.load(tmp_path / "run").sample(given.meta["evaluation"]["id"]).answer == "[name] did it."
    assert found("".join(judge.asked) + shown(scores.live.results), ANN) == []
    assert held(tmp_path, ANN) == {}


def test_a_connector_and_a_hook_redact_what_they_find(tmp_path: Path):
    connector = RagMetricsConnector("faithfulness", Knowing(), out=str(tmp_path / "c"), redact=without_ann)
    pipeline = rag_pipeline(MockChatGenerator(responses=f"{ANN} is the capital."))
    pipeline.add_component("scores", connector)
    pipeline.run(question_data(f"What is {ANN} the capital of?"))
    connector.flush()
    connector.close()
    hook = RagMetricsAgentHook("faithfulness", Knowing(), out=str(tmp_path / "h"), redact=without_ann)
    agent = Agent(chat_generator=MockChatGenerator(responses=f"{ANN} says so."), hooks={"after_run": [hook]})
    agent.run([ChatMessage.from_user(f"What does {ANN} say?")])
    hook.flush()

    for each in (connector, hook):
        (result,) = each.live.results
        assert "[name]" in (result.sample.answer or "")
        each.close()
    assert held(tmp_path, ANN) == {}


def test_a_folder_of_prompts_replaces_those_of_the_same_name_everywhere(tmp_path: Path):
    judges = [Knowing() for _ in range(3)]
    FaithfulnessEvaluator(chat_generator=judges[0], progress_bar=False, raise_on_failure=False, prompts=PROMPTS).run(
        **INPUTS
    )
    inline = RagMetricsLiveEvaluator("faithfulness", judges[1], mode="inline", prompts=PROMPTS)
    inline.run(answers=[GeneratedAnswer("It is so.", "Is it?", [Document(content="So.")])])
    inline.close()
    connector = RagMetricsConnector("faithfulness", judges[2], prompts=PROMPTS, out=str(tmp_path / "run"))
    pipeline = rag_pipeline()
    pipeline.add_component("scores", connector)
    pipeline.run(question_data("What is Paris?"))
    connector.close()

    for judge in judges:
        assert any(OWN in each for each in judge.asked)
        assert not any("Split the answer into statements" in each for each in judge.asked)
    assert {text.version for text in Run.load(tmp_path / "run").prompts.values()} >= {9}


def test_a_folder_without_a_prompt_that_is_asked_is_a_mistake_of_the_constructor(tmp_path: Path):
    with pytest.raises(PromptError, match=r"prompt folder .* does not exist"):
        RagMetricsEvaluator("faithfulness", "embedded", prompts=str(tmp_path / "none"))
    (tmp_path / "questions.v9.md").write_text("## user\n{{ answer }}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="no metric of this run uses the prompt 'questions'"):
        RagMetricsConnector("faithfulness", "embedded", prompts=str(tmp_path))


def test_nothing_of_this_package_logs_above_debug_by_itself(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, logger="haystack_integrations"):
        FaithfulnessEvaluator(
            chat_generator=Knowing(), progress_bar=False, raise_on_failure=False, redact=without_ann
        ).run(**INPUTS)

    assert found(caplog.text, ANN) == []
