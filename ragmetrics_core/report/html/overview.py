"""What the first page says: means with intervals, failures by cause, cost and origin, and the differences."""

from collections.abc import Sequence
from typing import Any

from ragmetrics_core.report.causes import Causes
from ragmetrics_core.report.html.columns import Column
from ragmetrics_core.report.html.differences import Difference, interval, paired
from ragmetrics_core.report.html.plots import difference_plot, distribution_plot
from ragmetrics_core.report.html.rows import Outcomes, Row
from ragmetrics_core.report.html.text import one_line
from ragmetrics_core.runs import Mean, Run

__all__ = ["overview"]

SHOWN = 50


def overview(
    runs: Sequence[Run], columns: Sequence[Column], outcomes: Outcomes, rows: Sequence[Row]
) -> dict[str, Any]:
    """The overview as plain data."""
    means = [{mean.metric: mean for mean in run.means()} for run in runs]
    values = [
        [
            []
            if entry is None
            else [
                outcome.value
                for key, outcome in known.items()
                if key.signature == entry.signature and outcome.value is not None
            ]
            for entry, known in zip(column.entries, outcomes, strict=True)
        ]
        for column in columns
    ]
    found: dict[str, Any] = {
        "runs": [_run(run, list(known.items())) for run, known in zip(runs, outcomes, strict=True)],
        "metrics": [
            {
                "title": column.title,
                "low": column.entry.low,
                "high": column.entry.high,
                "sides": [
                    None if entry is None else _mean(means[number][entry.signature], values[position][number])
                    for number, entry in enumerate(column.entries)
                ],
                "plot": distribution_plot(values[position], low=column.entry.low, high=column.entry.high),
            }
            for position, column in enumerate(columns)
        ],
    }
    if len(runs) == 2:
        differences = [_paired(rows, position) for position in range(len(columns))]
        reach = max((abs(bound) for each in differences for bound in each.interval or ()), default=0.0) or 0.1
        found["differences"] = [
            {**each._asdict(), "plot": difference_plot(each, reach=1.1 * reach)} for each in differences
        ]
        first, second = (set(run.sample_ids) for run in runs)
        found["only"] = [len(first - second), len(second - first), len(first & second)]
        found["changed"] = sum(
            runs[0].sample(each).digest != runs[1].sample(each).digest for each in first & second
        )
    return found


def _paired(rows: Sequence[Row], position: int) -> Difference:
    pairs = [
        (first.value, second.value)
        for first, second in (row.cells[position] for row in rows)
        if first and second and first.value is not None and second.value is not None
    ]
    return paired([first for first, _ in pairs], [second for _, second in pairs])


def _mean(mean: Mean, values: Sequence[float]) -> dict[str, Any]:
    return {
        "signature": one_line(mean.metric),
        "value": mean.value,
        "interval": interval(values),
        "sd": mean.sd,
        "n": mean.n,
        "total": mean.total,
        "statuses": mean.statuses,
        "worst": mean.worst,
        "best": mean.best,
        "abstained": mean.abstained,
    }


def _run(run: Run, outcomes: Sequence[Any]) -> dict[str, Any]:
    causes = Causes.of(outcomes)
    manifest = run.manifest
    rejected = run.rejected
    return {
        "name": one_line(run.path.name if run.path else "run in memory"),
        "started": f"{manifest.started:%Y-%m-%d %H:%M} UTC",
        "finished": manifest.finished,
        "samples": len(run),
        "source": one_line(manifest.source or ""),
        "models": [
            [name, one_line(identity, 300)]
            for name in ("judge", "embedder", "scorer")
            if (identity := getattr(manifest, name))
        ],
        "repeats": manifest.repeats,
        "versions": [[one_line(name), one_line(version)] for name, version in manifest.versions.items()],
        "tally": [[name, count] for name, count in run.tally.items()],
        "prompts": [
            [one_line(f"{text.name}.v{text.version}"), one_line(digest)]
            for digest, text in run.prompts.items()
        ][:SHOWN],
        "notes": [one_line(note, 1000) for note in run.notes[:SHOWN]],
        "failed": [
            [status, one_line(reason, 500), times] for (status, reason), times in causes.failed[:SHOWN]
        ],
        "failed_more": max(0, len(causes.failed) - SHOWN),
        "failed_total": sum(times for _, times in causes.failed),
        "skipped": [
            [one_line(name), one_line(field), times] for (name, field), times in causes.skipped.items()
        ],
        "scores": causes.total,
        "rejected": [[one_line(row.where), one_line(row.message, 500)] for row in rejected[:SHOWN]],
        "rejected_total": len(rejected),
    }
