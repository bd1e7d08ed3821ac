"""Scores for the traces that a collector writes to a folder, while it writes them."""

import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from ragmetrics_core.adapting import Rules
from ragmetrics_core.boundary.writing import not_a_link, write_whole
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal
from ragmetrics_core.live._capture import Capture
from ragmetrics_core.live._scorer import LiveScorer
from ragmetrics_core.runs.lock import FolderLock
from ragmetrics_core.runs.removal import CAPTURES
from ragmetrics_core.samples import Sample
from ragmetrics_core.traces import SkippedTrace
from ragmetrics_core.traces.tail import FolderTail, NewSpan, StoredFile
from ragmetrics_core.traces.unfinished import UnfinishedTraces

__all__ = ["Followed", "follow"]

# Seconds between two looks at the folder, and between two states on disk.
_LOOKING: Final = 0.5
_SAVING: Final = 5.0
# Seconds between two looks whether a capture has left the queue.
_WAITING: Final = 0.01
# Answered calls that are kept for samples in progress; there are more of them now and then.
_JOURNAL_BYTES: Final = 2**24
_PRUNED_AFTER: Final = 2000


class Followed(NamedTuple):
    """Outcome of following a folder.

    Attributes:
        finished: traces that were finished.
        unfinished: traces that are left for the next time.
        late_spans: spans of traces that were finished before.
        is_complete: whether all captures have scores; the others wait in the folder.
    """

    finished: int
    unfinished: int
    late_spans: int
    is_complete: bool


def follow(
    folder: str | Path,
    live: LiveScorer,
    *,
    format: str | None = None,
    documents: Mapping[str, str] | None = None,
    system_message: bool = False,
    settle: float = 10.0,
    give_up: float = 600.0,
    once: bool = False,
    stop: threading.Event | None = None,
) -> Followed:
    """Score the traces in a folder to which a collector writes; close the scorer at the end.

    A trace is scored once its root has ended and no further span came for `settle` seconds. After a kill
    the same call continues: nothing is lost, and no answered call is made again.

    Args:
        folder: the folder: JSON lines or Protobuf of the collector's file exporter, also renamed and gzipped.
        live: the scorer, with a folder for records.
        format: name of the format. Default: found in each file.
        documents: texts of documents by id, for traces that record only ids.
        system_message: use the model's system message as the context of a trace in which none is found.
        settle: seconds without a further span after which a trace whose root has ended is finished.
        give_up: seconds without a further span after which any trace is finished.
        once: end when the traces that are there now are scored, instead of waiting for more.
        stop: ends following once it is set.

    Raises:
        ConfigError: the folder does not exist, the scorer has no folder, another process follows for it, or
            an argument is invalid.
        RecordError: the answered calls cannot be kept.
    """
    for name, seconds in (("settle", settle), ("give_up", give_up)):
        if not seconds >= 0:
            raise ConfigError(f"{name} must be at least 0 seconds, not {seconds}")
    kept = live.observers.kept
    if kept is None:
        raise ConfigError("following needs a folder for records: make the scorer with out=...")
    state = not_a_link(kept.folder / CAPTURES) / "following"
    with FolderLock(state), Journal(state / "journal.sqlite", alone=True) as journal:
        live.evaluation.journal = journal
        follower = _Follower(
            Path(folder), live, state, journal, format=format, settle=settle, give_up=give_up
        )
        follower.documents = documents or {}
        follower.rules = Rules(system_message=system_message)
        try:
            return follower.run(stop or threading.Event(), once=once)
        finally:
            live.close()


