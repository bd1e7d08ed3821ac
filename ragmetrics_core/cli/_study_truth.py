"""Where the commands of the study learn which answers are correct: a label of the run, or a file."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.sample import Label
from ragmetrics_core.study import (
    LabelledUnit,
    Rule,
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
    "LabelFile",
    "LabelFiles",
    "LabelName",
    "Labels",
    "Scale",
    "Truth",
    "agreed_values",
    "correct_answers",
    "labels_of_runs",
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
    str | None,
    typer.Option("--label", help="Which label of the file. Without it: the only one that it has."),
]
Labels = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS",
        help="What people said: CSV or JSON lines with sample_id, annotator, value.",
        show_default=False,
    ),
]
LabelFile = Annotated[
    Path | None,
    typer.Option(
        "--labels", help="What people said: CSV or JSON lines with sample_id, annotator, value (and label)."
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


Units = dict[LabelledUnit, dict[str, bool | float | str]]


class Agreed(NamedTuple):
    """What annotators agree on by sample id, the label's name, and all that they said of it."""

    values: dict[str, bool | float | str]
    name: str
    said: list[bool | float | str]


class Truth(NamedTuple):
    """Which answers are correct, by sample id, and what that is called."""

    correct: Mapping[str, bool]
    name: str


def correct_answers(
    scores: Scores,
    *,
    label: str | None,
    labels: Path | None,
    adjudicator: str | None,
    correct_from: float | None,
    consensus: Rule | None = None,
) -> Truth:
    """Which answers are correct, by a label of the run or by the consensus of a file."""
    if labels is None:
        name = label or "correct"
        return Truth(labelled_correct(scores, name, at_least=correct_from), name)
    values, name, said = agreed_values(
        scores, labels, label=label, adjudicator=adjudicator, consensus=consensus
    )
    at_least = likert_threshold(said) if correct_from is None else correct_from
    named: dict[str, Label] = dict(values)
    return Truth(good_values(named, name, at_least=at_least), name)


def agreed_values(
    scores: Scores,
    labels: Path,
    *,
    label: str | None,
    adjudicator: str | None,
    consensus: Rule | None = None,
) -> Agreed:
    """For each sample of the run what the annotators agree on; remarks tell what is left out."""
    name, units = units_of_file(labels, label)
    known = {unit: said for unit, said in units.items() if unit.sample_id in scores.labels}
    if not known:
        raise ConfigError(f"no labelled sample of {labels} is in {scores.name}")
    if len(known) < len(units):
        remarks().print(
            f"{len(units) - len(known)} labelled samples are not in {scores.name} and are left out"
        )
    said = [value for values in known.values() for value in values.values()]
    rule = consensus or rule_of(said, adjudicator=adjudicator)
    agreed = consensus_of(known, adjudicator=adjudicator, rule=rule)
    still_open = sum(each.value is None for each in agreed.values())
    if still_open:
        remarks().print(
            number_of(still_open, "sample has no majority and is", "samples have no majority and are")
            + " left out; such are hard to judge (ragmetrics study agreement lists them)"
        )
    values = {unit.sample_id: each.value for unit, each in agreed.items() if each.value is not None}
    return Agreed(values, name, said)


def units_of_file(labels: Path, label: str | None) -> tuple[str, Units]:
    """What each annotator said of each whole sample of a file, and what that label is called.

    Raises:
        ConfigError: the file has several labels and none is named, or none of that name.
    """
    read = read_labels(labels)
    names = label_names(read)
    first, *others = names
    if label is None and others:
        raise ConfigError(f"{labels} has several labels ({', '.join(names)}): name one with --label")
    name = label or first
    if name not in names:
        raise ConfigError(f"{labels} has no label {name!r}; it has {', '.join(names)}")
    return name, {unit: said for unit, said in units_of(read, name).items() if unit.statement is None}


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


def people_values(
    scores: Scores,
    *,
    label: str | None,
    labels: Path | None,
    adjudicator: str | None = None,
    consensus: Rule | None = None,
) -> dict[str, float]:
    """What people said of each sample as a number, by a label of the run or by the consensus of a file.

    Raises:
        ConfigError: there is no such label, or a value is a text.
    """
    if labels is None:
        if label is None:
            raise ConfigError("say what people said: --label NAME of the run's samples, or --labels FILE")
        said: Mapping[str, Label] = {each: of.get(label) for each, of in scores.labels.items()}
        if all(value is None for value in said.values()):
            raise ConfigError(
                f"no sample of {scores.name} has the label {label!r}; labels are: {scores.label_names}"
            )
    else:
        said = agreed_values(scores, labels, label=label, adjudicator=adjudicator, consensus=consensus).values
    found: dict[str, float] = {}
    for sample_id, value in said.items():
        number = is_good(value) if isinstance(value, str) else value
        if number is not None:
            found[sample_id] = float(number)
        elif value is not None:
            raise ConfigError(f"the label of {sample_id} is {value!r}, neither a number nor yes or no")
    return found


def labels_of_runs(runs: Sequence[Path], labels: Sequence[Path]) -> list[Path | None]:
    """The file of labels of each run: one for all, or one for each in their order; none without files.

    Raises:
        ConfigError: there are neither one nor as many files as runs.
    """
    if not labels:
        return [None] * len(runs)
    if len(labels) not in (1, len(runs)):
        raise ConfigError(
            f"{len(labels)} files of --labels for {len(runs)} runs: give one, or one for each run in order"
        )
    return [*labels] * (len(runs) if len(labels) == 1 else 1)
