"""Index of a run's files: positions of samples and records, and outcomes.

The index is a temporary database, which SQLite spills to a file and removes. It takes a few megabytes of
memory for a run of any length. A long run keeps a copy next to its files, written now and then while the run
is written, so that a killed run resumes in seconds, and when it is closed or read. Opening the run takes the
copy and reads only what was added to the files since.

A sample counts if it belongs, with this content, to the newest call (`dataset.jsonl`). Without that file, as
in the runs of live applications, all samples count.

The files are the truth, and an audit never reads the index instead. The name of a copy contains the device
and inode numbers of the files, so a copy that came with a folder is not opened. The copy stores the lengths,
modification times and ends of the files. If the files were changed otherwise since, it does not fit and is
rebuilt.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from hashlib import blake2b
from json.encoder import encode_basestring_ascii
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ragmetrics_core.boundary.shapes import is_tuple
from ragmetrics_core.boundary.writing import no_link
from ragmetrics_core.journal.connection import Connection
from ragmetrics_core.runs._stored_lines import (
    Given,
    Key,
    StoredRecord,
    StoredSample,
    given_in,
    record_in,
    sample_in,
)
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.runs.append_only_lines import Lines

__all__ = ["Index", "Known", "Place", "Sealed", "remove_kept"]

T = TypeVar("T", bound=tuple[Any, ...] | str)

FORMAT = 7
# Bytes of records: fewer are read in the time that it takes to look for a copy.
LONG = 2**20
# By how much the records of a run that is written grow before it is copied again: what is copied in all is
# twenty times the last copy, and what a killed run has to read again is a twentieth of it.
GROWTH = 0.05
# Seconds within which two changes may have the same time.
TICK = 0.05
# Bytes before the end of what was read that must still stand there.
TAIL = 4096

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -4000;
CREATE TABLE samples (number INTEGER PRIMARY KEY, id TEXT UNIQUE, digest TEXT, labels TEXT, blank, place);
CREATE TABLE earlier_samples (id TEXT, digest TEXT, place INTEGER, UNIQUE (id, digest));
CREATE TABLE earlier_records (
    id TEXT, signature TEXT, sample_digest TEXT, place INTEGER, UNIQUE (id, signature, sample_digest)
);
CREATE TRIGGER sample_changed BEFORE UPDATE ON samples WHEN old.digest IS NOT new.digest BEGIN
    DELETE FROM earlier_samples WHERE id = old.id AND digest = old.digest;
    INSERT INTO earlier_samples VALUES (old.id, old.digest, old.place);
END;
CREATE TABLE records (
    number INTEGER PRIMARY KEY, id TEXT, signature TEXT, status TEXT, value REAL, low REAL, high REAL,
    declined INTEGER, reason TEXT, corrected INTEGER, seal TEXT, sample_digest TEXT, models TEXT,
    decided TEXT, place INTEGER,
    UNIQUE (id, signature)
);
CREATE TRIGGER sample_of_record_changed BEFORE UPDATE ON records
WHEN old.sample_digest IS NOT new.sample_digest BEGIN
    DELETE FROM earlier_records
    WHERE id = old.id AND signature = old.signature AND sample_digest = old.sample_digest;
    INSERT INTO earlier_records VALUES (old.id, old.signature, old.sample_digest, old.place);
END;
CREATE TABLE marks (size INTEGER, length INTEGER, written INTEGER, changed INTEGER, tail TEXT);
"""
_SAMPLE = ("id", "digest", "labels", "blank", "place")
_OUTCOME = ("id", "signature", "status", "value", "low", "high", "declined", "reason", "corrected")
_VIEWS_DROPPED = "DROP VIEW IF EXISTS current_samples; DROP VIEW IF EXISTS current_records;"
# A temporary table and views, which a copy that is only read can have too. A record counts unless it is of a
# content that the run was given earlier and is not given now. A record of a content that the run never had
# counts as well, so that an audit finds it.
_GIVEN = "CREATE TEMP TABLE given (id TEXT PRIMARY KEY, digest TEXT) WITHOUT ROWID;"
_VIEWS = {
    True: """
CREATE TEMP VIEW current_samples AS SELECT samples.* FROM samples JOIN given USING (id, digest);
CREATE TEMP VIEW current_records AS SELECT records.* FROM records
LEFT JOIN given ON given.id = records.id AND given.digest = records.sample_digest
WHERE given.id IS NOT NULL OR NOT {is_known};
""",
    False: """
CREATE TEMP VIEW current_samples AS SELECT * FROM samples;
CREATE TEMP VIEW current_records AS SELECT * FROM records;
""",
}
_IS_KNOWN = """(
EXISTS (SELECT 1 FROM samples WHERE samples.id = records.id AND samples.digest = records.sample_digest)
OR EXISTS (SELECT 1 FROM earlier_samples AS earlier
WHERE earlier.id = records.id AND earlier.digest = records.sample_digest)
)"""
_BLANK = "(SELECT blank FROM samples WHERE samples.id = records.id)"
_SEALED = "id, signature, seal"
_PLACES = """SELECT records.id, signature, records.place, samples.place FROM current_records AS records
LEFT JOIN samples ON samples.id = records.id"""
_SEALS = f"SELECT place, seal, {_IS_KNOWN}, models FROM records"
_HISTORY = """SELECT old.signature, old.place, COALESCE(samples.place, earlier.place) FROM (
SELECT id, signature, sample_digest, place FROM earlier_records UNION ALL
SELECT id, signature, sample_digest, place FROM records
) AS old
LEFT JOIN samples ON samples.id = old.id AND samples.digest = old.sample_digest
LEFT JOIN earlier_samples AS earlier ON earlier.id = old.id AND earlier.digest = old.sample_digest
WHERE old.id = ? AND (old.id, old.signature, old.sample_digest) NOT IN (
SELECT id, signature, sample_digest FROM current_records
) ORDER BY old.place"""
_RECORD = (*_OUTCOME, "seal", "sample_digest", "models", "decided", "place")


