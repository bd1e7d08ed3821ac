"""Where everything stands in a run's files.

The index is a temporary database, which SQLite spills to a file that it removes by itself: however long the
run is, a few megabytes of the index are in memory. It is derived from the run's files when they are opened;
that of a long run is kept beside them.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from json.encoder import encode_basestring_ascii
from operator import itemgetter
from typing import Any, NamedTuple, cast

from ragmetrics_core.journal._connection import Connection
from ragmetrics_core.runs._summary import Outcome

__all__ = ["Index", "Key", "Known", "Place"]

GATHERED = 500
_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -4000;
CREATE TABLE samples (number INTEGER PRIMARY KEY, id TEXT UNIQUE, digest TEXT, place INTEGER, labels TEXT);
CREATE TABLE signatures (number INTEGER PRIMARY KEY, signature TEXT);
CREATE TABLE records (
    number INTEGER PRIMARY KEY, id TEXT, signature INTEGER, place INTEGER,
    status TEXT, value REAL, low REAL, high REAL, declined INTEGER, reason TEXT, seal TEXT, decided TEXT,
    corrected INTEGER,
    UNIQUE (id, signature)
);
BEGIN;
"""


class Key(NamedTuple):
    """What names a score in a run."""

    sample_id: str
    signature: str


class Place(NamedTuple):
    """Where a record and its sample stand in their files; a sample that is missing stands nowhere."""

    record: int
    sample: int | None


class Known(NamedTuple):
    """A sample's content digest, and the offset of its line."""

    digest: str
    offset: int


