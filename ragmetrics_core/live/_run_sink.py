"""Results as a run folder, in the format of `evaluate`."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Set
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._capture import LiveResult
from ragmetrics_core.live._processes import leave_to_parent, renew_in_child
from ragmetrics_core.live.places import Day, Places, Rotate
from ragmetrics_core.records import FAILED
from ragmetrics_core.runs import Folder, LiveCounts, Manifest, manifest_in
from ragmetrics_core.runs.lock import is_held
from ragmetrics_core.runs.removal import holds_run
from ragmetrics_core.samples import Sample

__all__ = ["Left", "RunSink"]

_LOGGER = logging.getLogger("ragmetrics.live")
# Processes that write beside each other.
_MOST_FOLDERS = 256
# Other runs of the folder in which scores are looked up.
_MOST_OTHERS = 16


class Left(NamedTuple):
    """A sample that was captured and not scored completely, or whose scores failed.

    Attributes:
        sample: the sample; redacted if `redact` is set.
        scored: signatures of the metrics that need not be measured again.
    """

    sample: Sample
    scored: frozenset[str]


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
        self._counts: Callable[[], Mapping[str, int]] = dict
        self._sample_rate = 1.0
        self._told: Mapping[str, Mapping[str, int]] = {}
        self._open: Folder | None = None
        self._others: list[Folder] | None = None
        renew_in_child(self)

    def after_fork(self) -> None:
        """Reset in a forked child, which must not close what its parent still writes to."""
        leave_to_parent(self._open, self._others)
        self._open, self._others, self._told, self._at = None, None, {}, self.folder

    def begin(
        self,
        manifest: Manifest,
        *,
        tally: Callable[[], Mapping[str, int]] = dict,
        counts: Callable[[], Mapping[str, int]] = dict,
        sample_rate: float = 1.0,
    ) -> None:
        """Set the metrics and models; called by a scorer.

        Args:
            manifest: metrics and models.
            tally: returns the counts of model calls so far.
            counts: returns the counts of captures so far.
            sample_rate: share of captures that is scored.

        Raises:
            ConfigError: the folder holds a run with other metrics or models, or is not a folder.
            RecordError: the run in the folder cannot be read.
        """
        self._manifest = manifest
        self._tally = tally
        self._counts = counts
        self._sample_rate = sample_rate
        path = next(self.places.free())
        for each in (self.folder, path):
            if each.exists() and not each.is_dir():
                raise ConfigError(f"{each} is a file, not a folder for a run: choose another one")
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

    def holds(self, sample_id: str, signatures: Set[str]) -> bool:
        """Whether a sample has scores by all these metrics, here or in one of the newest other runs."""
        self._turn()
        self._open = self._open or self._begun()
        if self._others is None:
            self._others = []
            for path in self.places.runs()[-_MOST_OTHERS:]:
                if path != self._at and holds_run(path):
                    self._others.append(Folder.open(path))
        runs = [self._open, *self._others]
        return any(signatures <= run.index.statuses(sample_id).keys() for run in runs)

    def failed(self) -> list[Left]:
        """The samples of the run whose scores failed; new scores replace them."""
        self._turn()
        folder = self._open = self._open or self._begun()
        found: list[Left] = []
        for sample_id in list(folder.index.sample_ids):
            statuses = folder.index.statuses(sample_id)
            scored = frozenset(signature for signature, status in statuses.items() if status not in FAILED)
            if len(scored) < len(statuses):
                found.append(Left(folder.sample(sample_id), scored))
        return found

    def flush(self) -> None:
        """Update the manifest's counts; records are written at once."""
        self._turn()
        self._save_counts()
        if self._open is not None and not self._is_tidy:
            self._is_tidy = self.places.tidy(self._at)

    def close(self) -> None:
        """Mark the run as finished and release the folder."""
        self._save_counts()
        self._save(finished=True)
        if self._open is not None:
            self._open.close()
            if self._others is not None:
                self._others = [*self._others, self._open][-_MOST_OTHERS:]
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
            except ConfigError as error:
                if not holds_run(path) and not is_held(path):
                    raise  # not because of another run or process: the disk is full, say
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

    def _save_counts(self) -> None:
        """Save the counts if they have changed, also if nothing was scored yet."""
        now = {"tally": self._tally(), "live": self._counts()}
        if now == self._told or (self._open is None and now["live"].keys() <= {"captured"}):
            return
        self._open = self._open or self._begun()
        self._save(finished=False)

    def _save(self, *, finished: bool) -> None:
        """Add the changes since the last time to the manifest's counts."""
        if (folder := self._open) is None:
            return
        now = {"tally": dict(self._tally()), "live": dict(self._counts())}
        added = {kind: self._since(kind, counts) for kind, counts in now.items()}
        tally = Counter(folder.manifest.tally)
        tally.update(added["tally"])
        live = LiveCounts(sample_rates=(self._sample_rate,), counts=added["live"])
        live = (folder.manifest.live or LiveCounts()) + live
        folder.update_manifest(tally=dict(tally), live=live, finished=finished)
        self._told = now

    def _since(self, kind: str, counts: Mapping[str, int]) -> dict[str, int]:
        told = self._told.get(kind, {})
        return {name: count - told.get(name, 0) for name, count in counts.items()}
