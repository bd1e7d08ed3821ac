"""`ragmetrics cache`: what a journal of answered calls holds, and how to make it smaller."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._screen import page
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal
from ragmetrics_core.report import _terminal as terminal

__all__ = ["cache"]

MEGABYTE = 1_000_000

cache = typer.Typer(help="Look into a journal of answered calls, or make it smaller.")

JournalFile = Annotated[
    Path,
    typer.Argument(
        metavar="JOURNAL",
        help="The file given with --cache, or a run's folder.",
        show_default=False,
    ),
]


@cache.command("stats")
def stats(journal: JournalFile) -> None:
    """Show what the journal holds of each model; every answer is checked on the way."""
    with _opened(journal) as opened:
        page().print(terminal.journal_table(opened.statistics()))


@cache.command("prune")
def prune(
    journal: JournalFile,
    older_than_days: Annotated[
        float | None, typer.Option(min=0, help="Remove answers that were not used for so many days.")
    ] = None,
    keep_megabytes: Annotated[
        float | None, typer.Option(min=0, help="Then remove the least recently used above this size.")
    ] = None,
    identity: Annotated[
        str | None, typer.Option(help="Of this model only, as `cache stats` names it; alone: all of it.")
    ] = None,
) -> None:
    """Remove answers that are no longer needed; the calls are made again should a run need them."""
    if older_than_days is None and keep_megabytes is None and identity is None:
        raise ConfigError("say what to remove: --older-than-days, --keep-megabytes or --identity")
    with _opened(journal) as opened:
        found = opened.prune(
            older_than_days=older_than_days,
            keep_bytes=None if keep_megabytes is None else int(keep_megabytes * MEGABYTE),
            identity=identity,
        )
    page().print(f"{found.removed:,} answer{'s' * (found.removed != 1)} removed, {found.left:,} left")


def _opened(path: Path) -> Journal:
    file = path / "journal.sqlite" if path.is_dir() else path
    if not file.is_file():
        raise ConfigError(f"there is no journal {file}")
    return Journal(file)
