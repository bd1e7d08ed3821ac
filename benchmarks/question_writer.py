"""Candidates of a test set, without checks: one question for each of some passages.

    python -m benchmarks.question_writer DOCUMENTS.jsonl FOLDER --judge openai:MODEL@URL --per source=20
    ragmetrics questions check FOLDER/candidates.jsonl --corpus DOCUMENTS.jsonl --out FOLDER/checked \
        --judge embedded --leave-out question_quality,closed_book_accuracy

The passages and briefs are those of the first round of `ragmetrics questions`. `candidates.jsonl` has the
questions whose quotes are in the documents. The same command resumes, and it may be stopped at any time: then
`--stopped` takes the questions that were written so far.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ragmetrics_core import evaluate
from ragmetrics_core.models.judges import judge_by_name
from ragmetrics_core.models.names import read_options
from ragmetrics_core.questions import Corpus, find_quotes, read_corpus, written_in
from ragmetrics_core.questions._settings import settings_of
from ragmetrics_core.questions._tasks import Task, Tasks
from ragmetrics_core.runs import Run

__all__ = ["candidates", "first_tasks"]


def first_tasks(corpus: Corpus, label: str, count: int, seed: int = 0) -> list[Task]:
    """The writing tasks of the first round, in which each passage is used once at most."""
    settings = settings_of(corpus.digest, "", "", {label: count}, {"seed": seed}, redacted=False)
    passages = sorted(corpus.passages(), key=lambda each: (each.document, each.start))
    return Tasks(corpus, passages, settings).next_round(())


def candidates(tasks: Iterable[Task], run: Run, corpus: Corpus) -> Iterator[dict[str, Any]]:
    """The written questions whose quotes are in the documents, as rows."""
    finished = {sample.id for sample in run.samples()}
    for task in tasks:
        near = [passage.document for passage in task.passages]
        for record in run.scores(task.sample.id).values() if task.sample.id in finished else ():
            for number, written in enumerate(written_in(record)):
                quotes, missing = find_quotes(written.quotes, corpus, near)
                if quotes and not missing:
                    yield {
                        "id": f"{task.sample.id}-{number}",
                        "question": written.question,
                        "reference": written.answer,
                        "reference_contexts": [quote.text for quote in quotes],
                        "reference_context_ids": [quote.document for quote in quotes],
                    }


def main() -> None:
    """Write the candidates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", type=Path, help="documents, as for `ragmetrics questions`")
    parser.add_argument("folder", type=Path, help="folder for the run and the candidates")
    parser.add_argument("--judge", required=True, help="name of the model that writes")
    parser.add_argument("--judge-option", action="append", default=[], help="as for `ragmetrics questions`")
    parser.add_argument("--per", required=True, metavar="LABEL=N", help="number of questions for each value")
    parser.add_argument("--stopped", action="store_true", help="only take what was written")
    given = parser.parse_args()
    label, _, number = given.per.partition("=")
    corpus = read_corpus(given.documents)
    tasks = first_tasks(corpus, label, int(number))
    place = given.folder / "written"
    run = Run.load(place) if given.stopped else evaluate(
        [task.sample for task in tasks],
        metrics="question_writing",
        judge=judge_by_name(given.judge, options=read_options(given.judge_option)),
        out=place,
        cache=given.folder / "journal.sqlite",
        concurrency=1,
        timeout=900,
    )  # fmt: skip
    rows = list(candidates(tasks, run, corpus))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (given.folder / "candidates.jsonl").write_text("".join(lines), encoding="utf-8")
    print(
        f"{len(tasks)} tasks, {sum(1 for _ in run.samples())} done, {len(rows)} questions with found quotes"
    )


if __name__ == "__main__":
    main()
