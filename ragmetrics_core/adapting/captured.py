"""Names that are going: import from `ragmetrics_core.adapting`."""

from ragmetrics_core.adapting._captured import (
    Call,
    CapturedMessage,
    CapturedRun,
    Dialect,
    Kind,
    NamedValue,
    Rules,
)

Message, Finding, Run = CapturedMessage, NamedValue, CapturedRun
__all__ = ["Call", "Dialect", "Finding", "Kind", "Message", "Rules", "Run"]
