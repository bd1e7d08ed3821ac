"""Observations of a pipeline's or an agent's run for scoring: references only, nothing computed."""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ragmetrics_core.adapting import Chunk, Fields, Rules
from ragmetrics_core.live import LiveFace, Notes

from haystack_integrations.components.evaluators.ragmetrics.places import Places

__all__ = [
    "AGENT",
    "COMPONENT",
    "GENERATORS",
    "HERE",
    "PIPELINES",
    "TOOL",
    "Here",
    "Visit",
    "WatchedRun",
    "Watcher",
    "noted_here",
]

# before Haystack 3 the asynchronous pipeline was another class
PIPELINES: Final = frozenset({"haystack.pipeline.run", "haystack.async_pipeline.run"})
COMPONENT: Final = "haystack.component.run"
AGENT: Final = "haystack.agent.run"
TOOL: Final = "haystack.agent.step.tool"
# A model that an agent asks, and one that a component (a ranker, a query expander) asks by itself.
GENERATORS: Final = frozenset({"haystack.agent.step.llm", "haystack.chat_generator.run"})


@dataclass(frozen=True, kw_only=True)
class Watcher:
    """
    A subscriber to runs.

    Attributes:
        by: the live scorer.
        places: the user's places of fields.
        rules: the options for finding fields.
        needs_contexts: skips answers for which nothing was retrieved.
        name: the application's name.
        only: takes a run's metadata; returns whether to score it.
    """

    by: LiveFace
    places: Places
    rules: Rules
    needs_contexts: bool
    name: str | None
    only: Callable[[Fields], bool] | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Visit:
    """
    One span of Haystack: a pipeline, a component, an agent, a tool or a model that ran.

    Attributes:
        operation: the span's operation.
        tags: the span's tags, which name the component and its edges.
        inputs, outputs: the host's own objects.
        began, ended: positions in the order of the run; `ended` is None while it runs and if it failed.
        children: the visits inside, in starting order.
    """

    operation: str
    tags: Fields
    began: int
    inputs: Any = None
    outputs: Any = None
    ended: int | None = None
    children: list["Visit"] = field(default_factory=list["Visit"])

    @property
    def name(self) -> str:
        """The component's name in its pipeline, or the tool's."""
        name = self.tags.get("haystack.component.name") or self.tags.get("haystack.tool.name")
        return str(name or self.operation.split(".")[1])

    @property
    def senders(self) -> dict[str, list[str]]:
        """The components that may fill each input."""
        return self._declared("input", "senders", [])

    @property
    def receivers(self) -> dict[str, list[str]]:
        """The components that take each output."""
        return self._declared("output", "receivers", [])

    @property
    def types(self) -> dict[str, str]:
        """The declared type of each output, as text."""
        return self._declared("output", "type", "")

    def _declared(self, side: str, what: str, default: Any) -> dict[str, Any]:
        sockets: dict[str, Any] = self.tags.get(f"haystack.component.{side}_spec") or {}
        return {socket: spec.get(what) or default for socket, spec in sockets.items()}


@dataclass(slots=True, eq=False, kw_only=True)
class WatchedRun:
    """
    A run of a pipeline, or of a standalone agent.

    Only the run's spans and context refer to it, so it is released with them, however the run ends.

    Attributes:
        root: the pipeline's or agent's own span.
        is_inner: whether it is part of another run.
        order: counter of starts and ends, in this run and those inside.
        metadata: the pipeline's metadata.
        inputs: the pipeline's inputs by component.
        notes: the application's noted contexts; inner runs add to their outer run's.
        watchers: its own watchers, in addition to those of every outermost run.
        has_ended: whether it has ended; tasks that a component left running may still refer to it.
    """

    root: Visit
    is_inner: bool
    order: Iterator[int]
    metadata: Fields | None
    inputs: Fields
    notes: Notes
    watchers: list[Watcher] = field(default_factory=list)
    has_ended: bool = False


class Here(NamedTuple):
    """The current run and its innermost open span."""

    run: WatchedRun
    visit: Visit


# Of the code of a component or a tool. A pipeline's own span sets nothing: in `run_async_generator` it is open
# while the consumer's code runs, too.
HERE: ContextVar[Here | None] = ContextVar("ragmetrics_haystack_here", default=None)


def noted_here() -> tuple[Chunk, ...] | None:
    """
    The application's notes so far in the current run.

    :returns: The chunks, or None if there are no notes.
    """
    here = HERE.get()
    return None if here is None else here.run.notes.contexts
