"""Audit of a whole run: its manifest, its files and its records."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragmetrics_core.drivers import Difference
from ragmetrics_core.metrics import Metric
from ragmetrics_core.runs._audit_processes import doubtful, processes_for
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._manifest import OF_THE_METRIC, MetricEntry, seal_in
from ragmetrics_core.runs._record_audit import RecordAudit
from ragmetrics_core.runs._stored_lines import Key

__all__ = ["audited"]


def audited(
    folder: Folder,
    entries: Sequence[MetricEntry],
    metrics: Mapping[str, Metric[Any]],
    *,
    processes: int | None = None,
) -> Iterator[tuple[Key, list[Difference]]]:
    """All differences in a run: in its manifest, its files and each record.

    A difference in a file has the file's name in place of a sample id.

    Args:
        folder: the run.
        entries: its metrics, with their own ranges if they are known.
        metrics: metrics that are not in the catalogue, by signature.
        processes: number of processes; None for one per core if there are many records.
    """
    for stored, own in zip(folder.manifest.metrics, entries, strict=True):
        fields = ((name, getattr(stored, name), getattr(own, name)) for name in OF_THE_METRIC)
        if found := [Difference(*each) for each in fields if each[1] != each[2]]:
            yield Key("manifest.json", own.signature), found
    yield from _whole(folder)
    is_told = False
    check = RecordAudit.of(folder.manifest, entries)
    places = folder.index.places()
    count = processes_for(len(folder.index.keys), processes)
    if count > 1 and folder.path is not None:
        # other processes say which records are as they should be; all others are looked at here
        places = doubtful(count, folder, check, metrics)
    with folder.reading() as reader:
        for key, place in places:
            if differences := check.differences(reader, place, metrics.get(key.signature)):
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
