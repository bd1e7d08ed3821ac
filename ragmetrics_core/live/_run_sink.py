"""Results as a run folder, the same that `evaluate` writes."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._places import Day, Places, Rotate
from ragmetrics_core.live._processes import leave_to_parent, renew_in_child
from ragmetrics_core.runs import Folder, Manifest
from ragmetrics_core.runs._manifest import manifest_in

__all__ = ["RunSink"]

_LOGGER = logging.getLogger("ragmetrics.live")
# Processes that write beside each other.
_MOST_FOLDERS = 256


class RunSink:
    """Writes samples, prompts and records to a run folder, so that everything that reads runs reads them.

    The folder is opened with the first result. Two processes cannot write to one: a forked child, or a second
    process with the same settings, takes the first of `<folder>-worker-2`, `<folder>-worker-3` and so on that
    nobody writes to, and says so in the log once. A folder that holds an earlier run of the same metrics and
    models goes on.

    With `rotate` the folder holds runs, `2026-11-24` or `part-000001` and their workers'. The next one begins
    with the first result after midnight, or beyond the size; the earlier one is finished then. A clock that
    is set back goes on with the folder of that day.

    Args:
        folder: where to.
        rotate, keep: see `LiveArgs`.
        today: gives the day, by UTC if it is not given.

    Attributes:
        folder: where to.
        places: the runs in it and beside it.

    Raises:
        ConfigError: `rotate` or `keep` cannot be used, or the folder is used otherwise.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        rotate: Rotate | None = None,
        keep: int | None = None,
        today: Day | None = None,
    ) -> None:
        self.places = Places(folder, rotate, keep, today)
        self.folder = self.places.folder
        self._at = self.folder
        self._is_tidy = False
        self._manifest: Manifest | None = None
        self._tally: Callable[[], Mapping[str, int]] = dict
        self._told: dict[str, int] = {}
        self._open: Folder | None = None
        renew_in_child(self)

    def after_fork(self) -> None:
        """Begin anew in a forked child, which must not close what its parent goes on writing to."""
        leave_to_parent(self._open)
        self._open, self._told, self._at = None, {}, self.folder

    def begin(self, manifest: Manifest, *, tally: Callable[[], Mapping[str, int]] = dict) -> None:
        """Say what is measured; a scorer does.

        Args:
            manifest: metrics and models.
            tally: gives what the models were asked so far.

        Raises:
            ConfigError: the folder holds a run of something else.
            RecordError: it holds a run that cannot be read.
        """
        self._manifest = manifest
        self._tally = tally
        path = next(self.places.free())
        if (path / "manifest.json").exists():
            manifest_in(path).check_goes_on(path, manifest)

    def write(self, result: LiveResult) -> None:
        """Append the sample, its prompts and its records."""
        self._turn()
        folder = self._open = self._open or self._begun()
        folder.give(result.sample)
        folder.add_sample(result.sample)
        for record in result.records:
            folder.add_prompt_texts(record.prompts or {})
        folder.add_records(result.records)

    def flush(self) -> None:
        """Bring the manifest's counts up to date; records are written at once."""
        self._turn()
        self._save(finished=False)
        if self._open is not None and not self._is_tidy:
            self._is_tidy = self.places.tidy(self._at)

    def close(self) -> None:
        """Mark the run as finished and let others write to the folder."""
        self._save(finished=True)
        if self._open is not None:
            self._open.close()
        self._open = None

    def _turn(self) -> None:
        """Finish the folder that the next day or part comes after."""
        if self._open is not None and self.places.is_over(self._at):
            self.close()

    def _begun(self) -> Folder:
        if self._manifest is None:
            raise ConfigError("a RunSink does not know what it writes: hand it to a LiveScorer as a sink")
        begins = {"started": datetime.now(UTC).replace(microsecond=0), "rotation": self.places.rotate}
        manifest = self._manifest.model_copy(update=begins)
        problem: ConfigError | None = None
        for path in islice(self.places.free(), _MOST_FOLDERS):
            try:
                folder = Folder.begin(path, manifest)
            except ConfigError as error:  # somebody else writes there
                problem = problem or error
                continue
            if problem is not None and self._at == self.folder:  # told once
                _LOGGER.warning("live records go to %s: %s", path, problem)
            self.places.mark()
            folder.unfinish()
            self._at, self._is_tidy = path, self.places.tidy(path)
            return folder
        assert problem is not None
        raise problem

    def _save(self, *, finished: bool) -> None:
        """Add to the manifest's counts what is new since the last time."""
        if (folder := self._open) is None:
            return
        now = dict(self._tally())
        tally = Counter(folder.manifest.tally)
        tally.update({name: count - self._told.get(name, 0) for name, count in now.items()})
        self._told = now
        folder.update_manifest(tally=dict(tally), finished=finished)
