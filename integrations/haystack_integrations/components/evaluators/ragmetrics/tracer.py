"""A tracer that watches runs and forwards everything to the previous tracer."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from itertools import count
from typing import Any, ClassVar, Final, TypeVar
from weakref import WeakSet

from haystack import logging
from haystack.core.errors import BreakpointException
from haystack.tracing.tracer import NullTracer, Span, Tracer, enable_tracing
from haystack.tracing.tracer import tracer as global_tracer
from ragmetrics_core.adapting import Fields, Rules, names_of
from ragmetrics_core.boundary import is_list, is_mapping
from ragmetrics_core.live import LiveScorer, Notes, is_judging, notes_before, reason_of, take_notes

from haystack_integrations.components.evaluators.ragmetrics.places import Extract, places_of
from haystack_integrations.components.evaluators.ragmetrics.watching import (
    AGENT,
    COMPONENT,
    GENERATORS,
    HERE,
    PIPELINES,
    TOOL,
    Here,
    Visit,
    WatchedRun,
    Watcher,
)
from haystack_integrations.components.evaluators.ragmetrics.wiring import capture_of

__all__ = ["RagMetricsTracer"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Set while a span is opened or closed by the tracer inside: one of ours further in must not count it again.
_FORWARDING: ContextVar[bool] = ContextVar("ragmetrics_haystack_forwarding", default=False)
_OF_INTEREST: Final = {*PIPELINES, COMPONENT, AGENT, TOOL, *GENERATORS}


class _Forwarding:
    """The inner tracer's start and end of a span, under a mark."""

    def __init__(self, manager: AbstractContextManager[Span]) -> None:
        self._manager = manager

    def __enter__(self) -> Span:
        return self._marked(self._manager.__enter__)

    def __exit__(self, *error: Any) -> bool | None:
        return self._marked(self._manager.__exit__, *error)

    def _marked(self, function: Callable[..., T], *args: Any) -> T:
        token = _FORWARDING.set(True)
        try:
            return function(*args)
        finally:
            _FORWARDING.reset(token)


class _WatchedSpan(Span):
    """A span that keeps and forwards what Haystack writes to it."""

    def __init__(self, inner: Span, here: Here) -> None:
        self.inner = inner
        self.here = here
        self.has_failed = False

    def set_tag(self, key: str, value: Any) -> None:
        """
        Forward a tag.

        :param key: Its name.
        :param value: Its value.
        """
        self.has_failed |= key == "haystack.tool.error"
        self.inner.set_tag(key, value)

    def set_content_tag(self, key: str, value: Any) -> None:
        """
        Keep a reference to the content, even if content tracing is disabled, and forward it.

        :param key: Its name.
        :param value: Its value.
        """
        # a copy: an agent goes on with its list of messages
        held: Any = value
        if is_mapping(value):
            held = {name: list(each) if is_list(each) else each for name, each in value.items()}
        if key.endswith(".input"):
            self.here.visit.inputs = held
        elif key.endswith((".output", ".output_data")):
            self.here.visit.outputs = held
        self.inner.set_content_tag(key, value)

    def raw_span(self) -> Any:
        """
        The inner span's raw span.

        :returns: The span of the tracing backend.
        """
        return self.inner.raw_span()

    def get_correlation_data_for_logs(self) -> dict[str, Any]:
        """
        The inner span's correlation data.

        :returns: Data that links logs to traces.
        """
        return self.inner.get_correlation_data_for_logs()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["inner"], name)


