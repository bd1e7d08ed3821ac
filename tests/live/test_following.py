"""A folder to which a collector writes is followed: each trace is scored once, whatever the files do."""

import gzip
import json
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Followed, LiveScorer, follow
from ragmetrics_core.traces import SkippedTrace
from ragmetrics_core.traces.tail import FolderTail, NewSpan
from ragmetrics_core.traces.unfinished import UnfinishedTraces
from tests.live.captures import by_context
from tests.live.suite import scored_in
from tests.traces.made import Span, line_of, model, run_of, span
from tests.traces.test_trace_files import message

Ends = Callable[..., tuple[Followed, dict[str, int]]]


def trace(number: int) -> str:
    """The id of the trace that `run_of` makes."""
    return f"{number:032x}"


def lines_of(*spans: Span) -> bytes:
    """A line for each span."""
    return b"".join(line_of([each]).encode() + b"\n" for each in spans)


def without_rivers(text: str) -> str:
    """A text without private words."""
    return text.replace("river", "[redacted]")


def spans_of(*numbers: int) -> list[Span]:
    """The spans of some traces."""
    return [each for number in numbers for each in run_of(number)]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The folder that the collector writes to."""
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def judge() -> Any:
    return by_context()


@pytest.fixture
def once(tmp_path: Path, logs: Path, judge: Any) -> Ends:
    """Scores what is there, as a process of its own would; returns the outcome and what was skipped."""

    def run(metrics: str = "faithfulness", **options: Any) -> tuple[Followed, dict[str, int]]:
        names = {"settle", "give_up", "format", "documents", "stop"} & options.keys()
        given: dict[str, Any] = {"settle": 0.0, **{name: options.pop(name) for name in names}}
        live = LiveScorer(metrics, judge=judge, out=tmp_path / "run", **options)
        outcome = follow(logs, live, once=True, **given)
        return outcome, dict(live.stats.skipped)

    return run


def scored(tmp_path: Path) -> list[str]:
    """The ids of the samples with a record, as often as they have one."""
    lines = (tmp_path / "run" / "records.jsonl").read_text().splitlines()
    return sorted(json.loads(line)["sample_id"] for line in lines)


# Reading


class Writer:
    """Files of a folder that grow and change under a tail."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.folder, self.options = folder, options
        self.tail = FolderTail(folder, quiet=0.0, **options)

    def add(self, name: str, data: bytes) -> None:
        with (self.folder / name).open("ab") as file:
            file.write(data)

    def read(self) -> list[str]:
        """The ids of the new spans, and reasons."""
        found = list(self.tail.read())
        return [each.span.id.lstrip("0") if isinstance(each, NewSpan) else each.reason for each in found]


@pytest.fixture
def writer(logs: Path) -> Writer:
    return Writer(logs)


def test_only_what_is_new_is_read(writer: Writer):
    for number in (1, 2, 3):
        writer.add("traces.jsonl", lines_of(span(number)))
        assert writer.read() == [f"{number}"]
    assert writer.read() == []


def test_a_half_written_line_is_waited_for(writer: Writer):
    line = lines_of(span(2))
    writer.add("traces.jsonl", lines_of(span(1)) + line[:50])
    assert writer.read() == ["1"]
    writer.add("traces.jsonl", line[50:-1])
    assert writer.read() == ["2"]  # an object is complete without its line end, too
    writer.add("traces.jsonl", b"\n" + lines_of(span(3)))
    assert writer.read() == ["3"]


def test_a_half_written_first_line_is_waited_for(logs: Path):
    tail = Writer(logs)
    tail.tail = FolderTail(logs, quiet=60.0)
    line = lines_of(span(1))
    tail.add("traces.jsonl", line[:70])
    assert tail.read() == []
    tail.add("traces.jsonl", line[70:])
    assert tail.read() == ["1"]


def test_a_half_written_message_is_waited_for(writer: Writer):
    framed = [len(each).to_bytes(4) + each for each in (message([span(1)]), message([span(2)]))]
    writer.add("traces.binpb", framed[0] + framed[1][:9])
    assert writer.read() == ["1"]
    writer.add("traces.binpb", framed[1][9:])
    assert writer.read() == ["2"]


