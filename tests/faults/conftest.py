"""A server for each test."""

from collections.abc import Iterator

import pytest

from benchmarks.server import ServerProcess


@pytest.fixture
def server() -> Iterator[ServerProcess]:
    """A server that answers everything at once, until it is told otherwise."""
    with ServerProcess() as server:
        yield server
