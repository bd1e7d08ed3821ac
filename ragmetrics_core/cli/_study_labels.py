"""What people said of samples: labels of a run, files of labels, and the sheets on which they say it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.cli._study_output import Runs, Seed, StudyOutput, Wanted
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._annotation_sheet import sheet_html
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._writing import write_whole
from ragmetrics_core.samples import Label
from ragmetrics_core.study import (
    LabelledUnit,
    Scores,
    annotation_tables,
    consensus_of,
    is_good,
    items_of,
    judge_accuracy,
    label_names,
    named_runs,
    on_unit_scale,
    ratings_of,
    read_annotations,
    read_labels,
    rule_of,
    scale_of,
    units_of,
    verdict_changes,
)
from ragmetrics_core.wording import number_of

__all__ = ["Labelling", "Labels", "Source", "annotate", "annotations", "on_one_scale", "scale_ends"]

Labels = Annotated[
    Path, typer.Argument(help="Labels: sample_id, annotator and value, or sample_id, 'rater 1', 'rater 2'.")
]
Value = bool | float | str


class Agreed(NamedTuple):
    """What annotators agree on by sample id, the label's name, and all that they said of it."""

    values: dict[str, Value]
    name: str
    said: list[Value]


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """How a file of labels is read.

    Attributes:
        label: Which label of the file. Without it: the only one that it has.
        adjudicator: The annotator who decides where the others have no majority.
        consensus: What makes the consensus. Without it: the mean of graded numbers, and the majority of all
            else and where there is an adjudicator.
    """

    label: str | None = None
    adjudicator: str | None = None
    consensus: Literal["majority", "mean", "median"] | None = None

    def units(self, labels: Path) -> tuple[str, dict[LabelledUnit, dict[str, Value]]]:
        """The label's name, and what each annotator said of each whole sample of a file.

        Raises:
            ConfigError: the file has several labels and none is named, or none of that name.
        """
        read = read_labels(labels)
        first, *others = known = label_names(read)
        if self.label is None and others:
            raise ConfigError(f"{labels} has several labels ({', '.join(known)}): name one with --label")
        name = self.label or first
        if name not in known:
            raise ConfigError(f"{labels} has no label {name!r}; it has {', '.join(known)}")
        return name, {unit: votes for unit, votes in units_of(read, name).items() if unit.statement is None}

    def agreed(self, scores: Scores, labels: Path) -> Agreed:
        """For each sample of the run what the annotators agree on; remarks tell what is left out."""
        name, units = self.units(labels)
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
                + " left out; such are hard to judge (ragmetrics study agreement lists them)"
            )
        return Agreed(values, name, said)


@dataclass(frozen=True, kw_only=True)
class Source(Labelling):
    """Where it stands what people said of the samples of runs.

    Attributes:
        label: A label of the run's samples, or with --labels one of the file.
        labels: What people said: CSV or JSON lines with sample_id, annotator, value (and label). One for each
            run in their order, or one for all.
    """

    label: str | None = None
    labels: list[Path] | None = None

    def files(self, count: int) -> Sequence[Path | None]:
        """The file of each run: one for all, or one for each in their order; none without files.

        Raises:
            ConfigError: there are neither one nor as many files as runs.
        """
        given: Sequence[Path | None] = self.labels or [None]
        if len(given) not in (1, count):
            raise ConfigError(
                f"{len(given)} files of --labels for {count} runs: give one, or one for each run in order"
            )
        return given if len(given) == count else [*given] * count

    def numbers(self, scores: Scores, file: Path | None) -> dict[str, float]:
        """What people said of each sample as a number, by a label of the run or by the consensus of a file.

        Raises:
            ConfigError: there is no such label, or a value is a text.
        """
        said: Mapping[str, Label]
        if file is not None:
            said = self.agreed(scores, file).values
        elif self.label is None:
            raise ConfigError("say what people said: --label NAME of the run's samples, or --labels FILE")
        else:
            said = {sample: labels.get(self.label) for sample, labels in scores.labels.items()}
        if all(value is None for value in said.values()):
            raise ConfigError(
                f"no sample of {scores.name} has the label {self.label!r}; labels are: {scores.label_names}"
            )
        numbers: dict[str, float] = {}
        for sample_id, value in said.items():
            number = is_good(value) if isinstance(value, str) else value
            if number is not None:
                numbers[sample_id] = float(number)
            elif value is not None:
                raise ConfigError(f"the label of {sample_id} is {value!r}, neither a number nor yes or no")
        return numbers


def scale_ends(known: Sequence[Agreed], scale: str | None) -> tuple[float, float]:
    """The ends of the scale of labels: those that were named, else those that the labels tell.

    Raises:
        ConfigError: `scale` is none, or is not given and the labels do not tell it.
    """
    if scale is None:
        return scale_of([value for agreed in known for value in agreed.said])
    low, _, high = scale.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise ConfigError(f"{scale!r} is no scale: write 1:5") from None
    if not (ends[0] < ends[1] and isfinite(ends[1] - ends[0])):
        raise ConfigError(f"the scale {scale} has no extent: write its lower end first")
    return ends


def on_one_scale(known: Sequence[Agreed], scale: str | None) -> list[dict[str, float]]:
    """What was agreed on as numbers from 0 to 1, all on one scale; see `scale_ends`."""
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
    """Write a sheet on which people judge answers; it needs no network.

    Questions come in random order, the answers of several runs blinded and shuffled. Each answer is rated
    from 1 to 5, and each statement and verdict of the judge can be corrected. The sheet exports JSON for
    `annotations`.

    Args:
        out: The HTML file to write.
        limit: Only N questions, drawn at random.
        title: The sheet's title.
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
    """Take in what people said on a sheet: how well the judge extracts and decides, ratings, corrections.

    Extraction and verdicts are told apart. --apply corrects each verdict that more than half of the
    people who looked at it would change; the records keep both decisions.

    Args:
        run: The run.
        exports: What the sheet exported, one file a person.
        beside: The other runs that were on the sheet, where their names were needed.
        labels: Write the ratings as labels for agreement and estimate (.jsonl).
        apply: Correct the run's verdicts; its scores are derived again.
    """
    name = next(iter(named_runs([run, *(beside or ())])))
    opened = Run.load(run)
    mine = {name: opened}
    read = [read_annotations(path) for path in exports]
    ratings = [label for _, label in ratings_of(mine, read)]
    changes = list(verdict_changes(mine, read))
    accuracy = judge_accuracy(mine, read)
    if not ratings and not accuracy:
        raise ConfigError(
            f"nothing in {exports[0]} is about {run}: it must have the folder's name that it had on the sheet"
        )
    if labels is not None:
        columns = "sample_id", "annotator", "label", "value"
        rows = [dict(zip(columns, (unit.sample_id, *said), strict=True)) for unit, *said in ratings]
        write_whole(labels, "".join(f"{json.dumps(row)}\n" for row in rows))
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
