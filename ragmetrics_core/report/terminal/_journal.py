"""Page of a cache."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ragmetrics_core.journal import IdentityStatistics
from ragmetrics_core.report.terminal._text import LABEL, plain, table

__all__ = ["journal_table"]


def journal_table(statistics: Sequence[IdentityStatistics]) -> Table:
    """One row for each model."""
    rows = table("model")
    for name in ("answers", "size", "prompt\ntokens", "reply\ntokens"):
        rows.add_column(name, justify="right", no_wrap=True)
    for name in ("first\nlast answer", "last used"):
        rows.add_column(name, no_wrap=True)
    for each in statistics:
        counts = (
            f"{each.calls:,}",
            _size(each.bytes),
            f"{each.prompt_tokens:,}",
            f"{each.completion_tokens:,}",
        )
        days = f"{each.first_created:%Y-%m-%d}\n{each.last_created:%Y-%m-%d}", f"{each.last_used:%Y-%m-%d}"
        rows.add_row(plain(each.identity), *map(Text, counts), *(Text(day, LABEL) for day in days))
    return rows


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:,.1f} kB"
