"""The settings of the components, in the words of ragmetrics; YAML holds each under its own name."""

from collections.abc import Callable, Mapping
from typing import Any

from ragmetrics_core.keywords import names_in
from ragmetrics_core.live import LIVE_DEFAULTS, SharedLiveArgs, Sink
from ragmetrics_core.models import Traffic, TrafficArgs
from ragmetrics_core.redaction import Redact

__all__ = ["BATCH_DEFAULTS", "LIVE_COMPONENT_DEFAULTS", "BatchArgs", "LiveComponentArgs", "MakeSink"]

# A function and not a sink: a pipeline that was closed and runs again needs a new one, and YAML has its name.
MakeSink = Callable[[], Sink]


class BatchArgs(TrafficArgs, total=False):
    """What the batch evaluators take as keywords, in the words of `ragmetrics_core.evaluate`."""

    repeats: int
    """How often each verdict is asked for; the majority decides."""

    include_records: bool
    """Put the whole record of each score into the results."""

    out: str | None
    """A folder to write the run to, for `ragmetrics show`, `audit` and `report`.

    The same evaluation again goes on where it ended.
    """

    prompts: str | None
    """A folder of prompt files that replace those of the same name."""

    redact: Redact | None
    """A function of a module, from a text to the text without what is private.

    It is applied to samples, replies and errors before a model, a result or a file sees them.
    """


class LiveComponentArgs(SharedLiveArgs, total=False):
    """What the live components take as keywords: the live settings, as far as YAML can hold them."""

    scorer: str | None
    """The name of the model that rates pairs, for metrics that need one."""

    name: str | None
    """What the application is called in the records."""

    out: str | None
    """A run folder to write samples and records to."""

    sinks: list[MakeSink] | None
    """Where results go besides: functions of a module that make a sink."""

    prompts: str | None
    """A folder of prompt files that replace those of the same name."""


BATCH_DEFAULTS: Mapping[str, Any] = {
    **Traffic().keywords,
    "repeats": 1,
    "include_records": True,
    "out": None,
    "prompts": None,
    "redact": None,
}
LIVE_COMPONENT_DEFAULTS: Mapping[str, Any] = {
    **{name: LIVE_DEFAULTS.get(name) for name in names_in(LiveComponentArgs)},
    "sinks": None,
}
