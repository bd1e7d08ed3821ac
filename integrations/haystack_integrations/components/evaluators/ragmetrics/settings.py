"""The components' settings, named as in ragmetrics; YAML stores each under its own name."""

from collections.abc import Callable, Mapping
from typing import Any

from ragmetrics_core.boundary import Redact, names_in
from ragmetrics_core.live import LIVE_DEFAULTS, SharedLiveArgs, Sink
from ragmetrics_core.models import Traffic, TrafficArgs

__all__ = ["BATCH_DEFAULTS", "LIVE_COMPONENT_DEFAULTS", "BatchArgs", "LiveComponentArgs", "MakeSink"]

# A function and not a sink: a pipeline that was closed and runs again needs a new one, and YAML has its name.
MakeSink = Callable[[], Sink]


class BatchArgs(TrafficArgs, total=False):
    """Keywords of the batch evaluators, as for `ragmetrics_core.evaluate`."""

    repeats: int
    """Number of requests for each verdict; the majority decides."""

    include_records: bool
    """Whether to include the whole record of each score in the results."""

    out: str | None
    """Folder for the run, for `ragmetrics show`, `audit` and `report`.

    Running the same evaluation again resumes it.
    """

    prompts: str | None
    """Folder of prompt files that replace those with the same name."""

    redact: Redact | None
    """Function of a module that removes private data from a text.

    Applied to samples, replies and errors before a model, a result or a file sees them.
    """


class LiveComponentArgs(SharedLiveArgs, total=False):
    """Keywords of the live components: the live settings that YAML can hold."""

    scorer: str | None
    """Name of the model that rates pairs, for metrics that need one."""

    name: str | None
    """The application's name in records."""

    out: str | None
    """Run folder for samples and records."""

    sinks: list[MakeSink] | None
    """Additional receivers of results: functions of a module that make a sink."""

    prompts: str | None
    """Folder of prompt files that replace those with the same name."""


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
