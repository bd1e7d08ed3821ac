"""Results as a run folder, in the format of `evaluate`."""

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
    """Write samples, prompts and records to a run folder that all commands can read.

    The folder is opened with the first result. Two processes cannot write to the same folder: a forked child,
    or a second process with the same settings, uses the first free one of `<folder>-worker-2`,
    `<folder>-worker-3` and so on, and logs this once. An earlier run of the same metrics and models in the
    folder is continued.

    With `rotate` the folder holds runs, `2026-11-24` or `part-000001` and those of workers. The next run
    begins with the first result after midnight, or beyond the size; then the earlier one is finished. If the
    clock is set back, that day's folder is continued.

    Args:
        folder: the run folder.
        rotate, keep: see `LiveArgs`.
        today: returns the day; by default UTC's.

    Attributes:
        folder: the run folder.
        places: its runs, including those of parallel processes.

    Raises:
        ConfigError: `rotate` or `keep` is invalid, or the folder has a different use.
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
        """Reset in a forked child, which must not close what its parent still writes to."""
        leave_to_parent(self._open)
        self._open, self._told, self._at = None, {}, self.folder

    def begin(self, manifest: Manifest, *, tally: Callable[[], Mapping[str, int]] = dict) -> None:
        """Set the metrics and models; called by a scorer.

        Args:
            manifest: metrics and models.
            tally: returns the counts of model calls so far.

        Raises:
            ConfigError: the folder holds a run with other metrics or models.
            RecordError: the run in the folder cannot be read.
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
        """Update the manifest's counts; records are written at once."""
        self._turn()
        self._save(finished=False)
        if self._open is not None and not self._is_tidy:
            self._is_tidy = self.places.tidy(self._at)

    def close(self) -> None:
        """Mark the run as finished and release the folder."""
        self._save(finished=True)
        if self._open is not None:
            self._open.close()
        self._open = None

    def _turn(self) -> None:
        """Finish the folder of the earlier day or part."""
        if self._open is not None and self.places.is_over(self._at):
            self.close()

    def _begun(self) -> Folder:
        if self._manifest is None:
            raise ConfigError("a RunSink needs metrics and models: pass it to a LiveScorer as a sink")
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
        """Add the changes since the last time to the manifest's counts."""
        if (folder := self._open) is None:
            return
        now = dict(self._tally())
        tally = Counter(folder.manifest.tally)
        tally.update({name: count - self._told.get(name, 0) for name, count in now.items()})
        self._told = now
        folder.update_manifest(tally=dict(tally), finished=finished)
