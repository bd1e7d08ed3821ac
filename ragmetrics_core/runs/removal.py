"""Removal of a run's own files from its folder."""

import json
from pathlib import Path
from shutil import rmtree

from ragmetrics_core.boundary.shapes import is_dict
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs._index import remove_kept
from ragmetrics_core.runs.lock import FolderLock

__all__ = ["CAPTURES", "holds_run", "is_empty", "is_run", "remove_run", "remove_written"]

# What a live application captured and did not score yet.
CAPTURES = "captures"
# A manifest that is being written.
_SCRATCH = "manifest.json.new"
# What a run writes, and all that overwriting one removes: a copy ("manifest.json.bak") is somebody's.
# The manifest is the last to go, so that what an overwriting that failed has left can be overwritten.
_WRITTEN = (
    *(f"{name}.jsonl" for name in ("records", "samples", "prompts", "rejected", "dataset", "waiting")),
    *(f"{name}.jsonl.new" for name in ("rejected", "dataset", "waiting")),
    *(f"journal.sqlite{rest}" for rest in ("", "-journal", "-shm", "-wal")),
    _SCRATCH,
    "manifest.json",
)


def holds_run(path: Path) -> bool:
    """Whether a folder may hold a run."""
    return (path / "manifest.json").is_file()


def is_empty(path: Path) -> bool:
    """Whether a folder is empty, apart from lock files, live captures and traces of an empty run."""
    lock, _ = FolderLock.FILES
    left = (_SCRATCH, CAPTURES)
    return all(entry.name.startswith(lock) or entry.name in left for entry in path.iterdir())


def is_run(path: Path) -> bool:
    """Whether a folder with a `manifest.json` holds a run; other projects use that file name, too."""
    if any((path / name).exists() for name in ("samples.jsonl", "records.jsonl")):
        return True
    try:
        fields = json.loads((path / "manifest.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return is_dict(fields) and {"schema", "metrics", "versions"} <= set(fields)


def remove_written(path: Path) -> None:
    """Remove the run's own files from a folder; the held lock stays."""
    remove_kept(path)
    for name in _WRITTEN:
        (path / name).unlink(missing_ok=True)


def remove_run(path: Path) -> None:
    """Remove a run with its folder.

    Raises:
        ConfigError: the folder holds other files, or a process is writing to it.
        OSError: it cannot be removed.
    """
    with FolderLock(path):
        remove_kept(path)
        if others := {file.name for file in path.iterdir()}.difference(_WRITTEN, FolderLock.FILES):
            raise ConfigError(f"{path} holds {min(others)}, which does not belong to its run")
        remove_written(path)  # the manifest last: killed before that, it is still known as a run
        rmtree(path)  # while it is held: who opened the lock before finds no folder to write to
