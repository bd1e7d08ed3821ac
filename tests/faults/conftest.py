"""A server for each test."""

from collections.abc import Iterator

import pytest

pytest.importorskip("typer", reason="needs the extra cli: pip install 'ragmetrics-core[cli]'")
pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from benchmarks.server import ServerProcess


@pytest.fixture
def server() -> Iterator[ServerProcess]:
    """A server that answers everything at once, until it is told otherwise."""
    with ServerProcess() as server:
        yield server
