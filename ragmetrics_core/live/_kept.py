"""Captures on disk from when they are taken until they are scored: a process that is killed loses none."""

import json
import logging
import os
import shutil
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.runs._folder import CAPTURES
from ragmetrics_core.runs._lines import Lines
from ragmetrics_core.runs._lock import FolderLock
from ragmetrics_core.runs._writing import not_a_link
from ragmetrics_core.samples import Sample

__all__ = ["KeptCaptures", "Left"]

_LOGGER = logging.getLogger("ragmetrics.live")
_FILE = "captures.jsonl"
# A file of what is scored already is begun anew beyond this size.
_LARGE = 1_000_000
# A forked child must not close what its parent goes on writing to, nor let go of the parent's lock.
_INHERITED: list[object] = []


class Left(NamedTuple):
    """A sample that an earlier process captured and did not score, or not with all metrics.

    Attributes:
        sample: the sample, redacted if it was asked for.
        scored: signatures of the metrics that it has records of.
    """

    sample: Sample
    scored: frozenset[str]


class KeptCaptures:
    """Samples that wait for their scores, in the run folder; each process has a file and a lock of its own.

    A line is written when a capture is taken and another one when it is scored. What a process leaves behind
    when it is killed is taken over by the next one that opens the folder; a record that is in the folder, or
    in one that a process beside it wrote (`<folder>-<pid>`), is not made again.

    Args:
        folder: the run folder.
        limit: how many may wait; beyond that the oldest is forgotten.

    Raises:
        ConfigError: the place of the captures is a link: what it leads to is not ours to remove.
    """

    def __init__(self, folder: str | Path, *, limit: int = 10_000) -> None:
        self._folder = Path(folder)
        not_a_link(self._folder / CAPTURES)
        self._limit = limit
        self._begin()

    def _begin(self) -> None:
        self._writing = threading.Lock()
        self._waiting: dict[str, None] = {}
        self._lines: Lines | None = None
        self._lock: FolderLock | None = None
        self._written = 0

    def renew(self) -> None:
        """Begin anew in a forked child: what waits is the parent's."""
        _INHERITED.append((self._lines, self._lock))
        self._begin()

    def keep(self, sample: Sample) -> None:
        """Write a sample that waits for its scores.

        Raises:
            RagMetricsError: it cannot be written.
        """
        with self._writing:
            self._append(f'{{"sample":{sample.model_dump_json(exclude_none=True)}}}')
            self._waiting[sample.id] = None
            oldest = next(iter(self._waiting)) if len(self._waiting) > self._limit else None
        if oldest is not None:
            self.done(oldest)

    def done(self, sample_id: str) -> None:
        """Note that a sample waits no more.

        Raises:
            RagMetricsError: it cannot be written.
        """
        with self._writing:
            if sample_id not in self._waiting:
                return
            del self._waiting[sample_id]
            if not self._waiting and self._written > _LARGE:
                self._remove()
            else:
                self._append(json.dumps({"done": sample_id}))

    def close(self) -> None:
        """Let go of the file, which is removed when nothing waits; a later `keep` begins another one."""
        with self._writing:
            if not self._waiting:
                self._remove()
            elif self._lock is not None:
                assert self._lines is not None, "opened with its lock"
                self._lines.close()
                self._lock.release()
            self._waiting, self._lines, self._lock, self._written = {}, None, None, 0

    def take_over(self) -> list[Left]:
        """What earlier processes left behind; from now on it is this one's, and written to its own file.

        Each step leaves everything on disk: killed between two of them, the next process finds it again.

        Raises:
            ConfigError: the place of the captures is a link.
        """
        not_a_link(self._folder / CAPTURES)
        found: dict[str, Sample] = {}
        taken: list[FolderLock] = []
        for place in self._abandoned():
            taken.append(place)
            found |= {sample.id: sample for sample in _waiting_in(place.path)}
        left: list[Left] = []
        if found:
            records = _records_beside(self._folder, found.keys())
            left = [Left(sample, records.get(sample.id, frozenset())) for sample in found.values()]
            for each in left:
                self.keep(each.sample)
        for place in taken:
            place.release()
            shutil.rmtree(place.path, ignore_errors=True)
        return left

    def _abandoned(self) -> Iterator[FolderLock]:
        """The places of processes that are gone, locked."""
        own = self._lock.path if self._lock is not None else None
        with suppress(OSError):
            for path in sorted((self._folder / CAPTURES).iterdir()):
                if path == own or path.is_symlink() or not (path / _FILE).is_file():
                    continue
                with suppress(ConfigError):  # somebody writes there
                    yield FolderLock(path).acquire()

    def _append(self, line: str) -> None:
        if self._lines is None:
            path = not_a_link(self._folder / CAPTURES) / f"{os.getpid()}-{uuid4().hex[:8]}"
            self._lock = FolderLock(path).acquire()
            self._lines = Lines(path / _FILE)
        self._lines.append(line)
        self._written += len(line)

    def _remove(self) -> None:
        if self._lines is None or self._lock is None:
            return
        self._lines.close()
        path = self._lock.path
        with suppress(OSError):
            (path / _FILE).unlink()
        self._lock.release()
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # others capture, too
            (self._folder / CAPTURES).rmdir()
        self._lines, self._lock, self._written = None, None, 0


def _waiting_in(path: Path) -> list[Sample]:
    waiting: dict[str, Sample] = {}
    for line in Lines(path / _FILE):
        try:
            said = json.loads(line.text)
            if "done" in said:
                waiting.pop(said["done"], None)
            else:
                sample = Sample.model_validate(said["sample"])
                waiting[sample.id] = sample
        except (ValueError, KeyError, TypeError, RagMetricsError) as error:
            _LOGGER.warning("a capture in %s cannot be read: %s", path, type(error).__name__)
    return list(waiting.values())


def _records_beside(folder: Path, wanted: Collection[str]) -> dict[str, frozenset[str]]:
    """The signatures that samples have records of, in a run folder and in those of processes beside it."""
    found: dict[str, frozenset[str]] = {}
    for path in (folder, *sorted(folder.parent.glob(f"{folder.name}-*"))):
        file = path / "records.jsonl"
        if not file.is_file():
            continue
        for line in Lines(file):
            try:
                record = json.loads(line.text)
                sample_id, signature = record["sample_id"], record["signature"]
            except (ValueError, KeyError, TypeError):  # another tool tells of a damaged record
                continue
            if sample_id in wanted:
                found[sample_id] = found.get(sample_id, frozenset()) | {signature}
    return found
