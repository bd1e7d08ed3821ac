"""The kit of the adapters: what the models and objects of every framework have in common, said once."""

from ragmetrics_core.adapting.judging import is_judging
from ragmetrics_core.adapting.threads import Pool, harmless, in_thread, lend

__all__ = ["Pool", "harmless", "in_thread", "is_judging", "lend"]
