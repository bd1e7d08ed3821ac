"""A Ray of two processors on this machine, started once: no dashboard, no usage statistics, no other host."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """A local Ray; gives its address."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = pytest.importorskip(
        "ray", reason="the package ray is not installed (pip install 'ragmetrics-core[ray]')"
    )
    context = ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        object_store_memory=200 << 20,
    )
    settings = ray.data.DataContext.get_current()
    settings.enable_progress_bars = False
    yield context.address_info["address"]
    ray.shutdown()
