"""Records and run folders, altered by whoever had them: an error of ours, or a record that holds."""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import islice

from ragmetrics_core import write_report
from ragmetrics_core.drivers import audit, by_vote, correct, recompute, rendered, rescore, self_contained
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.records import Record
from ragmetrics_core.records.comparison import diff
from ragmetrics_core.runs import Run, list_runs
from ragmetrics_core.runs.verdict_log import verdict_rows
from tests.fuzz.place import folder, records, run_with, whole_file
from tests.fuzz.target import Target

__all__ = ["TARGETS"]


def record(data: bytes) -> None:
    """What reads as a record can be written, shown, derived again and audited, or says why not."""
    read = Record.from_json(data)
    again = Record.from_json(read.stored())
    assert again.stored() == read.stored()
    assert read.explain()
    assert not diff(read, read).flipped
    with suppress(RecordError):
        audit(read)
    with suppress(RecordError):
        recompute(read)
    with suppress(RecordError):
        by_vote(read)
    with suppress(RecordError, ConfigError):
        rescore(read)
    with suppress(RecordError, ConfigError):
        correct(read, number=1, supported=True)
    for step in islice(read.generate_steps, 1):
        with suppress(RecordError):
            rendered(read, step)
    with suppress(RecordError):
        self_contained(read)


def opened(data_of: str) -> Callable[[bytes], None]:
    """A run of which one file was altered: everything that a run offers is read."""

    def run(data: bytes) -> None:
        place = run_with(data_of, data)
        for listed in list_runs(place):
            assert listed.path == place
        read = Run.load(place)
        read.means()
        list(read.rejected)
        for _, differences in read.audit():
            [str(each) for each in differences]
        list(verdict_rows(read.records()))
        # a table has a column for each metric that the manifest lists, however often it does
        if data_of != "manifest.json":
            read.to_rows()

    return run


def reported(data: bytes) -> None:
    """The report of a run whose records were altered."""
    write_report(Run.load(run_with("records.jsonl", data)), folder() / "report.html")


def of_run(name: str) -> Callable[[], list[bytes]]:
    return lambda: [whole_file(name)]


def wave() -> list[bytes]:
    return [json.dumps({"address": "ab" * 16, "judge": "a"}).encode() + b"\n"]


DAMAGED = (RecordError,)
TARGETS = [
    Target("record", record, DAMAGED, records, 20_000),
    Target("run.manifest", opened("manifest.json"), DAMAGED, of_run("manifest.json"), 6_000),
    Target("run.samples", opened("samples.jsonl"), DAMAGED, of_run("samples.jsonl"), 6_000),
    Target("run.prompts", opened("prompts.jsonl"), DAMAGED, of_run("prompts.jsonl"), 20_000),
    Target("run.records", opened("records.jsonl"), DAMAGED, of_run("records.jsonl"), 40_000),
    Target("run.rejected", opened("rejected.jsonl"), DAMAGED, of_run("rejected.jsonl")),
    Target("run.waiting", opened("waiting.jsonl"), DAMAGED, wave),
    Target("report", reported, (RecordError, ConfigError), of_run("records.jsonl"), 40_000),
]