class Place(NamedTuple):
    """Positions of a record and its sample in their files; None for a missing sample."""

    record: int
    sample: int | None


class Known(NamedTuple):
    """The digests of a sample's content and labels, and the offset of its line."""

    digest: str
    labels: str
    offset: int


class Sealed(NamedTuple):
    """Position, seal and models of a record, and whether the run has its sample content."""

    place: int
    seal: str
    has_its_sample: bool
    models: str


class _Mark(NamedTuple):
    """Part of a file that was read, with the file's length, modification times and last bytes."""

    size: int
    length: int
    written: int
    changed: int
    tail: str

    @classmethod
    def of(cls, lines: Lines, size: int) -> "_Mark":
        assert lines.path is not None
        found = lines.path.stat()
        with lines.opened() as file:
            file.seek(max(0, size - TAIL))
            tail = blake2b(file.read(min(size, TAIL)), digest_size=16).hexdigest()
        return cls(size, found.st_size, found.st_mtime_ns, found.st_ctime_ns, tail)

    def fits(self, lines: Lines) -> bool:
        """Whether the file is unchanged or has only grown."""
        now = _Mark.of(lines, self.size)
        has_grown = now.length > self.length and now.tail == self.tail
        return self.size <= lines.size and (now == self or has_grown)

    @property
    def is_settled(self) -> bool:
        """Whether the next change of the file will have another time."""
        return time.time_ns() - max(self.written, self.changed) > TICK * 1e9


