"""Sets that people labelled, as samples and labels for `ragmetrics study`.

    python examples/people_sets.py mtrag mtrag_human.jsonl OUT
    python examples/people_sets.py ragchecker ragchecker_pairs.jsonl OUT

`mtrag` writes OUT/mtrag.jsonl (the answers of several models) and OUT/mtrag_labels.csv: what three people
each said of their faithfulness, from 1 to 4 (Katsis et al. 2025, https://arxiv.org/abs/2501.03468).
`ragchecker` writes OUT/a.jsonl and OUT/b.jsonl, two systems' answers to the same questions, and
OUT/preferences.csv: which of the two two people prefer, from -2 to 2 (Ru et al. 2024,
https://arxiv.org/abs/2408.08067).
"""

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def mtrag(rows: Iterable[Mapping[str, Any]], out: Path) -> None:
    """Answers with the model and the task as labels, and each rater's faithfulness."""
    samples: list[dict[str, Any]] = []
    labels: list[Sequence[object]] = []
    for row in rows:
        texts = {name: row[name] for name in ("id", "question", "answer", "contexts", "reference")}
        samples.append({**texts, "model": row["model"], "task": row["task_id"]})
        for rater, value in row["human_ratings"]["faithfulness"].items():
            if value is not None:
                labels.append((row["id"], rater, value))
    _write_samples(out / "mtrag.jsonl", samples)
    _write_labels(out / "mtrag_labels.csv", labels)


def ragchecker(rows: Iterable[Mapping[str, Any]], out: Path) -> None:
    """Two systems' answers under the same ids, and each person's preference."""
    first: list[dict[str, Any]] = []
    second: list[dict[str, Any]] = []
    labels: list[Sequence[object]] = []
    for row in rows:
        shared = {name: row[name] for name in ("id", "question", "reference")}
        first.append({**shared, "answer": row["answer"], "model": row["model"]})
        second.append({**shared, "answer": row["answer_b"], "model": row["model_b"]})
        for number, value in enumerate(row["preference_overall"], start=1):
            labels.append((row["id"], f"person {number}", value))
    _write_samples(out / "a.jsonl", first)
    _write_samples(out / "b.jsonl", second)
    _write_labels(out / "preferences.csv", labels)


def _write_samples(path: Path, samples: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in samples), encoding="utf-8"
    )


def _write_labels(path: Path, labels: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("sample_id", "annotator", "value"))
        writer.writerows(labels)


SETS = {"mtrag": mtrag, "ragchecker": ragchecker}


def main() -> None:
    """Read a set and write its samples and labels."""
    if len(sys.argv) != 4 or sys.argv[1] not in SETS:
        sys.exit(f"usage: python examples/people_sets.py {'|'.join(SETS)} DATA.jsonl OUT")
    lines = Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
    SETS[sys.argv[1]](map(json.loads, lines), Path(sys.argv[3]))


if __name__ == "__main__":
    main()
