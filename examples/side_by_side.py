"""Ways of retrieving, compared on the same questions: what the examples of all frameworks share.

Each way answers every question; the answers are scored into a run of their own, and each run is compared
with the first one, sample by sample. The difference comes with its 95% interval: "cannot tell" is the honest
verdict for most differences on a handful of questions. `ragmetrics study compare` prints the same.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.study import compare_runs, read_scores

__all__ = ["METRICS", "compare"]

METRICS = ["context_recall", "context_precision", "context_relevance", "faithfulness", "factual_correctness"]


def compare(ways: Mapping[str, Sequence[Sample]], *, out: Path) -> None:
    """Score the answers of each way, and print how each differs from the first.

    Args:
        ways: the samples by the name of the way: the same questions with the same ids.
        out: where the runs' folders go.
    """
    runs = {
        name: evaluate(samples, metrics=METRICS, judge="embedded", out=out / name, overwrite=True)
        for name, samples in ways.items()
    }
    scores = {name: read_scores(run, name=name) for name, run in runs.items()}
    first, *others = scores
    for name in others:
        print(f"\n{name} against {first}")
        print(
            f"  {'metric':<32}{first[:12]:>13}{name[:12]:>13}{'difference':>12}  {'95% interval':<18}verdict"
        )
        for each in compare_runs(scores[first], scores[name]).metrics:
            low, high = each.difference.low, each.difference.high
            interval = "-" if low is None or high is None else f"{low:+.2f} to {high:+.2f}"
            numbers = (each.before.value, each.after.value, each.difference.value)
            before, after, difference = ("-" if value is None else f"{value:.2f}" for value in numbers)
            print(f"  {each.metric:<32}{before:>13}{after:>13}{difference:>12}  {interval:<18}{each.verdict}")
        print(f"  more: ragmetrics study compare {out / first} {out / name} --trace 3")