class Index:
    """Samples and records by their keys, in the order of first writing.

    Args:
        samples: the file of samples.
        records: the file of records.
        dataset: the file of samples that count; without it, all count.
        anew: read all files, and neither use nor keep a copy.
        keep: keep a copy of the index.

    Attributes:
        is_kept: whether it is the stored copy, which is copied before anything is added.
        is_read: whether all of it was read from the files.
    """

    def __init__(
        self, samples: Lines, records: Lines, dataset: Lines, *, anew: bool = False, keep: bool = False
    ) -> None:
        self._files = samples, records
        self._due = LONG
        self._are_given: bool | None = None
        before = self._marks()
        kept = None if anew else self._kept()
        self.is_kept, self.is_read = kept is not None, kept is None
        self._rows, (of_samples, of_records) = kept or (_temporary(), (0, 0))
        if not kept:
            self._rows.executescript(_TABLES)
        self._rows.executescript(_GIVEN)
        self.give((given for given, _ in dataset.read(given_in)), are_all=dataset.is_there)
        if (of_samples, of_records) != (samples.size, records.size):
            self._add_samples(samples.read(sample_in, of_samples))
            self._add_records(records.read(partial(record_in, decided=not anew), of_records))
            if keep and not anew and all(mark.is_settled for mark in before):
                self._keep(before)
        self._due = int(max(LONG, records.size * (1 + GROWTH)))

    def give(self, samples: Iterable[Given], *, are_all: bool) -> None:
        """Note samples that count.

        Args:
            samples: their ids and contents.
            are_all: only the given samples count; otherwise all do.
        """
        self._rows.execute("BEGIN")
        self._rows.executemany("INSERT OR REPLACE INTO given VALUES (?, ?)", samples)
        self._rows.execute("COMMIT")
        if are_all != self._are_given:
            self._are_given = are_all
            self._rows.executescript(_VIEWS_DROPPED + _VIEWS[are_all].format(is_known=_IS_KNOWN))

    def forget_given(self) -> None:
        """Forget the data set: no sample counts until it is given."""
        self._rows.execute("DELETE FROM given")
        self.give((), are_all=True)

    def add_sample(self, sample: StoredSample, offset: int) -> None:
        """Add a sample; a later one replaces an earlier one with the same id."""
        self._add_samples([(sample, offset)])

    def add_records(self, records: Iterable[tuple[StoredRecord, int]]) -> None:
        """Add records with their places; a later one replaces an earlier one with the same key."""
        self._add_records(records)
        if (size := self._files[1].size) > self._due:
            self._due = int(size * (1 + GROWTH))
            self._keep(self._marks())

    def keep(self) -> None:
        """Keep a copy of the index if the run is long; for a run this process has just written."""
        if not self.is_kept and self._files[1].path is not None and self._files[1].size >= LONG:
            # what is written in the same moment has the same time, and could not be told apart
            time.sleep(TICK)
            self._keep(self._marks())

    def _add_samples(self, samples: Iterable[tuple[StoredSample, int]]) -> None:
        self._be_own()
        self._rows.executemany(_ADD_SAMPLE, ((*sample, at) for sample, at in samples))

    def _add_records(self, records: Iterable[tuple[StoredRecord, int]]) -> None:
        self._be_own()
        self._rows.executemany(_ADD_RECORD, (_row(record, place) for record, place in records))

    def _be_own(self) -> None:
        """Copy the stored index before the first change."""
        if self.is_kept:
            kept, self._rows = self._rows, _temporary()
            kept.backup(self._rows)
            self._rows.executescript(_GIVEN)
            are_all, self._are_given = bool(self._are_given), None
            self.give(map(Given._make, kept.execute("SELECT id, digest FROM given")), are_all=are_all)
            self.is_kept = False

    def _marks(self) -> list[_Mark]:
        """Marks of the files; empty if no copy is kept."""
        try:
            return [_Mark.of(lines, lines.size) for lines in self._files if lines.path is not None]
        except OSError:
            return []

    def _copy(self) -> Path | None:
        """Path of the copy; None if no copy is kept."""
        paths = [lines.path for lines in self._files if lines.path is not None and lines.path.is_file()]
        if len(paths) < len(self._files) or self._files[1].size < LONG:
            return None
        told = [(found.st_dev, found.st_ino) for found in map(os.stat, paths)]
        return paths[0].with_name(_name(blake2b(repr((FORMAT, told)).encode(), digest_size=16).hexdigest()))

    def _kept(self) -> tuple[Connection, list[int]] | None:
        """The stored copy and how much of each file it covers; None if no copy fits."""
        with suppress(OSError, sqlite3.Error, TypeError, ValueError):
            if (path := self._copy()) is not None and (size := path.stat(follow_symlinks=False).st_size):
                rows = _connected(f"{path.absolute().as_uri()}?mode=ro&immutable=1")
                pages, bytes_of_page = (
                    int(rows.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "page_size")
                )
                if pages * bytes_of_page == size:
                    marks = [_Mark(*row) for row in rows.execute("SELECT * FROM marks")]
                    if all(mark.fits(lines) for mark, lines in zip(marks, self._files, strict=True)):
                        return rows, [mark.size for mark in marks]
        return None

    def _keep(self, marks: Sequence[_Mark]) -> None:
        """Replace the stored copy; does nothing if that fails."""
        with suppress(OSError, sqlite3.Error):
            if (path := self._copy()) is None:
                return
            self._rows.execute("DELETE FROM marks")
            self._rows.executemany("INSERT INTO marks VALUES (?, ?, ?, ?, ?)", marks)
            scratch = path.with_suffix(".new")
            scratch.unlink(missing_ok=True)
            os.close(no_link(str(scratch), os.O_CREAT | os.O_EXCL | os.O_RDWR))
            try:
                with closing(sqlite3.connect(scratch, isolation_level=None)) as copy:
                    copy.execute("PRAGMA journal_mode = OFF")
                    self._rows.backup(copy)
                remove_kept(path.parent, but=(path.name,))
                os.replace(scratch, path)
            finally:
                scratch.unlink(missing_ok=True)

    def sample(self, sample_id: str) -> Known | None:
        """The newest content of a sample, whether it counts or not; None if the run never had this id."""
        row = self._rows.execute("SELECT digest, labels, place FROM samples WHERE id = ?", (sample_id,))
        known = row.fetchone()
        return Known(*known) if known else None

    def place(self, key: Key) -> Place | None:
        """Positions of a record and its sample; None if there is no such record."""
        row = self._rows.execute(f"{_PLACES} WHERE records.id = ? AND signature = ?", key).fetchone()
        return Place(*row[2:]) if row else None

    def places(self) -> Iterator[tuple[Key, Place]]:
        """Positions of records and their samples, in the order of first writing."""
        rows = self._rows.execute(f"{_PLACES} ORDER BY records.number")
        return ((Key(sample_id, signature), Place(*places)) for sample_id, signature, *places in rows)

    def seals(self) -> Iterator[Sealed]:
        """Seals, models and positions of the records, in order of position."""
        rows = self._rows.execute(f"{_SEALS} ORDER BY records.place")
        return (Sealed(place, seal, bool(fits), models) for place, seal, fits, models in rows)

    def sealed_with(self, digest: str) -> Key | None:
        """The key of the record that counts and has this digest; None if there is none."""
        query = "SELECT id, signature FROM current_records WHERE seal = ?"
        found = self._rows.execute(query, (digest,)).fetchone()
        return Key(*found) if found else None

    def statuses(self, sample_id: str, digest: str | None = None) -> dict[str, str]:
        """Status of each score of a sample, by signature; `digest` limits them to one content."""
        of_content = "sample_digest = COALESCE(?, sample_digest)"
        query = f"SELECT signature, status FROM records WHERE id = ? AND {of_content}"
        return dict(self._rows.execute(query, (sample_id, digest)))

    def history(self, sample_id: str) -> list[tuple[str, Place]]:
        """Signatures and positions of superseded records of a sample, oldest first."""
        rows = self._rows.execute(_HISTORY, (sample_id,))
        return [(signature, Place(record, sample)) for signature, record, sample in rows]

    def outcomes(self) -> Iterator[tuple[Key, Outcome]]:
        """Outcome of each record, without reading it again."""
        rows = self._rows.execute(
            f"SELECT {', '.join(_OUTCOME)}, {_BLANK} FROM current_records AS records ORDER BY number"
        )
        for sample_id, signature, status, value, low, high, seen, reason, *flags in rows:
            bounds, declined = None if low is None else (low, high), None if seen is None else bool(seen)
            outcome = Outcome(status, value, bounds, declined, reason, *map(bool, flags))
            yield Key(sample_id, signature), outcome

    def decided(self) -> Iterator[tuple[Key, str | None]]:
        """Decisions of each record in stored form, without reading it again; None if unknown."""
        rows = self._rows.execute("SELECT id, signature, decided FROM current_records ORDER BY number")
        return ((Key(sample_id, signature), decided) for sample_id, signature, decided in rows)

    def sample_places(self) -> Iterator[int]:
        """Positions of the samples, in the order of first writing."""
        return (place for (place,) in self._rows.execute("SELECT place FROM current_samples ORDER BY number"))

    def ids_beginning(self, text: str) -> list[str]:
        """Sample ids that begin with a text."""
        query = "SELECT id FROM current_samples WHERE substr(id, 1, ?) = ? ORDER BY id"
        return [sample_id for (sample_id,) in self._rows.execute(query, (len(text), text))]

    def current(self) -> Iterator[Given]:
        """The samples that count."""
        rows = self._rows.execute("SELECT id, digest FROM current_samples ORDER BY number")
        return map(Given._make, rows)

    def told_given(self) -> Iterator[str]:
        """A line with id and content digest of each sample that counts, ordered by id."""
        rows = self._rows.execute("SELECT id, digest FROM given ORDER BY id")
        return (Given(*row).line() for row in rows)

    def told(self, table: Literal["samples", "records"]) -> Iterator[str]:
        """A line with key and seal of each sample or record, ordered by key."""
        columns, names = ("id, digest, labels", "id") if table == "samples" else (_SEALED, "id, signature")
        for row in self._rows.execute(f"SELECT {columns} FROM {table} ORDER BY {names}"):
            # what `json.dumps` gives, in a fifth of the time
            yield f"[{', '.join(map(encode_basestring_ascii, row))}]"

    @property
    def is_empty(self) -> bool:
        """Whether the run never had a sample."""
        return self._rows.execute("SELECT 1 FROM samples").fetchone() is None

    @property
    def sample_ids(self) -> Collection[str]:
        """The ids of all samples, in the order in which they were finished."""
        return _Names(self._rows, "current_samples", ("id",), itemgetter(0))

    @property
    def keys(self) -> Collection[Key]:
        """Keys of the records."""
        return _Names(self._rows, "current_records", ("id", "signature"), Key._make)


