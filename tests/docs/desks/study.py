"""There are runs to compare, labels of people, and what their sheets exported."""

import json
import shutil
from pathlib import Path

from ragmetrics_core import Run, evaluate
from ragmetrics_core.study import items_of

DATA = "examples/data/telecom.jsonl"
METRICS = [
    "faithfulness",
    "factual_correctness",
    "answer_relevance",
    "answer_similarity",
    "context_relevance",
    "answer_correctness",
]


def given():
    run = evaluate(DATA, metrics=METRICS, judge="embedded", embedder="embedded", out="runs/base")
    for name in ("a", "b", "tuned"):
        shutil.copytree("runs/base", f"runs/{name}")
    for name in ("branch", "main"):
        grounded(f"runs/{name}")
    for name in ("bge", "bge-ft"):
        shutil.copy(DATA, f"{name}.jsonl")
    labels = [
        f"{sample_id},{annotator},{4 if run.sample(sample_id).labels['correct'] else 2}"
        for sample_id in run.sample_ids
        for annotator in ("ann", "bob", "zoe")
    ]
    Path("labels.csv").write_text("\n".join(["sample_id,annotator,value", *labels]))
    sheet = items_of({name: Run.load(f"runs/{name}") for name in ("base", "tuned")}, limit=50)
    for annotator in ("ann", "bob"):
        items = [
            {
                "item": item.item,
                "rating": 4,
                "metrics": [
                    {
                        "metric": "faithfulness/strict.1",
                        "statements": [{"number": 1, "extracted": True, "verdict": True}],
                    }
                ],
            }
            for item in sheet.items
        ]
        export = {
            "format": "ragmetrics-annotations",
            "version": 1,
            "annotator": annotator,
            "seed": 0,
            "items": items,
        }
        Path(f"{annotator}.json").write_text(json.dumps(export))
    return {}


def grounded(out):
    """A run whose answers are supported, so that it passes its threshold."""
    lines = Path(DATA).read_text(encoding="utf-8").splitlines()
    right = [row for row in map(json.loads, lines) if row["kind"] == "right"]
    evaluate(right, metrics="faithfulness", judge="embedded", out=out)


def then(names, page):
    # the two runs are the same
    assert (names["found"].metrics[0].verdict, names["found"].metrics[0].difference.value) == (
        "cannot tell",
        0.0,
    )
    # `annotations --apply` corrected what both people would change
    corrected = Run.load("runs/base")
    assert any(record.corrections for record in corrected.records())
    assert Path("sheet.html").is_file()
