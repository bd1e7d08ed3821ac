"""First page of a report: means with intervals, failures by cause, cost and origin, differences."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report._side_by_side import SideBySide, moved
from ragmetrics_core.report._text import fit_to_show
from ragmetrics_core.report.html._by_label import mean_of_rows, means_by_label
from ragmetrics_core.report.html._people import people
from ragmetrics_core.report.html._times import means_by_time
from ragmetrics_core.report.json_pages import EvaluationPage, MeanRow, evaluation_json
from ragmetrics_core.report.judge_lines import judge_lines
from ragmetrics_core.runs import Key, Outcome, Run
from ragmetrics_core.runs.shown_contexts import ShownContexts
from ragmetrics_core.samples import SESSION
from ragmetrics_core.study import (
    Clustering,
    Estimate,
    PairedMetric,
    clustering_of,
    compare_runs,
    doubts_of,
    read_scores,
    shown,
    study_funnel,
)

__all__ = ["overview"]

SHOWN = 50


def overview(
    beside: SideBySide,
    labels: Sequence[Mapping[str, str]],
    *,
    cluster: str | None = None,
    said: Path | None = None,
) -> dict[str, Any]:
    """The overview as plain data.

    Args:
        beside: the runs.
        labels: labels of each row.
        cluster: label whose values group dependent samples, or "none".
        said: file of people's labels.

    Raises:
        ConfigError: no sample has the label `cluster`, its values make too few clusters, or people's labels
            cannot be read or are not of this run.
    """
    runs = beside.runs
    pages = [evaluation_json(run) for run in runs]
    means = [{mean.metric: mean for mean in page.metrics} for page in pages]
    clusterings = [clustering_of((read_scores(run),), cluster) for run in runs]
    content: dict[str, Any] = {
        "paths": [str(run.path or "RUN") for run in runs],
        "runs": [
            {**_run(run, page, outcomes), "clusters": clustering.notes}
            for run, page, outcomes, clustering in zip(runs, pages, beside.outcomes, clusterings, strict=True)
        ],
        "metrics": [_metric(beside, position, means, clusterings) for position in range(len(beside.columns))],
        # sessions have a page of their own
        "labels": means_by_label(beside, [_without_session(each) for each in labels], clusterings),
        "times": means_by_time(beside, labels, clusterings),
        "people": None if said is None else people(beside, said, clusterings[0]),
    }
    if len(runs) == 2:
        first, second = (set(run.sample_ids) for run in runs)
        both = first & second
        content |= _comparison(beside, cluster)
        content["only"] = [len(first - second), len(second - first), len(both)]
        content["changed"] = sum(len({run.sample(name).digest for run in runs}) > 1 for name in both)
    fit: dict[str, Any] = fit_to_show(content, 1000)
    return fit


def _metric(
    beside: SideBySide,
    position: int,
    means: Sequence[Mapping[str, MeanRow]],
    clusterings: Sequence[Clustering],
) -> dict[str, Any]:
    """A metric with its mean in each run, or None if a run does not measure it."""
    column = beside.columns[position]
    sides: list[dict[str, Any] | None] = []
    for number, entry in enumerate(column.entries):
        if entry is None:
            sides.append(None)
            continue
        _, mean = mean_of_rows(beside.rows, column, position, number, clusterings[number])
        sides.append({**means[number][entry.signature].model_dump(), "interval": _interval(mean)})
    return {
        "title": column.title,
        "low": column.entry.low,
        "high": column.entry.high,
        "lower_is_better": not column.entry.higher_is_better,
        "sides": sides,
    }


def _without_session(labels: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in labels.items() if name != SESSION}


def _interval(estimate: Estimate) -> tuple[float | None, ...] | None:
    return None if estimate.low is None else estimate[1:]


def _comparison(beside: SideBySide, cluster: str | None) -> dict[str, Any]:
    """The comparison of two runs, or why there is none."""
    before, after = (
        read_scores(run, name=name, apart=True)
        for run, name in zip(beside.runs, ("first", "second"), strict=True)
    )
    signatures = [entry.signature if (entry := column.entries[0]) else "" for column in beside.columns]
    same = [name for name in signatures if name in before.values and name in after.values]
    # the page says which samples only one of them has
    before = before.only(after.labels.keys())
    doubts = list(doubts_of(before, after, same, cluster=cluster))
    try:
        metrics = compare_runs(before, after, metrics=same, cluster=cluster).metrics if same else ()
    except ConfigError as error:
        return {"differences": [None] * len(signatures), "not_compared": str(error), "doubts": doubts}
    reach = 1.1 * max((abs(end) for pair in metrics for end in pair.difference[1:] if end), default=0.1)
    compared = {pair.metric: pair for pair in metrics}
    return {
        "differences": [
            _difference(pair, [moved(row.cells[position]) for row in beside.rows])
            if (pair := compared.get(name))
            else None
            for position, name in enumerate(signatures)
        ],
        "reach": reach,
        "not_compared": "",
        "doubts": doubts,
    }


def _difference(pair: PairedMetric, moves: Sequence[float | None]) -> dict[str, Any]:
    lost = f"{pair.lost} lost, counted as the worst" if pair.lost else ""
    return {
        "mean": pair.difference.value,
        "interval": _interval(pair.difference),
        "up": sum(move > 0 for move in moves if move),
        "down": sum(move < 0 for move in moves if move),
        **{name: getattr(pair, name) for name in ("n", "holm", "verdict", "lower_is_better")},
        "note": "; ".join(filter(None, (lost, pair.note))),
    }


def _run(run: Run, page: EvaluationPage, outcomes: Mapping[Key, Outcome]) -> dict[str, Any]:
    causes = Causes.of(outcomes.items())
    manifest, prompts = run.manifest, list(run.prompts.items())[:SHOWN]
    return {
        **page.model_dump(exclude={"metrics", "left_out", "gate"}),
        "name": run.path.name if run.path else "run in memory",
        "started": f"{manifest.started:%Y-%m-%d %H:%M} UTC",
        "source": manifest.source,
        "judge_lines": list(judge_lines(run)),
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
    """The retrieval stage by stage; None if no sample has stages."""
    contexts = ShownContexts.of(run.samples())
    if not contexts.samples:
        return None
    study = study_funnel(run)
    stages = [(" ".join(filter(None, (stage.stage, stage.component))), stage) for stage in study.stages]
    return {
        "shown": list(contexts.lines())[:SHOWN],
        "rows": [
            (
                name,
                stage.samples,
                f"{stage.chunks:.3g}",
                *(shown(share, "estimate") for share in (stage.hit, stage.recall)),
                stage.lost,
            )
            for name, stage in stages
        ],
        "used": None if study.used is None else str(study.used),
        "findings": study.findings[:SHOWN],
        "recall": [stage.recall.value for _, stage in stages],
    }
