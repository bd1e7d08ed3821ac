"""Number of rows in a file, for the progress of an evaluation."""

import csv
from pathlib import Path

from ragmetrics_core.boundary.unpacking import kind_of, opened
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.runs._data_frames import count_parquet
from ragmetrics_core.runs._loading import read_rows
from ragmetrics_core.traces import format_of

__all__ = ["count_rows"]


def count_rows(path: Path, *, at_most: int | None = None) -> int | None:
    """Number of rows in a file, without parsing samples; None if unknown.

    It serves only the progress bar, so it ignores errors: the evaluation reports them.
    """
    if not path.is_file():  # opening a pipe may block forever
        return None
    try:
        if format_of(path) is not None:
            return None  # a trace has many lines
        match kind_of(path):
            case ".jsonl" | ".ndjson":
                with opened(path) as file:
                    count = sum(not line.isspace() for line in file)
            case ".csv" | ".tsv" | ".json":
                count = sum(1 for _ in read_rows(path))
            case ".parquet":
                count = count_parquet(path)
            case _:
                return None
    except (OSError, ConfigError, ValueError, csv.Error):
        return None
    return count if at_most is None else min(count, at_most)
