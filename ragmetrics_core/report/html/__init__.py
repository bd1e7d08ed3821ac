"""Runs as one HTML file that needs no network and executes nothing from the data; see docs/report.md."""

from ragmetrics_core.report.html._notebook import notebook_proof, notebook_study, notebook_table
from ragmetrics_core.report.html._writing import write_report

__all__ = ["notebook_proof", "notebook_study", "notebook_table", "write_report"]