class Index:
    """Samples and records by what names them, in the order in which each was first written.

    Args:
        kept: one that was kept; nothing is written to it, and what is added is added to a copy.
    """

    def __init__(self, kept: sqlite3.Connection | None = None) -> None:
        self.is_kept = kept is not None
        self._signatures: list[str] = []
        self._waiting: list[tuple[Any, ...]] = []
        self._samples: list[tuple[Any, ...]] = []
        self._numbers: dict[str, int] = {}
        if kept is None:
            self._rows = _temporary()
            self._rows.executescript(_TABLES)
            return
        self._rows = kept
        for number, signature in kept.execute("SELECT number, signature FROM signatures ORDER BY number"):
            self._numbers[signature] = int(number)
            self._signatures.append(signature)

    @classmethod
    def kept(cls, rows: sqlite3.Connection | None) -> "Index | None":
        """The index that was kept; None where there is none, or something else."""
        if rows is None:
            return None
        try:
            return cls(rows)
        except sqlite3.Error:
            return None

    def to_keep(self) -> sqlite3.Connection:
        """All of it, to be kept."""
        self._write()
        self._rows.executemany("INSERT OR REPLACE INTO signatures VALUES (?, ?)", enumerate(self._signatures))
        self._rows.execute("COMMIT")
        self._rows.execute("BEGIN")
        return self._rows

    def add_sample(self, sample_id: str, digest: str, offset: int, labels: str) -> None:
        """Note a sample; a later one of the same id takes its place."""
        self._be_own()
        self._samples.append((sample_id, digest, offset, labels))

    def add_record(self, key: Key, offset: int, outcome: Outcome, seal: str, decided: str | None) -> None:
        """Note a record; a later one of the same key takes its place.

        Args:
            key: what names the record.
            offset: where its line starts.
            outcome: what it came to.
            seal: the seal of the line.
            decided: what its verdicts decided, in short; None where that is not known.
        """
        self._be_own()
        number = self._numbers.get(key.signature)
        if number is None:
            number = self._numbers[key.signature] = len(self._signatures)
            self._signatures.append(key.signature)
        low, high = outcome.bounds or (None, None)
        self._waiting.append(
            (
                key.sample_id,
                number,
                offset,
                outcome.status,
                outcome.value,
                low,
                high,
                outcome.declined,
                # half a character in the words of a server has no UTF-8 form
                outcome.reason and outcome.reason.encode("utf-8", "replace").decode(),
                seal,
                decided,
                outcome.corrected,
            )
        )
        if len(self._waiting) >= GATHERED:
            self._write()

    def _write(self) -> None:
        """Write what was gathered: many rows in one go take a fifth of the time."""
        samples, self._samples = self._samples, []
        rows, self._waiting = self._waiting, []
        if samples:
            self._rows.executemany(
                "INSERT INTO samples (id, digest, place, labels) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO "
                "UPDATE SET digest = excluded.digest, place = excluded.place, labels = excluded.labels",
                samples,
            )
        if not rows:
            return
        self._rows.executemany(
            "INSERT INTO records "
            "(id, signature, place, status, value, low, high, declined, reason, seal, decided, corrected) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id, signature) DO UPDATE SET "
            "place = excluded.place, status = excluded.status, "
            "value = excluded.value, low = excluded.low, high = excluded.high, "
            "declined = excluded.declined, reason = excluded.reason, seal = excluded.seal, "
            "decided = excluded.decided, corrected = excluded.corrected",
            rows,
        )

    def _be_own(self) -> None:
        """From here on this is a copy of what was kept."""
        if self.is_kept:
            kept, self._rows = self._rows, _temporary()
            kept.backup(self._rows)
            self._rows.execute("BEGIN")
            self.is_kept = False

    def sample(self, sample_id: str) -> Known | None:
        """What is known of a sample; None when there is none of this id."""
        self._write()
        found = self._rows.execute("SELECT digest, place FROM samples WHERE id = ?", (sample_id,)).fetchone()
        return Known(*found) if found else None

    def record(self, key: Key) -> int | None:
        """The offset of a record's line; None when there is none."""
        self._write()
        found = self._rows.execute(
            "SELECT place FROM records WHERE id = ? AND signature = ?",
            (key.sample_id, self._numbers.get(key.signature, -1)),
        ).fetchone()
        return int(found[0]) if found else None

    def places(self) -> Iterator[tuple[Key, Place]]:
        """Where the records and their samples stand, in the order in which each was first written."""
        self._write()
        rows = self._rows.execute(
            "SELECT records.id, signature, records.place, samples.place FROM records "
            "LEFT JOIN samples ON samples.id = records.id ORDER BY records.number"
        )
        for sample_id, signature, record, sample in rows:
            yield Key(sample_id, self._signatures[signature]), Place(record, sample)

    def statuses(self, sample_id: str) -> dict[str, str]:
        """The statuses of a sample's records, by signature."""
        self._write()
        rows = self._rows.execute("SELECT signature, status FROM records WHERE id = ?", (sample_id,))
        return {self._signatures[signature]: status for signature, status in rows}

    def outcomes(self) -> Iterator[tuple[Key, Outcome]]:
        """What the records came to."""
        self._write()
        rows = self._rows.execute(
            "SELECT id, signature, status, value, low, high, declined, reason, corrected FROM records "
            "ORDER BY number"
        )
        for sample_id, signature, status, value, low, high, declined, reason, corrected in rows:
            bounds = None if low is None else (low, high)
            yield (
                Key(sample_id, self._signatures[signature]),
                Outcome(status, value, bounds, bool(declined), reason, bool(corrected)),
            )

    def decided(self) -> Iterator[tuple[Key, str | None]]:
        """What the verdicts of each record decided, in short."""
        self._write()
        rows = self._rows.execute("SELECT id, signature, decided FROM records ORDER BY number")
        for sample_id, signature, decided in rows:
            yield Key(sample_id, self._signatures[signature]), decided

    def sample_places(self) -> Iterator[int]:
        """Where the samples stand, in the order in which each was first written."""
        self._write()
        return (place for (place,) in self._rows.execute("SELECT place FROM samples ORDER BY number"))

    def beginning(self, text: str) -> list[str]:
        """The ids that begin with a text."""
        self._write()
        query = "SELECT id FROM samples WHERE substr(id, 1, ?) = ? ORDER BY id"
        return [sample_id for (sample_id,) in self._rows.execute(query, (len(text), text))]

    def samples_told(self) -> Iterator[str]:
        """Each sample's id, digest and labels' digest in a line, in the order of the ids."""
        self._write()
        rows = self._rows.execute("SELECT id, digest, labels FROM samples ORDER BY id")
        return (_told(*row) for row in rows)

    def records_told(self) -> Iterator[str]:
        """Each record's sample, signature and seal in a line, in the order of these."""
        self._write()
        told = self._rows.execute("SELECT id, signature, seal FROM records ORDER BY id")
        rows = cast("Iterable[tuple[str, int, str]]", told)
        for sample_id, group in groupby(rows, key=itemgetter(0)):
            named = sorted((self._signatures[signature], seal) for _, signature, seal in group)
            yield from (_told(sample_id, *each) for each in named)

    @property
    def sample_ids(self) -> Collection[str]:
        """The ids of all samples."""
        return _SampleIds(self)

    @property
    def keys(self) -> Collection[Key]:
        """What names the records."""
        return _Keys(self)

    def ids(self) -> Iterator[str]:
        """The ids of all samples, one after another."""
        self._write()
        return (sample_id for (sample_id,) in self._rows.execute("SELECT id FROM samples ORDER BY number"))

    def names(self) -> Iterator[Key]:
        """The keys of all records, one after another."""
        self._write()
        rows = self._rows.execute("SELECT id, signature FROM records ORDER BY number")
        return (Key(sample_id, self._signatures[signature]) for sample_id, signature in rows)

    def count(self, table: str) -> int:
        """How many samples, or records, there are."""
        self._write()
        query = {"samples": "SELECT count(*) FROM samples", "records": "SELECT count(*) FROM records"}[table]
        (found,) = self._rows.execute(query).fetchone()
        return int(found)


def _told(*texts: str) -> str:
    """Texts as a line of JSON: what `json.dumps` gives, in a fifth of the time."""
    return f"[{', '.join(map(encode_basestring_ascii, texts))}]"


def _temporary() -> sqlite3.Connection:
    # whoever made a run may hand it to another thread, one at a time
    return sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=Connection)


class _SampleIds(Collection[str]):
    def __init__(self, index: Index) -> None:
        self._index = index

    def __contains__(self, sample_id: object) -> bool:
        return isinstance(sample_id, str) and self._index.sample(sample_id) is not None

    def __iter__(self) -> Iterator[str]:
        return self._index.ids()

    def __len__(self) -> int:
        return self._index.count("samples")


class _Keys(Collection[Key]):
    def __init__(self, index: Index) -> None:
        self._index = index

    def __contains__(self, key: object) -> bool:
        match key:
            case (str(sample_id), str(signature)):
                return self._index.record(Key(sample_id, signature)) is not None
            case _:
                return False

    def __iter__(self) -> Iterator[Key]:
        return self._index.names()

    def __len__(self) -> int:
        return self._index.count("records")
