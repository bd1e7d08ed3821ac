"""What reading a run costs as it grows: seconds of each command, and what a sample takes on disk.

Run: python -m benchmarks.growth --reading [--largest 300000] [--without-audit]

Two metrics, one context of 200 words. The lines of a small run that was measured are written again and again
under new ids, each record sealed as it should be, so that audits pass: a folder of any size is made quickly.
The commands are compiled before the first is measured, as after any installation.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.table import Row, limited
from benchmarks.workload import LocalJudge, samples
from ragmetrics_core import Record, evaluate
from ragmetrics_core.metrics import RECOMMENDED
from ragmetrics_core.records.sealing import sealed_line
from ragmetrics_core.records.written_record import WrittenRecord
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._folder import Folder

__all__ = ["Reading", "details", "measure", "multiplied", "ratios", "stored"]

SIZES = (3_000, 30_000, 300_000)
BASE = 300
FLAT = 1.2
ONE = "show RUN SAMPLE METRIC"
IN_PROCESS = "one score, in a process that runs"
# What a process that runs does with a run, beside opening it, by name.
_LOOKS = {
    IN_PROCESS: 'Run.load(path).score(sample, "faithfulness").explain()',
    "all scores, as a study reads them": "read_scores(Run.load(path))",
    "of that the look at all seals": "Run.load(path).refuse_altered()",
}
_COMMAND = "import sys; from ragmetrics_core.cli import main; sys.argv[0] = 'ragmetrics'; main()"
# Opened anew each time, as a service would that looks at a run now and then; the best of ten.
_OPENED = """
import json, sys, time
from ragmetrics_core import Run
from ragmetrics_core.study import read_scores
path, sample = sys.argv[1:]
costs = []
for _ in range(10):
    wall, cpu = time.perf_counter(), time.process_time()
    LOOK
    costs.append((time.perf_counter() - wall, time.process_time() - cpu))
