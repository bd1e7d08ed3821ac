"""The folder of Parquet files for finished blocks."""

# pyarrow.compute makes most of its functions when it is imported.
# pyright: reportAttributeAccessIssue=false

import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import fs

from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.records import FAILED
from ragmetrics_core.runs import Manifest
from ragmetrics_ray._rows import REJECTED, SCHEMA, key_of, sample_key

__all__ = ["Finished", "Parts", "manifest_of"]

_MANIFEST: Final = b"ragmetrics"
_UNFINISHED: Final = ".tmp"
# Readers of a folder of Parquet files pass over a folder of such a name.
_EARLIER: Final = "_earlier"
# Texts that stand in many rows are written once in a file; a sample's does in each of its scores.
_REPEATED: Final = [f.name for f in SCHEMA if f.type == pa.string() and f.name != "record"]
_DICTIONARY: Final = 64 << 20


@dataclass(frozen=True)
class Finished:
    """Samples and rejected rows in a folder of results, as 64-bit keys (see `key_of`).

    Attributes:
        whole: samples with all their scores, and rejected rows; sorted.
        some: signatures of the finished scores of all other samples.
    """

    whole: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    some: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def has(self, key: int) -> bool:
        """Whether a sample or a rejected row is finished."""
        place = int(np.searchsorted(self.whole, np.uint64(key)))
        return place < len(self.whole) and bool(self.whole[place] == np.uint64(key))