def test_a_broken_line_costs_itself(writer: Writer):
    writer.add(
        "traces.jsonl", lines_of(span(1)) + b'{"resourceSpans": [}\n[1]\n{"a": 1}\n' + lines_of(span(2))
    )
    first, *problems, last = writer.read()
    assert (first, last) == ("1", "2")
    assert [each.partition(":")[0] for each in problems] == [
        "not valid JSON", "not an object, but int", "not in the format otlp",
    ]  # fmt: skip


@pytest.mark.parametrize("gone", ["renamed", "gzipped", "copied and truncated"])
def test_a_rotated_file_is_read_on_where_reading_stopped(writer: Writer, logs: Path, gone: str):
    writer.add("traces.jsonl", lines_of(span(1)))
    assert writer.read() == ["1"]
    writer.add("traces.jsonl", lines_of(span(2)))
    old = logs / "traces.jsonl"
    if gone == "renamed":
        old.rename(logs / "traces-1.jsonl")
    elif gone == "gzipped":
        (logs / "traces-1.jsonl.gz").write_bytes(gzip.compress(old.read_bytes()))
        old.unlink()
    else:
        (logs / "traces-1.jsonl").write_bytes(old.read_bytes())
        old.write_bytes(b"")
    writer.add("traces.jsonl", lines_of(span(3), span(4), span(5)))
    assert sorted(writer.read()) == ["2", "3", "4", "5"]
    assert writer.read() == []


def test_a_file_that_is_replaced_by_a_longer_one_is_read_anew(writer: Writer, logs: Path):
    writer.add("traces.jsonl", lines_of(span(1)))
    assert writer.read() == ["1"]
    (logs / "traces.jsonl").write_bytes(lines_of(span(2), span(3)))
    assert writer.read() == ["2", "3"]


def test_a_document_is_read_as_a_whole(writer: Writer):
    document = json.dumps([json.loads(line_of([span(1)])), json.loads(line_of([span(2)]))], indent=1)
    writer.add("export.json", document.encode())
    assert writer.read() == ["1", "2"]
    assert writer.read() == []


def test_other_files_are_named_once(writer: Writer):
    writer.add("metrics.jsonl", b'{"resourceMetrics": []}\n')
    writer.add("packed.jsonl", b"\0\0\0\x09\x28\xb5\x2f\xfd12345")
    writer.add("cut.jsonl.gz", gzip.compress(lines_of(span(1)))[:30])
    assert sorted(each.partition(":")[0] for each in writer.read()) == [
        "cannot be read", "compressed with zstd", "not a file of traces",
    ]  # fmt: skip
    assert writer.read() == []


def test_a_later_process_reads_on_also_under_other_names(writer: Writer, logs: Path):
    writer.add("traces.jsonl", lines_of(span(1), span(2)))
    writer.read()
    begin = len(lines_of(span(1)))
    stored = writer.tail.stored({1: begin})
    (logs / "traces.jsonl").rename(logs / "old.jsonl")
    writer.add("old.jsonl", lines_of(span(3)))
    later = list(FolderTail(logs, quiet=0.0, stored=stored).read())
    assert [each.place.is_known for each in later if isinstance(each, NewSpan)] == [True, False]


# Gathering


def gathered(**options: Any) -> UnfinishedTraces:
    given: dict[str, Any] = {"settle": 10.0, "give_up": 100.0, **options}
    return UnfinishedTraces(**given)


def added(traces: UnfinishedTraces, logs: Path, spans: list[Span], now: float) -> list[str]:
    """Add spans that a file has."""
    (logs / "some.jsonl").write_bytes(lines_of(*spans))
    found = [each for each in FolderTail(logs, quiet=0.0).read() if not isinstance(each, SkippedTrace)]
    return [traces.add(each._replace(age=0.0), now) for each in found]


def test_a_trace_is_due_some_time_after_its_root_ended_and_its_newest_span_came(logs: Path):
    traces, (root, *children) = gathered(), run_of(1)
    added(traces, logs, children, 0.0)
    assert traces.due(50.0) == []
    added(traces, logs, [root], 55.0)
    assert traces.due(64.9) == []
    assert traces.due(65.0) == [trace(1)]


