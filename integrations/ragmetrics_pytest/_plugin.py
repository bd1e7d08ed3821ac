"""The pytest plugin: a marker that names a run, and fixtures.

    @pytest.mark.ragmetrics(run="runs/nightly")
    def test_answers_stay_grounded(ragmetrics_run, assert_scores):
        assert_scores(ragmetrics_run, faithfulness=0.8)

ragmetrics itself is imported only when a test uses it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from ragmetrics_core import Run

__all__ = ["assert_scores", "pytest_configure", "ragmetrics_run"]

# What was evaluated in this session, with the settings, which must live as long as their ids are keys.
_EVALUATED = pytest.StashKey[dict[Any, tuple[dict[str, Any], "Run"]]]()

_MARKER = (
    "ragmetrics(run=FOLDER) or ragmetrics(data=FILE, **settings of ragmetrics_core.evaluate): "
    "the run of the fixture ragmetrics_run"
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)
    config.stash[_EVALUATED] = {}


@pytest.fixture(name="assert_scores")
def assert_scores() -> Callable[..., None]:
    """The assertion `ragmetrics_pytest.assert_scores`."""
    from ragmetrics_pytest._assertions import assert_scores as assertion

    return assertion


@pytest.fixture
def ragmetrics_run(request: pytest.FixtureRequest) -> "Run":
    """The run of the test's marker: a folder that is read, or data that is evaluated.

    Paths are relative to pytest's root folder. Data are evaluated once per session for all tests with equal
    markers. `out=FOLDER` with `data=` keeps the run, so that the next session resumes it.
    """
    marker = request.node.get_closest_marker("ragmetrics")
    if marker is None:
        raise pytest.UsageError("ragmetrics_run needs @pytest.mark.ragmetrics(run=...) or (data=...)")
    if marker.args or ("run" in marker.kwargs) == ("data" in marker.kwargs):
        raise pytest.UsageError("@pytest.mark.ragmetrics takes either run=FOLDER or data=FILE as a keyword")
    settings = {name: _placed(name, value, request.config.rootpath) for name, value in marker.kwargs.items()}
    from ragmetrics_core import Run, evaluate

    if "run" in settings:
        if len(settings) > 1:
            others = ", ".join(sorted(set(settings) - {"run"}))
            raise pytest.UsageError(f"run=FOLDER takes no other settings, but got {others}")
        return Run.load(settings["run"])
    evaluated = request.config.stash[_EVALUATED]
    key = tuple((name, _key(value)) for name, value in sorted(settings.items()))
    if key not in evaluated:
        arguments = {name: value for name, value in settings.items() if name != "data"}
        evaluated[key] = settings, evaluate(settings["data"], **arguments)
    return evaluated[key][1]


def _key(value: Any) -> Any:
    """A key that is equal for equal settings, by identity for unhashable ones."""
    if isinstance(value, list | tuple):
        return tuple(map(_key, cast("Sequence[Any]", value)))
    try:
        hash(value)
    except TypeError:
        return "object", id(value)
    return value


def _placed(name: str, value: Any, root: Path) -> Any:
    """A path below the root folder; other values unchanged."""
    if name in ("run", "data", "out", "cache", "prompts") and isinstance(value, str | Path):
        return root / value
    return value
