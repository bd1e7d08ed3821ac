"""The journal: what was answered once is not asked again, by no thread, process or later run."""

import multiprocessing
import sqlite3
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core.errors import RecordError
from ragmetrics_core.journal import Journal, call_address, encode_reply
from ragmetrics_core.protocol import Completion, Usage

DAY = 24 * 60 * 60


@pytest.fixture(params=["disk", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "journal.sqlite" if request.param == "disk" else None


def address(number: object) -> str:
    return call_address("model", str(number))


def put(journal: Journal, *numbers: object, identity: str = "model", size: int = 6) -> None:
    for number in numbers:
        journal.put(address(number), f"<{number}>".ljust(size).encode(), identity=identity)


def held(journal: Journal, *numbers: object) -> list[object]:
    return [number for number in numbers if journal.get(address(number)) is not None]


def age(path: Path, seconds: int, *numbers: object) -> None:
    """Let the answers be older than they are."""
    with sqlite3.connect(path) as connection:
        for number in numbers:
            connection.execute(
                "UPDATE calls SET created = created - ?, used = used - ? WHERE address = ?",
                (seconds, seconds, bytes.fromhex(address(number))),
            )
    connection.close()


def test_the_same_call_has_the_same_address_everywhere():
    # SHA-256, first 128 bits, of the four parts "call", "openai:gpt", "000..." and "1", each after its length
    # in 8 bytes; with another rule every stored answer would be lost
    assert call_address("openai:gpt", "0" * 32, "1") == "7f2debd50e9cdae45ee87c660b6cd91a"


def test_parts_of_an_address_are_not_run_together():
    assert call_address("a", "bc") != call_address("ab", "c")


def test_an_answer_can_be_read_after_its_commit(place: Path | None):
    with Journal(place) as journal:
        put(journal, 1)
        journal.flush()
        assert journal.get(address(1)) == b"<1>   "
        assert len(journal) == 1


def test_the_first_answer_stays(place: Path | None):
    with Journal(place) as journal:
        journal.put(address(1), b"first", identity="model")
        journal.put(address(1), b"second", identity="model")
        assert journal.get(address(1)) == b"first"
        journal.flush()
        journal.put(address(1), b"third", identity="model")
        journal.flush()
        assert journal.get(address(1)) == b"first"


def test_the_first_answer_stays_while_it_is_being_committed(tmp_path: Path):
    with Journal(tmp_path / "j") as journal:
        other = sqlite3.connect(tmp_path / "j", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # the commit has to wait
        journal.put(address(1), b"first", identity="model")
        committing = threading.Thread(target=journal.flush)
        committing.start()
        while not journal._writing:
            pass
        journal.put(address(1), b"second", identity="model")
        assert journal.get(address(1)) == b"first"
        other.execute("ROLLBACK")
        committing.join()
        other.close()
        assert journal.get(address(1)) == b"first"


def test_a_forgotten_call_can_be_answered_anew(place: Path | None):
    with Journal(place) as journal:
        put(journal, 1, 2, 3)
        journal.flush()
        put(journal, 4)
        journal.forget([address(1), address(4), address("unknown")])
        assert held(journal, 1, 2, 3, 4) == [2, 3]

        journal.put(address(1), b"anew", identity="model")
        journal.flush()
        assert journal.get(address(1)) == b"anew"


def test_answers_are_committed_without_being_told_to(tmp_path: Path):
    with Journal(tmp_path / "j") as journal, Journal(tmp_path / "j") as other:
        put(journal, 1)
        end = time.monotonic() + 60  # far more than it takes; without a commit the test would never end
        while not held(other, 1) and time.monotonic() < end:
            pass
        assert held(other, 1) == [1]


def test_two_runs_that_share_a_journal_agree_on_the_first_answer(tmp_path: Path):
    with Journal(tmp_path / "j") as one, Journal(tmp_path / "j") as other:
        one.put(address(1), b"one", identity="model")
        other.put(address(1), b"other", identity="model")
        other.flush()
        one.flush()
        assert (one.get(address(1)), other.get(address(1))) == (b"other", b"other")


def _put_some(path: Path, start: int) -> None:
    with Journal(path) as journal:
        for number in range(start, start + 300):
            put(journal, number)
            journal.get(address(number - 150))


def test_processes_write_to_one_journal_at_once(tmp_path: Path):
    # four processes with 300 calls each, half of which are the next one's too: 4 * 150 + 150 different ones
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_put_some, args=(tmp_path / "j", 150 * n)) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    with Journal(tmp_path / "j") as journal:
        assert len(journal) == 750
        assert held(journal, *range(800)) == list(range(750))


def test_threads_share_a_journal(place: Path | None):
    wrong: list[Any] = []

    def work(start: int) -> None:
        for number in range(start, start + 400):
            put(journal, number)
            body = journal.get(address(number))
            if body is None or not body.startswith(f"<{number}>".encode()):
                wrong.append((number, body))

    with Journal(place) as journal:
        threads = [threading.Thread(target=work, args=(200 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert len(journal) == 1000


def test_closing_ends_the_thread(tmp_path: Path):
    before = threading.active_count()
    with Journal(tmp_path / "j") as journal:
        put(journal, 1)
    assert threading.active_count() == before


def test_a_closed_journal_says_so(place: Path | None):
    journal = Journal(place)
    journal.close()
    journal.close()
    for use in (lambda: journal.get(address(1)), lambda: put(journal, 1), journal.flush):
        with pytest.raises(RecordError, match="is closed"):
            use()


def test_statistics_tell_the_models_apart(place: Path | None):
    with Journal(place) as journal:
        for number, tokens in enumerate([Usage(100, 10), Usage(200, 20), None]):
            body = encode_reply(Completion("yes", usage=tokens))
            journal.put(address(number), body, identity="judge")
        journal.put(address("text"), b"vector ...", identity="\ud800mbedder")
        embedder, judge = sorted(journal.statistics(), key=lambda each: each.calls)

    # the lengths of the three bodies, e.g. {"kind":"reply","text":"yes"} has 29 characters
    assert judge[:5] == ("judge", 3, 3 * 29 + 2 * len(',"usage":[100,10]'), 300, 30)
    assert embedder[:5] == ("\\ud800mbedder", 1, 10, 0, 0)
    assert judge.first_created <= judge.last_created <= judge.last_used <= datetime.now(UTC)


def test_statistics_tell_when_answers_came_and_were_used(tmp_path: Path):
    path = tmp_path / "j"
    with Journal(path) as journal:
        put(journal, 1, 2)
    age(path, 10 * DAY, 1)
    age(path, 3 * DAY, 2)
    with Journal(path) as journal:
        (found,) = journal.statistics()

    assert (found.last_created - found.first_created).days == 7
    assert found.last_used == found.last_created


def test_asking_for_an_answer_counts_as_its_use(tmp_path: Path):
    path = tmp_path / "j"
    with Journal(path) as journal:
        put(journal, 1, 2)
    age(path, 10 * DAY, 1, 2)
    with Journal(path) as journal:
        journal.get(address(1))
    with Journal(path) as journal:
        journal.prune(older_than_days=5)
        assert held(journal, 1, 2) == [1]


def test_prune_removes_what_was_not_used_for_long(tmp_path: Path):
    path = tmp_path / "j"
    with Journal(path) as journal:
        put(journal, 1, 2, 3)
    age(path, 10 * DAY, 2)
    with Journal(path) as journal:
        assert journal.prune(older_than_days=5) == (1, 2)
        assert held(journal, 1, 2, 3) == [1, 3]


def test_prune_keeps_the_most_recently_used_up_to_a_size(tmp_path: Path):
    path = tmp_path / "j"
    with Journal(path) as journal:
        put(journal, 1, 2, 3, 4, size=100)
    age(path, 10 * DAY, 3)
    with Journal(path) as journal:
        # 4 answers of 100 bytes: 300 bytes keep three, and the third is the longest unused
        assert journal.prune(keep_bytes=300) == (1, 3)
        assert held(journal, 1, 2, 3, 4) == [1, 2, 4]


def test_prune_leaves_other_models_alone(tmp_path: Path):
    path = tmp_path / "j"
    with Journal(path) as journal:
        put(journal, 1, 2, identity="one")
        put(journal, 3, identity="other")
    age(path, 10 * DAY, 1, 3)
    with Journal(path) as journal:
        journal.prune(identity="one", older_than_days=5)
        assert held(journal, 1, 2, 3) == [2, 3]
        journal.prune(identity="one", keep_bytes=0)
        assert held(journal, 1, 2, 3) == [3]


def test_prune_gives_the_space_back(tmp_path: Path):
    with Journal(tmp_path / "j") as journal:
        put(journal, *range(200), size=10_000)
        journal.prune(keep_bytes=0)
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 100_000
        put(journal, 1)
        journal.flush()
        assert held(journal, 1) == [1]


def test_absorbing_takes_what_is_missing(place: Path | None, tmp_path: Path):
    with Journal(tmp_path / "other") as other:
        other.put(address(1), b"theirs", identity="model")
        put(other, *range(2, 500), identity="another model")
    with Journal(place) as journal:
        journal.put(address(1), b"mine", identity="model")
        assert journal.absorb(tmp_path / "other") == 498
        assert journal.get(address(1)) == b"mine"
        assert journal.get(address(2)) == b"<2>   "
        assert [found[:2] for found in journal.statistics()] == [("another model", 498), ("model", 1)]


def test_absorbing_keeps_the_time_of_an_answer(tmp_path: Path):
    with Journal(tmp_path / "other") as other:
        put(other, 1)
    age(tmp_path / "other", 10 * DAY, 1)
    with Journal() as journal:
        journal.absorb(tmp_path / "other")
        (found,) = journal.statistics()
    assert (datetime.now(UTC) - found.first_created).days == 10


def test_what_is_absorbed_must_exist(tmp_path: Path):
    with Journal() as journal, pytest.raises(RecordError, match=r"nothing.*No such file"):
        journal.absorb(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []


def test_closing_just_when_a_commit_begins_does_not_wait_for_ever(tmp_path: Path):
    with Journal(tmp_path / "j") as journal:

        class ClosedMeanwhile(threading.Event):
            """`close` comes between the end of the wait for more and the clearing of the wake-ups."""

            def clear(self) -> None:
                journal._closing.set()
                self.set()
                super().clear()

        journal._wake = ClosedMeanwhile()
        journal.put(call_address("model", "question"), b"answer", identity="model")
        assert journal._thread is not None
        journal._thread.join(20)
        assert not journal._thread.is_alive()
        journal._closing.clear()  # so that `close` does its work


def test_a_journal_that_began_empty_and_alone_finds_all_that_was_put_and_nothing_else(tmp_path: Path):
    with Journal(tmp_path / "j", alone=True) as journal:
        addresses = [call_address("model", str(number)) for number in range(300)]
        for address in addresses[:200]:
            journal.put(address, b"body", identity="model")
        journal.flush()
        assert [journal.get(address) for address in addresses] == [b"body"] * 200 + [None] * 100

    # one that held something is searched
    with Journal(tmp_path / "j", alone=True) as journal:
        assert [journal.get(address) for address in addresses] == [b"body"] * 200 + [None] * 100


def test_what_is_absorbed_is_found_by_a_journal_that_began_empty(tmp_path: Path):
    address = call_address("model", "question")
    with Journal(tmp_path / "other") as other:
        other.put(address, b"body", identity="model")
    with Journal(tmp_path / "own", alone=True) as journal:
        assert journal.get(address) is None
        journal.absorb(tmp_path / "other")
        assert journal.get(address) == b"body"
