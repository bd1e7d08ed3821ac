"""LlamaIndex as its users run it, without a network and without a key."""

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="not installed (pip install 'ragmetrics-core[llama-index]')")

from llama_index.core import instrumentation
from llama_index.core.settings import Settings

from ragmetrics_llama_index import Instrumentation, instrument


@pytest.fixture(autouse=True, scope="module")
def nothing_left_open() -> Iterator[None]:
    """What LlamaIndex leaves open ends here, and not in a test of something else that collects garbage."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def _loop():
    """A loop that is closed: `asyncio_run` of LlamaIndex would make one for the thread and leave it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(autouse=True)
def _left_as_found():
    """No test resolves the default models (which would look for OpenAI), nor leaves a hook behind."""
    handlers = instrumentation.get_dispatcher().span_handlers[:]
    models = Settings._llm, Settings._embed_model
    yield
    assert (Settings._llm, Settings._embed_model) == models, "a test has resolved the default models"
    assert instrumentation.get_dispatcher().span_handlers == handlers, "a test has left a hook behind"


@pytest.fixture
def live() -> Iterator[Any]:
    """`instrument` for faithfulness, by the judge that needs no model; taken out at the end."""
    made: list[Instrumentation] = []

    def make(watch: Any = None, llm: Any = "embedded", **options: Any) -> Instrumentation:
        made.append(instrument("faithfulness", llm, watch=watch, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
