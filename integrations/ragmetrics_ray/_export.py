"""`to_run`: a run folder from rows of results."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from ray.data import Dataset

from ragmetrics_core import Metric, Record, Run, Sample
from ragmetrics_core.errors import ConfigError, RecordError, SampleError
from ragmetrics_core.metrics import get
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.runs import BadRow, Folder, Manifest, MetricEntry
from ragmetrics_ray._parts import Parts, manifest_of
from ragmetrics_ray._rows import REJECTED

__all__ = ["to_run"]


def to_run(
    results: Dataset | str | Path,
    out: str | Path,
    *,
    metrics: tuple[Metric[Any], ...] = (),
    overwrite: bool = False,
) -> Run:
    """Write results as a run folder: manifest, samples, prompts, records.

    Rows are read one block at a time, in any order. Of two rows with the same sample and signature the later
    one counts; a different sample with a used id is rejected. For a large evaluation, write a part:
    `to_run(results.filter(...), out)`.

    Args:
        results: results of `evaluate_dataset`, a part of them, or the folder that it wrote.
        out: the run's folder.
        metrics: custom metrics among the results, for their ranges and directions.
        overwrite: replace a run in the folder.

    Raises:
        ConfigError: `out` is not empty.
        RecordError: a row is not a result, or its record was changed.
    """
    if not overwrite and Path(out, "manifest.json").exists():
        raise ConfigError(f"{out} holds a run already: choose another folder, or overwrite it")
    folder = Folder.begin(out, Manifest(metrics=()), overwrite=overwrite)
    try:
        writer = _Writer(folder, {metric.signature: metric for metric in metrics})
        for table, manifest in _tables(results):
            writer.take_over(manifest)
            for row in _rows(table):
                writer.add(row)
        folder.save_manifest(writer.manifest())
    finally:
        folder.close()
    return Run.load(out)


@dataclass
class _Writer:
    """Writes rows into a run folder and derives its manifest from them."""

    folder: Folder
    metrics: Mapping[str, Metric[Any]]
    entries: dict[str, MetricEntry] = field(default_factory=dict[str, MetricEntry])
    tally: Counter[str] = field(default_factory=Counter[str])
    known: Manifest | None = None
    text: str = ""
    sample: Sample = field(default_factory=Sample)

    def take_over(self, manifest: Manifest | None) -> None:
        """Take over the metadata of a file of results: ranges, notes, counts."""
        if manifest is None:
            return
        self.known = self.known or manifest
        self.entries |= {entry.signature: entry for entry in manifest.metrics}
        self.tally.update(manifest.tally)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a score or a rejected row."""
        try:
            if row["status"] == REJECTED:
                self.folder.reject(BadRow(where=f"row {row['sample_digest'][:16]}", message=row["reason"]))
                return
            record = Record.from_json(row["record"])
            if row["sample"] != self.text:
                self.sample, self.text = Sample.model_validate_json(row["sample"]), row["sample"]
            prompts = {digest: PromptText(**text) for digest, text in json.loads(row["prompts"]).items()}
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError, RecordError) as error:
            raise RecordError(f"a row is not a result of evaluate_dataset: {error}") from error
        # one without a seal would get a new one when it is written again
        if not record.digest or record.seal != record.digest:
            raise RecordError(
                f"the record of sample {record.sample_id!r}, {record.signature}, "
                "was changed after it was written"
            )
        try:
            self.folder.add_sample(self.sample)
        except SampleError as error:
            where = f"sample {self.sample.id}"
            self.folder.reject(BadRow(where=where, message=str(error), sample_id=self.sample.id))
            return
        self.folder.add_prompt_texts(prompts)
        self.folder.add_records([record])
        if record.signature not in self.entries:
            self.entries[record.signature] = self._entry(record)
        if self.known is None:
            self.known = Manifest(
                metrics=(),
                judge=record.judge,
                embedder=record.embedder,
                scorer=record.scorer,
                versions=record.versions,
            )

    def manifest(self) -> Manifest:
        """The run's manifest."""
        known = self.known or Manifest(metrics=())
        return known.model_copy(
            update={"metrics": tuple(self.entries.values()), "tally": dict(self.tally), "finished": True}
        )

    def _entry(self, record: Record) -> MetricEntry:
        metric = self.metrics.get(record.signature)
        if metric is None:
            try:
                metric = get(record.metric, variant=record.variant, **record.settings)
            except ConfigError:  # somebody's own, whose range was not given
                return MetricEntry(signature=record.signature, name=record.metric)
        return MetricEntry.of(metric).model_copy(update={"signature": record.signature})


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    try:
        return cast("list[dict[str, Any]]", table.to_pylist())
    except (ValueError, OverflowError) as error:  # bytes that are no UTF-8, a time beyond time
        raise RecordError(f"a row is not a result of evaluate_dataset: {error}") from error


def _tables(results: Dataset | str | Path) -> Iterator[tuple[pa.Table, Manifest | None]]:
    if isinstance(results, Dataset):
        for table in results.iter_batches(batch_size=None, batch_format="pyarrow"):
            yield table, None
        return
    parts = Parts.at(results)
    names = parts.names()
    if not names:
        raise ConfigError(f"there are no results in {os.fspath(results)}")
    for name in names:
        table = parts.read(name)
        yield table, manifest_of(table.schema)
