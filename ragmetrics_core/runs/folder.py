"""The run folder: manifest, samples, prompts and records, written as they come and read tolerantly.

The format is described in docs/record.md.
"""

import json
import os
from collections.abc import Iterable, Iterator, KeysView, Mapping
from pathlib import Path
from shutil import rmtree
from sys import intern
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.prompts import Prompt, PromptText
from ragmetrics_core.record import Record
from ragmetrics_core.runs.lines import Lines
from ragmetrics_core.runs.loading import BadRow
from ragmetrics_core.runs.summary import Outcome
from ragmetrics_core.sample import Sample

__all__ = ["Folder", "Key", "Manifest", "MetricEntry"]

SCHEMA = 1


class Key(NamedTuple):
    """What names a score in a run."""

    sample_id: str
    signature: str


class MetricEntry(BaseModel):
    """A metric of a run: its name and the range of its scores."""

    model_config = ConfigDict(frozen=True, extra="allow")

    signature: str
    name: str
    low: float = 0.0
    high: float = 1.0


class Manifest(BaseModel):
    """What a run is made of."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    schema_: int = Field(default=SCHEMA, alias="schema")
    metrics: tuple[MetricEntry, ...]
    judge: str | None = None
    embedder: str | None = None
    scorer: str | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    finished: bool = False
    tally: dict[str, int] = Field(default_factory=dict)


class Folder:
    """The files of one run, on disk or, without a path, in memory.

    Args:
        path: the run's folder.
        manifest: what the run is made of.
    """

    def __init__(self, path: Path | None, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._samples = self._lines("samples.jsonl")
        self._prompts = self._lines("prompts.jsonl")
        self._records = [self._lines("records.jsonl")]
        self._rejected = self._lines("rejected.jsonl")
        if path is not None:
            self._records += map(Lines, sorted((path / "records").glob("*.jsonl")))
        self._sample_at: dict[str, int] = {}
        self._record_at: dict[Key, tuple[int, int]] = {}
        self._texts: dict[str, PromptText] = {}
        self._index()

    @classmethod
    def create(cls, path: str | Path | None, manifest: Manifest, *, overwrite: bool = False) -> "Folder":
        """Start a run.

        Raises:
            ConfigError: the folder holds a run already, or something else, or cannot be written.
        """
        if path is None:
            return cls(None, manifest)
        path = Path(path)
        try:
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                _make_room(path, overwrite=overwrite)
            path.mkdir(parents=True, exist_ok=True)
            folder = cls(path, manifest)
            folder.save_manifest(manifest)
        except OSError as error:
            raise ConfigError(
                f"the run folder {path} cannot be written: {error.strerror or error}"
            ) from error
        return folder

    @classmethod
    def open(cls, path: str | Path) -> "Folder":
        """Open a run that was written.

        Raises:
            RecordError: there is no run, one of a later format, or one that cannot be read.
        """
        path = Path(path)
        file = path / "manifest.json"
        try:
            fields = json.loads(file.read_bytes())
        except OSError:
            raise RecordError(f"there is no run in {path} (no manifest.json)") from None
        except ValueError as error:
            raise RecordError(f"{file} is no JSON: {error}") from error
        schema = fields.get("schema") if isinstance(fields, dict) else None
        if isinstance(schema, int) and schema > SCHEMA:
            raise RecordError(
                f"the run in {path} has format {schema}; this version of ragmetrics reads up to {SCHEMA}"
            )
        try:
            manifest = Manifest.model_validate(fields)
        except ValueError as error:
            raise RecordError(f"{file} is no manifest: {str(error).splitlines()[0]}") from error
        return cls(path, manifest)

    def save_manifest(self, manifest: Manifest) -> None:
        """Replace the manifest, whole or not at all."""
        self.manifest = manifest
        if self.path is None:
            return
        text = manifest.model_dump_json(by_alias=True, indent=2)
        scratch = self.path / "manifest.json.new"
        scratch.write_text(text + "\n", encoding="utf-8")
        os.replace(scratch, self.path / "manifest.json")

    def write(self, sample: Sample, records: Iterable[Record], prompts: Mapping[str, Prompt[Any]]) -> None:
        """Add a sample with its records and the prompts that they name."""
        for digest, prompt in prompts.items():
            if digest not in self._texts:
                text = PromptText(
                    prompt.name, prompt.version, prompt.language, prompt.system, prompt.user, prompt.again
                )
                self._texts[digest] = text
                self._prompts.append(json.dumps({"digest": digest, **text._asdict()}))
        self._prompts.flush()
        if sample.id not in self._sample_at:
            line = f'{{"digest":"{sample.digest}","sample":{sample.model_dump_json(exclude_none=True)}}}'
            self._sample_at[sample.id] = self._samples.append(line)
            self._samples.flush()
        for record in records:
            self.add_record(record)
        self._records[0].flush()

    def add_record(self, record: Record) -> None:
        """Add a record; it takes the place of an earlier one of the same key."""
        self._record_at[Key(record.sample_id, intern(record.signature))] = (
            0,
            self._records[0].append(record.stored()),
        )

    def reject(self, row: BadRow) -> None:
        """Note a row that is no sample."""
        self._rejected.append(json.dumps({"where": row.where, "message": row.message}))
        self._rejected.flush()

    @property
    def rejected(self) -> Iterator[BadRow]:
        """The rows that are no samples."""
        return (BadRow(**json.loads(line.text)) for line in self._rejected)

    @property
    def sample_ids(self) -> KeysView[str]:
        """The ids of all samples, in the order in which they were finished."""
        return self._sample_at.keys()

    @property
    def keys(self) -> KeysView[Key]:
        """What names the scores of the run."""
        return self._record_at.keys()

    def sample(self, sample_id: str) -> Sample:
        """A sample by its id."""
        offset = self._sample_at[sample_id]
        try:
            return Sample.model_validate(json.loads(self._samples.read(offset))["sample"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._samples.broken(offset, error) from error

    def record(self, key: Key) -> Record:
        """A record with its sample and prompts."""
        file, offset = self._record_at[key]
        lines = self._records[file]
        try:
            record = Record.from_json(lines.read(offset))
        except RecordError as error:
            raise lines.broken(offset, error) from error
        if record.sample_id not in self._sample_at:
            raise lines.broken(offset, RecordError(f"samples.jsonl has no sample {record.sample_id!r}"))
        return record.hydrated(self.sample(record.sample_id), self._texts)

    def outcomes(self) -> Iterator[tuple[Key, Outcome]]:
        """What a mean needs of each record, without reading the rest of it."""
        for key, (file, offset) in self._record_at.items():
            lines = self._records[file]
            try:
                yield key, Outcome.of_stored(json.loads(lines.read(offset)))
            except (ValueError, KeyError, TypeError) as error:
                raise lines.broken(offset, error) from error

    def close(self) -> None:
        """End writing; the run can still be read."""
        for lines in (self._samples, self._prompts, self._rejected, *self._records):
            lines.close()

    def _lines(self, name: str) -> Lines:
        return Lines(None if self.path is None else self.path / name)

    def _index(self) -> None:
        """Note where everything stands; the last line of a key counts."""
        for line in self._prompts:
            try:
                fields = json.loads(line.text)
                digest = fields["digest"]
                self._texts[digest] = PromptText(**{name: fields[name] for name in PromptText._fields})
            except (ValueError, KeyError, TypeError) as error:
                raise self._prompts.broken(line.offset, error) from error
        for line in self._samples:
            try:
                self._sample_at[json.loads(line.text)["sample"]["id"]] = line.offset
            except (ValueError, KeyError, TypeError) as error:
                raise self._samples.broken(line.offset, error) from error
        for number, lines in enumerate(self._records):
            for line in lines:
                try:
                    fields = json.loads(line.text)
                    self._record_at[Key(fields["sample_id"], intern(fields["signature"]))] = (
                        number,
                        line.offset,
                    )
                except (ValueError, KeyError, TypeError) as error:
                    raise lines.broken(line.offset, error) from error


def _make_room(path: Path, *, overwrite: bool) -> None:
    """Remove an earlier run; anything else is left alone."""
    if not (path / "manifest.json").is_file():
        raise ConfigError(f"{path} exists and holds no run: choose another folder")
    if not overwrite:
        raise ConfigError(f"{path} holds a run already: choose another folder, or overwrite it")
    rmtree(path)
