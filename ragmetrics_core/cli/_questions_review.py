"""Existing test sets: `ragmetrics questions audit`, `review`, `decisions`, `coverage` and `report`."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.cli._screen import page, remarks, show
from ragmetrics_core.cli._study_output import Seed, StudyOutput
from ragmetrics_core.questions import QuestionSet
from ragmetrics_core.questions.reviewing import (
    REVIEWED_FILE,
    coverage_of,
    coverage_tables,
    read_decisions,
    review_tables,
)
from ragmetrics_core.report.html import review_sheet, write_test_set_report
from ragmetrics_core.report.terminal import plain
from ragmetrics_core.texts.wording import number_of

__all__ = ["audit", "coverage", "decisions", "report", "review"]

Folder = Annotated[Path, typer.Argument(help="Folder of the test set.")]
Files = Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...")]


def review(
    folder: Folder,
    *,
    out: Path,
    sample: Annotated[int | None, typer.Option(min=1)] = None,
    seed: Seed = 0,
    annotator: str = "",
    title: str = "Questions to review",
) -> None:
    """Write an HTML sheet for the review of questions.

    A person accepts, edits or rejects each question. The sheet needs no network. It shows each question with
    its answer and its quotes in place, in random order. It exports JSON for `ragmetrics questions decisions`.

    Args:
        out: HTML file to write.
        sample: Use only N questions, drawn at random: a small sample estimates the share of good questions.
        seed: Random seed; the same seed draws the same questions.
        annotator: Name of the person, stored with each decision. Default: the sheet asks.
        title: Title of the sheet.
    """
    test_set = QuestionSet.read(folder)
    sheet = review_sheet(test_set, sample=sample, seed=seed, annotator=annotator, title=title)
    write_whole(out, sheet)
    count = len(test_set.checked) if sample is None else min(sample, len(test_set.checked))
    remarks().print(f"{number_of(count, 'question')} of {len(test_set.checked)} to review in {out}")


def decisions(folder: Folder, files: Files = None, *, output: StudyOutput) -> None:
    """Import decisions from review sheets.

    Reports the share of good questions with its interval. Rejected questions leave the test set, edited ones
    carry the edit. If annotators differ, the question stays as it is and is listed. The remaining questions
    are written to reviewed.jsonl in the folder, and questions.jsonl stays as the checks made it.

    Args:
        files: Files that the sheet exported. Without one, the command only reports.
    """
    test_set = QuestionSet.read(folder)
    read = [read_decisions(file) for file in files or ()]
    new = sum(len(test_set.decide(file)) for file in read)
    if read:
        remarks().print(
            f"{number_of(new, 'new decision')}; {number_of(len(test_set.questions), 'question')} in "
            f"{folder / REVIEWED_FILE}"
        )
    output.show(review_tables(test_set.review))


def coverage(folder: Folder, *, output: StudyOutput) -> None:
    """List the parts of the corpus that no question covers.

    A passage is covered if a quote of a question touches it.
    """
    test_set = QuestionSet.read(folder)
    output.show(coverage_tables(coverage_of(test_set.questions, test_set.corpus)))


def audit(folder: Folder) -> None:
    """Prove a test set from its records.

    Recomputes every score and derives the questions again, without a call. Lists each difference between the
    records and the files of the folder.

    Exit codes: 0 no difference, 1 a difference, 2 usage error.
    """
    test_set = QuestionSet.read(folder)
    differences = test_set.audit()
    for difference in differences:
        show(page(), [plain(difference)])
    records = number_of(sum(len(run.keys) for run in test_set.runs().values()), "record")
    remarks().print(f"{records} checked, {number_of(len(differences), 'difference')}")
    if differences:
        raise typer.Exit(1)


def report(folder: Folder, *, out: Path) -> None:
    """Write a test set as one HTML file.

    The page shows what was kept and dropped and why, each question with its quotes in place, its answer,
    its labels and the proofs of its checks, the decisions of people, and the coverage of the corpus.

    Args:
        out: HTML file to write.
    """
    path = write_test_set_report(QuestionSet.read(folder), out)
    remarks().print(f"written to {path}")