@dataclass(frozen=True)
class Parts:
    """A folder of Parquet files, each with the scores of one finished block.

    Files are written atomically.

    Attributes:
        out: an absolute path or an address such as `s3://bucket/folder` that all machines can reach.
    """

    out: str

    @classmethod
    def at(cls, out: str | Path) -> "Parts":
        """The folder of a path; relative paths are resolved here, not in the actors."""
        text = os.fspath(out)
        return cls(text if "://" in text else os.path.abspath(text))

    @cached_property
    def _place(self) -> tuple[fs.FileSystem, str]:
        system, path = (
            fs.FileSystem.from_uri(self.out) if "://" in self.out else (fs.LocalFileSystem(), self.out)
        )
        return system, path.rstrip("/")

    def names(self) -> list[str]:
        """Names of all files, sorted; empty if there is no folder."""
        return sorted(name for name in self._all_names() if name.endswith(".parquet"))

    def has(self, name: str) -> bool:
        """Whether a block is finished."""
        system, folder = self._place
        return bool(system.get_file_info(f"{folder}/{name}").type == fs.FileType.File)

    def write(self, name: str, rows: pa.Table, manifest: Manifest) -> None:
        """Write a block's rows atomically; a file with the same name is replaced.

        Raises:
            RecordError: it cannot be written.
        """
        system, folder = self._place
        scratch = f"{folder}/{name}.{os.getpid()}-{secrets.token_hex(4)}{_UNFINISHED}"
        described = rows.replace_schema_metadata(
            {_MANIFEST: manifest.model_dump_json(by_alias=True).encode()}
        )
        try:
            system.create_dir(os.path.dirname(scratch), recursive=True)
            pq.write_table(
                described,
                scratch,
                filesystem=system,
                compression="zstd",
                use_dictionary=_REPEATED,  # pyright: ignore[reportArgumentType]  its default alone is a bool
                dictionary_pagesize_limit=_DICTIONARY,
            )
            system.move(scratch, f"{folder}/{name}")
        except OSError as error:
            raise RecordError(f"{folder}/{name} cannot be written: {error}") from error

    def read(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """The rows of one file.

        Raises:
            RecordError: it is not a file of results.
        """
        system, folder = self._place
        file = f"{folder}/{name}"
        wanted = [field for field in SCHEMA if columns is None or field.name in columns]
        try:
            table = pq.read_table(file, columns=columns, filesystem=system)
            for field in wanted:
                kind = table.schema.field(field.name).type if field.name in table.column_names else field.type
                if pa.types.is_string(field.type) and not (_is_text(kind) or pa.types.is_null(kind)):
                    raise ValueError(f"{field.name!r} holds {kind}")
            if missing := sorted({field.name for field in wanted} - set(table.column_names)):
                raise RecordError(f"{file} holds no results: it has no column {missing[0]!r}")
            table.validate(full=True)
            # other writers of the same rows have texts of other widths
            return table.select([field.name for field in wanted]).cast(
                pa.schema(wanted, metadata=table.schema.metadata)
            )
        except (OSError, ValueError) as error:
            raise RecordError(f"{file} cannot be read as results: {error}") from error

    def manifest(self) -> Manifest | None:
        """Manifest in the folder's first file; None if there is no file."""
        return next((manifest_of(self.read(name, ["status"]).schema) for name in self.names()), None)

    def check(self, earlier: Manifest, manifest: Manifest) -> None:
        """Check that new results have the same manifest as those in the folder.

        Raises:
            ConfigError: they differ.
        """
        if differences := earlier.differences(manifest):
            raise ConfigError(
                f"{self.out} holds other results: {'; '.join(differences)}. Choose another folder"
            )

    def take_up(self, signatures: frozenset[str]) -> Finished:
        """Prepare the folder to resume: failed scores are removed, to be measured again.

        Afterwards each sample and signature is in the folder at most once.


        Args:
            signatures: signatures of the metrics.

        Raises:
            RecordError: a file in the folder is not a file of results.
        """
        system, folder = self._place
        for name in self._all_names():
            if name.endswith(_UNFINISHED):
                system.delete_file(f"{folder}/{name}")
        whole: list[NDArray[np.uint64]] = []
        some: dict[int, frozenset[str]] = {}
        for name in self.names():
            rows = self._without_failed(name)
            rejected = rows.filter(pc.equal(rows["status"], REJECTED))["sample_digest"]
            whole.append(_keys("rejected", rejected.to_pylist()))
            scored = rows.filter(pc.is_valid(rows["signature"]))
            complete: list[int] = []
            groups = scored.group_by(["sample_id", "sample_digest"]).aggregate([("signature", "distinct")])
            for row in groups.to_pylist():
                measured = frozenset(row["signature_distinct"])
                key = sample_key(row["sample_id"], row["sample_digest"])
                if signatures <= measured:
                    complete.append(key)
                else:
                    some[key] = some.get(key, frozenset()) | measured
            whole.append(np.array(complete, dtype=np.uint64))
        # scores of one sample may be in several files
        whole.append(np.array([key for key, found in some.items() if signatures <= found], dtype=np.uint64))
        some = {key: found for key, found in some.items() if not signatures <= found}
        return Finished(np.sort(np.concatenate(whole)), some)

    def keep(self, given: NDArray[np.uint64]) -> None:
        """Keep the results of the newest call's rows, and move all others to the folder `_earlier`.

        Args:
            given: the keys of samples and rejected rows.
        """
        system, folder = self._place
        for name in self.names():
            keys = self.read(name, ["sample_id", "sample_digest", "status"])
            counts = np.isin(np.array([_key_of_row(row) for row in keys.to_pylist()], dtype=np.uint64), given)
            if counts.all():
                continue
            everything = self.read(name)
            manifest = manifest_of(everything.schema)
            earlier = everything.filter(pa.array(~counts))
            self.write(f"{_EARLIER}/{secrets.token_hex(4)}-{name}", earlier, manifest)
            if counts.any():
                self.write(name, everything.filter(pa.array(counts)), manifest)
            else:
                system.delete_file(f"{folder}/{name}")

    def _without_failed(self, name: str) -> pa.Table:
        """Remove failed scores from a file; returns its remaining keys and statuses."""
        keys = self.read(name, ["sample_id", "sample_digest", "signature", "status"])
        failed = pc.is_in(keys["status"], pa.array(sorted(FAILED)))
        if not pc.any(failed).as_py():
            return keys
        everything = self.read(name)
        kept = everything.filter(pc.invert(failed))
        if kept.num_rows:
            self.write(name, kept, manifest_of(everything.schema))
        else:
            system, folder = self._place
            system.delete_file(f"{folder}/{name}")
        return keys.filter(pc.invert(failed))

    def _all_names(self) -> Iterator[str]:
        system, folder = self._place
        for each in system.get_file_info(fs.FileSelector(folder, allow_not_found=True)):
            if each.type == fs.FileType.File:
                yield each.base_name


def manifest_of(schema: pa.Schema) -> Manifest:
    """Manifest of a file of results.

    Raises:
        RecordError: the file has no manifest.
    """
    try:
        return Manifest.model_validate_json((schema.metadata or {})[_MANIFEST])
    except (KeyError, ValueError) as error:
        raise RecordError(
            "a Parquet file there does not hold results of ragmetrics: choose another folder"
        ) from error


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _key_of_row(row: Mapping[str, str]) -> int:
    if row["status"] == REJECTED:
        return key_of("rejected", row["sample_digest"])
    return sample_key(row["sample_id"], row["sample_digest"])


def _keys(kind: str, names: list[str]) -> NDArray[np.uint64]:
    return np.fromiter((key_of(kind, name) for name in names), dtype=np.uint64, count=len(names))
