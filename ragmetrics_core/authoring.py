"""The one door for a metric of one's own: what it asks in, what it returns, and how it is checked.

docs/new_metric.md goes through it, and examples/custom_metric.py is a whole metric.
"""

from ragmetrics_core import scoring
from ragmetrics_core.asking import (
    ask,
    ask_draws,
    ask_each,
    ask_ratings,
    ask_votes,
    count,
    part,
    rate,
    rate_shares,
    review,
    similar,
    split,
    together,
)
from ragmetrics_core.measurement import (
    Bounds,
    Decision,
    Judged,
    Labels,
    Measurement,
    combine,
    score,
    undefined,
    valued,
)
from ragmetrics_core.metrics import Metric
from ragmetrics_core.parsers import Answer, EntityList, QuestionList, Rating, StatementList, VerdictList
from ragmetrics_core.prompts import Prompt, load, load_file
from ragmetrics_core.protocol import Part, Steps
from ragmetrics_core.testing import check_metric
from ragmetrics_core.views import (
    Answered,
    Asked,
    Attributed,
    Compared,
    Complete,
    Grounded,
    RankedIds,
    RankedTexts,
    Referenced,
    ReferencedContexts,
    Retrieved,
    View,
    Worded,
)

__all__ = [
    "Answer",
    "Answered",
    "Asked",
    "Attributed",
    "Bounds",
    "Compared",
    "Complete",
    "Decision",
    "EntityList",
    "Grounded",
    "Judged",
    "Labels",
    "Measurement",
    "Metric",
    "Part",
    "Prompt",
    "QuestionList",
    "RankedIds",
    "RankedTexts",
    "Rating",
    "Referenced",
    "ReferencedContexts",
    "Retrieved",
    "StatementList",
    "Steps",
    "VerdictList",
    "View",
    "Worded",
    "ask",
    "ask_draws",
    "ask_each",
    "ask_ratings",
    "ask_votes",
    "check_metric",
    "combine",
    "count",
    "load",
    "load_file",
    "part",
    "rate",
    "rate_shares",
    "review",
    "score",
    "scoring",
    "similar",
    "split",
    "together",
    "undefined",
    "valued",
]
