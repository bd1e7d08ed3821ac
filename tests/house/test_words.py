"""Words of other libraries at the entry points: one sentence that says what a thing is called here."""

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import LiveScorer, OpenAIJudge, ScriptedJudge, aevaluate, as_judge, evaluate
from ragmetrics_core.boundary.keywords import WORDS, folded
from ragmetrics_core.errors import ArgumentError, ConfigError
from ragmetrics_core.metrics import METRICS, Faithfulness, resolve
from ragmetrics_core.models import Budget, OpenAIEmbedder, Traffic, as_embedder, as_scorer
from ragmetrics_core.runs import aplan, export_wave, import_replies, plan

# as somebody calls it who does not know its arguments
measure: Any = evaluate
ROW = {"question": "q", "answer": "a", "contexts": ["a"], "reference": "a"}
DOORS: list[Callable[..., Any]] = [
    evaluate, aevaluate, plan, aplan, export_wave, import_replies, LiveScorer, OpenAIJudge, OpenAIEmbedder,
    Traffic, Budget, *METRICS.values(),
]  # fmt: skip
ADAPTERS = {
    "ragmetrics_pytest": ("assert_scores",),
    "ragmetrics_ray": ("evaluate_dataset",),
    "ragmetrics_langchain": (
        "LangChainJudge", "LangChainEmbedder", "RagMetricsCallbackHandler", "score_step",
        "as_langsmith_evaluator",
    ),
    "ragmetrics_llama_index": ("LlamaIndexJudge", "LlamaIndexEmbedder", "RagMetricsEvaluator", "instrument"),
    "haystack_integrations.components.evaluators.ragmetrics": (
        "HaystackJudge", "HaystackEmbedder", "RagMetricsEvaluator", "RagMetricsConnector",
    ),
}  # fmt: skip


def judge() -> ScriptedJudge:
    return ScriptedJudge({})


def call(door: Any, arguments: Mapping[str, object]) -> None:
    """Call it; what is awaited runs to its first step."""
    result = door(**arguments)
    if inspect.iscoroutine(result):
        result.send(None)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@given(name=st.from_regex(r"[a-z]{3,12}(_[a-z]{2,8})?", fullmatch=True) | st.sampled_from([*sum(WORDS, ())]))
def test_an_unknown_keyword_is_one_sentence_of_ours_at_every_entry_point(door: Any, name: str):
    if name in inspect.signature(door).parameters:
        return
    with pytest.raises(ArgumentError, match=rf"{name}'(:| )") as raised:
        call(door, {name: 1})

    assert isinstance(raised.value, TypeError)
    assert isinstance(raised.value, ConfigError)


@pytest.mark.parametrize(
    ("package", "name"), [(key, name) for key, names in ADAPTERS.items() for name in names]
)
def test_an_unknown_keyword_is_one_sentence_of_ours_in_the_adapters(package: str, name: str):
    try:
        door = getattr(importlib.import_module(package), name)
    except ImportError:
        pytest.skip(f"needs the framework of {package}")
    if name == "assert_scores":  # a keyword is a metric there
        with pytest.raises(ArgumentError, match="assert_scores needs run"):
            door()
        return
    with pytest.raises(ArgumentError, match="no argument 'zzz_zzz'"):
        door(zzz_zzz=1)


@pytest.mark.parametrize(
    ("written", "here"),
    {
        "dataset": "samples", "data": "samples", "test_cases": "samples", "llm": "judge", "model": "judge",
        "evaluator_llm": "judge", "embeddings": "embedder", "embedding_model": "embedder",
        "metric": "metrics", "output": "out", "run_name": "out", "experiment_name": "out",
        "max_workers": "concurrency",
        "raise_exceptions": "on_error", "show_progress": "progress", "callbacks": "progress",
        "run_config": "traffic", "max_retries": "attempts", "Max-Calls": "max_calls", "outPut": "out",
    }.items(),
)  # fmt: skip
def test_an_argument_of_another_library_is_told_its_name_here(written: str, here: str):
    asked = judge()
    with pytest.raises(ArgumentError) as raised:
        measure([ROW], **{"judge": asked, written: 1})

    assert str(raised.value) == f"evaluate has no argument {written!r}: it is called {here!r} here"
    assert not asked.asked


