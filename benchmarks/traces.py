"""Cost of reading traces and of following a folder, beside only reading the file, and their memory.

    python -m benchmarks.traces [SPANS ...]

A trace has ten spans: a chain, a retriever with five documents of 500 characters, a model call that was shown
three of them, and calls of other kinds. "only reading" is `json.loads` of each line, "spans"
gathers the spans of each trace, "samples" is `read_traces`, and "following" scores a
metric that asks no model, so it measures the way from the file to the record. Each runs in a process of its
own.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_megabytes
from benchmarks.table import Row, child, printed

EACH = 10
WORDS = ["".join(random.Random(n).choices("abcdefghijklmnopqrstuvwxyz", k=2 + n % 8)) for n in range(6_000)]
_NOON = 1_700_000_000 * 10**9


def span(trace: int, number: int, at: tuple[int, int], kind: str, **attributes: str) -> dict[str, Any]:
    """A span of a trace, as the collector writes it; in names of attributes, two underscores are a dot."""
    named = {"openinference.span.kind": kind} | {
        name.replace("__", "."): text for name, text in attributes.items()
    }
    made: dict[str, Any] = {
        "traceId": f"{trace + 1:032x}",
        "spanId": f"{trace * EACH + number + 1:016x}",
        "name": f"{kind.lower()} {number}",
        "startTimeUnixNano": str(_NOON + at[0] * 10**6),
        "endTimeUnixNano": str(_NOON + at[1] * 10**6),
        "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in named.items()],
    }
    return made if not number else made | {"parentSpanId": f"{trace * EACH + 1:016x}"}


def spans_of(trace: int) -> Iterator[dict[str, Any]]:
    """The spans of a trace, in the order in which they end."""
    draw = random.Random(trace)
    texts = [" ".join(draw.choices(WORDS, k=70)) + f" {trace}-{number}." for number in range(5)]
    question, answer = f"What does function {trace} select?", " ".join(texts[0].split()[:12])
    found = {
        f"retrieval__documents__{number}__document__{key}": value
        for number, text in enumerate(texts)
        for key, value in (("id", f"d{number}"), ("content", text))
    }
    request = {
        "llm__input_messages__0__message__role": "system",
        "llm__input_messages__0__message__content": "\n\n".join(texts[:3]),
        "llm__input_messages__1__message__role": "user",
        "llm__input_messages__1__message__content": question,
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": answer,
    }
    yield span(trace, 1, (1, 20), "RETRIEVER", input__value=question, **found)
    yield span(trace, 2, (30, 90), "LLM", **request)
    for number in range(3, EACH):
        yield span(trace, number, (90, 91), "CHAIN", input__value="x", output__value="y")
    yield span(trace, 0, (0, 100), "CHAIN", input__value=question, output__value=answer)


def write(path: Path, count: int) -> None:
    """Write a file of this many spans, one per line."""
    with path.open("w", encoding="utf-8") as file:
        for trace in range(count // EACH):
            for each in spans_of(trace):
                row = {"resourceSpans": [{"scopeSpans": [{"spans": [each]}]}]}
                file.write(json.dumps(row) + "\n")


def measured(what: str, folder: Path) -> dict[str, float]:
    """Seconds and megabytes of one way to read a folder, and the number of samples or traces."""
    # imported here, so that only reading takes no memory for what it does not use
    samples = 0
    if what == "reading":
        start = time.perf_counter()
        with (folder / "traces.jsonl").open("rb") as file:
            for line in file:
                json.loads(line)
    elif what == "spans":
        from ragmetrics_core.traces.tail import FolderTail, NewSpan
        from ragmetrics_core.traces.unfinished import UnfinishedTraces

        traces = UnfinishedTraces(settle=0.0, give_up=0.0, most=100)
        start = time.perf_counter()
        for each in FolderTail(folder).read():
            if isinstance(each, NewSpan):
                traces.add(each, 0.0)
            while (name := traces.surplus) is not None:
                traces.finish(name)
                samples += 1
        samples += len(traces)
    elif what == "samples":
        from ragmetrics_core import Sample
        from ragmetrics_core.traces import read_traces

        start = time.perf_counter()
        samples = sum(isinstance(each, Sample) for each in read_traces(folder))
    else:
        from ragmetrics_core.live import LiveScorer, MemorySink, follow

        with tempfile.TemporaryDirectory() as out:
            live = LiveScorer("exact_match", out=out, sinks=[MemorySink(10)])
            start = time.perf_counter()
            follow(folder, live, settle=0.0, once=True)
            samples = live.stats.scored
    return {"seconds": time.perf_counter() - start, "megabytes": peak_megabytes(), "samples": samples}


def rows(counts: list[int]) -> Iterator[Row]:
    """The lines of the table."""
    for count in counts:
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "traces.jsonl"
            write(file, count)
            size = file.stat().st_size / 1e6
            found = {
                what: child(["-m", "benchmarks.traces", "--one", what, place])
                for what in ("reading", "spans", "samples", "following")
            }
        reading = found.pop("reading")["seconds"]
        yield Row(f"{count:,} spans, {size:.0f} MB: only reading", f"{size / reading:.0f} MB/s")
        for what, each in found.items():
            assert each["samples"] == count // EACH
            yield Row(f"  {what}: times as long as only reading", f"{each['seconds'] / reading:.1f}")
            yield Row(f"  {what}: traces a second", f"{each['samples'] / each['seconds']:,.0f}")
            yield Row(f"  {what}: peak memory", f"{each['megabytes']:.0f} MB")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traces", description="Cost of traces.")
    parser.add_argument("spans", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        json.dump(measured(given.one[0], Path(given.one[1])), sys.stdout)
    else:
        printed("Traces", rows(given.spans))


if __name__ == "__main__":
    main()
