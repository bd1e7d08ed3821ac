"""From events to captures: which run belongs to which, and what becomes of it when it ends."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core.adapting import sample_of
from ragmetrics_core.adapting._fields import answer_in, question_in
from ragmetrics_core.adapting.captured import Finding, Kind, Rules, Run
from ragmetrics_core.live import (
    Capture,
    Collector,
    LiveScorer,
    Node,
    Notes,
    notes_before,
    reason_of,
    take_notes,
)
from ragmetrics_langchain._dialect import DIALECT
from ragmetrics_langchain._runs import ORDER, RootRun, RunInfo, Seen, Turn, held
from ragmetrics_langchain._tracing import current_trace, parent_run_here

__all__ = ["Recorder", "Scope"]

Scope = str | Callable[[RunInfo], bool]
Extract = Callable[[RootRun], Mapping[str, Any] | None]

_LOGGER = logging.getLogger("ragmetrics.live")
# Conversations that wait for a person; the one that waited longest is forgotten.
_MOST_WAITING = 1000


class Recorder:
    """Keeps what is open, and hands in what has ended.

    Args:
        live: takes the captures.
        rules: how a run becomes a sample.
        scope: which runs become samples.
        needs_contexts: leave out those without contexts.
        session_key: the entry of a run's metadata that names the conversation.
        label_keys: entries of a run's metadata that become labels of the sample.
        max_open, ttl: as for `Collector`.
    """

    def __init__(
        self,
        live: LiveScorer,
        rules: Rules,
        *,
        scope: Scope = "root",
        needs_contexts: bool = False,
        session_key: str = "thread_id",
        label_keys: Sequence[str] = (),
        max_open: int = 10_000,
        ttl: float = 900.0,
    ) -> None:
        self._live = live
        self._rules = rules
        self._scope = scope
        self._is_unit = scope_test(scope)
        self._needs_contexts = needs_contexts
        self._session_key = session_key
        self._label_keys = label_keys
        self._collector = Collector(max_open=max_open, ttl=ttl, on_evicted=self._forget)
        self._waiting: OrderedDict[str, SeenTurn] = OrderedDict()
        self._ends = count()
        self._has_root = False
        take_notes(self)

    @property
    def open_runs(self) -> int:
        """How many runs are remembered."""
        return len(self._collector)

    def start(
        self,
        kind: Kind,
        serialized: Mapping[str, Any] | None,
        inputs: Any,
        run_id: Any,
        parent_run_id: Any,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        more: Mapping[str, Any],
    ) -> None:
        """Note that a run begins."""
        if tags and JUDGE_TAG in tags:
            return
        name = more.get("name") or (serialized or {}).get("name") or kind
        run = Seen(kind, str(name), tags or (), metadata or {}, None)
        if parent_run_id is None:
            parent_run_id = self._fallbacks_around(inputs)
        node = self._collector.start(run_id, parent_run_id, run)
        if node.payload is not run:
            return  # the handler is attached twice
        if node.is_root:
            self._has_root = self._has_root or kind == "chain"
            run.trace = current_trace()
        info = RunInfo(run.name, kind, run.tags, run.metadata, node.is_root)
        run.is_unit = self._is_unit(info) and not any(each.is_unit for each in _above(node))
        run.inputs = self._held(run, inputs)
        if run.is_unit:
            run.notes = notes_before(self)

    def model(self, messages: Any, parent_run_id: Any, tags: Sequence[str] | None) -> None:
        """Note that a chat model is called; outside of any run there is no question and no document."""
        if tags and JUDGE_TAG in tags:
            return
        node = None if parent_run_id is None else self._collector.get(parent_run_id)
        if node is None:
            self._no_root()
            return
        node.root.payload.system = _system(messages) if self._rules.system_message else None
        for run in (node.payload, *_above(node)):
            run.has_model = True

    def notes_here(self) -> Notes | None:
        """The notes of the unit that the code which runs is part of."""
        here = parent_run_here()
        node = None if here is None else self._collector.get(here)
        if node is None:
            return None
        units = (run.notes for run in (node.payload, *_above(node)) if run.is_unit)
        return next(units, None)

    def _no_root(self) -> None:
        self._live.skip("not_traced")
        if not self._has_root:
            self._has_root = True  # told once
            _LOGGER.warning(
                "a model was called outside of any chain or graph that the handler sees, and so there is no "
                "question and no context to score: attach the handler to the chain, or install(handler)"
            )

    def end(self, run_id: Any, outputs: Any, more: Mapping[str, Any]) -> None:
        """Note that a run ended well; the second time, for a handler that is attached twice, does nothing."""
        node = self._collector.get(run_id)
        if node is None or node.payload.has_ended:
            return
        try:
            run: Seen = node.payload
            run.outputs = self._held(run, outputs)
            run.has_ended = True
            run.order = next(self._ends)
            self._take_inputs(run, more)
            if run.is_unit:
                self._finish(node)
        finally:
            self._collector.end(run_id)

    def fail(self, run_id: Any, error: BaseException, more: Mapping[str, Any]) -> None:
        """Note that a run failed, was cancelled or abandoned, or waits for a person."""
        node = self._collector.get(run_id)
        if node is None:
            return
        try:
            run: Seen = node.payload
            run.has_failed = not _is_interrupt(error)
            if not run.has_failed:
                for each in (run, *_above(node)):
                    each.interrupted = True
            if run.is_unit and not run.has_ended:
                self._take_inputs(run, more)
                self._wait(self._turn(node))
                self._live.skip("interrupted" if _is_interrupt(error) else reason_of(error))
        finally:
            self._collector.end(run_id)

    def _held(self, run: Seen, value: Any) -> Any:
        """A value with its texts as they are now; of what is inside a unit, only the documents are needed."""
        is_needed = run.is_unit or run.kind != "chain" or self._scope == "outermost_rag"
        return as_now(value) if is_needed else shallow(value)

    def _take_inputs(self, run: Seen, more: Mapping[str, Any]) -> None:
        """In a stream the inputs are complete when it ends."""
        if "inputs" in more:
            run.is_streamed = True
            run.inputs = self._held(run, more["inputs"])

    def _fallbacks_around(self, inputs: Any) -> Any:
        """The run of a `with_fallbacks` around this one: it starts what it tries as roots of their own.

        It has that name unless the application named it; what it tries is given what it was given.
        """
        around = parent_run_here()
        node = None if around is None else self._collector.get(around)
        if node is None:
            return None
        is_named = node.payload.name == "RunnableWithFallbacks"
        return around if is_named or _is_same(node.payload.inputs, inputs) else None

    def _finish(self, node: Node) -> None:
        """Hand in what a unit has become, unless it waits for a person or was given up."""
        turn = self._turn(node)
        run = turn.run
        if run.interrupted or (self._session(run) and self._rules.has_none(turn)):
            self._wait(turn)
            self._live.skip("interrupted" if run.interrupted else "no_answer")
        elif run.outputs is None:
            self._live.skip("abandoned" if run.is_streamed else "no_answer")
        elif self._scope == "outermost_rag" and (parts := part_units(node, self._rules)):
            for part in parts:
                self._submit(part)
        else:
            self._submit(turn)

    def _submit(self, turn: SeenTurn) -> None:
        run = turn.run
        self._live.submit(
            Capture(
                translate=self._translate,
                needs_contexts=self._needs_contexts,
                id=str(turn.node.id),
                name=run.name,
                noted=turn.noted(),
                data={"turn": turn},
                labels=self._labels(run),
                session=self._session(run),
                parent=turn.node.root.payload.trace or turn.node.root.id,
            )
        )

    def _labels(self, run: Seen) -> dict[str, Any]:
        return {key: run.metadata[key] for key in self._label_keys if key in run.metadata}

    def _translate(self, capture: Capture) -> Sample:
        return self._rules.sample(capture.data["turn"])

    def _turn(self, node: Node) -> SeenTurn:
        """The turn that a unit is, or goes on with."""
        session = self._session(node.payload)
        earlier = self._waiting.pop(session, None) if session is not None else None
        return SeenTurn(node, earlier if node.payload.is_resumed else None)

    def _wait(self, turn: SeenTurn) -> None:
        """Keep a turn that has no answer yet until its conversation goes on."""
        session = self._session(turn.run)
        if session is None:
            return
        self._waiting[session] = turn
        while len(self._waiting) > _MOST_WAITING:
            with suppress(KeyError):  # another thread was quicker
                self._waiting.popitem(last=False)

    def _session(self, run: Seen) -> str | None:
        name = run.metadata.get(self._session_key)
        return None if name is None else str(name)

    def _forget(self, root: Node) -> None:
        self._live.skip("never_ended")


def _above(node: Node) -> Iterable[Seen]:
    """The runs around a run, the nearest first."""
    while node.parent is not None:
        node = node.parent
        yield node.payload


def _system(messages: Any) -> str | None:
    """The system messages of a call, None without one."""
    texts = [str(each.text) for call in messages for each in call if each.type == "system"]
    return "\n\n".join(texts) or None


def _is_interrupt(error: BaseException) -> bool:
    """Whether LangGraph stopped to ask a person; told by name, because langgraph may not be installed."""
    return any(kind.__name__ == "GraphInterrupt" for kind in type(error).__mro__)


def _is_same(held: Any, inputs: Any) -> bool:
    try:
        return bool(held == inputs)
    except Exception:  # the boundary to values of the host's: arrays, frames
        return False