class _Names(Collection[T]):
    """Keys of a table's rows, in order."""

    def __init__(
        self, rows: Connection, table: str, columns: Sequence[str], made: Callable[[Any], T]
    ) -> None:
        self._rows = rows
        self._names = f"SELECT {', '.join(columns)} FROM {table}"
        self._columns = columns
        self._made = made

    def __contains__(self, name: object) -> bool:
        values = (name,) if isinstance(name, str) else name
        if not is_tuple(values) or not all(isinstance(value, str) for value in values):
            return False
        wanted = " AND ".join(f"{column} = ?" for column in self._columns)
        return self._rows.execute(f"{self._names} WHERE {wanted}", values).fetchone() is not None

    def __iter__(self) -> Iterator[T]:
        return map(self._made, self._rows.execute(f"{self._names} ORDER BY number"))

    def __len__(self) -> int:
        return int(self._rows.execute(f"SELECT count(*) FROM ({self._names})").fetchone()[0])


def remove_kept(folder: Path, *, but: Sequence[str] = ()) -> None:
    """Remove the kept copies of a folder."""
    for path in folder.glob(_name("?" * 32)):
        if path.name not in but:
            path.unlink(missing_ok=True)


def _name(identity: str) -> str:
    return f".index-{identity}.sqlite"


def _row(record: StoredRecord, place: int) -> tuple[Any, ...]:
    status, value, bounds, declined, reason, corrected, _ = record.outcome
    # half a character in the words of a server has no UTF-8 form
    reason = reason and reason.encode("utf-8", "replace").decode()
    outcome = (status, value, *(bounds or (None, None)), declined, reason, corrected)
    return (*record.key, *outcome, *record[2:], place)


def _adding(table: str, columns: Sequence[str], key: str) -> str:
    """Statement that adds a row or replaces the row with the same key."""
    anew = ", ".join(f"{name} = excluded.{name}" for name in columns)
    marks = ", ".join("?" * len(columns))
    new = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
    return f"{new} ON CONFLICT ({key}) DO UPDATE SET {anew}"


_ADD_SAMPLE = _adding("samples", _SAMPLE, "id")
_ADD_RECORD = _adding("records", _RECORD, "id, signature")


def _connected(where: str) -> Connection:
    # whoever made a run may hand it to another thread, one at a time
    return sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False, factory=Connection)


def _temporary() -> Connection:
    return _connected("")
