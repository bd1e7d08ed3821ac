"""Runs and test sets as HTML files without network or code from the data; see docs/report.md."""

from ragmetrics_core.report.html._notebook import notebook_proof, notebook_study, notebook_table
from ragmetrics_core.report.html._test_set import review_sheet, write_test_set_report
from ragmetrics_core.report.html._writing import write_report

__all__ = [
    "notebook_proof",
    "notebook_study",
    "notebook_table",
    "review_sheet",
    "write_report",
    "write_test_set_report",
]