def test_the_same_words_work_where_the_argument_is_called_llm_here():
    with pytest.raises(ArgumentError, match="no argument 'strictness': it is called 'n_questions' here"):
        call(METRICS["answer_relevance"], {"strictness": 3})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": 3}, "metrics must be a text or a Metric or a list or None, not 3"),
        ({"out": 3}, "out must be a text or a path or None, not 3"),
        ({"limit": "5"}, "limit must be a whole number or None, not '5'"),
        ({"limit": True}, "limit must be a whole number or None, not True"),
        ({"concurrency": "many"}, "concurrency must be a whole number, not 'many'"),
        ({"timeout": [3]}, "timeout must be a number or None, not a list"),
        ({"progress": "yes"}, "progress must be a function or True or False or None, not 'yes'"),
        ({"progress": object()}, "progress must be a function or True or False or None, not an object"),
        ({"redact": object()}, "redact must be a function or None, not an object"),
        ({"overwrite": "yes"}, "overwrite must be True or False, not 'yes'"),
        ({"traffic": {"concurrency": 3}}, "traffic must be a Traffic or None, not a dict"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused_before_any_call(arguments: Any, message: str):
    asked = judge()
    with pytest.raises(ArgumentError) as raised:
        measure([ROW], **{"judge": asked, **arguments})

    assert str(raised.value) == f"evaluate: {message}"
    assert not asked.asked


def test_arguments_by_position_and_missing_ones_are_told_by_name():
    with pytest.raises(ArgumentError, match=r"takes only samples by position; .*: metrics=\.\.\., judge="):
        measure([ROW], ["faithfulness"])
    with pytest.raises(ArgumentError, match=r"^evaluate needs samples$"):
        measure()


def foreign(name: str, module: str, **settings: Any) -> Any:
    """A class of another library, which is not imported."""

    def begin(self: Any, **given: Any) -> None:
        for key, value in {**settings, **given}.items():
            setattr(self, key, value)

    parameters = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value)
        for key, value in settings.items()
    ]
    kind = type(name, (), {"__init__": begin, "__module__": module})
    kind.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return kind


ANSWER_RELEVANCY = foreign("AnswerRelevancy", "ragas.metrics._answer_relevance", strictness=3)
PRECISION = foreign("ContextualPrecisionMetric", "deepeval.metrics", threshold=0.5, include_reason=True)


@pytest.mark.parametrize(
    ("metrics", "signatures"),
    [
        (
            "faithfulness, ndcg(k=10,gain=exponential)",
            ["faithfulness/strict.1", "ndcg/strict.1(gain=exponential,k=10)"],
        ),
        (["Faithfulness/paper"], ["faithfulness/paper.1"]),
        ("Answer Relevancy", ["answer_relevance/strict.1"]),
        ("LLMContextPrecisionWithReference", ["context_precision/strict.1"]),
        ("LLMContextRecall", ["context_recall/strict.1"]),
        ("FactualCorrectness", ["factual_correctness/strict.1"]),
        ("RougeScore", ["rouge/strict.1(stemmer=true)"]),
        ("ContextualRecallMetric", ["context_recall/strict.1(granularity=sentence)"]),
        (Faithfulness, ["faithfulness/strict.1"]),
        ([ANSWER_RELEVANCY], ["answer_relevance/strict.1"]),
        ([ANSWER_RELEVANCY()], ["answer_relevance/strict.1"]),
        (PRECISION(include_reason=False), ["context_precision/strict.1"]),
        (foreign("ExactMatch", "ragas.metrics")(), ["exact_match/strict.1(rules=none)"]),
    ],
)
def test_a_metric_of_another_library_is_ours_where_it_is_the_same(metrics: Any, signatures: list[str]):
    assert [metric.signature for metric in resolve(metrics)] == signatures


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("ContextRelevance", "write 'context_relevance_rating/ragas-0.4' for theirs"),
        ("ContextUtilization", "give the answer as the reference"),
        ("FaithfulnessMetric", "also passes claims that the contexts do not mention"),
        ("AnswerRelevancyMetric", "nearest here is 'answer_relevance_rating'"),
        ("HallucinationMetric", "ideal contexts"),
        ("GEval", r'pass Criterion\("..."\)'),
        (ANSWER_RELEVANCY(strictness=5), "strictness=5, which is not carried over"),
        (PRECISION(threshold=0.7), "metrics have no threshold here"),
        (3, "a metric must be a name or a Metric object, not int"),
    ],
)
def test_a_metric_that_differs_is_refused_with_what_to_write(metric: Any, message: str):
    with pytest.raises(ConfigError, match=message):
        resolve(metric)


