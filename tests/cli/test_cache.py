"""`ragmetrics cache`: what a journal holds, and how to make it smaller."""

import sqlite3

import pytest

from ragmetrics_core.journal import Journal, call_address, encode_reply
from ragmetrics_core.protocol import Completion, Usage

WIDE = 200


@pytest.fixture
def journal(tmp_path):
    """A journal with three answers of one model and one of another."""
    file = tmp_path / "cache.sqlite"
    with Journal(file) as opened:
        for number in range(3):
            reply = Completion(text=f"reply {number}", usage=Usage(100, 20))
            opened.put(call_address("small", str(number)), encode_reply(reply), identity="small")
        opened.put(call_address("large", "0"), encode_reply(Completion(text="x" * 5000)), identity="large")
    return file


def row_of(outcome, identity: str) -> list[str]:
    return next(line.split() for line in outcome.out.splitlines() if line.split()[:1] == [identity])


def left(file) -> int:
    with Journal(file) as opened:
        return len(opened)


# -- stats


def test_each_model_has_a_row_with_its_answers_and_tokens(command, journal):
    outcome = command("cache stats", journal, columns=WIDE)
    assert outcome.code == 0
    small, large = row_of(outcome, "small"), row_of(outcome, "large")
    assert small[:2] == ["small", "3"]
    # size and unit, then 3 × 100 and 3 × 20 tokens
    assert small[4:6] == ["300", "60"]
    assert large[:2] + large[3:6] == ["large", "1", "kB", "0", "0"]


def test_the_journal_of_a_run_is_found_in_its_folder(command, folder):
    outcome = command("cache stats", folder, columns=WIDE)
    assert outcome.code == 0
    assert row_of(outcome, "scripted")


def test_an_answer_that_was_altered_is_found(command, journal):
    with sqlite3.connect(journal) as database:
        (table,) = database.execute(
            "select name from sqlite_master where type = 'table' and sql like '%body%'"
        ).fetchone()
        database.execute(f"update {table} set body = x'00'")
    database.close()
    outcome = command("cache stats", journal)
    assert outcome.code == 2
    assert outcome.out == ""
    assert str(journal) in outcome.err


@pytest.mark.parametrize("action", [["stats"], ["prune", "--older-than-days", 1]])
def test_a_journal_that_is_not_there_is_not_made(command, tmp_path, action):
    file = tmp_path / "none.sqlite"
    outcome = command("cache", action[0], file, *action[1:])
    assert (outcome.code, outcome.err) == (2, f"ragmetrics: there is no cache {file}\n")
    assert not file.exists()


def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(command, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("my notes " * 100)
    for action in (["stats", file], ["prune", file, "--keep-megabytes", 0]):
        assert command("cache", *action).code == 2
    assert file.read_text() == "my notes " * 100


# -- prune


@pytest.mark.parametrize(
    ("words", "removed", "kept"),
    [
        ("--identity small", "3 answers", 1),
        ("--identity large", "1 answer", 3),
        ("--older-than-days 30", "0 answers", 4),
        ("--keep-megabytes 0", "4 answers", 0),
        ("--keep-megabytes 1", "0 answers", 4),
    ],
)
def test_what_is_old_beyond_the_size_or_of_a_model_is_removed(command, journal, words, removed, kept):
    outcome = command("cache prune", journal, words)
    assert (outcome.code, outcome.out) == (0, f"{removed} removed, {kept} left\n")
    assert left(journal) == kept


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--older-than-days -1", "--older-than-days"),
        ("--keep-megabytes -1", "--keep-megabytes"),
        ("", "nothing to remove: give --older-than-days, --keep-megabytes or --identity"),
    ],
)
def test_nothing_is_removed_that_was_not_said(command, journal, words, said):
    outcome = command(f"cache prune {words}", journal)
    assert (outcome.code, said in outcome.err) == (2, True)
    assert left(journal) == 4


def test_what_was_removed_is_asked_again(command, data, tmp_path):
    cache = tmp_path / "cache.sqlite"
    arguments = ("evaluate", data, "--judge", "embedded", "--metrics", "faithfulness", "--cache", cache)
    command(*arguments)
    command("cache prune", cache, "--identity embedded:support.5+vectors")
    assert left(cache) == 0
    command(*arguments)
    assert left(cache) > 0
