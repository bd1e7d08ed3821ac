"""The kit of the adapters: what the models and objects of every framework have in common, said once."""

from ragmetrics_core.adapting._documents import Chunk, chunks_of
from ragmetrics_core.adapting._finish_reasons import Ending, ending, finish_reason, is_cut
from ragmetrics_core.adapting._foreign_models import ForeignModel, ForeignName, usage_of
from ragmetrics_core.adapting._held_replies import (
    ForeignJudge,
    ReplyHeldBack,
    first_taken,
    response_format,
)
from ragmetrics_core.adapting._interfaces import can_only_raise
from ragmetrics_core.adapting._judging import is_judging
from ragmetrics_core.adapting._moment import as_now
from ragmetrics_core.adapting._threads import Pool, harmless, in_thread, lend

__all__ = [
    "Chunk",
    "Ending",
    "ForeignJudge",
    "ForeignModel",
    "ForeignName",
    "Pool",
    "ReplyHeldBack",
    "as_now",
    "can_only_raise",
    "chunks_of",
    "ending",
    "finish_reason",
    "first_taken",
    "harmless",
    "in_thread",
    "is_cut",
    "is_judging",
    "lend",
    "response_format",
    "usage_of",
]
