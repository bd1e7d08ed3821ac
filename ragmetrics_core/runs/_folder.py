"""The run folder: its lock and its manifest, and what is added to its files as it comes.

The format is described in docs/record.md.
"""

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from ragmetrics_core.errors import ConfigError, RecordError, SampleError
from ragmetrics_core.prompts import Prompt, PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.records._written_record import WrittenRecord
from ragmetrics_core.runs._decisions import decisions_stored
from ragmetrics_core.runs._diagnosis import decisions_of
from ragmetrics_core.runs._files import RunFiles, snapshot
from ragmetrics_core.runs._holdings import Holdings
from ragmetrics_core.runs._index import Key
from ragmetrics_core.runs._kept_index import keep_written
from ragmetrics_core.runs._loading import BadRow
from ragmetrics_core.runs._lock import FolderLock
from ragmetrics_core.runs._manifest import FileContents, Manifest, manifest_in, seal_in
from ragmetrics_core.runs._stored import is_run, labels_digest, remove_run
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.runs._writing import made_anew, not_a_link
from ragmetrics_core.samples import Sample

__all__ = ["Folder"]

# A manifest that is being written.
SCRATCH = "manifest.json.new"
# What a live application captured and did not score yet.
CAPTURES = "captures"


class Folder(Holdings):
    """The files of one run, on disk or, without a path, in memory, to be read and written.

    Args:
        path: the run's folder.
        manifest: what the run is made of.
        files: its files, where they have been looked at.
        may_keep: use the index that was kept beside the files, and keep one that was not.
        decided: note what verdicts decided; without it, whoever asks for that reads the records.

    Attributes:
        is_written: whether another process was writing to it when it was opened: what it holds then is what
            was whole at that moment.
    """

    def __init__(
        self,
        path: Path | None,
        manifest: Manifest,
        files: RunFiles | None = None,
        *,
        may_keep: bool = False,
        decided: bool = True,
    ) -> None:
        super().__init__(path, files, may_keep=may_keep, decided=decided)
        self.manifest = manifest
        self.is_written = False
        self._lock: FolderLock | None = None

    @classmethod
    def begin(
        cls,
        path: str | Path | None,
        manifest: Manifest,
        *,
        overwrite: bool = False,
        unnamed: Sequence[str] = (),
    ) -> "Folder":
        """Start a run, or go on with the one that the folder holds; nobody else may write to it meanwhile.

        Args:
            path: the run's folder; None for a run in memory.
            manifest: what the run is made of.
            overwrite: replace a run that the folder holds.
            unnamed: identities of its models that may be another model's tomorrow.

        Raises:
            ConfigError: the folder holds another run, or one that may be another model's, or something else,
                or somebody is writing to it, or it cannot be written.
            RecordError: it holds a run that cannot be read.
        """
        if path is None:
            return cls(None, manifest)
        path = Path(path)
        try:
            if path.exists() and not (path.is_dir() and (_holds_run(path) or _is_empty(path))):
                raise ConfigError(f"{path} exists and holds no run: choose another folder")
            if overwrite and _holds_run(path) and not is_run(path):
                raise ConfigError(f"{path} holds a manifest.json that is no run's: choose another folder")
            path.mkdir(parents=True, exist_ok=True)
            lock = FolderLock(path)
            lock.acquire()
            try:
                if overwrite:
                    remove_run(path)
                if _holds_run(path):
                    folder = cls._go_on(path, manifest, unnamed)
                else:
                    folder = cls(path, manifest)
                    folder.save_manifest(manifest)
            except BaseException:
                lock.release()
                raise
        except OSError as error:
            raise ConfigError(
                f"the run folder {path} cannot be written: {error.strerror or error}"
            ) from error
        folder._lock = lock
        return folder

    @classmethod
    def open(cls, path: str | Path) -> "Folder":
        """Open a run that was written.

        Raises:
            RecordError: there is no run, one of a later format, or one that cannot be read.
        """
        path = Path(path)
        manifest, files, is_written = snapshot(path)
        folder = cls(path, manifest, files, may_keep=not is_written)
        folder.is_written = is_written
        return folder

    def read_anew(self) -> "Folder":
        """The same, with all that is known of its files read from them and nothing from a kept index."""
        if not self._index.is_kept:
            return self
        folder = Folder(self.path, self.manifest, self._files, decided=False)
        folder.is_written = self.is_written
        return folder

    @classmethod
    def _go_on(cls, path: Path, manifest: Manifest, unnamed: Sequence[str]) -> "Folder":
        earlier = manifest_in(path)
        if differences := earlier.differences(manifest):
            raise ConfigError(
                f"{path} holds another run: {'; '.join(differences)}. Choose another folder, or overwrite it"
            )
        folder = cls(path, earlier)
        if unnamed and folder.keys:
            raise ConfigError(
                f"{path} has scores of {unnamed[0]}, and what the function of that name did then cannot be "
                "told. Choose another folder, overwrite it, or name what it does: "
                "CallableJudge(function=..., identity=...)"
            )
        return folder

    def save_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest, whole or not at all; that of a finished run says what its files hold.

        Raises:
            RecordError: it cannot be written; the earlier one is kept.
        """
        self.manifest = manifest
        if self.path is None:
            return
        contents = self._contents() if manifest.finished else None
        self.manifest = manifest = manifest.model_copy(update={"contents": contents})
        text = manifest.stored()
        scratch = self.path / SCRATCH
        try:
            with made_anew(scratch, encoding="utf-8") as file:
                file.write(text)
            os.replace(scratch, self.path / "manifest.json")
        except OSError as error:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)
            raise RecordError(
                f"{self.path / 'manifest.json'} cannot be written: {error.strerror or error}"
            ) from error

    def unfinish(self) -> None:
        """Say that the run goes on, if it was finished, and what in it was changed since by another hand."""
        if self.manifest.finished:
            # what a crash cut off is measured again
            altered = tuple(name for name in self.altered() if name not in self.cut_files)
            update = {"finished": False, "altered": altered}
            self.save_manifest(self.manifest.model_copy(update=update))

    def _contents(self) -> dict[str, FileContents]:
        rejected = sorted({f"{row.where}\t{row.message}" for row in self.rejected})
        return {
            "samples.jsonl": FileContents.of(self._index.samples_told()),
            "prompts.jsonl": FileContents.of(sorted(self._texts)),
            "records.jsonl": FileContents.of(self._index.records_told()),
            "rejected.jsonl": FileContents.of(rejected),
        }

    def differing(self) -> dict[str, tuple[FileContents | None, FileContents]]:
        """By file what the manifest says it holds and what it holds, where the two differ."""
        told = self.manifest.contents
        if told is None or self.path is None:
            return {}
        found = self._contents().items()
        return {name: (told.get(name), holds) for name, holds in found if told.get(name) != holds}

    def altered(self) -> tuple[str, ...]:
        """The files that another hand has changed since the run was finished, or before it went on."""
        found = [*self.manifest.altered, *self.differing()]
        if self.path is not None and self.manifest.finished:
            stored, derived = seal_in(self.path)
            found += ["manifest.json"] if stored != derived else []
        return tuple(dict.fromkeys(found))

    def check_sample(self, sample: Sample) -> None:
        """Raise `SampleError` when the run has scores of another sample of this id."""
        known = self._index.sample(sample.id)
        if known is not None and known.digest != sample.digest and self.statuses(sample.id):
            raise SampleError("the run has scores of a sample of this id with other content; use a new id")

    def add_sample(self, sample: Sample, *, is_new: bool = False) -> None:
        """Add a sample, unless the run has it; `is_new` says that it has not.

        Raises:
            SampleError: the run has scores of another sample of this id.
        """
        if not is_new:
            self.check_sample(sample)
        known = None if is_new else self._index.sample(sample.id)
        if known is None or known.digest != sample.digest:
            line = f'{{"digest":"{sample.digest}","sample":{sample.model_dump_json(exclude_none=True)}}}'
            (offset,) = self._samples.append(line)
            self._index.add_sample(sample.id, sample.digest, offset, labels_digest(sample.labels))

    def add_prompts(self, prompts: Mapping[str, Prompt[Any]]) -> None:
        """Add the prompts, by digest, that the run does not have."""
        new = (digest for digest in prompts if digest not in self._texts)
        self.add_prompt_texts({digest: PromptText.of(prompts[digest]) for digest in new})

    def add_prompt_texts(self, texts: Mapping[str, PromptText]) -> None:
        """Add the texts of prompts, by digest, that the run does not have."""
        for digest, text in texts.items():
            if digest not in self._texts:
                self._prompts.append(json.dumps({"digest": digest, **text._asdict()}))
                self._texts[digest] = text

    @property
    def journal_path(self) -> Path | None:
        """The file of the run's own journal; None for a run in memory.

        Raises:
            ConfigError: a link stands there, or in the place of one of the files beside it.
        """
        if self.path is None:
            return None
        for beside in ("-wal", "-shm", "-journal"):
            not_a_link(self.path / f"journal.sqlite{beside}")
        return not_a_link(self.path / "journal.sqlite")

    def add_records(self, records: Sequence[Record | WrittenRecord]) -> None:
        """Add records, all or none; each takes the place of an earlier one of the same key."""
        lines = [record.line() for record in records]
        offsets = self._records.append(*lines)
        for record, line, offset in zip(records, lines, offsets, strict=True):
            key = Key(record.sample_id, record.signature)
            decided = decisions_stored(decisions_of(record))
            self._index.add_record(key, offset, Outcome.of(record), line[-34:-2].decode(), decided)

    def amend(self, record: Record) -> None:
        """Put a changed record into a run that nobody is writing to.

        Raises:
            ConfigError: somebody is.
        """
        with FolderLock(self.path) if self.path else nullcontext():
            if self.manifest.finished:
                with self._unfinished():
                    self.add_records([record])
            else:
                self.add_records([record])
            self.close()
            self._keep_index()

    @contextmanager
    def _unfinished(self) -> Generator[None]:
        """Change a finished run: whoever reads it meanwhile sees from its manifest that it goes on."""
        update = {"finished": False, "altered": self.altered()}
        self.save_manifest(self.manifest.model_copy(update=update))
        try:
            yield
        finally:
            self.save_manifest(self.manifest.model_copy(update={"finished": True}))

    def reject(self, row: BadRow) -> None:
        """Note a row that is no sample."""
        self._rejected.append(json.dumps({"where": row.where, "message": row.message}))

    def close(self) -> None:
        """End writing; the run can still be read, and others may write to it."""
        for lines in (self._samples, self._prompts, self._rejected, self._records):
            lines.close()
        if self._lock is not None:
            self._keep_index()
            self._lock.release()
            self._lock = None

    def _keep_index(self) -> None:
        if self.path is not None and self.manifest.finished:
            keep_written(self.path, self._index.to_keep)


def _holds_run(path: Path) -> bool:
    return (path / "manifest.json").is_file()


def _is_empty(path: Path) -> bool:
    """Whether there is nothing but what locks, a run that ended as it began, and live captures leave."""
    lock, _ = FolderLock.FILES
    left = (SCRATCH, CAPTURES)
    return all(entry.name.startswith(lock) or entry.name in left for entry in path.iterdir())
