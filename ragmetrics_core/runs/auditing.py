"""A run as a whole: what its manifest says that the files hold, and what they hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragmetrics_core.drivers import Difference, audit
from ragmetrics_core.errors import RecordError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.record import Record
from ragmetrics_core.runs.folder import Folder, Key
from ragmetrics_core.runs.manifest import MetricEntry, seal_in

__all__ = ["audited"]

_OF_THE_METRIC = ("low", "high", "exceeds", "higher_is_better")
_MODELS = ("judge", "embedder", "scorer")


def audited(
    folder: Folder, entries: Sequence[MetricEntry], metrics: Mapping[str, Metric[Any]]
) -> Iterator[tuple[Key, list[Difference]]]:
    """All that differs in a run: in its manifest, in what its files hold together, and in each record.

    What is about a file has the file's name where a sample's id would stand.

    Args:
        folder: the run.
        entries: its metrics, as these say themselves where they are known.
        metrics: metrics that are not in the catalogue, by signature.
    """
    for stored, own in zip(folder.manifest.metrics, entries, strict=True):
        fields = ((name, getattr(stored, name), getattr(own, name)) for name in _OF_THE_METRIC)
        if found := [Difference(*each) for each in fields if each[1] != each[2]]:
            yield Key("manifest.json", own.signature), found
    yield from _whole(folder)
    named = {entry.signature for entry in entries}
    is_told = False
    for key in folder.keys:
        try:
            record = folder.record(key)
            differences = audit(record, metric=metrics.get(key.signature))
            if not record.digest:
                differences.append(Difference("digest", "", record.sealed().digest))
            # a record that is not as it was sealed tells more itself
            differences = differences or _beside_the_manifest(record, folder, named)
        except RecordError as error:
            differences = [Difference("record", "unreadable", str(error))]
        if differences:
            is_told = True
            yield key, differences
    for name, (said, holds) in folder.differing().items():
        # of records the ones that were changed are told already, but not those that are missing
        if not (is_told and name == "records.jsonl" and said is not None and said.count == holds.count):
            yield Key(name, ""), [Difference("contents", str(said), str(holds))]


def _whole(folder: Folder) -> Iterator[tuple[Key, list[Difference]]]:
    if folder.path is None:
        return
    stored, derived = seal_in(folder.path)
    if stored != derived:
        yield Key("manifest.json", ""), [Difference("seal", stored, derived)]
    for name in folder.manifest.altered:
        told = "what it held was changed by another hand before the run went on or was merged"
        yield Key(name, ""), [Difference("contents", "as they were written", told)]
    # of a line that is being written only the beginning may be there yet
    for name in () if folder.is_written else folder.cut_files:
        yield Key(name, ""), [Difference("last line", "cut", "a whole line")]
    if folder.manifest.finished and folder.manifest.contents is None:
        yield Key("manifest.json", ""), [Difference("contents", None, "what the files of a run hold")]


def _beside_the_manifest(record: Record, folder: Folder, named: Iterable[str]) -> list[Difference]:
    """What a record says otherwise than the manifest."""
    found: list[Difference] = []
    if record.signature not in named:
        found.append(Difference("metric", record.signature, "none of this signature in manifest.json"))
    for name in _MODELS:
        model, said = getattr(record, name), getattr(folder.manifest, name)
        if model and model != said:
            found.append(Difference(name, model, f"{said or 'none'} in manifest.json"))
    return found
