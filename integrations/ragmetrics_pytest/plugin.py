"""What pytest loads: a marker that names a run, and fixtures.

    @pytest.mark.ragmetrics(run="runs/nightly")
    def test_answers_stay_grounded(ragmetrics_run, assert_scores):
        assert_scores(ragmetrics_run, faithfulness=0.8)

Nothing of ragmetrics itself is imported before a test asks for it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragmetrics_core import Run

__all__ = ["assert_scores", "pytest_configure", "ragmetrics_run"]

_MARKER = (
    "ragmetrics(run=FOLDER) or ragmetrics(data=FILE, **settings of ragmetrics_core.evaluate): "
    "the run that the fixture ragmetrics_run gives"
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture(name="assert_scores")
def assert_scores() -> Callable[..., None]:
    """The assertion `ragmetrics_pytest.assert_scores`."""
    from ragmetrics_pytest.assertions import assert_scores as assertion

    return assertion


@pytest.fixture
def ragmetrics_run(request: pytest.FixtureRequest) -> "Run":
    """The run that the test's marker names: a folder that is read, or data that is evaluated.

    Paths are relative to pytest's root folder. `out=FOLDER` beside `data=` keeps the run, so that the next
    session goes on with it and asks nothing twice.
    """
    marker = request.node.get_closest_marker("ragmetrics")
    if marker is None:
        raise pytest.UsageError("ragmetrics_run needs @pytest.mark.ragmetrics(run=...) or (data=...)")
    if marker.args or ("run" in marker.kwargs) == ("data" in marker.kwargs):
        raise pytest.UsageError("@pytest.mark.ragmetrics takes either run=FOLDER or data=FILE, by name")
    settings = {name: _placed(name, value, request.config.rootpath) for name, value in marker.kwargs.items()}
    from ragmetrics_core import Run, evaluate

    if "run" in settings:
        if len(settings) > 1:
            others = ", ".join(sorted(set(settings) - {"run"}))
            raise pytest.UsageError(f"a run that is read takes no settings, and got {others}")
        return Run.load(settings["run"])
    return evaluate(settings.pop("data"), **settings)


def _placed(name: str, value: Any, root: Path) -> Any:
    """A path below the root folder; everything else as it is."""
    if name in ("run", "data", "out", "cache", "prompts") and isinstance(value, str | Path):
        return root / value
    return value
