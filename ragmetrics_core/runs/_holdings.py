"""What the files of a run hold: its samples, prompts, records and rejected rows, read tolerantly."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from ragmetrics_core.prompts import PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.runs._files import RunFiles
from ragmetrics_core.runs._index import Index, Key, Place
from ragmetrics_core.runs._kept_index import identity_of, keep_index, kept_index
from ragmetrics_core.runs._lines import PlacedLine
from ragmetrics_core.runs._loading import BadRow
from ragmetrics_core.runs._reading import Reader
from ragmetrics_core.runs._stored import DAMAGED, prompt_in, record_in, sample_in
from ragmetrics_core.runs._summary import Outcome
from ragmetrics_core.samples import Sample

__all__ = ["Holdings"]


class Holdings:
    """What the files of a run hold, on disk or, without a path, in memory.

    Args:
        path: the run's folder.
        files: its files, where they have been looked at.
        may_keep: use the index that was kept beside the files, and keep one that was not.
        decided: note what verdicts decided; without it, whoever asks for that reads the records.

    Raises:
        RecordError: a line cannot be read.
    """

    def __init__(
        self,
        path: Path | None,
        files: RunFiles | None = None,
        *,
        may_keep: bool = False,
        decided: bool = True,
    ) -> None:
        self.path = path
        self._files = files or RunFiles.of(path)
        self._records, self._rejected, self._prompts, self._samples, identity = self._files
        self._texts: dict[str, PromptText] = {}
        self._read_prompts()
        if may_keep and path is not None and (kept := Index.kept(kept_index(path, identity))) is not None:
            self._index = kept
            return
        self._index = Index()
        self._read_all(decided=decided)
        if may_keep and path is not None and identity == identity_of(path):
            keep_index(path, identity, self._index.to_keep())

    @property
    def prompt_texts(self) -> Mapping[str, PromptText]:
        """The texts of all prompts that were asked, by digest."""
        return self._texts

    @property
    def cut_files(self) -> list[str]:
        """The files that end in a line that is not whole."""
        files = self._samples, self._prompts, self._rejected, self._records
        return [lines.path.name for lines in files if lines.path is not None and lines.is_cut]

    @property
    def sample_ids(self) -> Collection[str]:
        """The ids of all samples, in the order in which they were finished."""
        return self._index.sample_ids

    @property
    def keys(self) -> Collection[Key]:
        """What names the scores of the run."""
        return self._index.keys

    def statuses(self, sample_id: str) -> dict[str, str]:
        """How the scores of a sample ended that the run has, by signature."""
        return self._index.statuses(sample_id)

    def sample(self, sample_id: str) -> Sample:
        """A sample by its id."""
        found = self._index.sample(sample_id)
        if found is None:
            raise KeyError(sample_id)
        with self.reading() as reader:
            return reader.sample(found.offset)

    def record(self, key: Key) -> Record:
        """A record with its sample and prompts."""
        offset = self._index.record(key)
        if offset is None:
            raise KeyError(key)
        known = self._index.sample(key.sample_id)
        with self.reading() as reader:
            return reader.record(Place(offset, known.offset if known else None))

    def reading(self) -> Reader:
        """What reads many records in a row."""
        return Reader(self._records, self._samples, self._texts)

    def places(self) -> Iterator[tuple[Key, Place]]:
        """Where the records stand, in the order in which each was first written."""
        return self._index.places()

    def samples(self) -> Iterator[Sample]:
        """All samples, in the order in which they were finished."""
        with self.reading() as reader:
            yield from map(reader.sample, self._index.sample_places())

    def ids_beginning(self, text: str) -> list[str]:
        """The samples' ids that begin with a text."""
        return self._index.beginning(text)

    def decided(self) -> Iterator[tuple[Key, str | None]]:
        """What the verdicts of each record decided, in short, without reading it again; None: not known."""
        return self._index.decided()

    def outcomes(self) -> Iterator[tuple[Key, Outcome]]:
        """What each record came to, without reading it again."""
        return self._index.outcomes()

    @property
    def rejected(self) -> Iterator[BadRow]:
        """The rows that were left out, each once."""
        return iter(dict.fromkeys(map(self._bad_row, self._rejected)))

    def _bad_row(self, line: PlacedLine) -> BadRow:
        try:
            row = json.loads(line.text)
            return BadRow(where=str(row["where"]), message=str(row["message"]))
        except DAMAGED as error:
            raise self._rejected.broken(line.offset, error) from error

    def _read_prompts(self) -> None:
        for line in self._prompts:
            try:
                digest, text = prompt_in(line.text)
            except DAMAGED as error:
                raise self._prompts.broken(line.offset, error) from error
            self._texts[digest] = text

    def _read_all(self, *, decided: bool) -> None:
        """Note where everything stands; the last line of a key counts."""
        for line in self._samples:
            try:
                sample = sample_in(line.text)
            except DAMAGED as error:
                raise self._samples.broken(line.offset, error) from error
            self._index.add_sample(sample.id, sample.digest, line.offset, sample.labels)
        for line in self._records:
            try:
                key, outcome, seal, decisions = record_in(line.text, decided=decided)
            except DAMAGED as error:
                raise self._records.broken(line.offset, error) from error
            self._index.add_record(key, line.offset, outcome, seal, decisions)
