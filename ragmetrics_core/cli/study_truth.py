"""Where the commands of the study learn which answers are correct: a label of the run, or a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from ragmetrics_core.cli.screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.sample import Label
from ragmetrics_core.study import (
    Rule,
    Scores,
    consensus_of,
    good_values,
    label_names,
    labelled_correct,
    likert_threshold,
    read_labels,
    rule_of,
    units_of,
)
from ragmetrics_core.wording import number_of

__all__ = [
    "Adjudicator",
    "Agreed",
    "ConsensusRule",
    "CorrectFrom",
    "LabelFile",
    "LabelName",
    "Truth",
    "agreed_values",
    "correct_answers",
]

LabelName = Annotated[
    str | None,
    typer.Option("--label", help="A label of the run's samples, or with --labels one of the file."),
]
FileLabelName = Annotated[
    str | None,
    typer.Option("--label", help="Which label of the file. Without it: the only one that it has."),
]
LabelFile = Annotated[
    Path | None,
    typer.Option(
        "--labels", help="What people said: CSV or JSON lines with sample_id, annotator, value (and label)."
    ),
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
    read = read_labels(labels)
    names = label_names(read)
    first, *others = names
    if label is None and others:
        raise ConfigError(f"{labels} has several labels ({', '.join(names)}): name one with --label")
    name = label or first
    if name not in names:
        raise ConfigError(f"{labels} has no label {name!r}; it has {', '.join(names)}")
    units = {unit: said for unit, said in units_of(read, name).items() if unit.statement is None}
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
