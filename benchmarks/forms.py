"""How often the replies of a model are in the form that was asked for, by prompt; and what the scores are worth.

Run: python -m benchmarks.forms --judge openai:MODEL@URL --out FOLDER [--each 100] [--held-to text] [--beside OTHER]

A run that was stopped goes on where it was. `--beside` compares with what another call, with another version of
this library or without a schema, left in its folder on the same items: areas under the curve, paired.

The sets are looked for in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.small_model_sets import SETS
from benchmarks.truth import SHARED
from ragmetrics_core import Run, evaluate
from ragmetrics_core.models import OpenAIJudge

# Short texts, so that a small model on one core reads them; both kinds of form, and every answer type.
WAYS = {
    "turns": ["faithfulness", "faithfulness/paper", "groundedness_rating", "context_relevance"],
    "evouna": ["factual_correctness", "factual_correctness/paper", "answer_accuracy", "answer_relevance/paper"],
}
Rows = list[dict[str, Any]]


def main() -> None:
    """Measure, print the tables, and keep them beside the runs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", required=True, help="MODEL@URL")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--each", type=int, default=100, help="how many items of each set")
    parser.add_argument("--held-to", default="json_schema", choices=["text", "json_object", "json_schema"])
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--only", help="one of the sets")
    parser.add_argument("--metric", action="append", help="one of a set's metrics; or several")
    parser.add_argument("--beside", type=Path)
    given = parser.parse_args()
    model, _, url = given.judge.removeprefix("openai:").partition("@")
    judge = OpenAIJudge(model, base_url=url, max_tokens=given.max_tokens, response_format=given.held_to)
    for name in [given.only] if given.only else WAYS:
        rows = [dict(row) for row in SETS[name].rows(SHARED, given.each)]
        out = given.out / name
        metrics = [metric for metric in WAYS[name] if not given.metric or metric in given.metric]
        evaluate(
            rows, metrics=metrics, judge=judge, embedder="embedded", out=out,
            concurrency=given.concurrency, timeout=900, attempts=2,
        )  # fmt: skip
        run = Run.load(out)
        _print_forms(name, run)
        good = {str(row["id"]): SETS[name].good(row) for row in rows}
        for metric in metrics[:2]:
            other = Run.load(given.beside / name) if given.beside else None
            _print_areas(name, metric, good, run, other)


def _print_forms(name: str, run: Run) -> None:
    """By prompt: the share that was read at first asking, after one more, and never."""
    first: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    never: Counter[str] = Counter()
    seen: set[tuple[str, str, int]] = set()
    for record in run.records():
        steps = [step for step in record.generate_steps if step.prompt]
        for step in steps:
            if step.again or (key := (step.rendered_digest, step.reply_digest, step.draw)) in seen:
                continue
            seen.add(key)
            prompt = step.prompt
            first[prompt] += 1
            later = [each for each in steps if each.again and each.path.startswith(step.path.rpartition(".")[0])]
            is_read = step.rule != "unread" and not getattr(step, "objections", ()) and not later
            whole[prompt] += is_read
            never[prompt] += not is_read and not any(each.rule != "unread" for each in later)
    for prompt, count in sorted(first.items()):
        again = count - whole[prompt] - never[prompt]
        print(
            f"{name:8} {prompt:26} n {count:4}  first {whole[prompt] / count:6.1%}  "
            f"again {again / count:6.1%}  never {never[prompt] / count:6.1%}"
        )
    statuses = {metric: dict(Counter(record.status for record in run.records() if record.signature.startswith(f"{metric}/"))) for metric in {record.metric for record in run.records()}}
    print(json.dumps(statuses))


def _print_areas(name: str, metric: str, good: dict[str, bool], run: Run, other: Run | None) -> None:
    """The area under the curve of a metric, and the paired difference from another run's."""
    runs = [each for each in (run, other) if each is not None]
    full = metric if "/" in metric else f"{metric}/strict.1"
    values = [{r.sample_id: r.value for r in each.records() if r.signature.startswith(full)} for each in runs]
    both = [i for i in good if all(each.get(i) is not None for each in values)]
    labels = np.array([good[i] for i in both])
    scores = [np.array([each[i] for i in both]) for each in values]
    areas = [_area(labels, each) for each in scores]
    generator = np.random.default_rng(1)
    drawn = []
    for _ in range(2000):
        some = generator.integers(0, len(both), len(both)) if both else np.array([], dtype=int)
        found = [_area(labels[some], each[some]) for each in scores]
        drawn.append(found[0] - found[1] if len(found) > 1 else found[0])
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    what = "area" if other is None else f"area {areas[0]:.3f} beside {areas[1]:.3f}, gain"
    print(f"{name:8} {full}: n {len(both)}, {what} {areas[0] - areas[1] if other else areas[0]:.3f} ({low:.3f}, {high:.3f})")


def _area(good: Any, scores: Any) -> float:
    """The share of pairs, one good and one bad, that the scores order rightly; ties are half."""
    pairs = scores[good][:, None] - scores[~good][None, :]
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean()) if pairs.size else float("nan")


if __name__ == "__main__":
    main()
