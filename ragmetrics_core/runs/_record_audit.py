"""Audit of one record against its own replies and its run."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ragmetrics_core.drivers import Difference, audit, is_reproduced
from ragmetrics_core.errors import RecordError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.records import Record
from ragmetrics_core.runs._index import Place
from ragmetrics_core.runs._manifest import Manifest, MetricEntry
from ragmetrics_core.runs._reading import Reader
from ragmetrics_core.runs._stored_lines import MODELS

__all__ = ["RecordAudit"]


class RecordAudit(NamedTuple):
    """Models and metrics of a run, against which its records are audited.

    Attributes:
        models: identities of the judge, the embedder and the scorer in the manifest.
        signatures: the metrics in the manifest.
    """

    models: Mapping[str, str | None]
    signatures: frozenset[str]

    @classmethod
    def of(cls, manifest: Manifest, entries: Iterable[MetricEntry]) -> "RecordAudit":
        """The check that follows from a run's manifest."""
        models = {name: getattr(manifest, name) for name in MODELS}
        return cls(models, frozenset(entry.signature for entry in entries))

    def differences(self, reader: Reader, place: Place, metric: Metric[Any] | None) -> list[Difference]:
        """All differences in the record at a place.

        If its replies reproduce its line exactly, no field is compared.

        Args:
            reader: reader of the run's files.
            place: the record's place.
            metric: its metric, needed if it is not in the catalogue.
        """
        try:
            return self._differences(reader, place, metric)
        except RecordError as error:
            return [Difference("record", "unreadable", str(error))]

    def _differences(self, reader: Reader, place: Place, metric: Metric[Any] | None) -> list[Difference]:
        record = reader.record(place)
        if is_reproduced(record, reader.line, metric=metric):
            return self._beside_the_manifest(record)
        differences = audit(record, metric=metric)
        if not record.digest:
            differences.append(Difference("digest", "", record.sealed().digest))
        # a record that is not as it was sealed tells more itself
        return differences or self._beside_the_manifest(record)

    def _beside_the_manifest(self, record: Record) -> list[Difference]:
        found = [
            Difference(f"shown[{each.rank}]", each.stored, each.derived)
            for each in (record.sample.unproven if record.sample else ())
        ]
        if record.signature not in self.signatures:
            found.append(Difference("metric", record.signature, "none of this signature in manifest.json"))
        for name, said in self.models.items():
            model: str | None = getattr(record, name)
            if model and model != said:
                found.append(Difference(name, model, f"{said or 'none'} in manifest.json"))
        return found
