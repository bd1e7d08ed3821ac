"""The run folder: its lock, its manifest and its append-only files.

The format is described in docs/record.md.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core.boundary.writing import not_a_link, put_in_place, unwritable
from ragmetrics_core.errors import ConfigError, SampleError
from ragmetrics_core.prompts import Prompt, PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.records.written_record import WrittenRecord
from ragmetrics_core.runs._index import Index
from ragmetrics_core.runs._loading import BadRow
from ragmetrics_core.runs._manifest import FORMAT, FileContents, Manifest, manifest_in, seal_in
from ragmetrics_core.runs._reading import Reader
from ragmetrics_core.runs._seals import are_sealed
from ragmetrics_core.runs._stored_lines import (
    Given,
    Key,
    StoredSample,
    bad_row_in,
    bad_row_line,
    is_blank,
    prompt_in,
    stored_record,
    told_row,
)
from ragmetrics_core.runs.append_only_lines import Lines
from ragmetrics_core.runs.lock import FolderLock, is_held
from ragmetrics_core.runs.removal import holds_run, is_empty, is_run, remove_written
from ragmetrics_core.samples import Sample, labels_digest

__all__ = ["Folder"]

# Lines about samples that count, which are written together.
_GIVEN_AT_ONCE = 256
# How often a run is looked at again whose writer has just begun or ended: each time that is a run of its own.
_LOOKS = 100


class RunFiles(NamedTuple):
    """The files of a run at their present lengths.

    They are opened in the reverse order of writing, so that whatever a visible record refers to is visible.
    """

    records: Lines
    rejected: Lines
    prompts: Lines
    samples: Lines
    dataset: Lines

    @classmethod
    def of(cls, path: Path | None) -> "RunFiles":
        """Files of a folder, or of a run in memory."""
        return cls._make(Lines(path and path / f"{name}.jsonl") for name in cls._fields)

    @classmethod
    def to_read(cls, path: Path) -> "RunFiles":
        """Files of a folder for reading; files that a call replaces are copied into memory."""
        files = cls.of(path)
        files.dataset.load()
        files.rejected.load()
        return files


class Folder:
    """The files of one run, on disk or in memory, for reading and writing.

    Args:
        path: the run's folder; None for memory.
        manifest: the run's manifest.
        files: its files, if they are open already.
        is_written: whether another process is writing to it.
        anew: read everything from the files instead of a stored index; decisions of verdicts are left out.

    Attributes:
        index: content and positions of the files' lines.
        prompt_texts: texts of all prompts that were asked, by digest.
        is_written: whether another process was writing to it when it was opened. The folder then holds what
            was complete at that moment.

    Raises:
        RecordError: a line cannot be read.
    """

    def __init__(
        self,
        path: Path | None,
        manifest: Manifest,
        files: RunFiles | None = None,
        *,
        is_written: bool = False,
        anew: bool = False,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.is_written = is_written
        self._lock: FolderLock | None = None
        self._given: list[Given] = []
        self._files = files or RunFiles.of(path)
        self.prompt_texts: dict[str, PromptText] = dict(
            text for text, _ in self._files.prompts.read(prompt_in)
        )
        files = self._files
        self.index = Index(files.samples, files.records, files.dataset, anew=anew, keep=not is_written)

    @classmethod
    def begin(
        cls,
        path: str | Path | None,
        manifest: Manifest,
        *,
        overwrite: bool = False,
    ) -> "Folder":
        """Start a run, or resume the run in the folder; locks the folder.

        Args:
            path: the run's folder; None for a run in memory.
            manifest: the run's manifest.
            overwrite: replace a run in the folder.

        Raises:
            ConfigError: the folder holds something else, another run or one that may be another model's; or
                another process is writing to it; or it cannot be written.
            RecordError: the run in the folder cannot be read.
        """
        if path is None:
            return cls(None, manifest)
        path = Path(path)
        with unwritable(f"the run folder {path}"):
            if path.exists() and not (path.is_dir() and (holds_run(path) or is_empty(path))):
                raise ConfigError(f"{path} exists and does not hold a run: choose another folder")
            if overwrite and holds_run(path) and not is_run(path):
                raise ConfigError(f"{path} holds a manifest.json, but not of a run: choose another folder")
            lock = FolderLock(path).acquire()
            try:
                if overwrite:
                    remove_written(path)
                if holds_run(path):
                    folder = cls._go_on(path, manifest)
                else:
                    folder = cls(path, manifest)
                    folder.save_manifest(manifest)
            except BaseException:
                lock.release()
                raise
        folder._lock = lock
        return folder

    @classmethod
    def open(cls, path: str | Path) -> "Folder":
        """Open a stored run.

        Raises:
            RecordError: there is no run, its format is newer, or it cannot be read.
        """
        path = Path(path)
        manifest = manifest_in(path)
        files, held = RunFiles.to_read(path), is_held(path)
        # whoever writes replaces the manifest before the first line and after the last one: one that stays
        # the same while the files are looked at belongs to what they hold
        for _ in range(_LOOKS):
            before, manifest = manifest, manifest_in(path)
            if manifest == before:
                break
            files, held = RunFiles.to_read(path), is_held(path)
        return cls(path, manifest, files, is_written=held and not manifest.finished)

    def read_anew(self) -> "Folder":
        """The same folder, read from its files only, without a stored index."""
        if self.index.is_read:
            return self
        return Folder(self.path, self.manifest, self._files, is_written=self.is_written, anew=True)

    @classmethod
    def _go_on(cls, path: Path, manifest: Manifest) -> "Folder":
        earlier = manifest_in(path)
        earlier.check_goes_on(path, manifest, ", or overwrite it")
        return cls(path, earlier.model_copy(update={"notes": manifest.notes, "source": manifest.source}))

    def save_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest atomically; the manifest of a finished run describes its files.

        Raises:
            RecordError: the manifest cannot be written; the earlier one is kept.
        """
        self.write_given()
        self.manifest = manifest
        if self.path is None:
            return
        contents = self._contents() if manifest.finished else None
        self.manifest = manifest = manifest.model_copy(update={"contents": contents, "schema_": FORMAT})
        put_in_place(self.path / "manifest.json", manifest.stored())

    def update_manifest(self, **changes: object) -> None:
        """Replace fields of the manifest; see `save_manifest`."""
        self.save_manifest(self.manifest.model_copy(update=changes))

    def unfinish(self) -> None:
        """Mark a finished run as unfinished, and note files that were altered since."""
        if self.manifest.finished:
            # what a crash cut off is measured again
            altered = tuple(name for name in self.altered() if name not in self.cut_files)
            self.update_manifest(finished=False, altered=altered)

    def begin_data_set(self, *, add: bool = False) -> None:
        """Start a new data set: only samples given from now on count.

        Args:
            add: keep the samples and rejected rows of earlier calls, too.
        """
        if add and self._files.dataset.is_there:
            return
        current = [] if not add else list(self.index.current())
        self._files.dataset.clear()
        self.index.forget_given()
        self._given = current
        if not add:
            self._files.rejected.clear()

    def give(self, sample: Sample) -> None:
        """Add a sample to the data set; `write_given` stores it.

        Without a data set, all samples count.
        """
        if not self._files.dataset.is_there:
            return
        self._given.append(Given(sample.id, sample.digest))
        if len(self._given) >= _GIVEN_AT_ONCE:
            self.write_given()

    def write_given(self) -> None:
        """Store which samples count."""
        if self._given:
            self._files.dataset.append(*(given.line() for given in self._given))
            self.index.give(self._given, are_all=True)
            self._given = []

    def _contents(self) -> dict[str, FileContents]:
        rejected = sorted(map(told_row, self.rejected))
        dataset: dict[str, FileContents] = {}
        if self._files.dataset.is_there:
            dataset["dataset.jsonl"] = FileContents.of(self.index.told_given())
        return dataset | {
            "samples.jsonl": FileContents.of(self.index.told("samples")),
            "prompts.jsonl": FileContents.of(sorted(self.prompt_texts)),
            "records.jsonl": FileContents.of(self.index.told("records")),
            "rejected.jsonl": FileContents.of(rejected),
        }

    def differing(self) -> dict[str, tuple[FileContents | None, FileContents]]:
        """Stated and actual contents of each file that differs from the manifest."""
        told = self.manifest.contents
        if told is None or self.path is None:
            return {}
        found = {name: FileContents.of(()) for name in told} | self._contents()
        return {name: (told.get(name), holds) for name, holds in found.items() if told.get(name) != holds}

    def altered(self) -> tuple[str, ...]:
        """Files that were altered after they were written, according to their seals."""
        if self.path is None:
            return ()
        stored, derived = seal_in(self.path)
        found = [*self.manifest.altered, *self.differing()]
        if stored != derived or (self.manifest.finished and self.manifest.contents is None):
            found.append("manifest.json")
        if any(text.digest != digest for digest, text in self.prompt_texts.items()):
            found.append("prompts.jsonl")
        if not are_sealed(self._files.records, self.index, self.manifest):
            found.append("records.jsonl")
        return tuple(dict.fromkeys(found))

    def is_known(self, sample: Sample) -> bool:
        """Whether a sample is in the run, with this content and these labels."""
        known = self.index.sample(sample.id)
        return known is not None and known[:2] == (sample.digest, labels_digest(sample.labels))

    def statuses(self, sample: Sample) -> dict[str, str]:
        """Status of each score of a sample with this content, by signature."""
        return self.index.statuses(sample.id, sample.digest)

    def add_sample(self, sample: Sample, *, is_new: bool = False) -> None:
        """Add a sample if the run lacks it; `is_new` skips that check.

        Raises:
            SampleError: the run has no data set, and has scores of another sample with this id.
        """
        known = None if is_new or self._files.dataset.is_there else self.index.sample(sample.id)
        if known and known.digest != sample.digest and self.index.statuses(sample.id):
            raise SampleError("the run has scores of a sample with this id and other content; use a new id")
        if is_new or not self.is_known(sample):
            self.write_given()
            line = f'{{"digest":"{sample.digest}","sample":{sample.model_dump_json(exclude_none=True)}}}'
            (offset,) = self._files.samples.append(line)
            beside = labels_digest(sample.labels), is_blank(sample.answer)
            stored = StoredSample(sample.id, sample.digest, *beside)
            self.index.add_sample(stored, offset)

    def add_prompts(self, prompts: Mapping[str, Prompt[Any]]) -> None:
        """Add the prompts, by digest, that the run does not have."""
        new = (digest for digest in prompts if digest not in self.prompt_texts)
        self.add_prompt_texts({digest: PromptText.of(prompts[digest]) for digest in new})

    def add_prompt_texts(self, texts: Mapping[str, PromptText]) -> None:
        """Add the texts of prompts, by digest, that the run does not have."""
        for digest, text in texts.items():
            if digest not in self.prompt_texts:
                self._files.prompts.append(json.dumps({"digest": digest, **text._asdict()}))
                self.prompt_texts[digest] = text

    @property
    def journal_path(self) -> Path | None:
        """File of the run's own journal; None for a run in memory.

        Raises:
            ConfigError: the file, or one of its companion files, is a link.
        """
        if self.path is None:
            return None
        for beside in ("-wal", "-shm", "-journal"):
            not_a_link(self.path / f"journal.sqlite{beside}")
        return not_a_link(self.path / "journal.sqlite")

    def add_records(self, records: Sequence[Record | WrittenRecord]) -> None:
        """Add records, all or none; each replaces an earlier one with the same key."""
        self.write_given()
        lines = [record.line() for record in records]
        offsets = self._files.records.append(*lines)
        self.index.add_records(list(zip(map(stored_record, records, lines), offsets, strict=True)))

    def amend(self, record: Record) -> None:
        """Store a changed record; raises `ConfigError` if another process is writing to the run."""
        with FolderLock(self.path) if self.path else nullcontext():
            is_finished = self.manifest.finished
            if is_finished:
                # whoever reads it meanwhile sees from its manifest that it goes on
                self.update_manifest(finished=False, altered=self.altered())
            try:
                self.add_records([record])
            finally:
                if is_finished:
                    self.update_manifest(finished=True)
            self.close()
            self.index.keep()

    def reject(self, row: BadRow) -> None:
        """Store an invalid row."""
        self._files.rejected.append(bad_row_line(row))

    def close(self) -> None:
        """End writing; the run can still be read, and others may write to it."""
        for lines in self._files:
            lines.close()
        if self._lock is not None:
            self.index.keep()
            self._lock.release()
            self._lock = None

    @classmethod
    def finish(cls, path: Path) -> None:
        """Finish a killed run as it is; does nothing to a finished one.

        Raises:
            ConfigError: another process is writing to it, or it cannot be written.
            RecordError: it cannot be read.
        """
        if not (manifest := manifest_in(path)).finished:
            with closing(cls.begin(path, manifest)) as run:
                for lines in run._files:
                    if lines.is_cut:
                        lines.append()
                run.update_manifest(finished=True)

    @property
    def cut_files(self) -> list[str]:
        """Files that end in an incomplete line."""
        return [lines.path.name for lines in self._files if lines.path is not None and lines.is_cut]

    @property
    def rejected(self) -> Iterator[BadRow]:
        """The rows that were left out, each once."""
        # a later line of the same row may say more of it
        return iter({row: row for row, _ in self._files.rejected.read(bad_row_in)}.values())

    def sample(self, sample_id: str) -> Sample:
        """A sample by its id."""
        if (known := self.index.sample(sample_id)) is None:
            raise KeyError(sample_id)
        with self.reading() as reader:
            return reader.sample(known.offset)

    def record(self, key: Key) -> Record:
        """A record with its sample and prompts."""
        self.write_given()
        if (place := self.index.place(key)) is None:
            raise KeyError(key)
        with self.reading() as reader:
            return reader.record(place)

    def reading(self) -> AbstractContextManager[Reader]:
        """A reader for many records in a row."""
        return Reader.of(self._files.records, self._files.samples, self.prompt_texts)

    def samples(self) -> Iterator[Sample]:
        """All samples, in the order in which they were finished."""
        with self.reading() as reader:
            yield from map(reader.sample, self.index.sample_places())
