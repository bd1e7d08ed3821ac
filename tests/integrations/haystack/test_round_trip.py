"""Every part is saved to YAML and loaded in a new process, without a flag and without a key."""

import os
import subprocess
import sys
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.embedders import (
    AzureOpenAITextEmbedder,
    OpenAITextEmbedder,
)
from haystack.components.generators.chat import (
    AzureOpenAIChatGenerator,
    AzureOpenAIResponsesChatGenerator,
    FallbackChatGenerator,
    OpenAIChatGenerator,
    OpenAIResponsesChatGenerator,
)
from haystack.core.errors import DeserializationError, SerializationError
from haystack.core.serialization import component_to_dict
from haystack.utils import Secret
from ragmetrics_core.errors import ConfigError

from haystack_integrations.components.evaluators import ragmetrics
from haystack_integrations.components.evaluators.ragmetrics import (
    AnswerCorrectnessEvaluator,
    FaithfulnessEvaluator,
    RagMetricsAgentHook,
    RagMetricsConnector,
    RagMetricsEvaluator,
    RagMetricsLiveEvaluator,
)
from tests.integrations.haystack.functions import always_paris, hear, to_memory, without_ann
from tests.integrations.haystack.mocks import MockChatGenerator, MockTextEmbedder

ROOT = Path(__file__).resolve().parents[3]
if version("haystack-ai") < "3":
    pytest.skip("haystack-ai before 3 resolves keys when a component is made", allow_module_level=True)
KEY = Secret.from_env_var("A_KEY_THAT_NOBODY_HAS")

LOAD = """
import sys
from haystack import Pipeline
text = sys.stdin.read()
sys.stdout.write(Pipeline.loads(text).dumps())
"""

GENERATORS: list[Any] = [
    OpenAIChatGenerator(api_key=KEY, model="gpt-5-nano", generation_kwargs={"seed": 1}),
    OpenAIResponsesChatGenerator(api_key=KEY, api_base_url="http://localhost:8000/v1"),
    AzureOpenAIChatGenerator(azure_endpoint="https://example.invalid", api_key=KEY),
    AzureOpenAIResponsesChatGenerator(azure_endpoint="https://example.invalid", api_key=KEY),
    FallbackChatGenerator([OpenAIChatGenerator(api_key=KEY), MockChatGenerator(responses="{}")]),
    MockChatGenerator(responses=["{}", "[]"]),
    "embedded",
]
EMBEDDERS: list[Any] = [
    OpenAITextEmbedder(api_key=KEY, model="text-embedding-3-small"),
    AzureOpenAITextEmbedder(azure_endpoint="https://example.invalid", api_key=KEY),
    MockTextEmbedder(dimension=8),
    "embedded",
]

LIVE = {
    "metrics": ["faithfulness", {"name": "answer_correctness", "variant": "paper", "weights": [1, 0]}],
    "name": "support",
    "scorer": "cross-encoder:small",
    "out": "runs/live",
    "sinks": [to_memory],
    "on_result": hear,
    "references": {"What?": "That."},
    "sample_rate": 0.5,
    "seed": 7,
    "concurrency": 2,
    "timeout": None,
    "attempts": 3,
    "form_attempts": 3,
    "requests_per_minute": 60.0,
    "tokens_per_minute": 9000.0,
    "max_calls": 1000,
    "max_tokens": 100_000,
    "max_cost": 2.5,
    "prices": {"gpt-5-nano": {"prompt": 0.05, "completion": 0.4}},
    "budget_period": "day",
    "max_pending": 10,
    "rotate": "day",
    "keep": 30,
    "strict_shown": True,
    "overflow": "drop_newest",
    "prompts": str(Path(__file__).parents[1] / "own_prompts"),
    "redact": without_ann,
}
BATCH = {
    "progress_bar": False,
    "concurrency": 2,
    "timeout": None,
    "attempts": 3,
    "form_attempts": 3,
    "requests_per_minute": 60.0,
    "tokens_per_minute": 9000.0,
    "repeats": 3,
    "include_records": False,
    "out": "runs/batch",
    "prompts": str(Path(__file__).parents[1] / "own_prompts"),
    "redact": without_ann,
}


def models() -> dict[str, Any]:
    return {
        "chat_generator": OpenAIChatGenerator(api_key=KEY, model="gpt-5-nano"),
        "text_embedder": MockTextEmbedder(dimension=8),
    }


# Every parameter differs from its default; a test below makes sure of it.
COMPONENTS: dict[str, Any] = {
    "evaluator": lambda: RagMetricsEvaluator(
        metrics=LIVE["metrics"], scorer="token-match:small", on_error="raise", **BATCH, **models()
    ),
    "correctness": lambda: AnswerCorrectnessEvaluator(
        variant="ragas-0.4", parameters={"weights": [1, 2]}, raise_on_failure=False, **BATCH, **models()
    ),
    "live": lambda: RagMetricsLiveEvaluator(
        mode="inline",
        gate={"faithfulness": 0.7},
        unscored="pass",
        on_error="raise",
        **LIVE,
        **models(),
    ),
    "connector": lambda: RagMetricsConnector(
        extract={"contexts": "ranker.documents"}, answer_from="llm", needs_contexts=True, **LIVE, **models()
    ),
    "hook": lambda: RagMetricsAgentHook(
        gate={"faithfulness": 0.7},
        unscored="pass",
        rejected_answer="No.",
        needs_contexts=True,
        **LIVE | {"references": always_paris},
        **models(),
    ),
}


