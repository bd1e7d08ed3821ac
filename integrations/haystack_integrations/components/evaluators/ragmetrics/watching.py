"""What a run of a pipeline or an agent leaves behind for scoring: references, and nothing computed."""

from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ragmetrics_core.adapting import Chunk
from ragmetrics_core.live import Capture, LiveScorer, Notes, reason_of

__all__ = ["CURRENT_RUN", "Event", "WatchedRun", "Watcher", "hand_over", "noted_here"]


class Watcher(Protocol):
    """Whoever wants runs to be scored."""

    @property
    def live(self) -> LiveScorer:
        """Takes the captures."""
        ...

    def capture(self, run: "WatchedRun") -> Capture:
        """Make a capture of a finished run; called while the host waits, so it only keeps references."""
        ...


class Event(NamedTuple):
    """
    A component or a tool that has finished.

    Attributes:
        name: in its pipeline, or the tool's.
        kind: "component", "tool" or "agent".
        inputs, outputs: by socket; the objects are the host's own.
    """

    name: str
    kind: str
    inputs: Mapping[str, Any]
    outputs: Any


@dataclass(slots=True, eq=False, kw_only=True)
class WatchedRun:
    """
    A run of a pipeline, or of an agent by itself.

    Nothing else holds it but the spans of the run and the context in which it runs, so that it is gone with
    them, however the run ends.

    Attributes:
        parent: the run that this one is a part of.
        metadata: the pipeline's.
        inputs: what the pipeline was called with, by component.
        events: what has finished, in that order; those of inner runs are also their outer runs'.
        watchers: who wants it, beside those who want every outermost run.
        notes: what the application said that it retrieved; inner runs add to their outer run's.
        has_ended: whether it is over; what a component left running may still hold it.
    """

    parent: "WatchedRun | None" = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: list[Event] = field(default_factory=list)
    watchers: list[Watcher] = field(default_factory=list)
    has_ended: bool = False
    notes: Notes = field(default_factory=Notes)

    def add(self, event: Event) -> None:
        """Note that something has finished, here and in all outer runs."""
        for run in self._with_outer():
            run.events.append(event)

    def _with_outer(self) -> Iterator["WatchedRun"]:
        run: WatchedRun | None = self
        while run is not None:
            yield run
            run = run.parent


# The run that the code of a component or a tool belongs to. A pipeline's own span sets nothing: in
# `run_async_generator` it is open while the consumer's code runs, too.
CURRENT_RUN: ContextVar[WatchedRun | None] = ContextVar("ragmetrics_haystack_run", default=None)


def noted_here() -> tuple[Chunk, ...] | None:
    """
    Give what the application noted so far in the run that the calling code is part of.

    :returns: The chunks; None without a note.
    """
    run = CURRENT_RUN.get()
    return None if run is None else run.notes.contexts


def hand_over(run: WatchedRun, watchers: Iterable[Watcher], *, error: BaseException | None) -> None:
    """
    Give a run that has ended to those who want it; an error of one does not reach the others or the host.

    :param run: The run.
    :param watchers: Who wants it.
    :param error: What the run ended with: then it is only counted.
    """
    for watcher in watchers:
        try:
            if error is not None:
                watcher.live.skip(reason_of(error))
            else:
                watcher.live.submit(watcher.capture(run))
        except Exception as problem:  # the boundary to the host: a tracer that raises ends the pipeline
            watcher.live.hook_failed(problem)
