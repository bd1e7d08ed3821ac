"""Captures on disk from when they are taken until they are scored: a process that is killed loses none."""

import json
import logging
import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.live._places import CAPTURES_FILE, Places, capture_places
from ragmetrics_core.live._processes import leave_to_parent, renew_in_child
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._lines import Lines
from ragmetrics_core.runs._lock import FolderLock
from ragmetrics_core.runs._removal import CAPTURES
from ragmetrics_core.runs._writing import not_a_link, write_whole
from ragmetrics_core.samples import Sample

__all__ = ["KeptCaptures", "Left"]

_LOGGER = logging.getLogger("ragmetrics.live")
# Bytes that a file may have beyond twice those of what waits. While it is written anew, both files are there:
# together they stay below three times what waits, and 1 MB.
_SPARE = 900_000


class Left(NamedTuple):
    """A sample that an earlier process captured and did not score, or not with all metrics.

    Attributes:
        sample: the sample, redacted if it was asked for.
        scored: signatures of the metrics that it has records of.
    """

    sample: Sample
    scored: frozenset[str]


class _OwnFile(NamedTuple):
    """Where this process writes."""

    lock: FolderLock
    lines: Lines


class KeptCaptures:
    """Samples that wait for their scores, in the run folder; each process has a file and a lock of its own.

    A line is written when a capture is taken and another one when it is scored. A file is at most three times
    as long as the lines of what waits, and 1 MB: beyond that it is replaced by one of what waits. What a
    process leaves behind when it is killed is taken over by the next one that opens the folder; a record that
    is in one of the runs there, or in one that a process beside it wrote, is not made again.

    Args:
        places: the folder, and the runs in it and beside it.
        limit: how many may wait; beyond that the oldest is forgotten.

    Raises:
        ConfigError: the place of the captures is a link: what it leads to is not ours to remove.
    """

    def __init__(self, places: Places, *, limit: int = 10_000) -> None:
        self._places = places
        self._folder = places.folder
        not_a_link(self._folder / CAPTURES)
        self._limit = limit
        self._begin()
        renew_in_child(self)

    def _begin(self) -> None:
        self._writing = threading.Lock()
        self._waiting: dict[str, bytes] = {}
        self._own: _OwnFile | None = None

    def after_fork(self) -> None:
        """Begin anew in a forked child: what waits is the parent's."""
        leave_to_parent(self._own)
        self._begin()

    def keep(self, sample: Sample) -> None:
        """Write a sample that waits for its scores.

        Raises:
            RagMetricsError: it cannot be written.
        """
        with self._writing:
            line = f'{{"sample":{sample.model_dump_json(exclude_none=True)}}}'.encode()
            self._append(line)
            self._waiting[sample.id] = line
            oldest = next(iter(self._waiting)) if len(self._waiting) > self._limit else None
        if oldest is not None:
            self.done(oldest)

    def done(self, sample_id: str) -> None:
        """Note that a sample waits no more.

        Raises:
            RagMetricsError: it cannot be written.
        """
        with self._writing:
            if sample_id in self._waiting:
                del self._waiting[sample_id]
                self._append(json.dumps({"done": sample_id}).encode())
                self._compact()

    def close(self) -> None:
        """Let go of the file, which is removed when nothing waits; a later `keep` begins another one."""
        with self._writing:
            own, self._own = self._own, None
            if own is not None:
                own.lines.close()
                if self._waiting:
                    own.lock.release()
                else:
                    _remove(own.lock)
            self._waiting = {}

    def take_over(self, metrics: frozenset[str]) -> list[Left]:
        """What earlier processes left behind; from now on it is this one's, and written to its own file.

        Each step leaves everything on disk: killed between two of them, the next process finds it again.

        Args:
            metrics: signatures of what is measured; a sample that has records of all of them is not left.

        Raises:
            ConfigError: the place of the captures is a link.
        """
        not_a_link(self._folder / CAPTURES)
        taken = list(self._abandoned())
        samples = {sample.id: sample for lock in taken for sample in _waiting_in(lock.path)}
        scored = _scored_in(self._places.runs(), samples) if samples else {}
        left = [Left(sample, scored[id]) for id, sample in samples.items() if not metrics <= scored[id]]
        for sample, _ in left:
            self.keep(sample)
        for lock in taken:
            _remove(lock)
        return left

    def _abandoned(self) -> Iterator[FolderLock]:
        """The places of processes that are gone, locked."""
        for path in capture_places(self._folder):
            with suppress(ConfigError):  # somebody writes there, say this process
                yield FolderLock(path).acquire()

    def _append(self, line: bytes) -> None:
        if self._own is None:
            path = not_a_link(self._folder / CAPTURES) / f"{os.getpid()}-{uuid4().hex[:8]}"
            self._own = _OwnFile(FolderLock(path).acquire(), Lines(path / CAPTURES_FILE))
            self._places.mark()
        self._own.lines.append(line)

    def _compact(self) -> None:
        """Replace a long file by one of what waits; killed at any moment, one of the two is there, whole."""
        own, lines = self._own, self._waiting.values()
        if own is not None and own.lines.size > _SPARE and own.lines.size > _SPARE + 2 * sum(map(len, lines)):
            write_whole(file := own.lock.path / CAPTURES_FILE, b"\n".join([*lines, b""]))
            own.lines.close()
            self._own = own._replace(lines=Lines(file))


def _remove(lock: FolderLock) -> None:
    with suppress(OSError):
        (lock.path / CAPTURES_FILE).unlink()
    lock.release()
    shutil.rmtree(lock.path, ignore_errors=True)
    with suppress(OSError):  # others capture, too
        lock.path.parent.rmdir()


def _waiting_in(path: Path) -> list[Sample]:
    waiting: dict[str, Sample] = {}
    for _, line in Lines(path / CAPTURES_FILE).placed():
        try:
            noted = json.loads(line)
            if "done" in noted:
                waiting.pop(noted["done"], None)
            else:
                sample = Sample.model_validate(noted["sample"])
                waiting[sample.id] = sample
        except (ValueError, KeyError, TypeError, RagMetricsError) as error:
            _LOGGER.warning("a capture in %s cannot be read: %s", path, type(error).__name__)
    return list(waiting.values())


def _scored_in(runs: Iterable[Path], samples: Iterable[str]) -> dict[str, frozenset[str]]:
    """The signatures that samples have records of in some run."""
    scored = dict.fromkeys(samples, frozenset[str]())
    for path in runs:
        with suppress(RagMetricsError):  # there is no run, or a damaged one, of which another tool tells
            run = Folder.open(path)
            scored = {id: signatures.union(run.index.statuses(id)) for id, signatures in scored.items()}
    return scored
