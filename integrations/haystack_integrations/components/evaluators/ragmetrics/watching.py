"""What a run of a pipeline or an agent leaves behind for scoring: references, and nothing computed."""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, NamedTuple

from ragmetrics_core.adapting import Chunk
from ragmetrics_core.live import LiveFace, Notes

from haystack_integrations.components.evaluators.ragmetrics.places import Places, Socket

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
    Whoever wants runs to be scored.

    Attributes:
        by: scores them.
        only: takes a run's metadata and says whether it is wanted.
        places: where the user says that fields are.
        needs_contexts: leaves out answers for which nothing was retrieved.
        name: what the application is called.
    """

    by: LiveFace
    only: Callable[[Mapping[str, Any]], bool] | None = None
    places: Places = field(default_factory=dict[str, tuple[Socket, ...]])
    needs_contexts: bool = False
    name: str | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Visit:
    """
    One span of Haystack: a pipeline, a component, an agent, a tool or a model that ran.

    Attributes:
        operation: the span's.
        tags: the span's, which name the component and its edges.
        inputs, outputs: what it took and gave; the objects are the host's own.
        began, ended: places in the order of the run; `ended` is None while it runs and for what failed.
        children: what ran inside, in the order in which it began.
    """

    operation: str
    tags: Mapping[str, Any]
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
        """By input, the components that may fill it."""
        return self._declared("input", "senders", [])

    @property
    def receivers(self) -> dict[str, list[str]]:
        """By output, the components that take it."""
        return self._declared("output", "receivers", [])

    @property
    def types(self) -> dict[str, str]:
        """By output, its declared type in words."""
        return self._declared("output", "type", "")

    def _declared(self, side: str, what: str, default: Any) -> dict[str, Any]:
        sockets: dict[str, Any] = self.tags.get(f"haystack.component.{side}_spec") or {}
        return {socket: spec.get(what) or default for socket, spec in sockets.items()}


@dataclass(slots=True, eq=False, kw_only=True)
class WatchedRun:
    """
    A run of a pipeline, or of an agent by itself.

    Nothing else holds it but the spans of the run and the context in which it runs, so that it is gone with
    them, however the run ends.

    Attributes:
        root: the pipeline's or agent's own span, with all inside.
        is_inner: whether it is a part of another run.
        order: counts what begins and ends, in this run and those inside.
        metadata: the pipeline's.
        inputs: what the pipeline was called with, by component.
        watchers: who wants it, beside those who want every outermost run.
        notes: what the application said that it retrieved; inner runs add to their outer run's.
        has_ended: whether it is over; what a component left running may still hold it.
    """

    root: Visit
    is_inner: bool = False
    order: Iterator[int] = field(default_factory=lambda: count(1))
    metadata: Mapping[str, Any] | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    watchers: list[Watcher] = field(default_factory=list)
    has_ended: bool = False
    notes: Notes = field(default_factory=Notes)


class Here(NamedTuple):
    """Where the calling code is: its run, and the innermost span of it that is open."""

    run: WatchedRun
    visit: Visit


# Of the code of a component or a tool. A pipeline's own span sets nothing: in `run_async_generator` it is open
# while the consumer's code runs, too.
HERE: ContextVar[Here | None] = ContextVar("ragmetrics_haystack_here", default=None)


def noted_here() -> tuple[Chunk, ...] | None:
    """
    Give what the application noted so far in the run that the calling code is part of.

    :returns: The chunks; None without a note.
    """
    here = HERE.get()
    return None if here is None else here.run.notes.contexts
