"""Terminal pages of records and runs: functions from data to rich renderables, without printing."""

from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report.terminal.catalogue import catalogue_page, metric_page
from ragmetrics_core.report.terminal.changes import difference_lines, difference_page
from ragmetrics_core.report.terminal.journal import journal_table
from ragmetrics_core.report.terminal.means import cost, means_table, remarks
from ragmetrics_core.report.terminal.plan import plan_page
from ragmetrics_core.report.terminal.proof import proof
from ragmetrics_core.report.terminal.runs import runs_table
from ragmetrics_core.report.terminal.samples import history_page, sample_page, samples_table
from ragmetrics_core.report.terminal.study import study_page
from ragmetrics_core.report.terminal.text import one_line, plain
from ragmetrics_core.wording import escaped, visible

__all__ = [
    "Causes",
    "catalogue_page",
    "cost",
    "difference_lines",
    "difference_page",
    "escaped",
    "history_page",
    "journal_table",
    "means_table",
    "metric_page",
    "one_line",
    "plain",
    "plan_page",
    "proof",
    "remarks",
    "runs_table",
    "sample_page",
    "samples_table",
    "study_page",
    "visible",
]
