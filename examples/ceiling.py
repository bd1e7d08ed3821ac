"""What a judge can reach: how far each person agrees with the others, and metrics with the same people.

    python examples/ceiling.py LABELS [RUN] [--label NAME] [--good fine,ok]

LABELS is a file as `ragmetrics study agreement` takes it. Each person is held to the mean of
the others; so are the metrics, once for each person who is left out, for otherwise a judge would be compared
with more people than a person is. Spearman's correlation; samples are drawn whole for the intervals. It needs
scipy.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from ragmetrics_core import Run
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.study import Estimate, correlate, read_labels, read_scores, read_units

POOLED = "people, each against the others"


def ceilings(
    votes: Mapping[str, Mapping[str, float]], columns: Mapping[str, Mapping[str, float]]
) -> dict[str, Estimate]:
    """Spearman's correlation with the mean of all people but one: of each person, of all, of each metric.

    Args:
        votes: for each sample what each person said.
        columns: for each metric its values by sample.
    """
    pairs = [
        (sample, who, own, fmean(value for other, value in said.items() if other != who))
        for sample, said in votes.items()
        for who, own in said.items()
        if len(said) > 1
    ]
    own = {
        who: [pair for pair in pairs if pair[1] == who] for who in dict.fromkeys(pair[1] for pair in pairs)
    }
    of_metrics = {
        name: [(sample, who, column[sample], others) for sample, who, _, others in pairs if sample in column]
        for name, column in columns.items()
    }
    figures: dict[str, Estimate] = {}
    for name, known in {**own, POOLED: pairs, **of_metrics}.items():
        samples, _, values, others = zip(*known, strict=True)
        figures[name] = correlate(values, others, clusters=samples).spearman
    return figures


def main() -> None:
    """Read the files and print a line for each."""
    parser = argparse.ArgumentParser(description="People against people, and metrics against people.")
    parser.add_argument("labels", type=Path)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--label")
    parser.add_argument("--good", default="", help="label values that count as good: fine,ok")
    given = parser.parse_args()
    good = [value.strip() for value in given.good.split(",") if value.strip()]
    try:
        units = read_units(read_labels(given.labels), given.label, good=good).units
    except ConfigError as error:
        parser.error(str(error))
    votes = {
        unit.sample_id: {who: float(value) for who, value in said.items()}
        for unit, said in units.items()
        if unit.statement is None
    }
    columns: Mapping[str, Mapping[str, float]] = {}
    if given.run is not None:
        columns = read_scores(Run.load(given.run)).values
    for name, figure in ceilings(votes, columns).items():
        print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