@given(st.sampled_from(list(METRICS)))
def test_every_metric_has_its_name_in_free_spelling(name: str):
    for spelled in (name.replace("_", " "), name.replace("_", "-"), name.upper()):
        assert resolve(spelled) == resolve(name)
    assert folded(METRICS[name].__name__) == folded(name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gpt-4o", '"openai:gpt-4o"'),
        ("openai/gpt-4o", '"openai:gpt-4o"'),
        ("claude-x", '"openai:claude-x@https://api.anthropic.com/v1"'),
        ("anthropic:claude-x", '"openai:claude-x@https://api.anthropic.com/v1"'),
        ("gemini-2", '"openai:gemini-2@https://generativelanguage.googleapis.com/v1beta/openai"'),
        ("ollama:llama3", '"openai:llama3@http://localhost:11434/v1"'),
        ("azure:gpt-4o", '"openai:gpt-4o@https://RESOURCE.openai.azure.com/openai/v1"'),
        ("llama3", '"openai:llama3@http://localhost:11434/v1" for Ollama'),
        ("Embedded", '"embedded"'),
    ],
)
def test_a_models_own_name_is_answered_with_the_name_to_write(name: str, line: str):
    with pytest.raises(ConfigError) as raised:
        as_judge(name)

    assert line in str(raised.value)


LINES: Mapping[str, tuple[str, str, str]] = {
    "openai._client": ("OpenAI", "judge", 'OpenAIJudge("MODEL", base_url=str(client.base_url)'),
    "langchain_core.x": ("BaseChatModel", "judge", "judge=LangChainJudge(model)"),
    "llama_index.core": ("LLM", "judge", "judge=LlamaIndexJudge(llm)"),
    "haystack.components": ("OpenAIChatGenerator", "judge", "judge=HaystackJudge(generator)"),
    "transformers.pipelines": ("Pipeline", "judge", "judge=lambda prompt: pipe("),
    "langchain_core.embeddings": ("Embeddings", "embedder", "embedder=LangChainEmbedder(model)"),
    "llama_index.core.base": ("BaseEmbedding", "embedder", "embedder=LlamaIndexEmbedder(model)"),
    "sentence_transformers": ("CrossEncoder", "scorer", 'scorer="cross-encoder:MODEL"'),
}


@pytest.mark.parametrize("module", LINES)
def test_a_model_of_a_framework_is_answered_with_the_line_to_write(module: str):
    name, kind, line = LINES[module]
    makers: Mapping[str, Any] = {
        "judge": as_judge, "embedder": as_embedder, "scorer": as_scorer,
    }  # fmt: skip
    base = type(name, (), {"__module__": module, "__call__": "".join})
    model = type("Mine", (base,), {})()
    imported = set(sys.modules)

    with pytest.raises(ConfigError) as raised:
        makers[kind](model)

    assert line in str(raised.value)
    assert not any(name.partition(".")[0] == module.partition(".")[0] for name in set(sys.modules) - imported)


def test_a_function_that_makes_calls_is_answered_and_one_of_the_users_own_is_not():
    def completion(prompt: str) -> str:
        return prompt

    assert as_judge(completion, identity="mine").identity == "mine"
    completion.__module__ = "litellm.main"
    with pytest.raises(ConfigError, match=r"litellm\.completion"):
        as_judge(completion)


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("eval x", "did you mean ragmetrics evaluate?"),
        ("diff-runs a b", "did you mean ragmetrics compare?"),
        ("reprot a", "did you mean ragmetrics report?"),
        ("trend a", "did you mean ragmetrics study trend?"),
        ("study compar", "did you mean ragmetrics study compare?"),
        ("evaluate --dataset x", "--dataset: it is called DATA (an argument) here"),
        ("evaluate x --llm y", "--llm: it is called --judge here"),
        ("evaluate x --model y", "--model: it is called --judge here"),
        ("evaluate x --metric y", "--metric: it is called --metrics here"),
        ("evaluate x --output y", "--output: it is called --out here"),
        ("evaluate x -o y", "-o: it is called --out here"),
        ("evaluate x -m y", "-m: it is called --metrics here"),
        ("evaluate x --judg y", "--judg: did you mean --judge?"),
    ],
)
def test_the_command_line_knows_the_same_words(line: str, advice: str, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
    from ragmetrics_core.cli._app import app

    with pytest.raises(SystemExit) as ended:
        app(line.split())

    assert ended.value.code == 2
    assert advice in capsys.readouterr().err


def test_compare_is_a_command_and_a_study(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
    from ragmetrics_core.cli._app import app

    runs = [str(tmp_path / name) for name in ("a", "b")]
    for number, run in enumerate(runs):
        evaluate([ROW | {"id": "one", "answer": "a" * (number + 1)}], metrics="exact_match", out=run)
    pages: list[str] = []
    for command in (["compare"], ["study", "compare"]):
        with pytest.raises(SystemExit):
            app([*command, *runs])
        pages.append(capfd.readouterr().out)

    assert "exact_match" in pages[0]
    assert pages[0] == pages[1]
