"""The adapters have the same verbs and the same options of live scoring, and docs/live.md says which."""

import ast
import asyncio
import importlib
import inspect
import re
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, LiveScorer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "live.md"
PROPERTIES = ("results", "means", "stats")
VERBS = ("alert", "pause", "resume", "paused", "flush", "aflush", "close", "aclose")
COMPONENTS = "haystack_integrations.components.evaluators.ragmetrics"


class Adapter(NamedTuple):
    """One way into live scoring: its module, what takes the options, and what has the verbs."""

    module: str
    options: str
    verbs: str
    column: str


ADAPTERS = [
    Adapter("ragmetrics_langchain", "RagMetricsCallbackHandler", "RagMetricsCallbackHandler", "LangChain"),
    Adapter("ragmetrics_llama_index", "instrument", "Instrumentation", "LlamaIndex"),
    Adapter(COMPONENTS, "RagMetricsConnector", "RagMetricsConnector", "Haystack"),
    Adapter(COMPONENTS, "RagMetricsLiveEvaluator", "RagMetricsLiveEvaluator", "Haystack"),
    Adapter(COMPONENTS, "RagMetricsAgentHook", "RagMetricsAgentHook", "Haystack"),
]
FRAMEWORKS = {"LangChain": "langchain_core", "LlamaIndex": "llama_index.core", "Haystack": "haystack"}
every_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda each: each.options)


def found(adapter: Adapter, name: str) -> Any:
    framework = FRAMEWORKS[adapter.column]
    pytest.importorskip(framework, reason=f"the package of {framework} is not installed")
    return getattr(importlib.import_module(adapter.module), name)


def table() -> list[dict[str, str]]:
    """The rows of the table in the page, by the column's name."""
    lines = PAGE.read_text(encoding="utf-8").partition("### In the adapters")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    first = rows.index(next(row for row in rows if row[0] == "`LiveScorer`"))
    end = next((n for n, line in enumerate(rows) if len(line) != 4), len(rows))
    return [dict(zip(rows[first], row, strict=True)) for row in rows[first + 2 : end]]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def options_of(maker: Callable[..., Any]) -> list[str]:
    function = maker.__init__ if isinstance(maker, type) else maker
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_the_table_has_every_option_and_verb_of_a_live_scorer():
    listed = {name for row in table() for name in names_in(row["`LiveScorer`"])}

    assert listed >= {*options_of(LiveScorer), *PROPERTIES, *VERBS}


def test_the_page_has_every_option_with_its_default():
    rows = PAGE.read_text(encoding="utf-8").partition("## Options")[2].partition("\n\n`live.stats`")[0]
    stated: dict[str, Any] = {}
    for row in rows.strip().splitlines()[2:]:
        names, defaults, _ = (cell.strip() for cell in row.strip("|").split("|"))
        # a default that is not stated is nothing: None, or an empty collection
        values = [ast.literal_eval(each.strip(" `")) for each in defaults.split(",") if each]
        stated |= dict(zip_longest(names_in(names), values))
    parameters = inspect.signature(LiveScorer.__init__).parameters

    assert {name: parameters[name].default or None for name in stated if name != "metrics"} == {
        name: value for name, value in stated.items() if name != "metrics"
    }
    assert stated.keys() == set(options_of(LiveScorer))


@every_adapter
def test_an_option_has_the_name_that_the_table_says(adapter: Adapter):
    taken = options_of(found(adapter, adapter.options))
    checked = 0
    for row in table():
        names = [name for name in names_in(row["`LiveScorer`"]) if name in options_of(LiveScorer)]
        if names == [] or row["`LiveScorer`"].startswith("a "):
            continue
        cell = row[adapter.column]
        checked += len(names)
        if cell == "the same":
            assert set(names) <= set(taken)
        elif cell == "–":
            assert not set(names) & set(taken)
        elif cell == "the evaluator only":
            assert set(names) & set(taken) == (set(names) if "Evaluator" in adapter.options else set())
        else:
            assert len(names_in(cell)) == len(names)
            assert set(names_in(cell)) <= set(taken)
            assert not set(names) & set(taken)

    assert checked == len(options_of(LiveScorer))


@every_adapter
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_what_it_takes_of_the_live_scorer(adapter: Adapter, verb: str):
    def parameters(owner: Any) -> list[tuple[str, Any, Any]]:
        known = inspect.signature(getattr(owner, verb)).parameters.values()
        return [(each.name, each.kind, each.default) for each in known]

    owner = found(adapter, adapter.verbs)

    assert parameters(owner) == parameters(LiveScorer)
    assert inspect.iscoroutinefunction(getattr(owner, verb)) == (verb in ("aflush", "aclose"))


@every_adapter
def test_what_came_of_it_is_read_in_the_same_way(adapter: Adapter):
    owner = found(adapter, adapter.verbs)

    for name in (*PROPERTIES, "live"):
        assert isinstance(inspect.getattr_static(owner, name), property)


def made(adapter: Adapter) -> Any:
    judge = {"LangChain": "judge", "LlamaIndex": "llm", "Haystack": "chat_generator"}[adapter.column]
    return found(adapter, adapter.options)("faithfulness", **{judge: "embedded"})


@every_adapter
def test_closing_ends_the_live_scorer_within_a_loop_and_without(adapter: Adapter):
    async def asynchronously() -> bool:
        part = made(adapter)
        live = part.live
        async with part:
            assert await part.aflush(timeout=60)
        with live.paused():
            pass
        return await part.aclose(timeout=60) and _is_closed(live)

    with made(adapter) as part:
        live = part.live
        assert part.flush(timeout=60)

    assert part.close(timeout=60)
    assert _is_closed(live)
    assert asyncio.run(asynchronously())


def _is_closed(live: LiveScorer) -> bool:
    assert not live.submit(Capture(translate=lambda _: Sample()))
    return live.stats.skipped == {"closed": 1}


@every_adapter
def test_what_is_paused_takes_nothing_until_it_was_resumed_as_often(adapter: Adapter):
    def submit() -> bool:
        return part.live.submit(
            Capture(translate=lambda _: Sample(question="Who?", contexts=("Ann.",), answer="Ann."))
        )

    with made(adapter) as part:
        part.pause()
        with part.paused():
            assert not submit()
        assert not submit()
        part.resume()
        assert submit()
        assert part.flush()

        assert part.stats.skipped == {"paused": 2}
        assert part.stats.scored == 1
