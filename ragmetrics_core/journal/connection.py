"""SQLite connections that close themselves."""

import sqlite3
from contextlib import suppress

__all__ = ["Connection"]


class Connection(sqlite3.Connection):
    """A connection that closes when it is garbage collected; the `factory` of `sqlite3.connect`.

    From Python 3.13 on, the standard class warns about unclosed connections. Users need not close a dropped
    run or a journal in memory.
    """

    def __del__(self) -> None:
        """Close; does nothing if closed already."""
        with suppress(sqlite3.ProgrammingError):  # it could not be opened
            self.close()
