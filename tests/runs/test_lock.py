"""One writer for a run folder; a crash leaves no lock behind."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs.lock import FolderLock

HOLDER = """
import sys
from ragmetrics_core.runs.lock import FolderLock
with FolderLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_run_in_the_same_process_is_refused(tmp_path: Path):
    told = f"another run of this process .pid {os.getpid()} .* writes to the run"
    with FolderLock(tmp_path), pytest.raises(ConfigError, match=told):
        FolderLock(tmp_path).acquire()


def test_what_a_killed_process_wrote_about_itself_is_not_told_of_the_next_holder(tmp_path: Path):
    with held_by_another_process(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    left = (tmp_path / ".lock.json").read_text()

    with FolderLock(tmp_path):
        # as in the moment between taking the lock and writing who has it
        (tmp_path / ".lock.json").write_text(left)
        with pytest.raises(ConfigError, match=r"^another process writes to the run"):
            FolderLock(tmp_path).acquire()


@pytest.mark.parametrize("noted", ["", "{", "[]", "{}", '{"pid": "x"}', "\xff"])
def test_unreadable_words_about_the_holder_are_left_out(tmp_path: Path, noted: str):
    with FolderLock(tmp_path):
        (tmp_path / ".lock.json").write_text(noted, encoding="latin-1")
        with pytest.raises(ConfigError, match=r"^another process writes to the run"):
            FolderLock(tmp_path).acquire()


def test_a_process_on_another_host_is_named(tmp_path: Path):
    with FolderLock(tmp_path):
        noted = {"pid": 1, "host": "node-7", "since": "2026-01-01 00:00:00+00:00"}
        (tmp_path / ".lock.json").write_text(json.dumps(noted))
        with pytest.raises(ConfigError, match=r"pid 1 on node-7, since 2026-01-01 00:00:00.00:00"):
            FolderLock(tmp_path).acquire()


def test_after_release_the_folder_can_be_written_again(tmp_path: Path):
    lock = FolderLock(tmp_path).acquire()
    lock.release()
    lock.release()

    assert not lock.held
    assert not (tmp_path / ".lock.json").exists()
    with FolderLock(tmp_path) as again:
        assert again.held


def test_a_lock_can_be_released_in_another_thread(tmp_path: Path):
    lock = FolderLock(tmp_path).acquire()
    thread = threading.Thread(target=lock.release)
    thread.start()
    thread.join()

    with FolderLock(tmp_path) as again:
        assert again.held


def test_a_file_in_the_folders_place_is_said(tmp_path: Path):
    (tmp_path / "x").write_text("")
    with pytest.raises(ConfigError, match=r"the run folder .*x cannot be written: File exists"):
        FolderLock(tmp_path / "x").acquire()


def test_taking_a_lock_twice_is_a_mistake(tmp_path: Path):
    with FolderLock(tmp_path) as lock, pytest.raises(ConfigError, match="already"):
        lock.acquire()
