"""Human labels: labels of a run, files of labels, and annotation sheets."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.cli._study_output import Runs, Seed, StudyOutput, Wanted
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report.annotation_sheet import sheet_html
from ragmetrics_core.report.study_files import csv_text
from ragmetrics_core.runs import Run
from ragmetrics_core.samples import Label
from ragmetrics_core.study import (
    LabelKind,
    LabelledUnits,
    Scores,
    annotation_tables,
    consensus_of,
    items_of,
    judge_accuracy,
    named_runs,
    on_unit_scale,
    plain_table,
    ratings_of,
    read_annotations,
    read_labels,
    read_units,
    reading_of,
    rule_of,
    scale_of,
    verdict_changes,
)
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "Labelling",
    "Labels",
    "PeopleLabels",
    "Source",
    "annotate",
    "annotations",
    "good_values_in",
    "on_one_scale",
    "scale_ends",
]

Labels = Annotated[
    Path,
    typer.Argument(
        help="File of labels: columns sample_id, annotator, value; or sample_id, 'rater 1', 'rater 2'."
    ),
]
Value = bool | float | str
Good = Annotated[str | None, typer.Option(metavar="VALUES")]


class Agreed(NamedTuple):
    """Consensus of the annotators by sample id, the label's name, and all its values."""

    values: dict[str, Value]
    name: str
    said: list[Value]


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """Settings for reading a file of labels.

    Attributes:
        label: Label to use. Default: the file's only label.
        good: Label values that count as good, separated by commas: fine,ok. All others are then bad.
        adjudicator: Annotator who decides if the others have no majority.
        consensus: Rule for the consensus. Default: the mean for graded numbers; the majority for all other
            labels, or with --adjudicator.
    """

    label: str | None = None
    good: Good = None
    adjudicator: str | None = None
    consensus: Literal["majority", "mean", "median"] | None = None

    def units(self, labels: Path, kinds: Sequence[LabelKind] = ("truth", "rating")) -> LabelledUnits:
        """The label of a file, with each annotator's value for each whole sample.

        Remarks say how words are read.

        Raises:
            ConfigError: the file has several labels and none is named, lacks the named one, or has words that
                are neither good nor bad.
        """
        try:
            read = read_units(read_labels(labels), self.label, good=good_values_in(self.good), kinds=kinds)
        except ConfigError as error:
            raise ConfigError(f"{labels}: {error}") from error
        for note in read.notes:
            remarks().print(note)
        of_samples = {unit: votes for unit, votes in read.units.items() if unit.statement is None}
        return read._replace(units=of_samples)

    def agreed(self, scores: Scores, labels: Path) -> Agreed:
        """The annotators' consensus on each sample of the run; remarks list what is left out."""
        read = self.units(labels)
        units = read.units
        known = {unit: votes for unit, votes in units.items() if unit.sample_id in scores.labels}
        if not known:
            raise ConfigError(f"no labelled sample of {labels} is in {scores.name}")
        if lacking := len(units) - len(known):
            remarks().print(f"{lacking} labelled samples are not in {scores.name} and are left out")
        said = [value for votes in known.values() for value in votes.values()]
        rule = self.consensus or rule_of(said, adjudicator=self.adjudicator)
        consensus = consensus_of(known, adjudicator=self.adjudicator, rule=rule)
        values = {unit.sample_id: each.value for unit, each in consensus.items() if each.value is not None}
        if still_open := len(consensus) - len(values):
            remarks().print(
                number_of(still_open, "sample has no majority and is", "samples have no majority and are")
                + " left out; samples without a majority are hard to judge (see ragmetrics study agreement)"
            )
        return Agreed(values, read.label, said)


