"""Reading many records in a row from known places."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from ragmetrics_core.errors import RecordError
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.runs._index import Place
from ragmetrics_core.runs.append_only_lines import DAMAGED, Lines
from ragmetrics_core.samples import Sample

__all__ = ["Reader"]


@dataclass
class Reader:
    """Reads records with their samples and prompts.

    Attributes:
        records: the file of records.
        samples: the file of samples.
        prompts: the prompts' texts, by digest.
        record_file: open file of records.
        sample_file: open file of samples.
        line: the record line that was read last.
    """

    records: Lines
    samples: Lines
    prompts: Mapping[str, PromptText]
    record_file: BinaryIO
    sample_file: BinaryIO
    line: bytes = b""
    _last: tuple[int, Sample] | None = None

    @classmethod
    @contextmanager
    def of(cls, records: Lines, samples: Lines, prompts: Mapping[str, PromptText]) -> Generator["Reader"]:
        """A reader of a run's files, for `with`; they stay open until the block ends."""
        with records.opened() as record_file, samples.opened() as sample_file:
            yield cls(records, samples, prompts, record_file, sample_file)

    def record(self, place: Place) -> Record:
        """Read the record at a place, with its sample and prompts.

        Raises:
            RecordError: a line cannot be read, or the sample is missing.
        """
        self._go_to(place)
        try:
            record = Record.from_json(self.line)
        except RecordError as error:
            raise self.records.broken(place.record, error) from error
        if place.sample is None:
            missing = RecordError(f"samples.jsonl has no sample {record.sample_id!r}")
            raise self.records.broken(place.record, missing)
        return record.hydrated(self.sample(place.sample), self.prompts)

    def has_votes(self, place: Place) -> bool:
        """Whether verdicts of the record at a place may have votes."""
        self._go_to(place)
        return b'"votes"' in self.line

    def _go_to(self, place: Place) -> None:
        self.record_file.seek(place.record)
        self.line = self.record_file.readline()

    def sample(self, place: int) -> Sample:
        """Read the sample at a place; consecutive records of one sample read it once.

        Raises:
            RecordError: the line cannot be read.
        """
        if self._last is None or self._last[0] != place:
            self.sample_file.seek(place)
            try:
                fields = json.loads(self.sample_file.readline())["sample"]
                self._last = place, Sample.model_validate(fields)
            except DAMAGED as error:
                raise self.samples.broken(place, error) from error
        return self._last[1]
