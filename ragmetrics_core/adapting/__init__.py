"""Shared code of the adapters: translation of any framework's models and objects."""

from ragmetrics_core.adapting._captured import (
    Call,
    CalledTool,
    CapturedMessage,
    CapturedRun,
    Dialect,
    Fields,
    Kind,
    NamedValue,
    Rules,
    named_value,
    names_of,
)
from ragmetrics_core.adapting._documents import Chunk, chunks_of
from ragmetrics_core.adapting._fields import answer_in, question_in
from ragmetrics_core.adapting._finish_reasons import Ending, ending, finish_reason, is_cut
from ragmetrics_core.adapting._foreign_models import ForeignModel, ForeignName, usage_of
from ragmetrics_core.adapting._held_replies import ForeignJudge, Said, said, said_in
from ragmetrics_core.adapting._interfaces import can_only_raise
from ragmetrics_core.adapting._moment import as_now
from ragmetrics_core.adapting._own_loop import on_own_loop, synchronous
from ragmetrics_core.adapting._skip import Skip
from ragmetrics_core.adapting._stages import documents_anywhere
from ragmetrics_core.adapting._threads import Pool, harmless, in_own_thread, in_thread, lend
from ragmetrics_core.adapting._translation import sample_of
from ragmetrics_core.adapting._ways import Form, ReplyHeldBack, Way, Ways, named_in, sampling_of
from ragmetrics_core.adapting._wiring import makers_of
from ragmetrics_core.adapting.judging import is_judging

__all__ = [
    "Call",
    "CalledTool",
    "CapturedMessage",
    "CapturedRun",
    "Chunk",
    "Dialect",
    "Ending",
    "Fields",
    "ForeignJudge",
    "ForeignModel",
    "ForeignName",
    "Form",
    "Kind",
    "NamedValue",
    "Pool",
    "ReplyHeldBack",
    "Rules",
    "Said",
    "Skip",
    "Way",
    "Ways",
    "answer_in",
    "as_now",
    "can_only_raise",
    "chunks_of",
    "documents_anywhere",
    "ending",
    "finish_reason",
    "harmless",
    "in_own_thread",
    "in_thread",
    "is_cut",
    "is_judging",
    "lend",
    "makers_of",
    "named_in",
    "named_value",
    "names_of",
    "on_own_loop",
    "question_in",
    "said",
    "said_in",
    "sample_of",
    "sampling_of",
    "synchronous",
    "usage_of",
]
