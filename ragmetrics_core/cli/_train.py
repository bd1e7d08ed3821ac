"""`ragmetrics train-judge`: train the embedded judge on labelled claims."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from ragmetrics_core.cli._screen import page, show, write
from ragmetrics_core.cli._study_labels import good_values_in
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.probe import train_judge as train
from ragmetrics_core.probe import training_table
from ragmetrics_core.report.terminal import study_page

__all__ = ["train_judge"]

_Column = Annotated[str | None, typer.Option(metavar="COLUMN")]


def train_judge(
    labels: Annotated[
        Path, typer.Argument(help="File of labelled claims: columns claim, contexts and label.")
    ],
    *,
    out: Annotated[Path | None, typer.Option(metavar="FILE.json")] = None,
    source: _Column = None,
    label: _Column = None,
    good: Annotated[str | None, typer.Option(metavar="VALUES")] = None,
    format_: Literal["terminal", "json"] = "terminal",
) -> None:
    """Train the judge embedded on labelled claims.

    It starts from the weights of the package, adds a weighted sum of features, and prints a card. All figures
    are on claims of sources that the judge was not trained on. It needs at least 25 claims of 10 sources for
    each label, and no further package. Use the trained judge with --judge embedded:FILE.json.

    Args:
        out: File for the weights. Default: the judge is not kept.
        source: Column of the source of a claim; claims of one source are left out together. Default:
            source_id and the like, else equal contexts.
        label: Column of the labels. Default: from the columns' names.
        good: Label values that count as supported: a,b.
        format_: Output format; json prints the card.
    """
    if out is not None and out.suffix != ".json":
        raise ConfigError(f"--out takes a file that ends in .json, not {str(out)!r}")
    trained = train(labels, source=source, label=label, good=good_values_in(good))
    if out is not None:
        trained.write(out)
    if format_ == "json":
        write(trained.card.model_dump_json(indent=2, exclude_none=True) + "\n", as_json=True)
        return
    kept = (
        f"written to {out}: --judge embedded:{out}"
        if out
        else "The judge was not kept. To keep it, give --out."
    )
    show(page(), [*study_page([training_table(trained.card)]), Text(), Text(kept, overflow="fold")])
