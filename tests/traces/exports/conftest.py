"""Leaves out the program that records the exports: it needs the vendors' packages."""

collect_ignore = ["record.py"]
