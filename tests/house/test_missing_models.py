"""Without a model every door says the same: none is chosen for anybody, and ways lead on."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
from typer.testing import CliRunner

from ragmetrics_core import ConfigError, LiveScorer, evaluate
from ragmetrics_core.cli._app import app
from ragmetrics_core.live import LiveSettings
from ragmetrics_core.probe import probe, probe_on
from ragmetrics_core.runs import plan

HAYSTACK = "haystack_integrations.components.evaluators.ragmetrics"
ROW = {"question": "Who?", "answer": "Ann.", "contexts": ["Ann did."]}
LABELLED = [{**ROW, "relevant": "yes"}, {"question": "Which?", "answer": "None.", "relevant": "no"}]
THREE_WAYS = ("'embedded'", "'openai:MODEL'", "'openai:MODEL@URL'")


def adapter(module: str, name: str, framework: str) -> Any:
    pytest.importorskip(framework, reason=f"the package {framework} is not installed")
    return getattr(importlib.import_module(module), name)


def retrieved(name: str) -> Any:
    return adapter("ragmetrics_llama_index", name, "llama_index.core")


def of_haystack(name: str) -> Any:
    return adapter(HAYSTACK, name, "haystack")


DOORS: dict[str, Callable[[], object]] = {
    "evaluate": lambda: evaluate([ROW], metrics="faithfulness"),
    "evaluate, recommended": lambda: evaluate([ROW]),
    "plan": lambda: plan([ROW], metrics="faithfulness"),
    "probe": probe,
    "live": lambda: LiveScorer("faithfulness", settings=LiveSettings(sample_rate=0.5)),
    "LangChain": lambda: adapter("ragmetrics_langchain", "RagMetricsCallbackHandler", "langchain_core")(
        "faithfulness"
    ),
    "LangChain's step": lambda: adapter("ragmetrics_langchain", "score_step", "langchain_core")(
        "faithfulness"
    ),
    "Haystack": lambda: of_haystack("RagMetricsEvaluator")("faithfulness"),
    "Haystack, live": lambda: of_haystack("RagMetricsConnector")("faithfulness"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_without_a_judge_names_three_ways_on(door: str):
    with pytest.raises(ConfigError, match="needs a judge, and none was given") as refused:
        DOORS[door]()

    assert [way for way in THREE_WAYS if way not in str(refused.value)] == []


@pytest.mark.parametrize(
    "command", [["evaluate", "DATA"], ["plan", "DATA"], ["probe"]], ids=lambda each: each[0]
)
def test_a_command_without_a_judge_names_three_ways_on(command: list[str], tmp_path):
    (tmp_path / "data.jsonl").write_text('{"question": "Who?", "answer": "Ann.", "contexts": ["Ann did."]}\n')
    words = [str(tmp_path / "data.jsonl") if each == "DATA" else each for each in command]

    done = CliRunner().invoke(app, words)

    assert done.exit_code == 2
    assert "needs a judge, and none was given: --judge NAME takes one" in done.output
    assert [way for way in THREE_WAYS if way not in done.output] == []


def test_llama_index_s_own_default_is_nobodys_choice_of_a_judge():
    made = retrieved("RagMetricsEvaluator")("faithfulness")

    # an evaluator says in its result what went wrong, so that a batch goes on
    result = made.evaluate(query="Who?", response="Ann.", contexts=["Ann did."])

    assert result.invalid_result
    assert "faithfulness needs a judge, and none was given" in result.invalid_reason
    assert [way for way in THREE_WAYS if way not in result.invalid_reason] == []


OF_EMBEDDERS: dict[str, Callable[[], object]] = {
    "evaluate": lambda: evaluate([ROW], metrics="answer_relevance", judge="embedded"),
    "plan": lambda: plan([ROW], metrics="answer_relevance", judge="embedded"),
    "probe on labels": lambda: probe_on("embedded", LABELLED, question="relevant", label="relevant"),
    "live": lambda: LiveScorer("answer_relevance", judge="embedded", settings=LiveSettings(sample_rate=0.5)),
    "LangChain": lambda: adapter("ragmetrics_langchain", "RagMetricsCallbackHandler", "langchain_core")(
        "answer_relevance", judge="embedded"
    ),
    "Haystack": lambda: of_haystack("RagMetricsEvaluator")("answer_relevance", chat_generator="embedded"),
}


@pytest.mark.parametrize("door", OF_EMBEDDERS)
def test_a_door_without_an_embedder_names_two_ways_on(door: str):
    with pytest.raises(
        ConfigError, match="answer_relevance needs an embedder, and none was given"
    ) as refused:
        OF_EMBEDDERS[door]()

    assert [way for way in ("'embedded'", "'openai:MODEL'") if way not in str(refused.value)] == []


OF_SCORERS: dict[str, Callable[[], object]] = {
    "evaluate": lambda: evaluate([ROW], metrics="bert_score"),
    "Haystack": lambda: of_haystack("RagMetricsEvaluator")("bert_score"),
    "LlamaIndex": lambda: retrieved("RagMetricsEvaluator")("bert_score"),
}


@pytest.mark.parametrize("door", OF_SCORERS)
def test_a_door_without_a_scorer_names_two_ways_on(door: str):
    with pytest.raises(ConfigError, match="bert_score needs a scorer, and none was given") as refused:
        OF_SCORERS[door]()

    assert [
        way for way in ("'cross-encoder:MODEL'", "'token-match:MODEL'") if way not in str(refused.value)
    ] == []


@pytest.mark.parametrize("command", ["evaluate", "plan"])
@pytest.mark.parametrize(
    ("metric", "option"), [("answer_relevance", "--embedder NAME"), ("bert_score", "--scorer NAME")]
)
def test_a_command_chooses_no_model_for_anybody(command: str, metric: str, option: str, tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"question": "Who?", "answer": "Ann.", "reference": "Ann."}\n')

    done = CliRunner().invoke(app, [command, str(data), "--judge", "embedded", "--metrics", metric])

    assert done.exit_code == 2
    assert f"and none was given: {option} takes one" in " ".join(done.output.split())
