"""`ragmetrics study annotate` and `annotations`: a sheet for people, and what they said."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.cli._study_output import Runs, Seed, StudyAnswer, Wanted
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.report._annotation_sheet import sheet_html
from ragmetrics_core.runs import Run
from ragmetrics_core.runs._writing import write_whole
from ragmetrics_core.study import (
    annotation_tables,
    items_of,
    judge_accuracy,
    named_runs,
    ratings_of,
    read_annotations,
    verdict_changes,
)
from ragmetrics_core.wording import number_of

__all__ = ["annotate", "annotations"]


def annotate(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")],
    metrics: Wanted = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only N questions, drawn at random.")] = None,
    seed: Seed = 0,
    title: Annotated[str, typer.Option(help="The sheet's title.")] = "Answers to judge",
) -> None:
    """Write a sheet on which people judge answers; it needs no network.

    Questions come in random order, the answers of several runs blinded and shuffled. Each answer is rated
    from 1 to 5, and each statement and verdict of the judge can be corrected. The sheet exports JSON for
    `annotations`.
    """
    opened = {name: Run.load(path) for name, path in named_runs(runs).items()}
    sheet = items_of(opened, metrics=metrics, limit=limit, seed=seed)
    write_whole(out, sheet_html(sheet, title=title))
    remarks().print(f"{number_of(len(sheet.items), 'answer')} to judge in {out}")


def annotations(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run.", show_default=False)],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="EXPORT...", help="What the sheet exported, one file a person.", show_default=False
        ),
    ],
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            "--beside", help="The other runs that were on the sheet, where their names were needed."
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Write the ratings as labels for agreement and estimate (.jsonl).")
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Correct the run's verdicts; its scores are derived again.")
    ] = False,
) -> StudyAnswer:
    """Take in what people said on a sheet: how well the judge extracts and decides, ratings, corrections.

    Extraction and verdicts are told apart. --apply corrects each verdict that more than half of the
    people who looked at it would change; the records keep both decisions.
    """
    paths = [run, *(beside or ())]
    every = {name: Run.load(path) for name, path in named_runs(paths).items()}
    name, opened = next(iter(every.items()))
    mine = {name: opened}
    read = [read_annotations(path) for path in files]
    ratings = [label for _, label in ratings_of(mine, read)]
    changes = list(verdict_changes(mine, read))
    accuracy = judge_accuracy(mine, read)
    if not ratings and not accuracy:
        raise ConfigError(
            f"nothing in {files[0]} is about {run}: it must have the folder's name that it had on the sheet"
        )
    before = {mean.metric: mean.value for mean in opened.means()}
    if labels is not None:
        rows = (
            {"sample_id": unit.sample_id, "annotator": annotator, "label": label, "value": value}
            for unit, annotator, label, value in ratings
        )
        write_whole(labels, "".join(f"{json.dumps(row)}\n" for row in rows))
        remarks().print(f"{len(ratings)} ratings written to {labels}")
    if apply:
        for _, unit, decision, who in changes:
            assert unit.metric is not None
            assert unit.statement is not None
            opened.correct(unit.sample_id, unit.metric, unit.statement, decision, by=who)
        remarks().print(f"{number_of(len(changes), 'verdict')} corrected")
        for mean in opened.means():
            was, now = (
                "none" if value is None else f"{value:.3f}" for value in (before[mean.metric], mean.value)
            )
            if mean.value != before[mean.metric]:
                remarks().print(f"{mean.metric}: mean {was} before, {now} after")
    return StudyAnswer(annotation_tables(accuracy, len(changes), len(ratings)))
