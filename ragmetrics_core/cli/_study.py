"""The studies of runs: `ragmetrics study groups`, `trend`, `repeats` and others; the list of all studies."""

from functools import partial
from pathlib import Path

import typer

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._options import add_commands
from ragmetrics_core.cli._study_compare import compare
from ragmetrics_core.cli._study_labels import annotate, annotations
from ragmetrics_core.cli._study_output import (
    Plotted,
    Runs,
    Seed,
    StudyOutput,
    Testing,
    Wanted,
    open_runs,
)
from ragmetrics_core.cli._study_people import (
    agreement,
    correlations,
    estimate,
    pairwise,
    plan,
    systems,
)
from ragmetrics_core.report._plots import draw_groups, draw_intervals
from ragmetrics_core.runs import Run
from ragmetrics_core.study import (
    Estimate,
    Funnel,
    Trend,
    funnel_tables,
    group_tables,
    read_scores,
    repeat_tables,
    short,
    study_funnel,
    study_groups,
    study_repeats,
    study_trend,
    trend_tables,
)

__all__ = ["study"]


def groups(
    runs: Runs,
    testing: Testing,
    output: Plotted,
    *,
    by: str | None = None,
    baseline: Path | None = None,
    one_sided: bool = False,
) -> None:
    """Compare means: between values of a label, and between runs.

    Mean (s.d.) and n for each metric and group, Welch's t-test (two-sided, unless --one-sided), the
    Mann-Whitney test, Holm's adjustment over all tests and effect sizes. Marked in colour is what got better
    or worse against the baseline.

    Args:
        by: The label that makes the groups, such as retrieval_correct.
        baseline: The run that every other one is compared with; added if it is not given.
        one_sided: Test good above bad where a label's two values mean that, as the paper does.
    """
    paths = [path.resolve() for path in runs]
    if baseline is not None and baseline.resolve() not in paths:
        runs, paths = [baseline, *runs], [baseline.resolve(), *paths]
    opened = open_runs(runs)
    name = None if baseline is None else opened[paths.index(baseline.resolve())].name
    study = study_groups(opened, by=by, baseline=name, one_sided=one_sided, **vars(testing))
    output.show(group_tables(study), plot=partial(draw_groups, study))


def trend(runs: Runs, testing: Testing, output: Plotted) -> None:
    """Follow each metric over runs: means with intervals, and which changes are real.

    Each run is compared with the one before, sample by sample; p is adjusted for all changes of all metrics.

    Args:
        runs: Runs, the earliest first.
    """
    study = study_trend(open_runs(runs), **vars(testing))
    output.show(trend_tables(study), plot=partial(_draw_trend, study))


def repeats(run: RunFolder, output: StudyOutput, *, metrics: Wanted = None, seed: Seed = 0) -> None:
    """Tell how much of a score's variance is the judge's own, and on which verdicts its votes differ.

    For a run with --repeats or --full-repeats of 2 or more, or with a panel of judges.
    """
    opened = Run.load(run)
    scores = read_scores(opened)
    chosen = None if metrics is None else [scores.metric(name) for name in metrics]
    study = study_repeats(opened, metrics=chosen, seed=seed)
    output.show(repeat_tables(study), short=repeat_tables(study, most=10))


def funnel(run: RunFolder, output: Plotted) -> None:
    """Tell where relevant chunks were lost: found, ranked, filtered, shown.

    By stage: in how many samples a relevant chunk is among its chunks, and the share of relevant chunks that
    are. For each that the model was not shown, the stage that lost it. By search: what it found that was new.
    Relevant are the samples' reference_context_ids, or reference_contexts: chunks, or quotes from them.
    """
    study = study_funnel(Run.load(run))
    output.show(funnel_tables(study), plot=partial(_draw_funnel, study))


study = typer.Typer(help="From scores to what they mean: groups, comparisons, agreement with people.")
add_commands(study, groups, compare, agreement, correlations, pairwise, systems, estimate)
add_commands(study, plan, repeats, trend, funnel, annotate, annotations)


def _draw_trend(study: Trend, path: Path) -> None:
    signs = {"better": " ▲", "worse": " ▼"}
    signatures = list(dict.fromkeys(point.metric for point in study.points))
    panels: dict[str, list[tuple[str, Estimate]]] = {}
    for point in study.points:
        label = f"{point.run}{signs.get(point.verdict, '')}"
        panels.setdefault(short(point.metric, signatures), []).append((label, point.mean))
    draw_intervals(panels, path, title="Over the runs", axis="mean")


def _draw_funnel(study: Funnel, path: Path) -> None:
    rows = [(" ".join(filter(None, (stage.stage, stage.component))), stage.recall) for stage in study.stages]
    draw_intervals({"recall": rows}, path, title="Relevant chunks, stage by stage", axis="share")
