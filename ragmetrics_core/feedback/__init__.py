"""Scores of a run sent to the tools that hold the traces."""
