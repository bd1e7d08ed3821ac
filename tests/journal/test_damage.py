"""Whatever happens to a journal: it is said plainly, what was committed stays, nothing is overwritten."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core.errors import RecordError
from ragmetrics_core.journal import Journal, call_address

ASIDE = r"is damaged .*: move it and its -wal file aside and repeat the command"


def address(number: object) -> str:
    return call_address("model", str(number))


def body(number: int) -> bytes:
    return f"<{number}>".encode() * 100


def written(path: Path, count: int = 200) -> Path:
    with Journal(path) as journal:
        for number in range(count):
            journal.put(address(number), body(number), identity="model")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All that counts; the shared memory file is SQLite's scratch paper."""
    return {
        each.name: each.read_bytes()
        for each in folder.iterdir()
        if each.is_file() and not each.name.endswith("-shm") and each.stat().st_size
    }


def refused(path: Path, match: str) -> None:
    """Opening fails with a sentence that names the file, and leaves everything as it was."""
    before = contents(path.parent)
    for _ in range(2):
        with pytest.raises(RecordError, match=match) as error:
            Journal(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
        assert contents(path.parent) == before


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def stated(path: Path, statement: str) -> None:
    """Give a database a statement; one that is not there yet begins with it."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        *(
            (lambda path, page=page: overwrite(path, page * 4096, b"\xa5" * 4096), ASIDE)
            for page in (1, 4, 7)
        ),
        (lambda path: os.truncate(path, path.stat().st_size // 2), ASIDE),
        (lambda path: os.truncate(path, 0), r"is damaged \(the file is empty\): move it"),
        (lambda path: os.truncate(path, 50), "is not a journal of ragmetrics: choose another path"),
        (lambda path: path.write_text("my notes\n" * 1000), "is not a journal of ragmetrics: choose another"),
        (
            lambda path: stated(path, "PRAGMA application_id = 7"),
            "is not a journal of ragmetrics: choose another",
        ),
        (
            lambda path: stated(path, "PRAGMA user_version = 2"),
            "has format 2 and this version of ragmetrics knows up to 1: update ragmetrics",
        ),
        (lambda path: (path.unlink(), path.mkdir()), "is a folder: give the path of a file"),
    ],
)
def test_a_damaged_or_a_foreign_file_is_refused_before_the_run(tmp_path: Path, damage: Any, told: str):
    path = written(tmp_path / "j")
    damage(path)
    refused(path, told)


def test_a_later_version_that_is_still_in_the_log_is_refused(tmp_path: Path):
    path = written(tmp_path / "j")
    later = sqlite3.connect(path, isolation_level=None)
    later.execute("PRAGMA user_version = 2")
    try:
        refused(path, "has format 2 and")
    finally:
        later.close()


def left_behind(folder: Path) -> Path:
    """A journal as a killed process leaves it: 200 answers in the file, 200 more only in the log."""
    with Journal(written(folder / "j")) as journal:
        for number in range(200, 400):
            journal.put(address(number), body(number), identity="model")
        journal.flush()
        (folder / "left").mkdir()
        for name in ("j", "j-wal"):
            shutil.copy(folder / name, folder / "left")
    return folder / "left" / "j"


def test_a_corrupted_page_beside_a_log_is_refused_and_the_log_is_kept(tmp_path: Path):
    path = left_behind(tmp_path)
    page = path.read_bytes().index(body(7)) // 4096
    overwrite(path, page * 4096, b"\xa5" * 4096)
    assert contents(path.parent).keys() == {"j", "j-wal"}
    refused(path, ASIDE)


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(RecordError, match=r"there is no folder .*missing for the journal"):
        Journal(tmp_path / "missing" / "j")


def test_the_log_of_a_journal_that_was_moved_away_is_not_taken_for_the_new_ones(tmp_path: Path):
    path = tmp_path / "j"
    (tmp_path / "j-wal").write_bytes(b"of another file")
    with pytest.raises(RecordError, match="is gone but its file j-wal is not"):
        Journal(path)
    assert os.listdir(tmp_path) == ["j-wal"]


def test_an_altered_answer_is_an_error_and_never_an_answer(tmp_path: Path):
    path = written(tmp_path / "j")
    # the text of one answer, in place: the database itself stays whole
    overwrite(path, path.read_bytes().index(body(7)), b"<8>")
    with Journal(path) as journal:
        assert journal.get(address(8)) == body(8)
        with pytest.raises(RecordError, match=f"the stored answer {address(7)} was altered"):
            journal.get(address(7))
        with pytest.raises(RecordError, match="was altered"):
            journal.statistics()


def test_an_answer_in_the_place_of_another_is_an_error(tmp_path: Path):
    path = written(tmp_path / "j")
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE calls SET (digest, body) = (SELECT digest, body FROM calls WHERE address = ?) "
            "WHERE address = ?",
            (bytes.fromhex(address(1)), bytes.fromhex(address(2))),
        )
    connection.close()
    with Journal(path) as journal:
        assert journal.get(address(1)) == body(1)
        with pytest.raises(RecordError, match=ASIDE):
            journal.get(address(2))


# Root may write everywhere, so the process becomes nobody once everything is imported, which
# from Python 3.13 on includes what pathlib imports late.
UNPRIVILEGED = """
import os, sys, urllib.parse
from pathlib import Path
from ragmetrics_core.errors import RecordError
from ragmetrics_core.journal import Journal, _database as database
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with Journal(sys.argv[1]) as journal:
        journal.put("00" * 16, b"", identity="model")
except RecordError as error:
    print(error)
if len(sys.argv) == 3:
    with Journal() as journal:
        print(journal.absorb(sys.argv[1]))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def unprivileged(*arguments: object) -> str:
    command = [sys.executable, "-c", UNPRIVILEGED, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_read_only_file_is_said_before_the_run(open_folder: Path):
    path = written(open_folder / "j")
    path.chmod(0o444)
    open_folder.chmod(0o777)
    before = contents(open_folder)

    assert unprivileged(path) == (
        f"the journal {path} cannot be opened for writing: make the file and its folder writable, or choose "
        "another path\n"
    )
    assert contents(open_folder) == before


@pytest.mark.parametrize("exists", [True, False], ids=["journal", "no journal"])
def test_a_read_only_folder_is_said_before_the_run(open_folder: Path, exists: bool):
    path = open_folder / "j"
    if exists:
        written(path).chmod(0o666)
    open_folder.chmod(0o555)

    assert f"the journal {path} cannot be opened for writing" in unprivileged(path)


def test_a_journal_in_a_read_only_folder_can_be_absorbed(open_folder: Path):
    path = written(open_folder / "j", 3)
    path.chmod(0o444)
    open_folder.chmod(0o555)

    assert unprivileged(path, "absorb").splitlines()[1:] == ["3"]


# A limit on the size of files stands for a full disk: both refuse to write further.
FULL = """
import resource, signal, sys
from ragmetrics_core.errors import RecordError
from ragmetrics_core.journal import Journal, call_address
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    for number in range(10_000):
        journal.put(call_address("model", str(number)), b"<%d>" % number * 100, identity="model")
        journal.flush()
        print(number, flush=True)
except RecordError as error:
    print(error)
for use in (lambda: journal.get("00" * 16), lambda: journal.put("00" * 16, b"", identity="m"), journal.flush):
    try:
        use()
    except RecordError as error:
        print(error)
journal.close()
"""


def test_a_full_disk_is_said_and_what_was_committed_stays(tmp_path: Path):
    path = tmp_path / "j"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    *committed, first, second, third, fourth = done.stdout.splitlines()

    assert first == second == third == fourth
    assert first.startswith(f"the journal {path} could not be read or written (")
    assert first.endswith("is the disk full? What it held is intact: free some space and repeat the command")
    assert len(committed) > 100
    with Journal(path) as journal:
        assert [journal.get(address(number)) for number in committed] == [body(int(n)) for n in committed]


def test_an_error_of_the_background_commit_is_told_at_the_next_use(tmp_path: Path):
    code = FULL.replace("        journal.flush()\n", "")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "j")], capture_output=True, text=True, check=True
    )
    assert "is the disk full?" in done.stdout.splitlines()[-1]


MAKING = """
import sys
from pathlib import Path
from ragmetrics_core.journal import Journal
for number in range(10**6):
    Journal(Path(sys.argv[1], str(number))).close()
    print(number, flush=True)
"""


def test_a_kill_while_a_journal_is_made_leaves_none_or_a_whole_one(tmp_path: Path):
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with subprocess.Popen([sys.executable, "-c", MAKING, str(folder)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(10 * attempt):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        made = [each for each in folder.iterdir() if each.name.isdecimal()]
        assert len(made) >= 10 * attempt
        for path in made:
            Journal(path).close()


def test_damage_that_sqlite_quotes_in_bytes_that_are_no_text_is_said(tmp_path):
    path = written(tmp_path / "journal.sqlite", count=1)
    place = path.read_bytes().find(b"callscalls")
    # the table's name is no UTF-8, and its definition cannot be read, which makes SQLite name it
    overwrite(path, place, b"\xb2")
    overwrite(path, place + path.read_bytes()[place:].find(b"CREATE"), b"XXXXXX")

    refused(path, ASIDE)
