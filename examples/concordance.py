"""How likely an answer is correct where metrics are high, and wrong where they are low.

    python examples/concordance.py RUN... [--label correct] [--labels FILE] [--above 0.7] [--below 0.3]

Table 4 and equations (1) and (2) of Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873: for each
metric alone and for all together, by direct count with Wilson's interval and through Bayes' formula. Which
answers are correct a label of the run says, or with --labels the consensus of people. Where lower is better
the complement is held to the thresholds: "1 - hallucination". It needs scipy.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.study import (
    Estimate,
    Scores,
    consensus_of,
    good_values,
    labelled_correct,
    likert_threshold,
    read_labels,
    read_scores,
    read_units,
)

stats: Any = import_module("scipy.stats")  # it ships no types


class Conditional(NamedTuple):
    """The share of correct (or wrong) answers among those whose metrics are all above (or below) thresholds.

    Attributes:
        probability: what the share estimates: "P(correct | above)".
        metrics: their names.
        thresholds: one for each metric.
        share: of the selected answers, by direct count; None where nothing is selected.
        bayes: the same through Bayes' formula, as the paper writes it.
        selected: how many answers the thresholds select.
        n: how many answers there are: those with a label and a value of every metric.
    """

    probability: str
    metrics: str
    thresholds: str
    share: Estimate
    bayes: float | None
    selected: int
    n: int

    def __str__(self) -> str:
        """A line of the table."""
        at = self.thresholds and f" at {self.thresholds}"
        bayes = "" if self.bayes is None else f"{self.bayes:.3f}"
        selected = f"{self.selected} of {self.n}"
        return (
            f"{self.probability:<19} {self.share!s:<21} {bayes:<6} {selected:<9} {self.metrics}{at}".rstrip()
        )


def share_of(flags: Sequence[bool]) -> Estimate:
    """A share with Wilson's interval."""
    if not flags:
        return Estimate(None)
    interval = stats.binomtest(sum(flags), len(flags)).proportion_ci(method="wilson")
    return Estimate(sum(flags) / len(flags), float(interval.low), float(interval.high))


def by_bayes(selected: Sequence[bool], wanted: Sequence[bool]) -> float | None:
    r"""Equation (1) of the paper: the share of wanted answers among the selected ones.

    .. math:: P(c \mid m_1 > \theta_1; m_2 > \theta_2)
        = \frac{P(m_1 > \theta_1; m_2 > \theta_2 \mid c) \, P(c)}{P(m_1 > \theta_1; m_2 > \theta_2)}

    Undefined (`None`) when nothing is selected. When nothing is wanted it is 0.
    """
    if not any(selected) or not any(wanted):
        return 0.0 if any(selected) else None
    of_wanted = [is_in for is_in, is_wanted in zip(selected, wanted, strict=True) if is_wanted]
    n = len(wanted)
    return (sum(of_wanted) / len(of_wanted)) * (sum(wanted) / n) / (sum(selected) / n)


def concordance(
    scores: Scores,
    correct: Mapping[str, bool],
    *,
    metrics: Sequence[str] = ("faithfulness", "factual_correctness"),
    above: Sequence[float] = (0.7,),
    below: Sequence[float] = (0.3,),
) -> Iterator[Conditional]:
    """The share of correct answers, then that above and of wrong ones below, by metric and for all.

    Args:
        scores: the run.
        correct: which answers are correct, by sample id.
        metrics: one or several.
        above: thresholds that scores must exceed, one for all metrics or one for each.
        below: thresholds that scores must stay below, likewise.

    Raises:
        ConfigError: a metric is unknown, the thresholds are not as many, or no sample has values and a label.
    """
    signatures = [scores.metric(name) for name in metrics]
    columns = [scores.oriented(metric, signatures) for metric in signatures]
    ids = [
        sample
        for sample in scores.samples
        if sample in correct and all(sample in column.values for column in columns)
    ]
    if not ids:
        raise ConfigError(f"no sample of {scores.name} has a label and a value of {', '.join(metrics)}")
    truth = [correct[sample] for sample in ids]
    n, places = len(ids), range(len(columns))
    yield Conditional("P(correct)", "", "", share_of(truth), None, n, n)
    sides = ("P(correct | above)", above, 1, truth), ("P(wrong | below)", below, -1, [not of for of in truth])
    for probability, given, sign, wanted in sides:
        if len(given) not in (1, len(columns)):
            raise ConfigError(f"{len(given)} thresholds for {len(columns)} metrics: give one, or one each")
        at = [*given] * (len(columns) if len(given) == 1 else 1)
        for part in [*([place] for place in places), *([[*places]] if len(columns) > 1 else [])]:
            selected = [
                all(sign * columns[place].values[sample] > sign * at[place] for place in part)
                for sample in ids
            ]
            inside = [is_wanted for is_wanted, is_in in zip(wanted, selected, strict=True) if is_in]
            names = " and ".join(columns[place].name for place in part)
            thresholds = ", ".join(f"{at[place]:g}" for place in part)
            bayes = by_bayes(selected, wanted)
            yield Conditional(probability, names, thresholds, share_of(inside), bayes, len(inside), n)


def main() -> None:
    """Read the runs and print the table of each."""
    parser = argparse.ArgumentParser(description="How likely an answer is correct when its scores are high.")
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--label")
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--good", default="", help="label values that count as good: fine,ok")
    parser.add_argument("--adjudicator")
    parser.add_argument("--correct-from", type=float)
    parser.add_argument("--metrics", default="faithfulness,factual_correctness")
    parser.add_argument("--above", type=thresholds, default="0.7")
    parser.add_argument("--below", type=thresholds, default="0.3")
    given = parser.parse_args()
    try:
        for path in given.runs:
            print_table(path, given)
    except RagMetricsError as error:
        parser.error(str(error))


def thresholds(text: str) -> list[float]:
    """What `--above` and `--below` say: "0.7" or "0.7,0.5"."""
    return [float(part) for part in text.split(",")]


def print_table(path: Path, given: argparse.Namespace) -> None:
    """Read a run and the labels, and print its table."""
    scores = read_scores(Run.load(path))
    good = [value.strip() for value in given.good.split(",") if value.strip()]
    if given.labels is None:
        label = given.label or "correct"
        correct = labelled_correct(scores, label, at_least=given.correct_from, good=good)
        if left_out := len(scores.samples) - len(correct):
            print(f"{left_out} samples without a decision in the label {label!r} are left out")
    else:
        read = read_units(read_labels(given.labels), given.label, good=good)
        for note in read.notes:
            print(note)
        agreed = consensus_of(read.units, adjudicator=given.adjudicator)
        known = {unit.sample_id: one.value for unit, one in agreed.items() if one.value is not None}
        at_least = given.correct_from or likert_threshold([*known.values()])
        correct = good_values(known, read.label, at_least=at_least)
    print(scores.name)
    metrics = given.metrics.split(",")
    for line in concordance(scores, correct, metrics=metrics, above=given.above, below=given.below):
        print(line)


if __name__ == "__main__":
    main()