@dataclass(frozen=True, kw_only=True)
class Source(Labelling):
    """Source of the human labels on the samples of runs.

    Attributes:
        label: Label to use: of the run's samples, or with --labels of the file.
        good: Label values that count as good, separated by commas: fine,ok. All others are then bad.
        labels: Annotations as CSV or JSON Lines: sample_id, annotator, value, and optionally label. Give one
            file for all runs, or one for each run in the same order. Can be repeated.
    """

    label: str | None = None
    labels: list[Path] | None = None

    def files(self, count: int) -> Sequence[Path | None]:
        """The file of each run: one for all, or one for each in order; None if there are no files.

        Raises:
            ConfigError: the number of files is neither 1 nor the number of runs.
        """
        given: Sequence[Path | None] = self.labels or [None]
        if len(given) not in (1, count):
            raise ConfigError(
                f"{len(given)} files of --labels for {count} runs: give one, or one for each run in order"
            )
        return given if len(given) == count else [*given] * count

    def numbers(self, scores: Scores, file: Path | None) -> dict[str, float]:
        """The human label of each sample as a number, from a label of the run or the consensus of a file.

        Raises:
            ConfigError: there is no such label, or a value is a text.
        """
        good = good_values_in(self.good)
        if file is not None:
            return {name: float(value) for name, value in self.agreed(scores, file).values.items()}
        if self.label is None:
            raise ConfigError("give the labels: --label NAME of the run's samples, or --labels FILE")
        said: Mapping[str, Label] = {
            sample: labels.get(self.label) for sample, labels in scores.labels.items()
        }
        if all(value is None for value in said.values()):
            raise ConfigError(
                f"no sample of {scores.name} has the label {self.label!r}; labels are: {scores.label_names}"
            )
        reading = reading_of(self.label, said.values(), good=good)
        for note in reading.notes(said.values()):
            remarks().print(note)
        meanings = {sample_id: reading.value(value) for sample_id, value in said.items()}
        return {sample_id: float(value) for sample_id, value in meanings.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class PeopleLabels(Labelling):
    """People's labels of the samples of runs, on one scale.

    Attributes:
        label: Label to use. Default: the only label of the file of --people.
        people: Compare how people would rate the systems, from labels of some samples and the scores of all:
            a file of labels (sample_id, annotator, value), or a label of the samples. Give one for all runs,
            or one for each run in the same order. Can be repeated.
        scale: Minimum and maximum label, such as 1:5. Required if the labels do not show it.
    """

    label: str | None = None
    people: list[str] | None = None
    scale: str | None = None

    def of_runs(self, runs: Sequence[Scores]) -> list[dict[str, float]]:
        """The labels of each run as numbers from 0 to 1.

        Raises:
            ConfigError: there are neither one nor as many as runs, one file is for several runs that share
                ids, or a label is missing or not a number.
        """
        given = self.people or []
        if len(given) not in (1, len(runs)):
            raise ConfigError(
                f"{len(given)} values of --people for {len(runs)} runs: give one, or one for each run"
            )
        ids = [sample_id for run in runs for sample_id in run.samples]
        if len(given) < len(runs) and _is_file(given[0]) and len(set(ids)) < len(ids):
            raise ConfigError(
                f"the runs share sample ids, so that {given[0]} does not say whose answers it labels: give "
                "--people once for each run, in the same order"
            )
        return on_one_scale(
            [self._agreed(*pair) for pair in zip(runs, given * (len(runs) // len(given)), strict=True)],
            self.scale,
        )

    def _agreed(self, scores: Scores, source: str) -> Agreed:
        if _is_file(source):
            return self.agreed(scores, Path(source))
        numbers = Source(label=source, good=self.good).numbers(scores, None)
        return Agreed({**numbers}, source, [*numbers.values()])


def _is_file(source: str) -> bool:
    return bool(Path(source).suffix) or Path(source).is_file()


def good_values_in(text: str | None) -> tuple[str, ...]:
    """The values of --good.

    Raises:
        ConfigError: it has none.
    """
    if text is None:
        return ()
    values = tuple(filter(None, (value.strip() for value in text.split(","))))
    if not values:
        raise ConfigError(f"--good takes label values such as fine,ok, not {text!r}")
    return values


def scale_ends(known: Sequence[Agreed], scale: str | None) -> tuple[float, float]:
    """The minimum and maximum of the labels' scale, from `scale` or else from the labels.

    Raises:
        ConfigError: `scale` is malformed, or is not given and the labels do not determine it.
    """
    if scale is None:
        return scale_of([value for agreed in known for value in agreed.said])
    low, _, high = scale.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise ConfigError(f"--scale takes LOW:HIGH such as 1:5, not {scale!r}") from None
    if not (ends[0] < ends[1] and isfinite(ends[1] - ends[0])):
        raise ConfigError(f"--scale takes LOW:HIGH with LOW below HIGH, not {scale!r}")
    return ends


def on_one_scale(known: Sequence[Agreed], scale: str | None) -> list[dict[str, float]]:
    """The consensus as numbers from 0 to 1, all on one scale; see `scale_ends`."""
    ends = scale_ends(known, scale)
    numbers = [on_unit_scale(list(agreed.values.values()), scale=ends) for agreed in known]
    return [dict(zip(each.values, row, strict=True)) for each, row in zip(known, numbers, strict=True)]


def annotate(
    runs: Runs,
    *,
    out: Path,
    metrics: Wanted = None,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    seed: Seed = 0,
    title: str = "Answers to judge",
) -> None:
    """Write an HTML sheet on which people annotate answers.

    The sheet needs no network. Questions come in random order; the answers of several runs are blinded and
    shuffled. Annotators rate each answer from 1 to 5 and can correct each statement and verdict of the judge.
    The sheet exports JSON for `ragmetrics study annotations`.

    Args:
        out: HTML file to write.
        metrics: Metrics whose statements and verdicts to show, separated by commas. Default: all.
        limit: Use only N questions, drawn at random.
        seed: Random seed; the same seed gives the same order of questions.
        title: Title of the sheet.
    """
    opened = {name: Run.load(path) for name, path in named_runs(runs).items()}
    sheet = items_of(opened, metrics=metrics, limit=limit, seed=seed)
    write_whole(out, sheet_html(sheet, title=title))
    remarks().print(f"{number_of(len(sheet.items), 'answer')} to judge in {out}")


def annotations(
    run: Path,
    exports: list[Path],
    output: StudyOutput,
    *,
    beside: list[Path] | None = None,
    labels: Path | None = None,
    apply: bool = False,
) -> None:
    """Import annotations from a sheet.

    Reports ratings, corrections, and the accuracy of the judge, separately for its extraction of statements
    and its verdicts. --apply corrects each verdict that more than half of its annotators would change; the
    records keep both decisions.

    Args:
        run: Folder of the run.
        exports: Files that the sheet exported, one per annotator.
        beside: Another run on the same sheet, if run folders share a name. Can be repeated.
        labels: Write the ratings to this .csv or .jsonl file, as labels for study agreement and estimate.
        apply: Correct the run's verdicts and recompute its scores.
    """
    if labels is not None and labels.suffix not in (".csv", ".jsonl"):
        raise ConfigError(f"--labels takes a .csv or .jsonl file, not {labels}")
    name = next(iter(named_runs([run, *(beside or ())])))
    opened = Run.load(run)
    mine = {name: opened}
    read = [read_annotations(path) for path in exports]
    ratings = [label for _, label in ratings_of(mine, read)]
    changes = list(verdict_changes(mine, read))
    accuracy = judge_accuracy(mine, read)
    if not ratings and not accuracy:
        raise ConfigError(
            f"{exports[0]} has no annotation of {run}: the folder must have the name that is on the sheet"
        )
    if labels is not None:
        columns = "sample_id", "annotator", "label", "value"
        rows = [(unit.sample_id, *said) for unit, *said in ratings]
        if labels.suffix == ".csv":
            text = csv_text(plain_table("labels", "Ratings", columns, rows))
        else:
            text = "".join(f"{json.dumps(dict(zip(columns, row, strict=True)))}\n" for row in rows)
        write_whole(labels, text)
        remarks().print(f"{len(ratings)} ratings written to {labels}")
    if apply:
        means = {mean.metric: mean.value for mean in opened.means()}
        for _, unit, decision, who in changes:
            assert unit.metric is not None
            assert unit.statement is not None
            opened.correct(unit.sample_id, unit.metric, unit.statement, decision, by=who)
        remarks().print(f"{number_of(len(changes), 'verdict')} corrected")
        for mean in opened.means():
            if mean.value != (before := means[mean.metric]):
                was, now = ("none" if value is None else f"{value:.3f}" for value in (before, mean.value))
                remarks().print(f"{mean.metric}: mean {was} before, {now} after")
    output.show(annotation_tables(accuracy, len(changes), len(ratings)))
