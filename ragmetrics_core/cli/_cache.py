"""`ragmetrics cache`: show or shrink a cache of answered calls."""

from pathlib import Path
from typing import Annotated

import typer

from ragmetrics_core.cli._screen import page
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.journal import Journal
from ragmetrics_core.report import terminal

__all__ = ["prune", "stats"]

JournalFile = Annotated[Path, typer.Argument(help="The file given with --cache, or the folder of a run.")]
Amount = Annotated[float | None, typer.Option(min=0)]


def stats(journal: JournalFile) -> None:
    """Show the answers in the cache by model, and check each of them."""
    with _opened(journal) as opened:
        page().print(terminal.journal_table(opened.statistics()))


def prune(
    journal: JournalFile,
    *,
    older_than_days: Amount = None,
    keep_megabytes: Amount = None,
    identity: str | None = None,
) -> None:
    """Remove answers from the cache.

    A run that needs them makes the calls again.

    Args:
        older_than_days: Remove answers that were not used for N days.
        keep_megabytes: Remove the least recently used answers until the cache has this size at most.
        identity: Remove only answers of this model, as `cache stats` names it.
    """
    if older_than_days is None and keep_megabytes is None and identity is None:
        raise ConfigError("nothing to remove: give --older-than-days, --keep-megabytes or --identity")
    with _opened(journal) as opened:
        found = opened.prune(
            older_than_days=older_than_days,
            keep_bytes=None if keep_megabytes is None else int(keep_megabytes * 1e6),
            identity=identity,
        )
    page().print(f"{found.removed:,} answer{'s' * (found.removed != 1)} removed, {found.left:,} left")


def _opened(path: Path) -> Journal:
    file = path / "journal.sqlite" if path.is_dir() else path
    if not file.is_file():
        raise ConfigError(f"there is no cache {file}")
    return Journal(file)