@pytest.fixture(autouse=True)
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Haystack loads functions only from modules that it is told to trust."""
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", without_ann.__module__)


def loaded_elsewhere(text: str) -> str:
    """Load a pipeline in a new process and save it again there."""
    environment = {name: value for name, value in os.environ.items() if "HAYSTACK" not in name}
    path = os.pathsep.join([str(ROOT), str(ROOT / "integrations")])
    done = subprocess.run(  # noqa: S603  (our own interpreter)
        [sys.executable, "-c", LOAD],
        input=text,
        env=environment
        | {
            "PYTHONPATH": path,
            "HAYSTACK_TELEMETRY_ENABLED": "False",
            "HAYSTACK_DESERIALIZATION_ALLOWLIST": without_ann.__module__,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.integration
def test_every_part_with_every_generator_and_embedder_comes_back_from_yaml_in_a_new_process():
    pipeline = Pipeline()
    for name, make in COMPONENTS.items():
        part = make()
        if name == "hook":
            part = Agent(chat_generator=MockChatGenerator(), hooks={"after_run": [part]})
        pipeline.add_component(name, part)
    for number, generator in enumerate(GENERATORS):
        pipeline.add_component(f"generator_{number}", FaithfulnessEvaluator(chat_generator=generator))
    for number, embedder in enumerate(EMBEDDERS):
        pipeline.add_component(
            f"embedder_{number}",
            RagMetricsEvaluator("answer_similarity", text_embedder=embedder),
        )
    text = pipeline.dumps()

    assert loaded_elsewhere(text) == text
    assert Pipeline.loads(text) == pipeline
    assert "A_KEY_THAT_NOBODY_HAS" in text


def test_a_pipeline_that_was_loaded_scores_like_the_one_that_was_saved():
    pipeline = Pipeline()
    pipeline.add_component(
        "evaluator", RagMetricsEvaluator("faithfulness", chat_generator="embedded", progress_bar=False)
    )
    inputs = {
        "questions": ["Where?"],
        "contexts": [["It is in Paris."]],
        "predicted_answers": ["It is in Paris."],
    }

    again = Pipeline.loads(pipeline.dumps())

    assert again.run({"evaluator": inputs}) == pipeline.run({"evaluator": inputs})


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_parameter_that_is_not_its_default_survives(name: str):
    part = COMPONENTS[name]()
    parameters = signature(type(part).__init__).parameters
    defaults = {each: value.default for each, value in parameters.items() if each != "self"}

    data = component_to_dict(part, name)
    again = component_to_dict(type(part).from_dict(data), name)

    assert again == data
    assert set(data["init_parameters"]) == set(defaults)
    # `examples` only stands where Haystack's evaluators have it
    left = [each for each, value in data["init_parameters"].items() if value == defaults[each] and each != "examples"]
    assert not left


@pytest.mark.parametrize("name", [each for each in ragmetrics.__all__ if each.endswith("Evaluator")])
def test_every_evaluator_survives_with_its_defaults(name: str):
    evaluator = getattr(ragmetrics, name)(chat_generator="embedded", text_embedder="embedded")

    data = evaluator.to_dict()

    assert type(evaluator).from_dict(data).to_dict() == data


def test_loading_does_not_change_the_dictionary_that_is_loaded():
    data = COMPONENTS["live"]().to_dict()
    before = repr(data)

    RagMetricsLiveEvaluator.from_dict(data)

    assert repr(data) == before


def test_a_key_given_as_text_is_refused_rather_than_written_down():
    generator = OpenAIChatGenerator(api_key=Secret.from_token("a secret"))
    pipeline = Pipeline()
    pipeline.add_component("evaluator", FaithfulnessEvaluator(chat_generator=generator))

    with pytest.raises(ValueError, match="Cannot serialize token-based secret"):
        pipeline.dumps()


def test_a_password_in_the_name_of_a_model_is_refused_rather_than_written_down():
    with pytest.raises(ConfigError, match="holds a password") as raised:
        RagMetricsEvaluator("faithfulness", chat_generator="openai:m@https://user:pa55word@host/v1")

    assert "pa55word" not in str(raised.value)


@pytest.mark.parametrize("function", ["os.system", "subprocess.getoutput", "builtins.eval", "pickle.loads"])
def test_yaml_of_somebody_else_cannot_have_a_function_called(function: str):
    data = RagMetricsEvaluator("faithfulness", chat_generator="embedded", redact=without_ann).to_dict()
    assert data["init_parameters"]["redact"].endswith("functions.without_ann")
    data["init_parameters"]["redact"] = function

    with pytest.raises(DeserializationError):
        RagMetricsEvaluator.from_dict(data)


def test_a_function_that_no_module_has_is_refused_when_it_is_saved():
    evaluator = RagMetricsEvaluator(
        "faithfulness", chat_generator="embedded", redact=lambda text: text.replace("Ann", "")
    )

    with pytest.raises(SerializationError, match="lambda"):
        evaluator.to_dict()