print(json.dumps([min(each) for each in zip(*costs)]))
"""


class Cost(NamedTuple):
    """Seconds by the clock, and seconds of all cores together."""

    wall: float
    cpu: float


class Reading(NamedTuple):
    """A run of some size: bytes a sample of each file, and the cost of each command."""

    samples: int
    stored: dict[str, float]
    costs: dict[str, Cost]


class Copy(NamedTuple):
    """A record that is written under other ids: what the folder looks at, and its line around the id."""

    fields: dict[str, object]
    before: str
    after: str

    @classmethod
    def of(cls, record: Record) -> "Copy":
        """The copy of a record."""
        before, _, after = record.body().partition(json.dumps(record.sample_id))
        fields = record.model_dump(by_alias=True)
        rows = fields["verdicts"]
        fields["verdicts"] = {name: tuple([row[name] for row in rows]) for name in rows[0]} if rows else ()
        return cls(fields, before, after)


class CopiedRecord(WrittenRecord):
    """A record under another id; its line is put together, for nothing in it depends on the id."""

    def line(self) -> bytes:
        """The line, sealed."""
        line: bytes = self.fields["line"]
        return line


def measure(*, largest: int = SIZES[1], audits: bool = True) -> list[Reading]:
    """Measure all sizes up to the largest; what each came to is told as soon as it is known."""
    with tempfile.TemporaryDirectory() as place:
        base = Path(place) / "base"
        evaluate(samples(BASE, contexts=1), metrics=RECOMMENDED, judge=LocalJudge(), out=base)
        found: list[Reading] = []
        for size in SIZES:
            if size <= largest:
                found.append(_measured(Path(place), base, size, audits=audits))
                for row in details(found[-1:]):
                    print(*row, sep="   ", file=sys.stderr, flush=True)
        return found


def ratios(found: Sequence[Reading]) -> Iterator[Row]:
    """Whether opening one score costs the same in all sizes, and the rest no more a sample."""
    first, last = found[0], found[-1]
    many, few = f"{last.samples:,}", f"{first.samples:,}"
    for name in first.costs:
        ratio = last.costs[name].cpu / first.costs[name].cpu
        if name in (ONE, IN_PROCESS):
            yield limited(f"{name}, {many} samples over {few}", ratio, FLAT)
        else:
            yield Row(f"{name}, {many} samples over {few}", f"{ratio:.1f}", f"samples: {many} / {few}")


def details(found: Sequence[Reading]) -> Iterator[Row]:
    """Each size."""
    for reading in found:
        count = f"{reading.samples:,} samples"
        for name, cost in reading.costs.items():
            yield Row(f"{count}: {name}: by the clock; all cores", _seconds(cost.wall), _seconds(cost.cpu))


def stored(reading: Reading) -> Iterator[Row]:
    """What a sample takes on disk in a run as it is measured, with its journal."""
    for name, size in reading.stored.items():
        yield Row(f"bytes a sample: {name}", f"{size:,.0f}", "")


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1e3:.1f} ms"


def _measured(place: Path, base: Path, count: int, *, audits: bool) -> Reading:
    run = place / f"run {count}"
    start = time.perf_counter()
    multiplied(base, run, count)
    print(f"{count:,} samples made in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    sample = f"copy-{count // 2}"
    commands: dict[str, list[object]] = {
        "show RUN": ["show", run],
        ONE: ["show", run, sample, "faithfulness"],
        "report RUN": ["report", run, "--out", place / "report.html"],
        "study groups RUN": ["study", "groups", run],
    }
    if audits:
        commands |= {"audit RUN": ["audit", run], "audit RUN --processes 1": ["audit", run, "--processes", 1]}
    for words in (["show", base, "s1", "faithfulness"], ["study", "groups", base]):
        _cost(place, words)  # compiles
    for path in run.glob(".index*"):
        path.unlink()
    first = _cost(place, ["show", run, sample, "faithfulness"])
    costs = {f"{ONE}, where no index was kept": first}
    costs |= {name: _in_process(run, sample, look) for name, look in _LOOKS.items()}
    costs |= {name: _cost(place, words) for name, words in commands.items()}
    files = {"all": "*", "records": "records.jsonl", "samples": "samples.jsonl"}
    files |= {"journal": "journal.sqlite", "index": ".index*"}
    sizes = {name: sum(path.stat().st_size for path in base.glob(of)) / BASE for name, of in files.items()}
    return Reading(count, sizes, costs)


def multiplied(base: Path, out: Path, count: int) -> None:
    """A run of some size, each sample one of the base's under an id of its own."""
    run = Run.load(base)
    of = [(run.sample(each), [*map(Copy.of, run.scores(each).values())]) for each in run.sample_ids]
    folder = Folder.begin(out, run.manifest.model_copy(update={"finished": False}))
    folder.add_prompt_texts(run.prompts)
    for number in range(count):
        sample, records = of[number % len(of)]
        sample_id = f"copy-{number}"
        folder.add_sample(sample.model_copy(update={"id": sample_id}), is_new=True)
        folder.add_records([_copied(record, sample_id) for record in records])
    folder.save_manifest(folder.manifest.model_copy(update={"finished": True}))
    folder.close()


def _copied(copy: Copy, sample_id: str) -> CopiedRecord:
    line = sealed_line(f'{copy.before}"{sample_id}"{copy.after}'.encode())
    return CopiedRecord({**copy.fields, "sample_id": sample_id, "line": line})


def _in_process(run: Path, sample: str, look: str) -> Cost:
    words = [sys.executable, "-c", _OPENED.replace("LOOK", look), str(run), sample]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    return Cost(*json.loads(done.stdout))


def _cost(place: Path, words: Sequence[object]) -> Cost:
    compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(place / "compiled")}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=compiled,
    )
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed: {done.stderr[-2000:]}")
    wall, after = time.perf_counter() - start, os.times()
    return Cost(wall, sum(after[2:4]) - sum(before[2:4]))
