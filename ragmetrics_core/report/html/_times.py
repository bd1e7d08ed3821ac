"""Scores over the times of the samples: means of a dozen spans at most, for each label that holds times."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ragmetrics_core.report._side_by_side import ReportRow, SideBySide
from ragmetrics_core.report.html._by_label import mean_of_rows
from ragmetrics_core.study import Clustering

__all__ = ["means_by_time"]

MOST_SPANS = 12
FEWEST_TIMES = 3
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def means_by_time(
    beside: SideBySide, labels: Sequence[Mapping[str, str]], clusterings: Sequence[Clustering]
) -> list[dict[str, Any]]:
    """Means by time as plain data, for each label whose values are all dates or times.

    Args:
        beside: the runs.
        labels: labels of each row.
        clusterings: clusters of each run's samples.
    """
    trends: list[dict[str, Any]] = []
    for name in dict.fromkeys(name for of_row in labels for name in of_row):
        times = {
            number: time_of(of_row[name])
            for number, of_row in enumerate(labels)
            if of_row.get(name) is not None
        }
        read = {number: time for number, time in times.items() if time is not None}
        if len(read) == len(times) and len(set(read.values())) >= FEWEST_TIMES:
            trends.append({"name": name, "spans": _spans(beside, read, clusterings)})
    return trends


def time_of(text: str) -> float | None:
    """Seconds since 1970 of a date or time in ISO 8601; None for other texts. Without a zone it is UTC.

    >>> time_of("1970-01-02"), time_of("20260101")
    (86400.0, None)
    """
    if _DATE.match(text) is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _spans(
    beside: SideBySide, times: Mapping[int, float], clusterings: Sequence[Clustering]
) -> list[dict[str, Any]]:
    """Spans of equal length that have samples: their mean time, their rows, and the means of each run."""
    first, last = min(times.values()), max(times.values())
    count = min(MOST_SPANS, len(set(times.values())))
    spans: dict[int, list[int]] = {}
    for number, time in sorted(times.items(), key=lambda pair: pair[1]):
        spans.setdefault(min(count - 1, int((time - first) / (last - first) * count)), []).append(number)
    return [
        {
            "time": sum(times[number] for number in numbers) / len(numbers),
            "rows": numbers,
            "sides": [
                _means([beside.rows[number] for number in numbers], beside, run, clustering)
                for run, clustering in enumerate(clusterings)
            ],
        }
        for numbers in spans.values()
    ]


def _means(
    rows: Sequence[ReportRow], beside: SideBySide, run: int, clustering: Clustering
) -> list[list[float | None]]:
    found = (
        mean_of_rows(rows, column, position, run, clustering)
        for position, column in enumerate(beside.columns)
    )
    return [[*mean, len(values)] for values, mean in found]