def test_a_trace_without_its_root_is_due_at_last(logs: Path):
    traces = gathered()
    added(traces, logs, run_of(1)[1:], 0.0)
    assert traces.due(99.9) == []
    assert traces.due(100.0) == [trace(1)]


def test_copies_are_not_late_and_others_are(logs: Path):
    traces, (root, *children) = gathered(), run_of(1)
    added(traces, logs, [root, *children[:2]], 0.0)
    traces.finish(trace(1))
    assert added(traces, logs, [root, *children], 1.0) == ["repeated", "repeated", "repeated", "late"]
    assert len(traces) == 0


def test_of_too_many_traces_the_one_that_waits_longest_goes(logs: Path):
    traces = gathered(most=2)
    added(traces, logs, [*run_of(1), *run_of(2)], 0.0)
    assert traces.surplus is None
    added(traces, logs, [span(7, trace=1), span(8, trace=3)], 1.0)
    assert traces.surplus == trace(2)


def test_spans_are_bounded_by_their_size(logs: Path):
    traces = gathered(most_bytes=100_000)
    added(traces, logs, [span(1, trace=1, output__value="x" * 200_000)], 0.0)
    assert traces.surplus == trace(1)
    traces.finish(trace(1))
    assert traces.surplus is None


# Scoring


def test_what_is_there_is_scored_once(once: Ends, logs: Path, tmp_path: Path):
    spans = spans_of(*range(1, 21))
    random.Random(1).shuffle(spans)
    (logs / "a.jsonl").write_bytes(lines_of(*spans[:40]))
    (logs / "b.jsonl.gz").write_bytes(gzip.compress(lines_of(*spans[40:], *spans[:10])))
    first, skipped = once()
    assert first == (20, 0, 0, True)
    assert skipped == {}
    ids = [trace(number) for number in range(1, 21)]
    assert scored(tmp_path) == ids
    assert once()[0] == (0, 0, 0, True)
    assert scored(tmp_path) == ids
    assert list(Run.load(tmp_path / "run").audit()) == []


def test_the_samples_are_those_of_evaluate(once: Ends, logs: Path, tmp_path: Path):
    from ragmetrics_core.traces import read_traces

    (logs / "a.jsonl").write_bytes(lines_of(*spans_of(1, 2, 3)))
    once()
    run = Run.load(tmp_path / "run")
    assert {sample.id: sample.digest for sample in read_traces(logs)} == {  # type: ignore[union-attr]
        sample.id: sample.digest for sample in run.samples()
    }


def test_without_its_state_everything_is_read_again_and_nothing_is_scored_again(
    once: Ends, logs: Path, tmp_path: Path
):
    (logs / "a.jsonl").write_bytes(lines_of(*spans_of(1, 2)))
    once()
    (tmp_path / "run" / "captures" / "following" / "places.json").write_text("{")
    assert once()[0].finished == 2
    assert scored(tmp_path) == [trace(1), trace(2)]


def test_an_unfinished_trace_is_left_for_the_next_time(once: Ends, logs: Path, tmp_path: Path):
    root, *children = run_of(1)
    (logs / "a.jsonl").write_bytes(lines_of(*children, *run_of(2)))
    assert once()[0] == (1, 1, 0, True)
    with (logs / "a.jsonl").open("ab") as file:
        file.write(lines_of(root))
    assert once()[0] == (1, 0, 0, True)
    assert scored(tmp_path) == [trace(1), trace(2)]


def test_what_gives_no_sample_is_counted_by_reason(once: Ends, logs: Path):
    request = span(1, trace=7, name="GET /")
    lost = span(2, trace=8, parent=99)
    (logs / "a.jsonl").write_bytes(lines_of(request, *run_of(1)) + b"nonsense\n" + lines_of(lost))
    (logs / "b.jsonl").write_bytes(b'{"resourceMetrics": []}\n')
    outcome, skipped = once(give_up=0.0)
    assert outcome.finished == 3
    assert skipped == {
        "no_model_call": 1, "never_ended": 1, "not_valid_JSON": 1, "not_a_file_of_traces": 1,
    }  # fmt: skip
    assert once()[1] == {"not_a_file_of_traces": 1}


