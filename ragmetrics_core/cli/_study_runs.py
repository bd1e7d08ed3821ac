"""The studies of runs: `ragmetrics study groups`, `trend`, `repeats` and `retriever`."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ragmetrics_core.cli._arguments import RunFolder
from ragmetrics_core.cli._study_output import Alpha, Cluster, Runs, Seed, StudyAnswer, Wanted, open_runs
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._plots import draw_curves, draw_groups, draw_intervals
from ragmetrics_core.runs import Run, read_samples
from ragmetrics_core.samples import Sample
from ragmetrics_core.study import (
    Estimate,
    RetrievalStudy,
    Trend,
    first_hits,
    group_tables,
    named_runs,
    read_scores,
    repeat_tables,
    retrieval_tables,
    short,
    study_groups,
    study_repeats,
    study_retrieval,
    study_trend,
    trend_tables,
)

__all__ = ["groups", "repeats", "retriever", "trend"]


def groups(
    runs: Runs,
    by: Annotated[
        str | None, typer.Option(help="The label that makes the groups, such as retrieval_correct.")
    ] = None,
    metrics: Wanted = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="The run that every other one is compared with; added if it is not given."),
    ] = None,
    one_sided: Annotated[
        bool,
        typer.Option(
            "--one-sided", help="Test good above bad where a label's two values mean that, as the paper does."
        ),
    ] = False,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
) -> StudyAnswer:
    """Compare means: between values of a label, and between runs.

    Mean (s.d.) and n for each metric and group, Welch's t-test (two-sided, unless --one-sided), the
    Mann-Whitney test, Holm's adjustment over all tests and effect sizes. Marked in colour is what got better
    or worse against the baseline.
    """
    given = list(runs)
    if baseline is not None and baseline.resolve() not in {path.resolve() for path in given}:
        given.insert(0, baseline)
    opened = open_runs(given)
    of_path = {path.resolve(): scores.name for path, scores in zip(given, opened, strict=True)}
    study = study_groups(
        opened,
        by=by,
        metrics=metrics,
        baseline=None if baseline is None else of_path[baseline.resolve()],
        alpha=alpha,
        one_sided=one_sided,
        cluster=cluster,
        seed=seed,
    )
    return StudyAnswer(group_tables(study), {"plot": partial(draw_groups, study)})


def trend(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Runs, the earliest first.")],
    metrics: Wanted = None,
    cluster: Cluster = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
) -> StudyAnswer:
    """Follow each metric over runs: means with intervals, and which changes are real.

    Each run is compared with the one before, sample by sample; p is adjusted for all changes of all metrics.
    """
    study = study_trend(open_runs(runs), metrics=metrics, cluster=cluster, alpha=alpha, seed=seed)
    return StudyAnswer(trend_tables(study), {"plot": partial(_draw_trend, study)})


def repeats(run: RunFolder, metrics: Wanted = None, seed: Seed = 0) -> StudyAnswer:
    """Tell how much of a score's variance is the judge's own, and on which verdicts its votes differ.

    For a run with --repeats or --full-repeats of 2 or more, or with a panel of judges.
    """
    opened = Run.load(run)
    known = read_scores(opened)
    chosen = None if metrics is None else [known.metric(name) for name in metrics]
    study = study_repeats(opened, metrics=chosen, seed=seed)
    return StudyAnswer(repeat_tables(study), short=repeat_tables(study, most=10))


def retriever(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA...",
            help="A file of samples or a run for each retriever, the baseline first.",
            show_default=False,
        ),
    ],
    k: Annotated[str, typer.Option("-k", "--k", help="How many results count.")] = "1,3,5",
    by: Annotated[
        str | None, typer.Option(help="One file or run with several retrievers: the label that names them.")
    ] = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
) -> StudyAnswer:
    """Tell the accuracy at k of retrievers, from ids, with intervals and paired tests.

    A question counts as right when one of its reference_context_ids is among the first k context_ids.
    """
    parts = [part.strip() for part in k.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError(f"{k!r} is no list of numbers of results: write 1,3,5")
    if by is None:
        samples: dict[str, Iterable[Sample]] = {
            name: _samples(path) for name, path in named_runs(data).items()
        }
    else:
        samples = _by_label(data, by)
    retrievers = [first_hits(name, each) for name, each in samples.items()]
    study = study_retrieval(retrievers, ks=sorted({int(part) for part in parts}), alpha=alpha, seed=seed)
    return StudyAnswer(retrieval_tables(study), {"plot": partial(_draw_retrieval, study)})


def _samples(path: Path) -> list[Sample]:
    if path.is_dir():
        return list(Run.load(path).samples())
    rows = list(read_samples(path))
    if bad := [row for row in rows if not isinstance(row, Sample)]:
        raise ConfigError(f"{path}: {bad[0].where}: {bad[0].message}")
    return [row for row in rows if isinstance(row, Sample)]


def _by_label(data: Iterable[Path], by: str) -> dict[str, Iterable[Sample]]:
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
    signatures = list(dict.fromkeys(each.metric for each in study.points))
    panels: dict[str, list[tuple[str, Estimate]]] = {}
    for each in study.points:
        label = f"{each.run}{signs.get(each.verdict, '')}"
        panels.setdefault(short(each.metric, signatures), []).append((label, each.mean))
    draw_intervals(panels, path, title="Over the runs", axis="mean")


def _draw_retrieval(study: RetrievalStudy, path: Path) -> None:
    curves: dict[str, list[tuple[float, float]]] = {}
    bands: dict[str, list[Any]] = {}
    for each in study.accuracies:
        value, low, high = (end or 0.0 for end in each.share)
        curves.setdefault(each.retriever, []).append((each.k, value))
        bands.setdefault(each.retriever, []).append((each.k, low, high))
    draw_curves(curves, path, title="Accuracy at k", axes=("k", "accuracy"), bands=bands)
