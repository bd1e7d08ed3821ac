"""Accuracy at k of retrievers: how often a right passage is among the first k, and which retriever is better.

    python examples/retrievers.py DATA... [-k 1,3,5]

Table 1 of Roychowdhury et al. (2024), https://arxiv.org/abs/2407.12873, from ids alone: DATA are files (or
runs) of the same samples with `context_ids` and `reference_context_ids`, one for each retriever, the
baseline first. The accuracy at k is the metric `hit_rate@k`, whose mean has Wilson's interval; each retriever
is compared with the baseline on the questions that both have, which for yes and no is McNemar's exact test.
It needs scipy.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragmetrics_core import Run, evaluate
from ragmetrics_core.study import Estimate, PairedMetric, compare_runs, named_runs, read_scores, study_groups


def accuracies(
    data: Sequence[Path], ks: Sequence[int]
) -> Iterator[tuple[str, int, Estimate, int, PairedMetric | None]]:
    """Each retriever at each k: its accuracy, of how many questions, compared with the first one."""
    metrics = [f"hit_rate@{k}" for k in ks]
    runs = [
        read_scores(
            evaluate(Run.load(path).samples() if path.is_dir() else str(path), metrics=metrics), name=name
        )
        for name, path in named_runs(data).items()
    ]
    for run in runs:
        means = study_groups([run]).measured
        compared = [None for _ in ks] if run is runs[0] else compare_runs(runs[0], run).metrics
        for k, mean, versus in zip(ks, means, compared, strict=True):
            yield run.name, k, mean.interval, len(mean.values), versus


def main() -> None:
    """Read the files and print a line for each retriever and k."""
    parser = argparse.ArgumentParser(description="How often a right passage is among the first k.")
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("-k", default="1,3,5")
    given = parser.parse_args()
    for name, k, accuracy, n, versus in accuracies(given.data, [int(k) for k in given.k.split(",")]):
        line = f"{name}  k={k}  {accuracy}  n {n}"
        if versus is not None:
            p = "none" if versus.holm is None else f"{versus.holm:.3f}"
            line += f"  {versus.difference:+z.3f}  changed {versus.passes.changed}  p {p}  {versus.verdict}"
        print(line)


if __name__ == "__main__":
    main()
