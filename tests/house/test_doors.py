"""One word for one thing, with one default, at every door: Python, command line, live and adapters."""

import ast
import importlib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
import typer.main

from ragmetrics_core.boundary import keywords
from ragmetrics_core.cli._app import app
from ragmetrics_core.live import LIVE_DEFAULTS, LiveArgs, LiveSettings
from ragmetrics_core.models import Budget, BudgetArgs, Traffic, TrafficArgs
from ragmetrics_core.runs._settings import EVALUATION_DEFAULTS

HAYSTACK = "haystack_integrations.components.evaluators.ragmetrics"
LIVE_DOORS = {
    "ragmetrics_core.live": ["LiveScorer"],
    "ragmetrics_langchain": [
        "RagMetricsCallbackHandler",
        "RagMetricsMiddleware",
        "score_step",
        "as_langsmith_evaluator",
    ],
    "ragmetrics_llama_index": ["instrument"],
    HAYSTACK: ["RagMetricsConnector", "RagMetricsLiveEvaluator", "RagMetricsAgentHook"],
}
BATCH_DOORS = {
    "ragmetrics_core.runs": ["evaluate", "aevaluate", "plan", "aplan"],
    "ragmetrics_core.probe": ["probe", "aprobe", "probe_on", "aprobe_on", "compare_on", "acompare_on"],
    "ragmetrics_ray": ["evaluate_dataset"],
    "ragmetrics_llama_index": ["RagMetricsEvaluator", "*Evaluator"],
    HAYSTACK: ["RagMetricsEvaluator", "*Evaluator"],
}
PACKAGES = {
    "ragmetrics_langchain": "langchain_core",
    "ragmetrics_llama_index": "llama_index.core",
    "ragmetrics_ray": "ray",
    HAYSTACK: "haystack",
}
COMMANDS = ["evaluate", "plan", "probe"]

DEFAULTS: Mapping[str, Any] = {
    **LIVE_DEFAULTS,
    **EVALUATION_DEFAULTS,
    "cache": None,
    "full_repeats": 1,
    "keep_vectors": False,
    "limit": None,
    "on_error": "record",
    "out": None,
    "overwrite": False,
    "prompts": None,
    "redact": None,
    "repeats": 1,
}
# How often the consistency probe asks the same again is another thing than votes on a verdict.
OTHER_THINGS = {("probe", "repeats"), ("aprobe", "repeats")}
# In YAML sinks are names of functions that make them, and None says that there are none.
OTHER_THINGS |= {(each, "sinks") for each in LIVE_DOORS[HAYSTACK]}
# What the words of one thing were, and what frameworks call it.
OTHER_WORDS = {
    "calling",
    "concurrency_limit",
    "journal",
    "max_concurrency",
    "max_pending_calls",
    "max_retries",
    "max_workers",
    "raise_error",
    "raise_on_failure",
    "retries",
    "width",
    "workers",
}
# Evaluators with the names and call forms of a framework's own take its word for what happens at an error.
OF_FRAMEWORKS = {"raise_error", "raise_on_failure"}