class _Follower:
    """A folder, its unfinished traces, and the scorer.

    Attributes:
        documents: texts of documents by id.
        rules: options for finding fields.
    """

    def __init__(
        self,
        folder: Path,
        live: LiveScorer,
        state: Path,
        journal: Journal,
        *,
        format: str | None,
        settle: float,
        give_up: float,
    ) -> None:
        self._live = live
        self._counts = live.observers.counts
        self._file = state / "places.json"
        self._journal = journal
        stored = _stored_in(self._file)
        now = time.time()
        self._tail = FolderTail(folder, format=format, quiet=settle, stored=stored["files"])
        self._traces = UnfinishedTraces(
            settle=settle,
            give_up=give_up,
            finished=stored["finished"],
            ages={key: max(0.0, now - touched) for key, touched in stored["unfinished"].items()},
        )
        self.documents: Mapping[str, str] = {}
        self.rules = Rules()
        self._most_pending = 2 * live.settings.traffic.concurrency
        self._stop = threading.Event()
        self._is_once = self._is_later = False
        # first places of traces whose captures are not on disk yet, by capture
        self._unsaved: dict[str, Mapping[int, int]] = {}
        self._saved = time.monotonic()
        self._finished = self._late = self._pruned = 0

    def run(self, stop: threading.Event, *, once: bool) -> Followed:
        """Follow until stopped, or score what is there now."""
        self._stop, self._is_once = stop, once
        self._live.catch_up()
        self._look()
        present = self._traces.ended
        while not stop.is_set() and (not once or present & self._traces.ended):
            stop.wait(_LOOKING)
            self._look()
        is_complete = self._live.flush()
        self._save()
        return Followed(self._finished, len(self._traces), self._late, is_complete)

    def _look(self) -> None:
        """Read what is new, and submit the traces that are due."""
        for new in self._tail.read():
            if self._stop.is_set():
                break
            self._take(new)
            self._save_at_times()
        self._is_later = True
        for name in self._traces.due(time.monotonic()):
            self._finish(name)
        self._journal.flush()
        self._save_at_times()

    def _take(self, new: NewSpan | SkippedTrace) -> None:
        if isinstance(new, SkippedTrace):
            self._counts.add("skipped", _word(new.reason))
            return
        # a file that comes later may be a copy with an old date, and its traces go on in another one
        new = new._replace(age=0.0) if self._is_later else new
        if self._traces.add(new, time.monotonic()) == "late":
            self._late += 1
            self._counts.add("late_spans")
        while not self._stop.is_set() and (name := self._traces.surplus) is not None:
            self._finish(name)

    def _finish(self, name: str) -> None:
        """Submit the samples of a trace, and forget it unless the process is stopped meanwhile."""
        reasons: list[str] = []
        captures: list[str] = []
        for found in self._found(name):
            if isinstance(found, SkippedTrace):
                reasons.append(_word(found.reason) if self._traces.has_ended(name) else "never_ended")
            elif not self._live.is_known(found.id):
                if not self._has_room():
                    return
                captures.append(found.id)
                self._live.submit(self._capture(found, name))
        begins = self._traces.finish(name)
        self._unsaved |= dict.fromkeys(captures, begins)
        self._finished += 1
        for reason in reasons:
            self._counts.add("skipped", reason)

    def _found(self, name: str) -> list[Sample | SkippedTrace]:
        try:
            return list(self._traces.samples(name, self.rules, self.documents))
        except Exception as error:  # the boundary to what others wrote: the other traces must go on
            self._live.hook_failed(error)
            return []

    def _capture(self, sample: Sample, name: str) -> Capture:
        drawn = blake2b(f"{self._live.settings.seed}\0{name}".encode("utf-8", "replace"), digest_size=8)
        draw = int.from_bytes(drawn.digest()) / 2**64
        return Capture(translate=lambda _: sample, id=sample.id, draw=draw)

    def _has_room(self) -> bool:
        """Wait until the scorer can take a capture; False if the process is to stop meanwhile.

        The files keep what a judge that is down cannot score.
        """
        live = self._live
        while len(live.queue) >= self._most_pending and not live.evaluation.is_spent:
            if self._is_once and live.breaker.is_open:
                self._stop.set()
            if self._stop.wait(_WAITING):
                return False
            self._save_at_times()
        return not self._stop.is_set()

    def _save_at_times(self) -> None:
        if time.monotonic() - self._saved >= _SAVING:
            self._save()

    def _save(self) -> None:
        """Write where to go on. Whatever is lost of this costs only reading again."""
        unsaved = self._live.unsaved()
        self._unsaved = {id: begins for id, begins in self._unsaved.items() if id in unsaved}
        begins: dict[int, int] = {}
        for each in (*self._traces.begins(), *self._unsaved.values()):
            for file, offset in each.items():
                begins[file] = min(offset, begins.get(file, offset))
        now = time.time()
        state = {
            "version": 1,
            "files": self._tail.stored(begins),
            "finished": self._traces.finished(),
            "unfinished": {key: now - age for key, age in self._traces.ages(time.monotonic()).items()},
        }
        with suppress(ConfigError):  # the disk is full, say
            write_whole(self._file, json.dumps(state))
        self._saved = time.monotonic()
        if self._finished - self._pruned >= _PRUNED_AFTER:
            self._pruned = self._finished
            self._journal.prune(keep_bytes=_JOURNAL_BYTES)


def _stored_in(file: Path) -> dict[str, Any]:
    """The state that an earlier process left; an empty one if it cannot be read."""
    try:
        state = json.loads(file.read_bytes())
        files = [
            StoredFile(int(begin), int(end), str(head), str(tail))
            for begin, end, head, tail in state["files"]
        ]
        finished = [bytes.fromhex(key).hex() for key in state["finished"]]
        unfinished = {bytes.fromhex(key).hex(): float(at) for key, at in state["unfinished"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {"files": [], "finished": [], "unfinished": {}}
    return {"files": files, "finished": finished, "unfinished": unfinished}


def _word(reason: str) -> str:
    """A reason without its details, as the counts name it."""
    return reason.partition(":")[0].replace(" ", "_")
