"""Results as a run folder, the same that `evaluate` writes."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._processes import leave_to_parent, renew_in_child
from ragmetrics_core.runs import Folder, Manifest
from ragmetrics_core.runs._manifest import manifest_in

__all__ = ["RunSink"]

_LOGGER = logging.getLogger("ragmetrics.live")
_MOST_FOLDERS = 100


class RunSink:
    """Writes samples, prompts and records to a run folder, so that everything that reads runs reads them.

    The folder is opened with the first result. Two processes cannot write to one: a forked child, or a second
    process with the same settings, writes to `<folder>-<pid>` beside it and says so in the log. A folder that
    holds an earlier run of the same metrics and models goes on.

    Args:
        folder: where to.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._manifest: Manifest | None = None
        self._tally: Callable[[], Mapping[str, int]] = dict
        self._told: dict[str, int] = {}
        self._open: Folder | None = None
        renew_in_child(self)

    def after_fork(self) -> None:
        """Begin anew in a forked child, which must not close what its parent goes on writing to."""
        leave_to_parent(self._open)
        self._open, self._told = None, {}

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
        if (self.folder / "manifest.json").exists():
            manifest_in(self.folder).check_goes_on(self.folder, manifest)

    def write(self, result: LiveResult) -> None:
        """Append the sample, its prompts and its records."""
        folder = self._open = self._open or self._begun()
        folder.add_sample(result.sample)
        for record in result.records:
            folder.add_prompt_texts(record.prompts or {})
        folder.add_records(result.records)

    def flush(self) -> None:
        """Bring the manifest's counts up to date; records are written at once."""
        self._save(finished=False)

    def close(self) -> None:
        """Mark the run as finished and let others write to the folder."""
        self._save(finished=True)
        if self._open is not None:
            self._open.close()
        self._open = None

    def _begun(self) -> Folder:
        if self._manifest is None:
            raise ConfigError("a RunSink does not know what it writes: hand it to a LiveScorer as a sink")
        own = f"{self.folder.name}-{os.getpid()}"
        beside = [own, *(f"{own}-{number}" for number in range(2, _MOST_FOLDERS))]
        problem: ConfigError | None = None
        for path in chain([self.folder], map(self.folder.with_name, beside)):
            try:
                folder = Folder.begin(path, self._manifest)
            except ConfigError as error:  # somebody else writes there
                problem = problem or error
                continue
            if problem is not None:
                _LOGGER.warning("live records go to %s: %s", path, problem)
            folder.unfinish()
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
