"""Studies of runs: `ragmetrics study groups`, `trend`, `repeats` and others; the list of all studies."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._options import add_commands
from ragmetrics_core.cli._study_compare import compare
from ragmetrics_core.cli._study_labels import annotate, annotations
from ragmetrics_core.cli._study_output import (
    Alpha,
    Plotted,
    Runs,
    Seed,
    StudyOutput,
    Testing,
    Wanted,
    draw_shares,
    open_runs,
)
from ragmetrics_core.cli._study_people import (
    agreement,
    calibrate,
    correlations,
    estimate,
    pairwise,
    plan,
    systems,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report.plots import draw_groups, draw_intervals
from ragmetrics_core.runs import Run, read_samples
from ragmetrics_core.samples import Sample, grouping_labels, label_in
from ragmetrics_core.study import (
    Estimate,
    Funnel,
    RetrievalStudy,
    Trend,
    abstention_tables,
    first_hits,
    funnel_tables,
    group_tables,
    item_tables,
    named_runs,
    read_scores,
    repeat_tables,
    retrieval_tables,
    short,
    stance_tables,
    study_abstention,
    study_funnel,
    study_groups,
    study_items,
    study_repeats,
    study_retrieval,
    study_trend,
    systems_of,
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
    """Compare means between values of a label or between runs.

    Reports mean (s.d.) and n for each metric and group, Welch's t-test (two-sided, unless --one-sided), the
    Mann-Whitney test, Holm's adjustment over all tests, and effect sizes. Colours mark what got better or
    worse than the baseline.

    Args:
        by: Label that defines the groups, such as retrieval_correct.
        baseline: Run to compare every other run with; added if it is not given.
        one_sided: If a label's two values mean good and bad, test whether good is above bad, as in
            Roychowdhury et al. (2024).
    """
    paths = [path.resolve() for path in runs]
    if baseline is not None and baseline.resolve() not in paths:
        runs, paths = [baseline, *runs], [baseline.resolve(), *paths]
    opened = open_runs(runs)
    name = None if baseline is None else opened[paths.index(baseline.resolve())].name
    study = study_groups(opened, by=by, baseline=name, one_sided=one_sided, **vars(testing))
    stances = stance_tables([Run.load(run) for run in runs], opened, by=by)
    output.show([*group_tables(study), *stances], plot=partial(draw_groups, study))


def trend(runs: Runs, testing: Testing, output: Plotted) -> None:
    """Follow the mean of each metric over several runs.

    Reports intervals and significant changes. Compares each run with the one before, sample by sample; p is
    adjusted for all changes of all metrics.

    Args:
        runs: Folders of runs, the earliest first.
    """
    study = study_trend(open_runs(runs), **vars(testing))
    output.show(trend_tables(study), plot=partial(_draw_trend, study))


def repeats(run: RunFolder, output: StudyOutput, *, metrics: Wanted = None, seed: Seed = 0) -> None:
    """Show how much of a score's variance comes from the judge.

    Also lists the verdicts on which its votes differ. Needs a run with --repeats or --full-repeats of 2 or
    more, or with a panel of judges.
    """
    opened = Run.load(run)
    scores = read_scores(opened)
    chosen = None if metrics is None else [scores.metric(name) for name in metrics]
    study = study_repeats(opened, metrics=chosen, seed=seed)
    output.show(repeat_tables(study), short=repeat_tables(study, most=10))


def retriever(
    data: list[Path],
    output: Plotted,
    *,
    k: Annotated[str, typer.Option("-k", "--k")] = "1,3,5",
    by: str | None = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
) -> None:
    """Compare retrievers by accuracy at k.

    Reports intervals and paired tests. A question counts as correct if one of its reference_context_ids is
    among the first k context_ids.

    Args:
        data: File of samples or run of each retriever, the baseline first.
        k: Numbers of results to consider, separated by commas.
        by: Label that names the retriever, if one file or run has several.
    """
    parts = [part.strip() for part in k.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError(f"-k takes numbers above 0 such as 1,3,5, not {k!r}")
    if by is None:
        samples = {name: _samples(path) for name, path in named_runs(data).items()}
    else:
        samples = _by_label(data, by)
    retrievers = [first_hits(name, rows) for name, rows in samples.items()]
    study = study_retrieval(retrievers, ks=sorted(set(map(int, parts))), alpha=alpha, seed=seed)
    output.show(retrieval_tables(study), plot=partial(_draw_retrieval, study))


def funnel(run: RunFolder, output: Plotted) -> None:
    """Show which stage of retrieval lost relevant chunks.

    Stages are search, ranking, filter and prompt. For each stage: the share of samples with a relevant chunk,
    and the share of relevant chunks. For each relevant chunk that the model did not receive: the stage that
    lost it. For each search: its new relevant chunks. Relevant chunks are the samples' reference_context_ids,
    or reference_contexts: chunks, or quotes from them.
    """
    study = study_funnel(Run.load(run))
    output.show(funnel_tables(study), plot=partial(_draw_funnel, study))


def abstention(
    run: RunFolder,
    output: StudyOutput,
    *,
    metric: str | None = None,
    cluster: str | None = None,
) -> None:
    """Cross declining with sufficiency of the contexts.

    Reports the four cells: answered or declined, with contexts that are sufficient or not; then needless
    refusals and risky answers, with intervals. Needs the metric abstention, or sufficiency and a metric that
    asks whether answers decline.

    Args:
        metric: Metric whose mean each cell shows, such as factual_correctness.
        cluster: Label whose values group dependent samples, such as source. Default: session, if samples have
            it; none treats all samples as independent.
    """
    scores = read_scores(Run.load(run))
    output.show(abstention_tables(study_abstention(scores, metric=metric, cluster=cluster)))


def items(
    runs: Runs,
    output: StudyOutput,
    *,
    metric: str = "factual_correctness",
    pass_: float = 0.5,
    by: str | None = None,
    question: str | None = None,
) -> None:
    """Show which samples tell systems apart.

    Fits the two-parameter model of item response theory: each system passes or fails each sample. Reports
    discrimination, difficulty and information of each sample, and each system's ability. Samples that the
    better systems fail often have a wrong reference.

    Args:
        runs: Folder of a run for each system, of the same samples; or one run with --by.
        metric: Metric that says whether a system passes.
        pass_: Lowest passing score.
        by: Label that names the system, if one run has several.
        question: With --by: label that identifies the question. Default: the question's text.
    """
    if by is not None and len(runs) > 1:
        raise ConfigError("--by is for one run with several systems; without it each run is a system")
    if question is not None and by is None:
        raise ConfigError("--question needs --by: several runs are matched by their samples' ids")
    systems = open_runs(runs)
    if by is not None:
        systems = [system for system, _ in systems_of(systems[0], {}, by, question=question)]
    study = study_items(systems, metric=metric, passing=pass_)
    output.show(item_tables(study), short=item_tables(study, most=10))


study = typer.Typer(help="Analyze scores: groups, comparisons, agreement with people.")
add_commands(study, groups, compare, agreement, correlations, pairwise, systems, estimate)
add_commands(
    study, calibrate, plan, repeats, trend, retriever, funnel, abstention, items, annotate, annotations
)


def _samples(path: Path) -> list[Sample]:
    samples: list[Sample] = []
    for row in Run.load(path).samples() if path.is_dir() else read_samples(path):
        if not isinstance(row, Sample):
            raise ConfigError(f"{path}: {row.where}: {row.message}")
        samples.append(row)
    return samples


def _by_label(data: Iterable[Path], by: str) -> dict[str, list[Sample]]:
    """The samples of each retriever, matched by question because ids are unique in a file."""
    by_name: dict[str, dict[str, Sample]] = {}
    for sample in (sample for path in data for sample in _samples(path)):
        name = label_in(grouping_labels(sample), by)
        if name is None:
            raise ConfigError(f"sample {sample.id!r} has no label {by!r}")
        question = sample.question or sample.id
        if question in by_name.setdefault(str(name), {}):
            raise ConfigError(f"retriever {name} has the question {question!r} twice")
        by_name[str(name)][question] = sample.model_copy(update={"id": question})
    if not by_name:
        raise ConfigError("there are no samples")
    return {name: list(samples.values()) for name, samples in by_name.items()}


def _draw_trend(study: Trend, path: Path) -> None:
    signs = {"better": " ▲", "worse": " ▼"}
    signatures = list(dict.fromkeys(point.metric for point in study.points))
    panels: dict[str, list[tuple[str, Estimate]]] = {}
    for point in study.points:
        label = f"{point.run}{signs.get(point.verdict, '')}"
        panels.setdefault(short(point.metric, signatures), []).append((label, point.mean))
    draw_intervals(panels, path, title="Over the runs", axis="mean")


def _draw_retrieval(study: RetrievalStudy, path: Path) -> None:
    points = [(accuracy.retriever, accuracy.k, accuracy.share) for accuracy in study.accuracies]
    draw_shares(points, path, title="Accuracy at k", axes=("k", "accuracy"))


def _draw_funnel(study: Funnel, path: Path) -> None:
    rows = [(" ".join(filter(None, (stage.stage, stage.component))), stage.recall) for stage in study.stages]
    draw_intervals({"recall": rows}, path, title="Relevant chunks, stage by stage", axis="share")
