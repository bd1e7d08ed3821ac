"""Live scoring: score the answers of a running application in the background, through an adapter's hooks."""

from ragmetrics_core.adapting.judging import is_judging
from ragmetrics_core.live._capture import Capture, LiveResult, Skip, SkipReason, by_name, reason_of
from ragmetrics_core.live._collector import Collector, Node
from ragmetrics_core.live._following import Followed, follow
from ragmetrics_core.live._notes import Notes, NoteTaker, note_contexts, notes_before, noting, take_notes
from ragmetrics_core.live._opentelemetry_metrics import OpenTelemetryMetrics
from ragmetrics_core.live._opentelemetry_sink import OpenTelemetrySink
from ragmetrics_core.live._run_sink import RunSink
from ragmetrics_core.live._scorer import LiveScorer
from ragmetrics_core.live._settings import (
    LIVE_DEFAULTS,
    LiveArgs,
    LiveSettings,
    Mode,
    References,
    SharedLiveArgs,
    check_alone,
)
from ragmetrics_core.live._sinks import CallableSink, LoggingSink, MemorySink, Sink
from ragmetrics_core.live._statistics import Alert, LiveMean, Statistics
from ragmetrics_core.live._verbs import LiveFace

__all__ = [
    "LIVE_DEFAULTS",
    "Alert",
    "CallableSink",
    "Capture",
    "Collector",
    "Followed",
    "LiveArgs",
    "LiveFace",
    "LiveMean",
    "LiveResult",
    "LiveScorer",
    "LiveSettings",
    "LoggingSink",
    "MemorySink",
    "Mode",
    "Node",
    "NoteTaker",
    "Notes",
    "OpenTelemetryMetrics",
    "OpenTelemetrySink",
    "References",
    "RunSink",
    "SharedLiveArgs",
    "Sink",
    "Skip",
    "SkipReason",
    "Statistics",
    "by_name",
    "check_alone",
    "follow",
    "is_judging",
    "note_contexts",
    "notes_before",
    "noting",
    "reason_of",
    "take_notes",
]
