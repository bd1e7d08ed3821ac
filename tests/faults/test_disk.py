"""A full disk and a folder that cannot be written: one sentence says so, and what was finished stays."""

import ctypes
import os
import re
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.server import ServerProcess
from ragmetrics_core.runs import Run
from tests.faults import children
from tests.faults.scores import Scores, scores_of, undisturbed, written

SAMPLES = 15


@pytest.fixture(scope="module")
def alone() -> Scores:
    return undisturbed(SAMPLES)


@pytest.mark.parametrize(
    ("file_size", "full"),
    [
        # a manifest has about 1,100 bytes, an empty journal 20,000; all records have 180,000
        (200, "manifest.json"),
        (5_000, "journal.sqlite"),
        (100_000, "(journal.sqlite|records.jsonl)"),
        (150_000, "(journal.sqlite|records.jsonl)"),
    ],
)
def test_a_full_disk_is_said_and_with_more_room_the_same_command_goes_on(
    tmp_path: Path, server: ServerProcess, alone: Scores, file_size: int, full: str
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    ended = children.evaluated(server, data, out, file_size=file_size).end()
    assert ended.code == 2
    sentence = rf"ragmetrics: .*{re.escape(str(out))}/{full} .*(cannot be written|is the disk full).*\n"
    # a busy machine makes it tell how far it is, now and then
    assert re.fullmatch(rf"(\d+ of \d+ samples.*\n)*{sentence}", ended.err)
    finished: Scores = {}
    if (out / "manifest.json").exists():
        run = Run.load(out)
        finished = scores_of(run)
        assert not run.finished
        assert finished.items() <= alone.items()
        assert list(run.audit()) == []

    assert children.evaluated(server, data, out).end().code == 0
    again = Run.load(out)
    assert scores_of(again) == alone
    assert list(again.audit()) == []
    # none of the finished scores was measured a second time
    assert len((out / "records.jsonl").read_bytes().splitlines()) == len(alone)


@pytest.mark.parametrize("place", ["file/run", "file", "/proc/run"])
def test_a_folder_that_cannot_be_made_is_named_before_anything_is_asked(
    tmp_path: Path, server: ServerProcess, place: str
):
    data, out = written(tmp_path, SAMPLES), tmp_path / place
    (tmp_path / "file").write_text("mine\n", encoding="utf-8")
    before = contents(tmp_path)
    ended = children.start(
        children.command,
        tmp_path / "command",
        children.evaluate_words(data, out),
        server=server.base_url,
    ).end()
    assert ended.code == 2
    assert ended.err.startswith("ragmetrics: ")
    assert str(out) in ended.err
    assert ended.err.count("\n") == 1
    assert server.counts().total == 0
    assert contents(tmp_path) == before


@pytest.mark.skipif(sys.platform != "linux" and os.getuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_became_read_only_is_named_and_kept_as_it_is(
    tmp_path: Path, server: ServerProcess, alone: Scores
):
    data, out = written(tmp_path, SAMPLES), tmp_path / "run"
    assert children.evaluated(server, data, out, "--limit", 5).end().code == 0
    server.reset()
    before = contents(out)
    set_modes(out, folder=0o555, file=0o444)
    try:
        ended = children.start(
            heeding_modes, tmp_path / "command", children.evaluate_words(data, out), server=server.base_url
        ).end()
    finally:
        set_modes(out, folder=0o755, file=0o644)
    assert ended.code == 2
    assert ended.err == f"ragmetrics: the run folder {out} cannot be written: Permission denied\n"
    assert server.counts().total == 0
    assert contents(out) == before

    assert children.evaluated(server, data, out).end().code == 0
    assert scores_of(Run.load(out)) == alone


def heeding_modes(arguments: Sequence[object], *, server: str) -> None:
    """A command that may write only what the modes of files let it write, also when root gives it."""
    if os.getuid() == 0:
        # version 3 of the call: effective, permitted and inheritable capabilities, 32 bits each, and 32 more
        library = ctypes.CDLL(None)
        header, found = struct.pack("Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
        assert library.capget(header, found) == 0
        effective, permitted, *rest = struct.unpack("6I", found)
        overriding = 1 << 1
        left = struct.pack("6I", effective & ~overriding, permitted & ~overriding, *rest)
        assert library.capset(header, left) == 0
    children.command(arguments, server=server)


def set_modes(out: Path, *, folder: int, file: int) -> None:
    out.chmod(0o755)
    for each in out.iterdir():
        each.chmod(file)
    out.chmod(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """All files, but for what a command writes to its terminal."""
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file() and each.suffix not in {".out", ".err"}
    }
