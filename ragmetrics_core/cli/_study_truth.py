"""Where the commands of the study learn which answers are correct: a label of the run, or a file."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import Label
from ragmetrics_core.study import (
    LabelledUnit,
    Scores,
    consensus_of,
    good_values,
    is_good,
    label_names,
    labelled_correct,
    likert_threshold,
    on_unit_scale,
    read_labels,
    rule_of,
    scale_of,
    units_of,
)
from ragmetrics_core.wording import number_of

__all__ = [
    "Adjudicator",
    "Agreed",
    "ConsensusRule",
    "CorrectFrom",
    "FileLabelName",
    "Labelling",
    "Labels",
    "Scale",
    "Source",
    "agreed_values",
    "correct_answers",
    "on_one_scale",
    "people_values",
    "scale_ends",
    "units_of_file",
]

LabelName = Annotated[
    str | None,
    typer.Option("--label", help="A label of the run's samples, or with --labels one of the file."),
]
FileLabelName = Annotated[
    str | None, typer.Option("--label", help="Which label of the file. Without it: the only one that it has.")
]
Labels = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS",
        help="What people said: CSV or JSON lines with sample_id, annotator, value.",
        show_default=False,
    ),
]
LabelFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels",
        help="What people said: CSV or JSON lines with sample_id, annotator, value (and label). One for each "
        "run in their order, or one for all.",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(help="Ends of the labels' scale, such as 1:5. Needed where the labels do not tell it."),
]
Adjudicator = Annotated[
    str | None, typer.Option(help="The annotator who decides where the others have no majority.")
]
ConsensusRule = Annotated[
    Literal["majority", "mean", "median"] | None,
    typer.Option(
        "--consensus",
        help="What makes the consensus. Without it: the mean of graded numbers, and the majority of all else "
        "and where there is an adjudicator.",
        show_default=False,
    ),
]
CorrectFrom = Annotated[
    float | None,
    typer.Option(help="From which number on an answer is correct. On a scale of 1 to 5 without it: 4."),
]

Value = bool | float | str


class Labelling(NamedTuple):
    """How a file of labels is read."""

    label: FileLabelName = None
    adjudicator: Adjudicator = None
    consensus: ConsensusRule = None


class Source(NamedTuple):
    """Where it stands what people said of the samples of runs."""

    label: LabelName = None
    labels: LabelFiles = None
    adjudicator: Adjudicator = None
    consensus: ConsensusRule = None

    @property
    def labelling(self) -> Labelling:
        """How the files are read."""
        return Labelling(self.label, self.adjudicator, self.consensus)

    def files(self, count: int) -> Sequence[Path | None]:
        """The file of each run: one for all, or one for each in their order; none without files.

        Raises:
            ConfigError: there are neither one nor as many files as runs.
        """
        given = self.labels or ()
        if len(given) not in (0, 1, count):
            raise ConfigError(
                f"{len(given)} files of --labels for {count} runs: give one, or one for each run in order"
            )
        if not given:
            return [None] * count
        return given if len(given) == count else [*given] * count


class Agreed(NamedTuple):
    """What annotators agree on by sample id, the label's name, and all that they said of it."""

    values: dict[str, Value]
    name: str
    said: list[Value]


class Truth(NamedTuple):
    """Which answers are correct, by sample id, and what that is called."""

    correct: Mapping[str, bool]
    name: str


def correct_answers(scores: Scores, source: Source, labels: Path | None, correct_from: float | None) -> Truth:
    """Which answers are correct, by a label of the run or by the consensus of a file."""
    if labels is None:
        name = source.label or "correct"
        return Truth(labelled_correct(scores, name, at_least=correct_from), name)
    values, name, said = agreed_values(scores, labels, source.labelling)
    at_least = likert_threshold(said) if correct_from is None else correct_from
    return Truth(good_values({**values}, name, at_least=at_least), name)


def agreed_values(scores: Scores, labels: Path, how: Labelling) -> Agreed:
    """For each sample of the run what the annotators agree on; remarks tell what is left out."""
    name, units = units_of_file(labels, how.label)
    known = {unit: votes for unit, votes in units.items() if unit.sample_id in scores.labels}
    if not known:
        raise ConfigError(f"no labelled sample of {labels} is in {scores.name}")
    if lacking := len(units) - len(known):
        remarks().print(f"{lacking} labelled samples are not in {scores.name} and are left out")
    said = [value for votes in known.values() for value in votes.values()]
    rule = how.consensus or rule_of(said, adjudicator=how.adjudicator)
    agreed = consensus_of(known, adjudicator=how.adjudicator, rule=rule)
    if still_open := sum(each.value is None for each in agreed.values()):
        remarks().print(
            number_of(still_open, "sample has no majority and is", "samples have no majority and are")
            + " left out; such are hard to judge (ragmetrics study agreement lists them)"
        )
    values = {unit.sample_id: each.value for unit, each in agreed.items() if each.value is not None}
    return Agreed(values, name, said)


def units_of_file(labels: Path, label: str | None) -> tuple[str, dict[LabelledUnit, dict[str, Value]]]:
    """What each annotator said of each whole sample of a file, and what that label is called.

    Raises:
        ConfigError: the file has several labels and none is named, or none of that name.
    """
    read = read_labels(labels)
    first, *others = known = label_names(read)
    if label is None and others:
        raise ConfigError(f"{labels} has several labels ({', '.join(known)}): name one with --label")
    name = label or first
    if name not in known:
        raise ConfigError(f"{labels} has no label {name!r}; it has {', '.join(known)}")
    return name, {unit: votes for unit, votes in units_of(read, name).items() if unit.statement is None}


def scale_ends(known: Sequence[Agreed], scale: str | None) -> tuple[float, float]:
    """The ends of the scale of labels: those that were named, else those that the labels tell.

    Raises:
        ConfigError: `scale` is none, or is not given and the labels do not tell it.
    """
    if scale is None:
        return scale_of([value for each in known for value in each.said])
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
    return [
        dict(zip(each.values, on_unit_scale(list(each.values.values()), scale=ends), strict=True))
        for each in known
    ]


def people_values(scores: Scores, source: Source, labels: Path | None) -> dict[str, float]:
    """What people said of each sample as a number, by a label of the run or by the consensus of a file.

    Raises:
        ConfigError: there is no such label, or a value is a text.
    """
    said: Mapping[str, Label]
    if labels is not None:
        said = agreed_values(scores, labels, source.labelling).values
    elif source.label is None:
        raise ConfigError("say what people said: --label NAME of the run's samples, or --labels FILE")
    else:
        said = {each: of.get(source.label) for each, of in scores.labels.items()}
    if all(value is None for value in said.values()):
        raise ConfigError(
            f"no sample of {scores.name} has the label {source.label!r}; labels are: {scores.label_names}"
        )
    numbers: dict[str, float] = {}
    for sample_id, value in said.items():
        number = is_good(value) if isinstance(value, str) else value
        if number is not None:
            numbers[sample_id] = float(number)
        elif value is not None:
            raise ConfigError(f"the label of {sample_id} is {value!r}, neither a number nor yes or no")
    return numbers
