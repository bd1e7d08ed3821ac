"""Relevance judgements from a judge: the grades of several runs, pooled, as gains of `ndcg`.

    python examples/pooled_grades.py RUN... OUT

Each run has the metric `relevance_grade` and answers the same questions with a retriever of its own. The
grades of all of them are pooled by question and passage, as TREC pools the results of its participants, and
become the `reference_contexts` and `reference_context_grades` of every sample. A file for each run goes to
the folder OUT; the printed nDCG of each retriever knows what the others found. A passage that two runs grade
differently has the mean of the grades.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from ragmetrics_core import Run, Sample, evaluate

__all__ = ["pooled", "with_pool"]

METRIC = "relevance_grade"
NDCG = "ndcg(match=text)"


def pooled(runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    """The grade of each passage, by question."""
    grades: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for record in run.records(METRIC):
            sample = run.sample(record.sample_id)
            for rank, text in enumerate(sample.contexts or (), start=1):
                grade = record.counts.get(f"grade_{rank}")
                if grade is not None and sample.question is not None and text.strip():
                    grades[sample.question][text].append(grade)
    return {
        question: {text: fmean(given) for text, given in of_question.items()}
        for question, of_question in grades.items()
    }


def with_pool(run: Run, pool: Mapping[str, Mapping[str, float]]) -> list[Sample]:
    """The samples of a run with the relevant passages of the pool."""
    samples: list[Sample] = []
    for sample in run.samples():
        relevant = {text: grade for text, grade in pool.get(sample.question or "", {}).items() if grade > 0}
        changed = {
            "reference_contexts": tuple(relevant),
            "reference_context_grades": tuple(relevant.values()),
            "reference_context_ids": None,
        }
        samples.append(Sample.model_validate({**sample.model_dump(), **changed}))
    return samples


def main(folders: Sequence[str], out: Path) -> None:
    """Pool the grades of the runs, write the samples, print each retriever's nDCG."""
    runs = {Path(folder).name: Run.load(folder) for folder in folders}
    pool = pooled(list(runs.values()))
    out.mkdir(parents=True, exist_ok=True)
    for name, run in runs.items():
        samples = with_pool(run, pool)
        lines = [sample.model_dump_json(exclude_none=True) for sample in samples]
        (out / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        ranked = evaluate(samples, metrics=NDCG)
        values = [record.value for record in ranked.records() if record.value is not None]
        mean = f"{fmean(values):.3f}" if values else "-"
        print(f"{name}: {NDCG} {mean} over {len(values)} of {len(samples)} questions")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("usage: python examples/pooled_grades.py RUN... OUT")
    main(sys.argv[1:-1], Path(sys.argv[-1]))
