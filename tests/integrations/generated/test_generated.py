"""Random applications: what is recorded is what the request held, by the bodies that a server kept."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.integrations.generated.running import outcomes

NEEDED = {
    "langchain": ("langchain_openai", "langgraph", "langchain.agents"),
    "haystack": ("haystack",),
    "llama_index": ("llama_index.core",),
}


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """A loop that is closed: `asyncio_run` of LlamaIndex would make one for the thread and leave it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.parametrize("first", range(0, 48, 12))
@pytest.mark.parametrize("framework", NEEDED)
def test_the_record_accounts_for_the_request(monkeypatch: pytest.MonkeyPatch, framework: str, first: int):
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    for module in NEEDED[framework]:
        pytest.importorskip(module, reason=f"{module} is not installed")
    ran = outcomes(framework, range(first, first + 12))
    assert [f"{each.case.seed}: {each.case.name}: {each.problems}" for each in ran if each.problems] == []