def doors(kinds: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    for module, names in kinds.items():
        for name in names:
            yield module, name


def opened(module: str, name: str) -> list[tuple[str, Any]]:
    """The doors of a name; "*Evaluator" stands for those named as the framework's own or as our metrics."""
    if module in PACKAGES:
        pytest.importorskip(PACKAGES[module], reason=f"the package {PACKAGES[module]} is not installed")
    here = importlib.import_module(module)
    if not name.startswith("*"):
        return [(name, getattr(here, name))]
    found = [each for each in here.__all__ if each.endswith(name[1:]) and not each.startswith("RagMetrics")]
    assert len(found) >= 10
    return [(each, getattr(here, each)) for each in found]


def parameters(door: Any) -> dict[str, Any]:
    function = door.__init__ if isinstance(door, type) else door
    taken = inspect.signature(function).parameters.values()
    assert not [each for each in taken if each.kind is each.VAR_KEYWORD], "its settings have no names"
    return {each.name: each.default for each in taken if each.name != "self"}


every_door = pytest.mark.parametrize(
    ("module", "name"), [*doors(LIVE_DOORS), *doors(BATCH_DOORS)], ids=lambda each: each
)


@every_door
def test_a_setting_has_the_same_name_and_default_at_every_door(module: str, name: str):
    for door, made in opened(module, name):
        taken = parameters(made)

        assert set(TrafficArgs.__annotations__) <= set(taken)
        for word, default in taken.items():
            if word in DEFAULTS and (door, word) not in OTHER_THINGS:
                assert (door, word, default) == (door, word, DEFAULTS[word])


@every_door
def test_no_door_has_another_word_for_it(module: str, name: str):
    for door, made in opened(module, name):
        allowed = OF_FRAMEWORKS if name.startswith("*") else set()

        assert (door, set(parameters(made)) & OTHER_WORDS - allowed) == (door, set())


@pytest.mark.parametrize(("module", "name"), list(doors(LIVE_DOORS)), ids=lambda each: each)
def test_a_live_door_takes_all_live_settings(module: str, name: str):
    (made,) = opened(module, name)
    # Haystack's connector and hook are never in the pipeline's way, so that they have no mode
    asked = set(LiveArgs.__annotations__) - ({"mode"} if module == HAYSTACK else set())

    assert asked <= set(parameters(made[1]))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_has_the_words_and_the_defaults_of_python(command: str):
    group: Any = typer.main.get_command(app)
    options = {each.name: each.default for each in group.commands[command].params}

    assert not set(options) & OTHER_WORDS
    compared = {word: default for word, default in options.items() if word in DEFAULTS}
    assert len(compared) > 5
    for word, default in compared.items():
        if (command, word) not in OTHER_THINGS:
            assert (word, default) == (word, DEFAULTS[word])


@pytest.mark.parametrize("command", ["evaluate", "probe"])
def test_a_command_that_asks_models_takes_all_of_traffic(command: str):
    group: Any = typer.main.get_command(app)

    assert set(TrafficArgs.__annotations__) <= {each.name for each in group.commands[command].params}


@pytest.mark.parametrize(
    ("args", "settings", "prefix"),
    [(TrafficArgs, Traffic, ""), (BudgetArgs, Budget, "max_"), (LiveArgs, LiveSettings, "")],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_keywords_are_the_fields_of_their_object_and_of_the_same_types(args: Any, settings: Any, prefix: str):
    of_object = get_type_hints(settings)
    of_keywords = {
        name: kind
        for name, kind in get_type_hints(args).items()
        if args is not LiveArgs or name not in {**TrafficArgs.__annotations__, **BudgetArgs.__annotations__}
    }

    renamed = {name.removeprefix(prefix): kind for name, kind in of_keywords.items()}
    assert {name: of_object[name] for name in renamed} == renamed
    # what only the object has: how attempts are spaced, and what live keywords spell out
    left = {each.name for each in fields(settings)} - set(renamed)
    assert left <= {"first_delay", "longest_delay", "patience", "traffic", "budget"}


@pytest.mark.parametrize("args", [TrafficArgs, BudgetArgs, LiveArgs], ids=lambda each: each.__name__)
def test_every_keyword_has_its_words_where_editors_look_for_them(args: Any):
    tree = ast.parse(Path(inspect.getfile(args)).read_text(encoding="utf-8"))
    classes = {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
    body = classes[args.__name__]
    names = [place for place, each in enumerate(body) if isinstance(each, ast.AnnAssign)]

    assert names
    for place in names:
        words = body[place + 1]
        assert isinstance(words, ast.Expr)
        assert isinstance(words.value, ast.Constant)
        assert str(words.value.value).rstrip().endswith(".")


def test_a_keyword_that_nobody_takes_is_refused_with_the_nearest_one():
    with pytest.raises(TypeError, match=r"no argument 'concurency': did you mean 'concurrency'\?"):
        Traffic().replacing(concurency=4)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="no argument 'x': it takes 'concurrency'"):
        keywords.refuse_unknown({"x": 1}, "concurrency")


def test_a_keyword_beside_an_object_counts():
    traffic = Traffic(concurrency=3, timeout=9.0, first_delay=0.1)
    live = LiveSettings(sample_rate=0.5, traffic=traffic).replacing(attempts=7, seed=1)

    assert traffic.replacing(timeout=None) == Traffic(concurrency=3, timeout=None, first_delay=0.1)
    assert Budget(calls=3, prices={}).replacing(max_cost=1.0) == Budget(calls=3, cost=1.0, prices={})
    assert live == LiveSettings(
        sample_rate=0.5, seed=1, traffic=Traffic(concurrency=3, timeout=9.0, first_delay=0.1, attempts=7)
    )