class RagMetricsTracer(Tracer):
    """
    Score the answers of pipelines and agents without changing them.

    Haystack has one tracer. This one wraps it and forwards every call, so that nothing changes for Langfuse,
    OpenTelemetry or a logger. `RagMetricsConnector` enables it. To score every pipeline and agent of a
    process without a component:

    ```python
    live = LiveScorer(["faithfulness"], judge=HaystackJudge(chat_generator))
    RagMetricsTracer.install().watch(live, only=lambda metadata: metadata.get("app") == "support")
    ```

    A tracer that is enabled later replaces this one: call `install` again to wrap it. The connector does so
    before each run.
    """

    _lock = threading.Lock()
    _latest: "RagMetricsTracer | None" = None
    # Haystack has one tracer: where another one came in between, the next of ours goes on with these.
    _watchers: ClassVar[list[Watcher]] = []
    _users: ClassVar["WeakSet[Any]"] = WeakSet()

    def __init__(self, inner: Tracer | None = None) -> None:
        """
        Wrap a tracer; most users need only `install`.

        :param inner: The tracer.
        """
        self.inner = inner or NullTracer()

    @classmethod
    def install(cls) -> "RagMetricsTracer":
        """
        Wrap the enabled tracer, unless it is ours already.

        :returns: The tracer that is now enabled.
        """
        with cls._lock:
            current = global_tracer.actual_tracer
            if isinstance(current, RagMetricsTracer):
                return current
            cls._latest = cls(current)
            enable_tracing(cls._latest)
            take_notes(cls._latest)
            return cls._latest

    @classmethod
    def uninstall(cls) -> None:
        """Enable the inner tracer again and remove all watchers."""
        with cls._lock:
            current = global_tracer.actual_tracer
            if isinstance(current, RagMetricsTracer):
                enable_tracing(current.inner)
            cls._latest = None
            cls._watchers.clear()
            cls._users.clear()

    def watch(
        self,
        live: LiveScorer,
        *,
        only: Callable[[Fields], bool] | None = None,
        extract: Extract | None = None,
        answer_from: str | None = None,
        evidence: Sequence[str] = (),
        not_evidence: Sequence[str] = (),
        context_tools: Sequence[str] = (),
        needs_contexts: bool = False,
        name: str | None = None,
    ) -> None:
        """
        Score every outermost pipeline and agent run of the process.

        :param live: The live scorer.
        :param only: Takes a pipeline's `metadata` (empty for an agent); returns whether to score it.
        :param extract: Places of fields; see `RagMetricsConnector`. Runs without a value there are counted as
            "no_question" or "no_answer", so use `only` to select pipelines with these places.
        :param answer_from: The component that outputs the answer.
        :param evidence: Names of components whose text is evidence as well, such as a web search.
        :param not_evidence: Names of components and tools whose text is not evidence.
        :param context_tools: Names of the only tools whose text is evidence; by default that of all tools is.
        :param needs_contexts: Skip answers for which nothing was retrieved, counted as "no_contexts".
        :param name: The application's name in records.
        :raises ConfigError: `extract` is invalid.
        """
        watcher = Watcher(
            by=live,
            only=only,
            places=places_of(extract, answer_from),
            rules=Rules(
                evidence=names_of(evidence),
                not_evidence=names_of(not_evidence),
                context_tools=names_of(context_tools),
            ),
            needs_contexts=needs_contexts,
            name=name,
        )
        self._watchers.append(watcher)

    def unwatch(self, live: LiveScorer) -> None:
        """
        Stop passing runs to a live scorer.

        :param live: The scorer.
        """
        self._watchers[:] = [each for each in self._watchers if each.by is not live]

    def retain(self, user: Any) -> None:
        """
        Register a user of this tracer.

        :param user: The user.
        """
        with self._lock:
            self._users.add(user)

    @classmethod
    def release(cls, user: Any) -> None:
        """
        Remove a user; the last one restores the inner tracer.

        :param user: The user.
        """
        cls._users.discard(user)
        if cls._latest is not None and not cls._users and not cls._watchers:
            cls.uninstall()

    @contextmanager
    def trace(
        self, operation_name: str, tags: dict[str, Any] | None = None, parent_span: Span | None = None
    ) -> Generator[Span]:
        """
        Open a span of the inner tracer, and watch it.

        :param operation_name: The operation.
        :param tags: Tags of the span.
        :param parent_span: The parent span.
        :returns: The span.
        """
        here = None
        if operation_name in _OF_INTEREST and not _FORWARDING.get() and not is_judging():
            here = self._here(operation_name, tags or {}, parent_span)
        parent = parent_span.inner if isinstance(parent_span, _WatchedSpan) else parent_span
        with _Forwarding(self.inner.trace(operation_name, tags=tags, parent_span=parent)) as inner:
            if here is None:
                yield inner
                return
            span = _WatchedSpan(inner, here)
            token = HERE.set(here) if operation_name not in PIPELINES else None
            try:
                yield span
            except BaseException as error:
                self._ended(span, error)
                raise
            else:
                self._ended(span, None)
            finally:
                if token is not None:
                    with suppress(ValueError):  # an abandoned generator is closed in another context
                        HERE.reset(token)

    def notes_here(self) -> Notes | None:
        """
        The notes of the current run, for `note_contexts`.

        :returns: The notes; None outside a run.
        """
        here = HERE.get()
        return None if here is None or here.run.has_ended else here.run.notes

    def current_span(self) -> Span | None:
        """
        The inner tracer's current span.

        :returns: The span.
        """
        return self.inner.current_span()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["inner"], name)

    def _here(self, operation: str, tags: dict[str, Any], parent_span: Span | None) -> Here | None:
        """The position of a new span in its run; None outside a run."""
        with self._harmless():
            above = parent_span.here if isinstance(parent_span, _WatchedSpan) else HERE.get()
            if above is not None and above.run.has_ended:
                above = None
            begins = operation in PIPELINES or (operation == AGENT and above is None)
            if above is None and not begins:
                return None
            order = above.run.order if above else count(1)
            visit = Visit(operation=operation, tags=tags, began=next(order))
            if above is not None:
                above.visit.children.append(visit)
                if not begins:
                    return Here(above.run, visit)
            # before Haystack 3 a pipeline's outputs were a tag, which fills while it runs
            visit.outputs = tags.get("haystack.pipeline.output_data")
            run = WatchedRun(
                root=visit,
                order=order,
                is_inner=above is not None,
                metadata=tags.get("haystack.pipeline.metadata"),
                inputs=tags.get("haystack.pipeline.input_data") or {},
                notes=above.run.notes if above else notes_before(self),
            )
            return Here(run, visit)
        return None

    def _ended(self, span: _WatchedSpan, error: BaseException | None) -> None:
        with self._harmless():
            run, visit = span.here
            if error is None and not span.has_failed:
                visit.ended = next(run.order)
            if visit is run.root:
                self._finished(run, error)

    def _finished(self, run: WatchedRun, error: BaseException | None) -> None:
        run.has_ended = True
        # in a run that was interrupted, failed or resumed a component that belongs to it may not have run
        with self._lock:
            own = [watcher for user in self._users if (watcher := user.watcher_of(run))]
        watchers = run.watchers + [watcher for watcher in own if watcher not in run.watchers]
        for watcher in [*watchers, *(() if run.is_inner else self._watchers)]:
            live = watcher.by.live
            try:
                if watcher.only is not None and not watcher.only(run.metadata or {}):
                    continue
                if error is not None:
                    live.skip("interrupted" if isinstance(error, BreakpointException) else reason_of(error))
                else:
                    live.submit(capture_of(run, watcher))
            except Exception as problem:  # the boundary to the host: what is one's does not reach the others
                live.hook_failed(problem)

    @contextmanager
    def _harmless(self) -> Generator[None]:
        """Catch all errors of hooks, because a tracer that raises ends the pipeline."""
        try:
            yield
        except Exception as error:
            with suppress(Exception):  # not even a broken log handler may reach it
                logger.error("A hook of ragmetrics failed: {error}", error=error, exc_info=error)