def test_the_same_traces_are_drawn_after_a_restart(once: Ends, logs: Path, tmp_path: Path):
    (logs / "a.jsonl").write_bytes(lines_of(*spans_of(*range(1, 201))))
    _, skipped = once(sample_rate=0.25, seed=3)
    # 200 draws of 0.25: mean 50, standard deviation 6.1
    assert 30 <= len(scored(tmp_path)) <= 70
    assert skipped == {"not_sampled": 200 - len(scored(tmp_path))}
    drawn = scored(tmp_path)
    (tmp_path / "run" / "captures" / "following" / "places.json").unlink()
    assert once(sample_rate=0.25, seed=3)[1] == skipped
    assert scored(tmp_path) == drawn


def test_late_spans_are_counted_and_change_no_score(once: Ends, logs: Path, tmp_path: Path):
    (logs / "a.jsonl").write_bytes(lines_of(*run_of(1)))
    once()
    with (logs / "a.jsonl").open("ab") as file:
        file.write(lines_of(model(77, "x", "y", "z", at=(1004, 1005), trace=1, parent=1000)))
    assert once()[0] == (0, 0, 1, True)
    assert scored(tmp_path) == [trace(1)]


def test_clocks_and_the_order_of_ends_do_not_matter(once: Ends, logs: Path, tmp_path: Path):
    root, *children = run_of(1)
    # the root ended before its children began, by its clock, and an hour before
    root |= {name: str(int(root[name]) - 3600 * 10**9) for name in ("startTimeUnixNano", "endTimeUnixNano")}
    (logs / "a.jsonl").write_bytes(lines_of(*children, root))
    once()
    (sample,) = Run.load(tmp_path / "run").samples()
    assert sample.contexts == ("Town 1 lies beside the river number 1.",)


def test_an_attribute_of_ten_megabytes_is_no_obstacle(once: Ends, logs: Path, tmp_path: Path):
    large = span(5, trace=1, parent=1000, at=(1001, 1002), output__value="x" * 10_000_000)
    (logs / "a.jsonl").write_bytes(lines_of(large, *spans_of(1, 2)))
    assert once()[0].finished == 2
    assert scored(tmp_path) == [trace(1), trace(2)]


def test_private_data_is_removed_before_anything_is_written(once: Ends, logs: Path, tmp_path: Path):
    (logs / "a.jsonl").write_bytes(lines_of(*run_of(1)))
    once(redact=without_rivers)
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert b"[redacted]" in written
    assert b"river" not in written


def test_following_goes_on_until_it_is_stopped(tmp_path: Path, logs: Path, judge: Any):
    stop, outcomes = threading.Event(), list[Followed]()
    live = LiveScorer("faithfulness", judge=judge, out=tmp_path / "run")
    thread = threading.Thread(
        target=lambda: outcomes.append(follow(logs, live, settle=0.0, stop=stop)), daemon=True
    )
    thread.start()
    for number in (1, 2):
        with (logs / "a.jsonl").open("ab") as file:
            file.write(lines_of(*run_of(number)))
        while live.stats.scored < number:
            stop.wait(0.01)
    stop.set()
    thread.join()
    assert outcomes == [(2, 0, 0, True)]
    assert scored_in(Run.load(tmp_path / "run"))


def test_two_cannot_follow_for_one_run(once: Ends, logs: Path, tmp_path: Path, judge: Any):
    from ragmetrics_core.runs.lock import FolderLock

    with (
        FolderLock(tmp_path / "run" / "captures" / "following"),
        pytest.raises(ConfigError, match="following"),
    ):
        once()


def test_without_a_folder_following_is_refused(logs: Path, judge: Any):
    with LiveScorer("faithfulness", judge=judge) as live, pytest.raises(ConfigError, match="out="):
        follow(logs, live, once=True)


def test_a_missing_folder_is_refused(tmp_path: Path, judge: Any):
    live = LiveScorer("faithfulness", judge=judge, out=tmp_path / "run")
    with live, pytest.raises(ConfigError, match="nowhere"):
        follow(tmp_path / "nowhere", live, once=True)
