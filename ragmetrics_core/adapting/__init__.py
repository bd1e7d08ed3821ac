"""The kit of the adapters: what the models and objects of every framework have in common, said once."""

from ragmetrics_core.adapting.finish_reasons import Ending, ending, finish_reason, is_cut
from ragmetrics_core.adapting.judging import is_judging
from ragmetrics_core.adapting.threads import Pool, harmless, in_thread, lend

__all__ = [
    "Ending",
    "Pool",
    "ending",
    "finish_reason",
    "harmless",
    "in_thread",
    "is_cut",
    "is_judging",
    "lend",
]
