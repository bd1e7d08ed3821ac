"""Terminal pages of records and runs: functions from data to rich renderables, without printing."""

from ragmetrics_core.report._causes import Causes
from ragmetrics_core.report._remarks import is_first
from ragmetrics_core.report.terminal._catalogue import catalogue_page, metric_page
from ragmetrics_core.report.terminal._changes import difference_lines, difference_page
from ragmetrics_core.report.terminal._journal import journal_table
from ragmetrics_core.report.terminal._means import cost, means_table, reading, remarks
from ragmetrics_core.report.terminal._plan import plan_page
from ragmetrics_core.report.terminal._proof import proof
from ragmetrics_core.report.terminal._questions import question_plan_page, question_set_page
from ragmetrics_core.report.terminal._runs import runs_table
from ragmetrics_core.report.terminal._samples import history_page, sample_page, samples_table
from ragmetrics_core.report.terminal._session import session_page
from ragmetrics_core.report.terminal._study import study_page
from ragmetrics_core.report.terminal._text import one_line, plain
from ragmetrics_core.texts.wording import escaped, visible

__all__ = [
    "Causes",
    "catalogue_page",
    "cost",
    "difference_lines",
    "difference_page",
    "escaped",
    "history_page",
    "is_first",
    "journal_table",
    "means_table",
    "metric_page",
    "one_line",
    "plain",
    "plan_page",
    "proof",
    "question_plan_page",
    "question_set_page",
    "reading",
    "remarks",
    "runs_table",
    "sample_page",
    "samples_table",
    "session_page",
    "study_page",
    "visible",
]
