"""The studies of runs: `ragmetrics study groups`, `trend`, `repeats` and others; the list of all studies."""

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
    correlations,
    estimate,
    pairwise,
    plan,
    systems,
)
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._plots import draw_groups, draw_intervals
from ragmetrics_core.runs import Run, read_samples
from ragmetrics_core.samples import Sample
from ragmetrics_core.study import (
    Estimate,
    Funnel,
    RetrievalStudy,
    Trend,
    first_hits,
    funnel_tables,
    group_tables,
    named_runs,
    read_scores,
    repeat_tables,
    retrieval_tables,
    short,
    study_funnel,
    study_groups,
    study_repeats,
    study_retrieval,
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


def retriever(
    data: list[Path],
    output: Plotted,
    *,
    k: Annotated[str, typer.Option("-k", "--k")] = "1,3,5",
    by: str | None = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
) -> None:
    """Tell the accuracy at k of retrievers, from ids, with intervals and paired tests.

    A question counts as right when one of its reference_context_ids is among the first k context_ids.

    Args:
        data: A file of samples or a run for each retriever, the baseline first.
        k: How many results count.
        by: One file or run with several retrievers: the label that names them.
    """
    parts = [part.strip() for part in k.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError(f"{k!r} is no list of numbers of results: write 1,3,5")
    if by is None:
        samples = {name: _samples(path) for name, path in named_runs(data).items()}
    else:
        samples = _by_label(data, by)
    retrievers = [first_hits(name, rows) for name, rows in samples.items()]
    study = study_retrieval(retrievers, ks=sorted(set(map(int, parts))), alpha=alpha, seed=seed)
    output.show(retrieval_tables(study), plot=partial(_draw_retrieval, study))


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
add_commands(study, plan, repeats, trend, retriever, funnel, annotate, annotations)


def _samples(path: Path) -> list[Sample]:
    samples: list[Sample] = []
    for row in Run.load(path).samples() if path.is_dir() else read_samples(path):
        if not isinstance(row, Sample):
            raise ConfigError(f"{path}: {row.where}: {row.message}")
        samples.append(row)
    return samples


def _by_label(data: Iterable[Path], by: str) -> dict[str, list[Sample]]:
    """The samples of each retriever; what they share is the question, for ids are used once in a file."""
    by_name: dict[str, dict[str, Sample]] = {}
    for sample in (sample for path in data for sample in _samples(path)):
        name = sample.labels.get(by)
        if name is None:
            raise ConfigError(f"sample {sample.id!r} has no label {by!r}")
        question = sample.question or sample.id
        if question in by_name.setdefault(str(name), {}):
            raise ConfigError(f"the retriever {name} has the question {question!r} twice")
        by_name[str(name)][question] = sample.model_copy(update={"id": question})
    if not by_name:
        raise ConfigError("there is no sample")
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
