"""What the first page says: means with intervals, failures by cause, cost and origin, and the differences."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.probe import measured_on_people, people_lines
from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report._html.columns import ReportColumn
from ragmetrics_core.report._html.plots import difference_plot, distribution_plot, funnel_plot
from ragmetrics_core.report._html.rows import Outcomes, ReportRow, moved
from ragmetrics_core.report._json_pages import EvaluationPage, MeanRow, evaluation_json
from ragmetrics_core.report._text import fit_to_show
from ragmetrics_core.runs import Key, Outcome, Run
from ragmetrics_core.runs._shown import ShownContexts
from ragmetrics_core.study import Estimate, PairedMetric, compare_runs, read_scores, study_funnel
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
    pages = [evaluation_json(run) for run in runs]
    means = [{mean.metric: mean for mean in page.metrics} for page in pages]
    clusterings = [clustering_of((read_scores(run),), cluster) for run in runs]
    found: dict[str, Any] = {
        "paths": [str(run.path or "RUN") for run in runs],
        "runs": [
            {**_run(run, page, known), "clusters": clustering.notes}
            for run, page, known, clustering in zip(runs, pages, outcomes, clusterings, strict=True)
        ],
        "metrics": [
            _metric(means, column, clusterings, rows, position) for position, column in enumerate(columns)
        ],
    }
    if len(runs) == 2:
        found |= _comparison(runs, columns, rows, cluster)
        first, second = (set(run.sample_ids) for run in runs)
        found["only"] = [len(first - second), len(second - first), len(first & second)]
        found["changed"] = sum(
            runs[0].sample(each).digest != runs[1].sample(each).digest for each in first & second
        )
    shown: dict[str, Any] = fit_to_show(found, 1000)
    return shown


def _metric(
    means: Sequence[Mapping[str, MeanRow]],
    column: ReportColumn,
    clusterings: Sequence[Clustering],
    rows: Sequence[ReportRow],
    position: int,
) -> dict[str, Any]:
    """A metric with its mean in each run, None where a run does not measure it."""
    sides: list[dict[str, Any] | None] = []
    spread: list[list[float]] = []
    for number, entry in enumerate(column.entries):
        outcomes = {row.sample_id: row.cells[position][number] for row in rows}
        values = {name: each.value for name, each in outcomes.items() if each and each.value is not None}
        spread.append(list(values.values()))
        if entry is None:
            sides.append(None)
            continue
        ends = entry.low, inf if entry.exceeds else entry.high
        _, low, high = score_mean(spread[-1], clusterings[number].clusters(values), ends=ends)
        interval = None if low is None else (low, high)
        sides.append({**means[number][entry.signature].model_dump(), "interval": interval})
    return {
        "title": column.title,
        "low": column.entry.low,
        "high": column.entry.high,
        "lower_is_better": not column.entry.higher_is_better,
        "sides": sides,
        "plot": distribution_plot(spread, low=column.entry.low, high=column.entry.high),
    }


def _comparison(
    runs: Sequence[Run], columns: Sequence[ReportColumn], rows: Sequence[ReportRow], cluster: str | None
) -> dict[str, Any]:
    """What the study says of two runs, or why it says nothing."""
    before, after = (
        read_scores(run, name=name, apart=True) for run, name in zip(runs, ("first", "second"), strict=True)
    )
    signatures = [column.entries[0].signature if column.entries[0] else "" for column in columns]
    same = [each for each in signatures if each in before.values and each in after.values]
    # the page says which samples only one of them has
    before = before.only(after.labels.keys())
    try:
        told = compare_runs(before, after, metrics=same, cluster=cluster).metrics if same else ()
    except ConfigError as error:
        return {"differences": [None] * len(columns), "not_compared": str(error)}
    reach = max((abs(end) for each in told for end in each.difference[1:] if end), default=0.1)
    compared = {each.metric: each for each in told}
    return {
        "differences": [
            _difference(each, [moved(row.cells[position]) for row in rows], reach=1.1 * reach)
            if (each := compared.get(name))
            else None
            for position, name in enumerate(signatures)
        ],
        "not_compared": "",
    }


def _difference(each: PairedMetric, moves: Sequence[float | None], *, reach: float) -> dict[str, Any]:
    lost = f"{each.lost} lost, counted as the worst" if each.lost else ""
    mean, low, high = each.difference
    return {
        "mean": mean,
        "interval": None if low is None else (low, high),
        "n": each.n,
        "up": sum(move > 0 for move in moves if move),
        "down": sum(move < 0 for move in moves if move),
        "holm": each.holm,
        "verdict": each.verdict,
        "lower_is_better": each.lower_is_better,
        "note": "; ".join(filter(None, (lost, each.note))),
        "plot": difference_plot(each, reach=reach),
    }


def _run(run: Run, page: EvaluationPage, outcomes: Mapping[Key, Outcome]) -> dict[str, Any]:
    causes = Causes.of(outcomes.items())
    manifest, prompts = run.manifest, list(run.prompts.items())[:SHOWN]
    return {
        **page.model_dump(exclude={"metrics", "left_out", "gate"}),
        "name": run.path.name if run.path else "run in memory",
        "started": f"{manifest.started:%Y-%m-%d %H:%M} UTC",
        "source": manifest.source,
        "people": list(people_lines(measured_on_people(run))) if run.judge else [],
        "repeats": manifest.repeats,
        "versions": list(manifest.versions.items()),
        "prompts": [(f"{text.name}.v{text.version}", digest) for digest, text in prompts],
        "failed": [(status, reason, times) for (status, reason), times in causes.failed[:SHOWN]],
        "failed_more": max(0, len(causes.failed) - SHOWN),
        "failed_total": sum(times for _, times in causes.failed),
        "skipped": [(name, field, times) for (name, field), times in causes.skipped.items()],
        "funnel": _funnel(run),
        "scores": causes.total,
        "rejected": [(row.where, row.message) for row in page.left_out[:SHOWN]],
        "rejected_total": len(page.left_out),
    }


def _funnel(run: Run) -> dict[str, Any] | None:
    """What became of the retrieval, stage by stage; None where no sample says it."""
    shown = ShownContexts.of(run.samples())
    if not shown.samples:
        return None
    study = study_funnel(run)
    names = [" ".join(filter(None, (stage.stage, stage.component))) for stage in study.stages]
    return {
        "shown": list(shown.lines())[:SHOWN],
        "rows": [
            (name, stage.samples, f"{stage.chunks:.3g}", *map(_figure, (stage.hit, stage.recall)), stage.lost)
            for name, stage in zip(names, study.stages, strict=True)
        ],
        "used": None if study.used is None else str(study.used),
        "findings": study.findings[:SHOWN],
        "plot": funnel_plot(
            [(name, stage.recall.value) for name, stage in zip(names, study.stages, strict=True)]
        ),
    }


def _figure(share: Estimate) -> str:
    return "" if share.value is None else str(share)
