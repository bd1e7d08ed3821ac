"""Audit on all cores: processes check records and report those that may differ.

Each process is a new interpreter that runs this module and receives places in files. So the calling program
needs no `if __name__ == "__main__"`, and its threads are not forked. Notebooks and `python -c` work. If no
process can be started, the audit is only slower.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric, get
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._index import Place
from ragmetrics_core.runs._reading import Reader
from ragmetrics_core.runs._record_audit import RecordAudit
from ragmetrics_core.runs._stored_lines import Key
from ragmetrics_core.runs.append_only_lines import Lines

__all__ = ["audit_places", "doubtful", "processes_for"]

# A process takes about a second to start, in which this one looks at a thousand records. On two cores it is
# worth the while from a few thousand on; where others use the cores too, later. Below this it starts none.
_FEW = 10_000
# Records that a process is told at most: starting it takes a twentieth of the time that it needs for them.
_SHARE = 20_000
# Only then may anything be imported: with -P nothing comes from the working folder, which may be the run's.
_START = (
    "import json, sys; told = json.load(sys.stdin); sys.path[:] = told.pop('sys.path'); "
    "from ragmetrics_core.runs._audit_processes import audit_places; audit_places(**told)"
)

_Placed = tuple[Key, Place]


def processes_for(records: int, wanted: int | None = None) -> int:
    """Number of processes for an audit; one means this process.

    Args:
        records: number of records.
        wanted: requested number; None for one per core if there are many records.
    """
    if wanted is not None:
        return max(1, wanted)
    if records < _FEW:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def doubtful(
    processes: int,
    folder: Folder,
    check: RecordAudit,
    metrics: Mapping[str, Metric[Any]],
) -> Iterator[_Placed]:
    """Records that no process confirmed, in order.

    No process outlives the iterator.

    Args:
        processes: number of processes.
        folder: the run, which has a path.
        check: the check of a record.
        metrics: known metric objects of the run, by signature. Records of custom metrics are always doubtful,
            because other processes do not know these metrics.
    """
    own = {signature for signature, metric in metrics.items() if not _is_known(signature, metric)}
    told = {
        "sys.path": sys.path,
        "path": str(folder.path and folder.path.absolute()),
        "prompts": {digest: text._asdict() for digest, text in folder.prompt_texts.items()},
        "models": dict(check.models),
        "signatures": sorted(check.signatures),
    }
    running: list[subprocess.Popen[str]] = []

    def sound(share: Sequence[_Placed]) -> set[int]:
        """Numbers of the confirmed records; empty if no process can be started."""
        # a sample that is missing, and a metric that only this process knows, stand nowhere
        asked = [None if place.sample is None or key.signature in own else place for key, place in share]
        with suppress(OSError, ValueError):
            process = subprocess.Popen(  # noqa: S603  this interpreter, on a constant text
                [sys.executable, "-P", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
            running.append(process)
            return set(json.loads(process.communicate(json.dumps({**told, "places": asked}))[0]))
        return set()

    size = min(_SHARE, len(folder.index.keys) // processes + 1)
    left = folder.index.places()
    threads = ThreadPoolExecutor(processes, thread_name_prefix="audit")
    try:
        while shares := list(filter(None, (list(islice(left, size)) for _ in range(processes)))):
            for share, numbers in zip(shares, threads.map(sound, shares), strict=True):
                yield from (placed for number, placed in enumerate(share) if number not in numbers)
    finally:
        for process in running:
            process.kill()
        threads.shutdown(cancel_futures=True)


def audit_places(
    path: str,
    prompts: Mapping[str, Mapping[str, Any]],
    models: Mapping[str, str | None],
    signatures: Sequence[str],
    places: Sequence[Sequence[int] | None],
) -> None:
    """Entry point of a process: print the numbers of the records that are as they should be."""
    # Ctrl-C reaches all processes of a terminal: the one that started this one ends it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # whatever anything prints is no answer
        check = RecordAudit(models, frozenset(signatures))
        texts = {digest: PromptText(**text) for digest, text in prompts.items()}
        records, samples = (Lines(Path(path) / name) for name in ("records.jsonl", "samples.jsonl"))
        with Reader.of(records, samples, texts) as reader:
            sound = [
                number
                for number, place in enumerate(places)
                if place and not check.differences(reader, Place._make(place), None)
            ]
        json.dump(sound, answers)


def _is_known(signature: str, metric: Metric[Any]) -> bool:
    """Whether other processes build the same metric from its signature."""
    with suppress(ConfigError, ValueError, TypeError):
        return bool(get(signature) == metric)
    return False
