"""Frameworks and providers' clients leave connections to the garbage collector; ragmetrics does not."""

from pathlib import Path

import pytest

# aiohttp, the client that ragmetrics itself uses, names a client session, a connector or a connection.
LEFT_OPEN = pytest.mark.filterwarnings("default::ResourceWarning", "error:Unclosed c:ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(LEFT_OPEN)
