"""What the first page says: means with intervals, failures by cause, cost and origin, and the differences."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.probe import measured_on_people, people_lines
from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report._html.columns import ReportColumn
from ragmetrics_core.report._html.funnel import funnel
from ragmetrics_core.report._html.plots import difference_plot, distribution_plot
from ragmetrics_core.report._html.rows import Outcomes, ReportRow
from ragmetrics_core.report._html.text import one_line
from ragmetrics_core.runs import Mean, Outcome, Run
from ragmetrics_core.study import PairedMetric, compare_runs, read_scores
from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._parts import score_mean

__all__ = ["overview"]

SHOWN = 50


def overview(
    runs: Sequence[Run],
    columns: Sequence[ReportColumn],
    outcomes: Outcomes,
    rows: Sequence[ReportRow],
    *,
    cluster: str | None = None,
) -> dict[str, Any]:
    """The overview as plain data.

    Raises:
        ConfigError: no sample has the label `cluster`, or its values make too few clusters.
    """
    means = [{mean.metric: mean for mean in run.means()} for run in runs]
    clusterings = [clustering_of((read_scores(run),), cluster) for run in runs]
    of_samples: list[list[dict[str, float]]] = [
        [
            {}
            if entry is None
            else {
                key.sample_id: outcome.value
                for key, outcome in known.items()
                if key.signature == entry.signature and outcome.value is not None
            }
            for entry, known in zip(column.entries, outcomes, strict=True)
        ]
        for column in columns
    ]
    values = [[list(side.values()) for side in sides] for sides in of_samples]
    found: dict[str, Any] = {
        "runs": [
            {**_run(run, list(known.items())), "clusters": [one_line(each, 500) for each in clustering.notes]}
            for run, known, clustering in zip(runs, outcomes, clusterings, strict=True)
        ],
        "metrics": [
            {
                "title": column.title,
                "low": column.entry.low,
                "high": column.entry.high,
                "lower_is_better": not column.entry.higher_is_better,
                "sides": [
                    None
                    if entry is None
                    else _mean(
                        means[number][entry.signature],
                        of_samples[position][number],
                        clusterings[number],
                        (entry.low, inf if entry.exceeds else entry.high),
                    )
                    for number, entry in enumerate(column.entries)
                ],
                "plot": distribution_plot(values[position], low=column.entry.low, high=column.entry.high),
            }
            for position, column in enumerate(columns)
        ],
    }
    if len(runs) == 2:
        found |= _comparison(runs, columns, rows, cluster)
        first, second = (set(run.sample_ids) for run in runs)
        found["only"] = [len(first - second), len(second - first), len(first & second)]
        found["changed"] = sum(
            runs[0].sample(each).digest != runs[1].sample(each).digest for each in first & second
        )
    return found


def _comparison(
    runs: Sequence[Run], columns: Sequence[ReportColumn], rows: Sequence[ReportRow], cluster: str | None
) -> dict[str, Any]:
    """What the study says of two runs, or why it says nothing."""
    before, after = (
        read_scores(run, name=name, apart=True) for run, name in zip(runs, ("first", "second"), strict=True)
    )
    same = [
        entry.signature
        for column in columns
        for entry in column.entries[:1]
        if entry and entry.signature in before.values and entry.signature in after.values
    ]
    # the page says which samples only one of them has
    before = before.only(after.labels.keys())
    try:
        told = compare_runs(before, after, metrics=same, cluster=cluster) if same else None
    except ConfigError as error:
        return {"differences": [None] * len(columns), "not_compared": one_line(str(error), 500)}
    compared = {each.metric: each for each in told.metrics} if told else {}
    reach = max((abs(end) for each in compared.values() for end in each.difference[1:] if end), default=0.1)
    shown = [compared.get(column.entries[0].signature) if column.entries[0] else None for column in columns]
    return {
        "differences": [
            each and _difference(each, [row.cells[position] for row in rows], reach=1.1 * reach)
            for position, each in enumerate(shown)
        ],
        "not_compared": "",
    }


def _difference(
    each: PairedMetric, cells: Sequence[tuple[Outcome | None, ...]], *, reach: float
) -> dict[str, Any]:
    moves = [
        last.value - first.value
        for first, last in cells
        if first and last and first.value is not None and last.value is not None
    ]
    mean, low, high = each.difference
    return {
        "mean": mean,
        "interval": None if low is None else (low, high),
        "n": each.n,
        "up": sum(move > 0 for move in moves),
        "down": sum(move < 0 for move in moves),
        "holm": each.holm,
        "verdict": each.verdict,
        "lower_is_better": each.lower_is_better,
        "note": "; ".join(
            filter(None, (f"{each.lost} lost, counted as the worst" * bool(each.lost), each.note))
        ),
        "plot": difference_plot(each, reach=reach),
    }


def _mean(
    mean: Mean, values: Mapping[str, float], clustering: Clustering, ends: tuple[float, float]
) -> dict[str, Any]:
    clusters = clustering.clusters(values)
    column = list(values.values())
    _, low, high = score_mean(column, clusters, ends=ends)
    return {
        "signature": one_line(mean.metric),
        "value": mean.value,
        "interval": None if low is None else (low, high),
        "sd": mean.sd,
        "n": mean.n,
        "total": mean.total,
        "statuses": mean.statuses,
        "worst": mean.worst,
        "best": mean.best,
        "abstained": mean.abstained,
    }


def _measured(run: Run) -> Iterator[str]:
    """What is known of the judge from people's labels."""
    return people_lines(measured_on_people(run)) if run.judge else iter(())


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
        ]
        + [["on people's labels", one_line(line, 400)] for line in _measured(run)],
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
        "funnel": funnel(run),
        "scores": causes.total,
        "rejected": [[one_line(row.where), one_line(row.message, 500)] for row in rejected[:SHOWN]],
        "rejected_total": len(rejected),
    }
