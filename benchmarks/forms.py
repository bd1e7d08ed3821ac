"""Share of a model's replies in the form of their prompt, and the worth of its scores.

Run: python -m benchmarks.forms --judge MODEL@URL --out FOLDER [--each 100] [--held-to text] [--beside OTHER]
     [--keep NAME]

A run that was stopped goes on where it was. `--keep` writes the figures under a name of the model to
docs/small_model/forms.json, from which docs/judges.py writes a table. `--beside` compares with what another
call, with another version of this library or without a schema, left in its folder on the same items: areas
under the curve, paired.

The sets are looked for in $RAGMETRICS_SHARED/data or ../shared/data beside the checkout.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

if not __package__:  # run as a file: the folder above must be importable
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.small_model_sets import SETS
from benchmarks.truth import ROOT, SHARED
from ragmetrics_core import Record, Run, evaluate, prompts
from ragmetrics_core.models import OpenAIJudge
from ragmetrics_core.parsers import Expected
from ragmetrics_core.parsers._deviations import conformed
from ragmetrics_core.parsers._reply import bodies, json_value
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.records import GenerateStep

KEPT = ROOT / "docs" / "small_model" / "forms.json"
Figures = dict[str, Any]
PROMPTS = {each.name: each for each in vars(prompts).values() if isinstance(each, Prompt)}
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
    parser.add_argument("--keep", metavar="NAME", help="keep the figures for the page, under this name")
    parser.add_argument("--beside", type=Path, help="the folder of another call")
    given = parser.parse_args()
    model, _, url = given.judge.partition("@")
    judge = OpenAIJudge(model, base_url=url, max_tokens=given.max_tokens, response_format=given.held_to)
    forms: list[Figures] = []
    areas: list[Figures] = []
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
        forms += _forms(name, runs[0])
        for metric in metrics:
            areas += _areas(name, metric if "/" in metric else f"{metric}/strict.1", good, runs)
    if given.keep:
        _keep(given.keep, given.held_to, forms, areas)


def _keep(model: str, held_to: str, forms: Sequence[Figures], areas: Sequence[Figures]) -> None:
    """Replace the figures of a model with a constraint."""
    kept: list[Figures] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    others = [each for each in kept if (each["model"], each["held_to"]) != (model, held_to)]
    others.append({"model": model, "held_to": held_to, "forms": forms, "areas": areas})
    KEPT.write_text(json.dumps(others, indent=1) + "\n", encoding="utf-8")


def _forms(name: str, run: Run) -> Iterator[Figures]:
    """By prompt: the share of replies that was read at first asking, after one more, and never."""
    counts: Counter[tuple[str, str]] = Counter()
    deviations: Counter[tuple[str, str]] = Counter()
    for record in run.records():
        steps = list(record.generate_steps)
        deviations.update((step.prompt, each) for step in steps for each in _deviations(record, step))
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
        yield {
            "set": name,
            "prompt": prompt,
            **{when: counts[prompt, when] for when in ("first", "again", "never")},
            "deviations": {each: n for (of, each), n in sorted(deviations.items()) if of == prompt},
        }
        print(f"{name:8} {prompt:26} n {total:4}  {'  '.join(shares)}")


def _deviations(record: Record, step: GenerateStep) -> Iterator[str]:
    """The accepted deviations of a reply from its form."""
    text = (record.prompts or {})[step.prompt_digest]
    if step.rule != "json":
        return
    if step.reply.strip()[:1] not in "{[":
        yield "text around the object"
    value = json_value(next(body for body in bodies(step.reply) if body))
    schema = PROMPTS[text.name].answer.reply_schema(Expected(form=text.user))
    if isinstance(value, list):
        yield "a bare list"
    elif conformed(value, schema) != value:
        yield "a value in other writing"


def _areas(name: str, metric: str, good: Mapping[str, bool], runs: Sequence[Run]) -> Iterator[Figures]:
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
    area = _area(labels, scores[0])
    print(f"{name:8} {metric}: n {len(scored)}, area {area:.2f} ({low:.2f}, {high:.2f})")
    figures = {"set": name, "metric": metric, "n": len(scored), "area": f"{area:.2f} ({low:.2f}, {high:.2f})"}
    if len(runs) > 1:
        gains = drawn[:, 0] - drawn[:, 1]
        low, high = np.nanpercentile(gains, [2.5, 97.5])
        gain = area - _area(labels, scores[1])
        figures["gain"] = f"{gain:+.2f} ({low:+.2f}, {high:+.2f})"
        print(f"{name:8} {metric}: gain over the other {figures['gain']}")
    yield figures


def _area(good: Any, scores: Any) -> float:
    """The share of pairs, one good and one bad, that the scores order rightly; ties are half."""
    pairs = scores[good][:, None] - scores[~good][None, :]
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean()) if pairs.size else float("nan")


if __name__ == "__main__":
    main()
