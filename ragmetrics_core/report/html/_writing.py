"""Write a report: one file, and optionally a folder with further proofs."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core.boundary.writing import not_a_link, write_whole
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._side_by_side import Cell, ReportColumn, SideBySide, moved
from ragmetrics_core.report.html._overview import overview
from ragmetrics_core.report.html._proofs import proof_of
from ragmetrics_core.report.html._rows import sessions, table
from ragmetrics_core.report.html.page import as_json, chunk, page
from ragmetrics_core.runs import Run

__all__ = ["LARGEST", "MOST_PROOFS", "write_report"]

LARGEST = 20_000_000
MOST_PROOFS = 1_000
PER_PAGE = 250
_CHUNK = 400_000


class _Packed(NamedTuple):
    """Proofs as chunks, and the chunk of each row's proof."""

    chunks: list[str]
    chunk_of: dict[int, int]


def write_report(
    run: Run,
    path: str | Path,
    *,
    other: Run | None = None,
    everything: bool = False,
    cluster: str | None = None,
    labels: str | Path | None = None,
) -> Path:
    """Write a report of one run, or of two runs side by side, as one HTML file; see docs/report.md.

    The file has the whole table of samples, and the proofs of each metric's worst samples up to 20 MB and
    1,000 samples.

    Args:
        run: run to report.
        path: file to write, such as "report.html"; an existing file is replaced.
        other: second run on the same samples.
        everything: write all other proofs too, as pages in a folder next to the file.
        cluster: label whose values group dependent samples, or "none". Default: `session`, if it exists.
        labels: file of people's labels of the run's answers, to show the metrics against people.

    Raises:
        ConfigError: scipy is not installed, there is no metric, no sample has the label `cluster`,
            the labels are not of this run, or the file cannot be written.
        RecordError: a record cannot be read.
    """
    path, beside = Path(path), SideBySide([run] if other is None else [run, other])
    if not path.name or path.is_dir():
        raise ConfigError(f"{path} is a folder: name the file to write, such as {path / 'report.html'}")
    if not beside.columns:
        raise ConfigError("the run has no metric to report on")
    folder, rows = path.with_name(f"{path.stem}-samples"), beside.rows
    listed = table(beside, rows)
    said = None if labels is None else Path(labels)
    summary = chunk(overview(beside, listed["labels"], cluster=cluster, said=said))
    worst = ((number, rows[number].sample_id) for number in islice(_worst_first(beside), MOST_PROOFS))
    packed = _packed(beside, worst, LARGEST - len(summary) - len(chunk(listed)) - 200_000)
    left = [number for number in range(len(rows)) if number not in packed.chunk_of] if everything else []
    parts = [left[start : start + PER_PAGE] for start in range(0, len(left), PER_PAGE)]
    page_of = {number: position for position, part in enumerate(parts, start=1) for number in part}
    if everything:
        not_a_link(folder)
    pages = [page_of.get(number, 0) for number in range(len(rows))]
    listed |= {"pages": pages, "folder": folder.name, "whole": "", "sessions": sessions(beside)}
    _write(path, summary, listed, packed)
    for position, part in enumerate(parts, start=1):
        some = [rows[number] for number in part]
        listed = table(beside, some)
        listed |= {"pages": [0] * len(some), "folder": "", "whole": path.name, "sessions": []}
        packed = _packed(beside, enumerate(row.sample_id for row in some))
        _write(folder / f"{position:04}.html", summary, listed, packed)
    for file in folder.glob("[0-9][0-9][0-9][0-9].html") if everything else ():
        if int(file.stem) > len(parts):  # of an earlier, longer report
            file.unlink(missing_ok=True)
    return path


def _worst_first(beside: SideBySide) -> Iterator[int]:
    """Numbers of the rows: the worst sample of each metric in turn, then those without a value."""
    ranked = [
        sorted(range(len(beside.rows)), key=lambda number: _rank(beside.rows[number].cells[position], column))
        for position, column in enumerate(beside.columns)
    ]
    return iter(dict.fromkeys(chain.from_iterable(zip(*ranked, strict=True))))


def _rank(cell: Cell, column: ReportColumn) -> tuple[bool, float]:
    """Sort key, the worst first: the value, or for two runs the gain of the second one."""
    last, move = cell[-1], moved(cell)
    if move is not None:
        return False, move / (column.entry.best - column.entry.worst)
    place = column.entry.goodness(last.value, last.bounds) if last else None
    return place is None, place or 0.0


def _packed(beside: SideBySide, order: Iterable[tuple[int, str]], room: float = inf) -> _Packed:
    """The proofs of samples, by their rows' numbers in this order, until the room is used up."""
    packed = _Packed([], {})
    used = 0
    for proofs in _batches(beside, order):
        data = chunk(proofs)
        if used + len(data) > room:
            if len(proofs) == 1:
                continue  # one huge sample is left out by itself; the others may still have room
            break
        packed.chunk_of.update(dict.fromkeys(proofs, len(packed.chunks)))
        packed.chunks.append(data)
        used += len(data)
    return packed


def _batches(beside: SideBySide, order: Iterable[tuple[int, str]]) -> Iterator[dict[int, Any]]:
    """Batches of proofs by row number, each the size of a chunk."""
    proofs: dict[int, Any] = {}
    size = 0
    for number, sample_id in order:
        proofs[number] = proof_of(beside, sample_id)
        size += len(as_json(proofs[number]))
        if size >= _CHUNK:
            yield proofs
            proofs, size = {}, 0
    if proofs:
        yield proofs


def _write(path: Path, summary: str, listed: dict[str, Any], packed: _Packed) -> None:
    """Replace the file atomically."""
    chunks = [packed.chunk_of.get(number, -1) for number in range(len(listed["ids"]))]
    first = {"overview": summary, "table": chunk({**listed, "chunks": chunks})}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the report {path} cannot be written: {error.strerror or error}") from error
    write_whole(path, page(first, {str(number): data for number, data in enumerate(packed.chunks)}))
