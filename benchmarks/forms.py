"""How often a model's replies are in the form that was asked for, by prompt, and what its scores are worth.

Run: python -m benchmarks.forms --judge MODEL@URL --out FOLDER [--each 100] [--held-to text] [--beside OTHER]

A run that was stopped goes on where it was. `--beside` compares with what another call, with another version
of this library or without a schema, left in its folder on the same items: areas under the curve, paired.

The sets are looked for in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.small_model_sets import SETS
from benchmarks.truth import SHARED
from ragmetrics_core import Run, evaluate
from ragmetrics_core.models import OpenAIJudge

# Short texts, so that a small model on one core reads them.
METRICS = {
    "turns": ("faithfulness", "faithfulness/paper", "groundedness_rating"),
    "evouna": ("factual_correctness", "factual_correctness/paper", "answer_accuracy"),
}


def main() -> None:
    """Measure, and print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", required=True, help="the model and its server: MODEL@URL")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--each", type=int, default=100, help="how many items of each set")
    parser.add_argument("--held-to", default="json_schema", choices=["text", "json_object", "json_schema"])
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--only", choices=sorted(METRICS), help="one of the sets")
    parser.add_argument("--metric", action="append", help="one of a set's metrics; or several")
    parser.add_argument("--beside", type=Path, help="the folder of another call")
    given = parser.parse_args()
    model, _, url = given.judge.partition("@")
    judge = OpenAIJudge(model, base_url=url, max_tokens=given.max_tokens, response_format=given.held_to)
    for name in [given.only] if given.only else METRICS:
        rows = [dict(row) for row in SETS[name].rows(SHARED, given.each)]
        metrics = [metric for metric in METRICS[name] if not given.metric or metric in given.metric]
        evaluate(
            rows,
            metrics=metrics,
            judge=judge,
            out=given.out / name,
            concurrency=given.concurrency,
            timeout=900,
            attempts=2,
        )
        good = {str(row["id"]): SETS[name].good(row) for row in rows}
        folders = [given.out / name, *([given.beside / name] if given.beside else [])]
        runs = [Run.load(folder) for folder in folders]
        _print_forms(name, runs[0])
        for metric in metrics:
            _print_areas(name, metric if "/" in metric else f"{metric}/strict.1", good, runs)


def _print_forms(name: str, run: Run) -> None:
    """By prompt: the share of replies that was read at first asking, after one more, and never."""
    counts: Counter[tuple[str, str]] = Counter()
    for record in run.records():
        steps = list(record.generate_steps)
        for step, following in zip_longest(steps, steps[1:]):
            if step.again:
                continue
            when = "first"
            if following is not None and following.again:
                when = "again" if following.rule != "unread" else "never"
            elif step.rule == "unread":
                when = "never"
            counts[step.prompt, when] += 1
    for prompt in sorted({prompt for prompt, _ in counts}):
        total = sum(counts[prompt, when] for when in ("first", "again", "never"))
        shares = [f"{when} {counts[prompt, when] / total:6.1%}" for when in ("first", "again", "never")]
        print(f"{name:8} {prompt:26} n {total:4}  {'  '.join(shares)}")


def _print_areas(name: str, metric: str, good: Mapping[str, bool], runs: Sequence[Run]) -> None:
    """The area under the curve of a metric, and the paired difference from another run's."""
    values = [
        {record.sample_id: record.value for record in run.records() if record.signature == metric}
        for run in runs
    ]
    scored = [item for item in good if all(each.get(item) is not None for each in values)]
    labels = np.array([good[item] for item in scored], dtype=bool)
    if len(set(labels.tolist())) < 2:
        print(f"{name:8} {metric}: n {len(scored)}, no good and bad ones to compare")
        return
    scores = [np.array([each[item] for item in scored], dtype=float) for each in values]
    draws = np.random.default_rng(1).integers(0, max(1, len(scored)), (2000, len(scored)))
    drawn = np.array([[_area(labels[some], each[some]) for each in scores] for some in draws])
    low, high = np.nanpercentile(drawn[:, 0], [2.5, 97.5])
    print(f"{name:8} {metric}: n {len(scored)}, area {_area(labels, scores[0]):.2f} ({low:.2f}, {high:.2f})")
    if len(runs) > 1:
        gains = drawn[:, 0] - drawn[:, 1]
        low, high = np.nanpercentile(gains, [2.5, 97.5])
        gain = _area(labels, scores[0]) - _area(labels, scores[1])
        print(f"{name:8} {metric}: gain over the other {gain:+.2f} ({low:+.2f}, {high:+.2f})")


def _area(good: Any, scores: Any) -> float:
    """The share of pairs, one good and one bad, that the scores order rightly; ties are half."""
    pairs = scores[good][:, None] - scores[~good][None, :]
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean()) if pairs.size else float("nan")


if __name__ == "__main__":
    main()
