"""The files in `cases` are read by type checkers and are never run."""

collect_ignore = ["cases"]
