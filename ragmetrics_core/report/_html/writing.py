"""Writing a report: what goes into the file, and what into the folder beside it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._html.columns import ReportColumn, columns
from ragmetrics_core.report._html.overview import overview
from ragmetrics_core.report._html.page import chunk, page
from ragmetrics_core.report._html.proofs import proof_of
from ragmetrics_core.report._html.rows import ReportRow, outcomes_of, table, table_rows
from ragmetrics_core.report._html.text import as_json
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._writing import not_a_link, write_whole

__all__ = ["LARGEST", "MOST_PROOFS", "write_report"]

LARGEST = 20_000_000
MOST_PROOFS = 1_000
PER_PAGE = 250
_CHUNK = 400_000


class _Packed(NamedTuple):
    """Proofs as chunks, and in which of them each row's proof is."""

    chunks: list[str]
    chunk_of: dict[int, int]


def write_report(
    run: Run,
    path: str | Path,
    *,
    other: Run | None = None,
    everything: bool = False,
    cluster: str | None = None,
) -> Path:
    """Write a run, or two side by side, as one HTML file that people open; see docs/report.md.

    The file has the whole table, and the proofs of the worst samples of each metric as long as it stays under
    20 MB and 1,000 samples.

    Args:
        run: the run.
        path: the file, "report.html"; one that is there is replaced.
        other: a second run on the same samples, shown side by side with this one.
        everything: write all other proofs too, as further pages in a folder beside the file.
        cluster: the label whose values say which samples belong together, or "none"; without it `session`,
            where samples carry it.

    Raises:
        ConfigError: matplotlib or scipy is not installed, there is no metric, no sample has the label
            `cluster`, or the file cannot be written.
        RecordError: a record cannot be read.
    """
    path, runs = Path(path), [run] if other is None else [run, other]
    if not path.name or path.is_dir():
        raise ConfigError(f"{path} is a folder: name the file to write, such as {path / 'report.html'}")
    beside = columns(runs)
    outcomes = outcomes_of(runs)
    rows = table_rows(runs, beside, outcomes)
    first = {
        "overview": chunk(
            {
                **overview(runs, beside, outcomes, rows, cluster=cluster),
                "paths": [str(each.path or "RUN") for each in runs],
            }
        ),
    }
    listed = table(runs, beside, rows)
    order = islice(_worst_first(rows, beside), None if len(rows) <= MOST_PROOFS else MOST_PROOFS)
    room = LARGEST - len(first["overview"]) - len(chunk(listed)) - 200_000
    packed = _packed(runs, beside, rows, order, room)
    left = [number for number in range(len(rows)) if number not in packed.chunk_of] if everything else []
    pages = [left[start : start + PER_PAGE] for start in range(0, len(left), PER_PAGE)]
    page_of = {number: position for position, part in enumerate(pages, start=1) for number in part}
    folder = path.with_name(f"{path.stem}-samples")
    if everything:
        not_a_link(folder)
    first["table"] = chunk(
        {
            **listed,
            "chunks": [packed.chunk_of.get(number, -1) for number in range(len(rows))],
            "pages": [page_of.get(number, 0) for number in range(len(rows))],
            "folder": folder.name,
            "whole": "",
        }
    )
    _write(path, page(first, _named(packed.chunks)))
    for position, part in enumerate(pages, start=1):
        _write_part(
            runs, beside, [rows[number] for number in part], folder, position, path.name, first["overview"]
        )
    if everything:
        _remove_older(folder, len(pages))
    return path


def _write_part(
    runs: Sequence[Run],
    beside: Sequence[ReportColumn],
    rows: Sequence[ReportRow],
    folder: Path,
    position: int,
    whole: str,
    summary: str,
) -> None:
    """A further page: some of the samples with their proofs."""
    packed = _packed(runs, beside, rows, range(len(rows)), None)
    listed = table(runs, beside, rows)
    chunks = [packed.chunk_of[number] for number in range(len(rows))]
    first = {
        "overview": summary,
        "table": chunk({**listed, "chunks": chunks, "pages": [0] * len(rows), "folder": "", "whole": whole}),
    }
    _write(folder / f"{position:04}.html", page(first, _named(packed.chunks)))


def _worst_first(rows: Sequence[ReportRow], beside: Sequence[ReportColumn]) -> Iterator[int]:
    """The rows' numbers: the worst sample of each metric in turn, then those without a value."""
    ranked = [
        sorted(range(len(rows)), key=lambda number: _rank(rows[number], position, column))
        for position, column in enumerate(beside)
    ]
    seen: set[int] = set()
    for turn in zip(*ranked, strict=True):
        for number in turn:
            if number not in seen:
                seen.add(number)
                yield number


def _rank(row: ReportRow, position: int, column: ReportColumn) -> tuple[bool, float]:
    """Sorts the worst first: by how good it is; of two runs, by how much better the second one is."""
    first, last = row.cells[position][0], row.cells[position][-1]
    place = column.entry.goodness(last.value, last.bounds) if last else None
    if place is None:
        return True, 0.0
    if first is last or last is None or last.value is None or first is None or first.value is None:
        return False, place
    before = column.entry.goodness(first.value)
    assert before is not None, "there is a value"
    return False, place - before


def _packed(
    runs: Sequence[Run],
    beside: Sequence[ReportColumn],
    rows: Sequence[ReportRow],
    order: Iterable[int],
    room: int | None,
) -> _Packed:
    """Proofs in this order, until the room is used up."""
    packed = _Packed([], {})
    waiting: dict[int, Any] = {}
    size = used = 0

    def close() -> bool:
        """Pack what waits; whether there was room for it."""
        nonlocal size, used
        data = chunk(waiting)
        fits = room is None or used + len(data) <= room
        if fits:
            packed.chunk_of.update(dict.fromkeys(waiting, len(packed.chunks)))
            packed.chunks.append(data)
            used += len(data)
        waiting.clear()
        size = 0
        return fits

    for number in order:
        waiting[number] = proof_of(runs, beside, rows[number].sample_id)
        size += len(as_json(waiting[number]))
        if size < _CHUNK:
            continue
        is_alone = len(waiting) == 1
        # one huge sample is left out by itself; the others may still have room
        if not close() and not is_alone:
            return packed
    if waiting:
        close()
    return packed


def _named(chunks: Sequence[str]) -> dict[str, str]:
    return {str(number): each for number, each in enumerate(chunks)}


def _write(path: Path, text: str) -> None:
    """Replace the file, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the report {path} cannot be written: {error.strerror or error}") from error
    write_whole(path, text)


def _remove_older(folder: Path, count: int) -> None:
    """Remove the pages of an earlier, longer report."""
    for file in folder.glob("[0-9][0-9][0-9][0-9].html"):
        if int(file.stem) > count:
            file.unlink(missing_ok=True)
