"""Runs in a folder."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from ragmetrics_core.errors import ConfigError, RagMetricsError, RecordError
from ragmetrics_core.runs._manifest import Manifest, manifest_in
from ragmetrics_core.runs._run import Run
from ragmetrics_core.runs._waves import WAITING
from ragmetrics_core.runs.lock import is_held

__all__ = ["ListedRun", "list_runs"]

State = Literal["finished", "running", "waiting", "interrupted", "unreadable"]

_BLOCK = 1 << 20


class ListedRun(NamedTuple):
    """An entry of a list of runs.

    Attributes:
        path: the run's folder.
        state: "running" if a process is writing to it; "waiting" for the replies to a wave; "interrupted" if
            neither and samples are missing; "unreadable" if its manifest is invalid.
        samples: number of samples.
        started: start time.
        manifest: the manifest; None if it cannot be read.
        problem: why the manifest cannot be read.
    """

    path: Path
    state: State
    samples: int
    started: datetime | None
    manifest: Manifest | None
    problem: str | None = None

    def means(self) -> dict[str, float | None]:
        """The mean of each metric so far, by signature; empty if the run cannot be read."""
        try:
            return {mean.metric: mean.value for mean in Run.load(self.path).means()}
        except (RagMetricsError, OSError):
            return {}


def list_runs(folder: str | Path) -> Iterator[ListedRun]:
    """All runs in a folder and its subfolders, by path; only manifests are read.

    Raises:
        ConfigError: there is no such folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}")
    for place, below, files in os.walk(folder):
        below.sort()
        if "manifest.json" in files:
            below.clear()
            yield _listed(Path(place))


def _listed(path: Path) -> ListedRun:
    samples = _count_lines(path / "samples.jsonl")
    try:
        manifest = manifest_in(path)
    except RecordError as error:
        return ListedRun(path, "unreadable", samples, None, None, str(error))
    return ListedRun(path, _state(path, manifest), samples, manifest.started, manifest)


def _state(path: Path, manifest: Manifest) -> State:
    if is_held(path):
        return "running"
    if manifest.finished:
        return "finished"
    return "waiting" if (path / WAITING).is_file() else "interrupted"


def _count_lines(path: Path) -> int:
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))
