"""The files of a run as they are at one moment, also while another process writes them."""

from pathlib import Path
from typing import NamedTuple

from ragmetrics_core.runs._kept_index import Identity, identity_of
from ragmetrics_core.runs._lines import Lines
from ragmetrics_core.runs._lock import is_held
from ragmetrics_core.runs._manifest import Manifest, manifest_in

__all__ = ["RunFiles", "Snapshot", "snapshot"]

# How often a run is looked at again whose writer has just begun or ended: each time that is a run of its own.
_LOOKS = 100


class RunFiles(NamedTuple):
    """The files of a run, each as long as it is now.

    They are looked at in the reverse of the order in which a writer adds to them, so that what a record names
    has been written wherever the record is seen.
    """

    records: Lines
    rejected: Lines
    prompts: Lines
    samples: Lines
    identity: Identity

    @classmethod
    def of(cls, path: Path | None) -> "RunFiles":
        """The files of a folder, or of a run in memory."""
        if path is None:
            return cls(Lines(), Lines(), Lines(), Lines(), None)
        names = ("records", "rejected", "prompts", "samples")
        records, rejected, prompts, samples = (Lines(path / f"{name}.jsonl") for name in names)
        return cls(records, rejected, prompts, samples, identity_of(path))


class Snapshot(NamedTuple):
    """A run at one moment.

    Attributes:
        manifest: what it was made of.
        files: its files, each as long as it was.
        is_written: whether another process was writing to it.
    """

    manifest: Manifest
    files: RunFiles
    is_written: bool


def snapshot(path: Path) -> Snapshot:
    """The run in a folder as it is now.

    Raises:
        RecordError: there is none, or one that cannot be read.
    """
    found = _look(path, manifest_in(path))
    # whoever writes replaces the manifest before the first line and after the last one: one that stays
    # the same while the files are looked at belongs to what they hold
    for _ in range(_LOOKS):
        manifest = manifest_in(path)
        if manifest == found.manifest:
            break
        found = _look(path, manifest)
    return found


def _look(path: Path, manifest: Manifest) -> Snapshot:
    return Snapshot(manifest, RunFiles.of(path), not manifest.finished and is_held(path))
