"""Traces of applications: spans in the forms that tools write, and the samples in them."""

from ragmetrics_core.traces._assembly import SkippedTrace
from ragmetrics_core.traces._reading import Traces, format_of, read_traces

__all__ = ["SkippedTrace", "Traces", "format_of", "read_traces"]
