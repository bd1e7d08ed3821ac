"""Folders of a live application's runs: one, or one per day or size, and one per process."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from itertools import chain, count
from pathlib import Path
from typing import Literal, cast

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.runs import Folder, manifest_in
from ragmetrics_core.runs.lock import is_held
from ragmetrics_core.runs.removal import CAPTURES, remove_run

__all__ = ["CAPTURES_FILE", "Day", "Places", "Rotate", "capture_places", "check_rotation", "places_of"]

# Of each process, in a folder of its own in `captures`.
CAPTURES_FILE = "captures.jsonl"
_LOGGER = logging.getLogger("ragmetrics.live")

Rotate = Literal["day"] | int
"""Period of a run's folder: a day, or a number of bytes."""

Day = Callable[[], date]

# Says that a folder is one of folders, also before the first of them is there.
_MARKER = "rotation.json"
_DAY, _PART = (re.compile(rf"({period})(-worker-\d+)?") for period in (r"\d{4}-\d\d-\d\d", r"part-\d{6}"))


class Places:
    """The folder of a live application and its runs.

    Without `rotate` the folder is the run, and parallel processes use `<folder>-worker-2` and so on next to
    it. With it, the folder holds runs: `2026-11-24`, or `part-000001` by size, each with its `-worker-2`. A
    process takes the first folder that no other process writes to.

    Args:
        folder: the folder.
        rotate: "day", or a number of bytes.
        keep: number of days or parts to keep; None keeps all.
        today: returns the day; by default UTC's.

    Raises:
        ConfigError: the settings are invalid, or the folder has a different use.
    """

    def __init__(
        self,
        folder: str | Path,
        rotate: Rotate | None = None,
        keep: int | None = None,
        today: Day | None = None,
    ) -> None:
        check_rotation(rotate, keep)
        self.folder = Path(folder)
        self.rotate: Rotate | None = rotate
        self._keep = keep
        self._today = today or (lambda: datetime.now(UTC).date())
        if rotate is not None and (self.folder / "manifest.json").exists():
            raise ConfigError(f"{folder} is a run: choose another folder to hold one for each day or size")
        marked = _marked(self.folder)
        if marked is not None and (rotate is None or (rotate == "day") != (marked == "day")):
            raise ConfigError(f"{folder} holds a run for each day or size: give rotate={marked!r}, as before")

    def mark(self) -> None:
        """Mark the existing folder as one that holds runs, if it does.

        Raises:
            ConfigError: writing failed.
        """
        if self.rotate is not None and _marked(self.folder) != self.rotate:
            write_whole(self.folder / _MARKER, json.dumps({"rotate": self.rotate}) + "\n")

    def free(self) -> Iterator[Path]:
        """Candidates for the current run's folder, in the order in which to try them, without end."""
        if self.rotate is None:
            yield from map(self.folder.with_name, _workers(self.folder.name))
        elif self.rotate == "day":
            yield from (self.folder / name for name in _workers(f"{self._today()}"))
        else:
            newest = max((_period(path) for path in self.runs()), default="part-000001")
            for number in count(int(newest.removeprefix("part-"))):
                for name in _workers(f"part-{number:06}"):
                    if self.is_over(self.folder / name):
                        break
                    yield self.folder / name

    def is_over(self, path: Path) -> bool:
        """Whether new results belong to the next day or part."""
        if not isinstance(self.rotate, int):
            return self.rotate == "day" and _period(path) != f"{self._today()}"
        return sum(file.stat().st_size for file in path.glob("*.jsonl")) >= self.rotate

    def runs(self) -> list[Path]:
        """Folders of all processes' runs, oldest day first."""
        if self.rotate is None:
            name = f"{self.folder.name}-"
            return [self.folder, *(path for path in _below(self.folder.parent) if path.name.startswith(name))]
        name_of = _DAY if self.rotate == "day" else _PART
        return [path for path in _below(self.folder) if name_of.fullmatch(path.name) and _is_own(path)]

    def tidy(self, current: Path) -> bool:
        """Finish runs of earlier days or parts that nobody writes to; remove those beyond `keep`.

        Only folders that a live application wrote and that hold nothing but its run are removed.

        Args:
            current: the run that is being written.

        Returns:
            False while captures of an ended process remain, because their scores may be in any of the
                folders.
        """
        if self.rotate is None:
            return True
        runs, is_done = self.runs(), True
        newest = sorted({_period(path) for path in (current, *runs)})[-(self._keep or 0) :]
        for path in runs:
            try:
                if _period(path) == _period(current) or is_held(path):
                    continue
                if _period(path) in newest:
                    Folder.finish(path)
                elif is_done := not any(not is_held(place) for place in capture_places(self.folder)):
                    remove_run(path)
            except (OSError, RagMetricsError) as error:
                if path.exists() and not is_held(path):  # another process was not faster
                    _LOGGER.warning("the run in %s is left unchanged: %s", path, error)
        return is_done


def capture_places(folder: Path) -> list[Path]:
    """Folders in which processes store waiting captures."""
    files = sorted(folder.glob(f"{CAPTURES}/*/{CAPTURES_FILE}"))
    return [file.parent for file in files if file.is_file() and not file.parent.is_symlink()]


def check_rotation(rotate: object, keep: object) -> None:
    """Raise `ConfigError` unless these rotation settings are valid."""
    if rotate not in (None, "day") and (type(rotate) is not int or rotate < 1):
        raise ConfigError(f'rotate must be "day" or a number of bytes, not {rotate!r}')
    if keep is not None and (rotate is None or type(keep) is not int or keep < 1):
        raise ConfigError(f"keep must be at least 1 and needs rotate, not {keep!r}")


def places_of(folder: Path) -> Places:
    """The places of a live application that wrote to a folder."""
    return Places(folder, _marked(folder))


def _workers(name: str) -> Iterator[str]:
    return chain([name], (f"{name}-worker-{number}" for number in count(2)))


def _period(path: Path) -> str:
    """The day or part that a run belongs to."""
    return path.name.partition("-worker-")[0]


def _below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_dir() and not path.is_symlink())


def _is_own(path: Path) -> bool:
    """Whether a live application wrote a run as one of several."""
    try:
        return manifest_in(path).rotation is not None
    except RagMetricsError:
        return False


def _marked(folder: Path) -> Rotate | None:
    """The folder's rotation by its marker, or None."""
    try:
        return cast("Rotate", json.loads((folder / _MARKER).read_bytes())["rotate"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
