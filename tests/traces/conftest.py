"""The programs that record traces need packages that the tests do not."""

collect_ignore = ["applications"]
