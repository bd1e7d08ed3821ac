"""SQLite connections that are closed when nobody needs them any more."""

import sqlite3
from contextlib import suppress

__all__ = ["Connection"]


class Connection(sqlite3.Connection):
    """A connection that is closed when its last user lets go of it; the `factory` of `sqlite3.connect`.

    From Python 3.13 on the class of the standard library warns of a connection that nobody closed. A run that
    is dropped, or a journal in memory, has nothing that a user should have to close.
    """

    def __del__(self) -> None:
        """Close; again does nothing."""
        with suppress(sqlite3.ProgrammingError):  # it could not be opened
            self.close()
