"""From events to captures: the tree of runs, and captures of ended ones."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config

from ragmetrics_core import Sample
from ragmetrics_core.adapting import CapturedRun, Fields, Kind, Rules, answer_in, question_in
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
from ragmetrics_langchain._history import resumed_question, special_history
from ragmetrics_langchain._hooks import Told
from ragmetrics_langchain._runs import LangChainRun, LangChainTurn, RootRun, RunInfo, session_in
from ragmetrics_langchain._tracing import current_trace, parent_run_here
from ragmetrics_langchain._wiring import translated

__all__ = ["Extract", "Recorder", "Scope"]

Scope = str | Callable[[RunInfo], bool]
Extract = Callable[[RootRun], Fields | None]

_LOGGER = logging.getLogger("ragmetrics.live")
# Conversations that wait for a person; the one that waited longest is forgotten.
_MOST_WAITING = 1000
_NO_ROOT = (
    "a model was called outside of any chain or graph that the handler sees, and so there is no "
    "question and no context to score: attach the handler to the chain, or install(handler)"
)


@dataclass(eq=False)
class Recorder:
    """Keep open runs, and submit ended ones.

    Attributes:
        live: the live scorer.
        rules: the options for finding fields.
        extract: returns a sample's fields, which take precedence over all rules.
        scope: selects the runs that become samples.
        needs_contexts: skip those without contexts.
        session_key: the entry of a run's metadata or configuration that names the conversation.
        label_keys: entries of a run's metadata that become labels of the sample.
        max_open, ttl: as for `Collector`.
        open: the open runs.
    """

    live: LiveScorer
    rules: Rules
    _: KW_ONLY
    extract: Extract | None
    scope: Scope
    needs_contexts: bool
    session_key: str | None
    label_keys: Sequence[str]
    max_open: int
    ttl: float

    def __post_init__(self) -> None:
        self.open = Collector(
            max_open=self.max_open, ttl=self.ttl, on_evicted=lambda _: self.live.skip("never_ended")
        )
        self._waiting: OrderedDict[str, LangChainTurn] = OrderedDict()
        self._has_root = False
        take_notes(self)

    def hook_failed(self, error: Exception) -> None:
        """Count an error of our own."""
        self.live.hook_failed(error)

    def begin(self, kind: Kind, name: str, inputs: Any, told: Told) -> None:
        """Note the start of a run."""
        parent_id = told.get("parent_run_id") or self._fallbacks_around(inputs)
        if kind == "model" and self.open.get(parent_id) is None:
            self.live.skip("not_traced")
            if not self._has_root:
                self._has_root = True  # said once
                _LOGGER.warning(_NO_ROOT)
            return
        run = LangChainRun(
            kind=kind,
            name=name,
            id=told["run_id"],
            tags=told.get("tags") or (),
            metadata=told.get("metadata") or {},
        )
        run.session = session_in(run.metadata, self.session_key)
        node = self.open.start(run.id, parent_id, run)
        if node.payload is not run:
            return  # the handler is attached twice
        if node.parent is None:
            self._has_root = self._has_root or kind == "chain"
            run.trace = current_trace()
        else:
            node.parent.payload.children.append(run)
            _note_session(node.parent, self.session_key)
        run.is_unit = (
            kind != "model" and self._is_unit(run, node) and not any(each.is_unit for each in _around(node))
        )
        # inside a unit, only the documents are needed
        run.is_whole = run.is_unit or kind != "chain" or self.scope == "outermost_rag"
        run.begin(inputs)
        if run.is_unit:
            run.notes = notes_before(self)

    def end(self, outputs: Any, told: Told) -> None:
        """Note a run's successful end; ignored the second time, for a handler that is attached twice."""
        node = self.open.get(told["run_id"])
        if node is None or node.payload.ended is not None:
            return
        try:
            run: LangChainRun = node.payload
            run.end(outputs)
            self._take_streamed(run, told)
            if run.is_unit:
                self._finish(run, node)
        finally:
            self.open.end(node.id)

    def fail(self, error: BaseException, told: Told) -> None:
        """Note that a run failed, was cancelled or abandoned, or waits for human input."""
        node = self.open.get(told["run_id"])
        if node is None:
            return
        try:
            run: LangChainRun = node.payload
            is_interrupt = _is_interrupt(error)
            if is_interrupt:
                for around in _around(node):
                    around.interrupted = True
            if run.is_unit and run.ended is None:
                self._take_streamed(run, told)
                self._wait(self._turn(run))
                self.live.skip("interrupted" if is_interrupt else reason_of(error))
        finally:
            self.open.end(node.id)

    def notes_here(self) -> Notes | None:
        """The notes of the current unit."""
        node = self.open.get(parent_run_here())
        return next((run.notes for run in _around(node) if run.is_unit), None)

    def _is_unit(self, run: LangChainRun, node: Node) -> bool:
        if callable(self.scope):
            return self.scope(RunInfo(run.name, run.kind, run.tags, run.metadata, node.is_root))
        return node.is_root if self.scope in ("root", "outermost_rag") else run.name == self.scope

    def _take_streamed(self, run: LangChainRun, told: Told) -> None:
        """Take the inputs of a stream, which are complete only at its end."""
        if run.kind == "chain" and "inputs" in told:
            run.is_streamed = True
            run.begin(told["inputs"])

    def _fallbacks_around(self, inputs: Any) -> Any:
        """The run of a `with_fallbacks` around this one, which starts its alternatives as separate roots.

        It has the default name unless the application named it; its alternatives get its inputs.
        """
        around = parent_run_here()
        node = self.open.get(around)
        if node is None:
            return None
        is_named = node.payload.name == "RunnableWithFallbacks"
        return around if is_named or _is_same(node.payload.inputs, inputs) else None

    def _finish(self, run: LangChainRun, node: Node) -> None:
        """Submit the capture of an ended unit, unless it waits for human input or was dropped."""
        turn = self._turn(run)
        is_open = self.extract is None and run.session is not None and not self._has_answer(turn)
        if run.interrupted or is_open:
            self._wait(turn)
            self.live.skip("interrupted" if run.interrupted else "no_answer")
        elif run.outputs is None:
            self.live.skip("abandoned" if run.is_streamed else "no_answer")
        elif self.scope == "outermost_rag" and not self._has_answer(turn) and any(self._parts(run)):
            for part in self._parts(run):
                self._submit(part, node)
        else:
            self._submit(turn, node)

    def _has_answer(self, turn: LangChainTurn) -> bool:
        return answer_in(turn.outputs(), DIALECT, self.rules.answer_key, turn.run.inputs) is not None

    def _parts(self, run: LangChainRun) -> Iterator[LangChainTurn]:
        """The outermost runs inside one that each answer a question with something retrieved."""
        for child in run.children:
            if not isinstance(child, LangChainRun):
                continue
            turn = LangChainTurn(child)
            is_answer = child.kind == "chain" and child.ended and self._has_answer(turn)
            is_asked = question_in(child.inputs, DIALECT, self.rules.input_key) is not None
            if is_answer and is_asked and any(child.retrievals()):
                yield turn
            else:
                yield from self._parts(child)

    def _submit(self, turn: LangChainTurn, node: Node) -> None:
        run = turn.run
        run.session = run.session or node.payload.session
        self.live.submit(
            Capture(
                translate=lambda _: self._sample(turn),
                needs_contexts=self.needs_contexts,
                id=str(run.id),
                name=run.name,
                noted=turn.noted(),
                labels={key: run.metadata[key] for key in self.label_keys if key in run.metadata},
                session=run.session,
                parent=node.root.payload.trace or node.root.id,
            )
        )

    def _sample(self, turn: LangChainTurn) -> Sample:
        parts = turn.parts()
        asked = resumed_question(parts) or question_in(parts[0].inputs, DIALECT, self.rules.input_key)
        run = CapturedRun(
            calls=[call for part in parts for call in part.children],
            inputs=parts[0].inputs,
            outputs=turn.outputs(),
            given=None if self.extract is None else self.extract(turn.root_run()),
            question=asked,
            history=None if asked is None else special_history(parts, asked.value),
            session=turn.run.session,
        )
        return translated(run, self.rules)

    def _turn(self, run: LangChainRun) -> LangChainTurn:
        """The turn of a unit, or the turn that it resumes."""
        earlier = self._waiting.pop(run.session, None) if run.session is not None else None
        return LangChainTurn(run, earlier if run.is_resumed else None)

    def _wait(self, turn: LangChainTurn) -> None:
        """Keep a turn without an answer until it is resumed."""
        if turn.run.session is None:
            return
        self._waiting[turn.run.session] = turn
        while len(self._waiting) > _MOST_WAITING:
            with suppress(KeyError):  # another thread was quicker
                self._waiting.popitem(last=False)


def _note_session(node: Node, key: str | None) -> None:
    """Note the conversation of a unit from the configuration, which only the runs inside it get."""
    unit = next((run for run in _around(node) if run.is_unit), None)
    if unit is not None and unit.session is None:
        config = var_child_runnable_config.get() or {}
        unit.session = session_in(config.get("configurable") or {}, key)


def _around(node: Node | None) -> Iterator[LangChainRun]:
    """A node's run and the enclosing ones, innermost first."""
    while node is not None:
        yield node.payload
        node = node.parent


def _is_interrupt(error: BaseException) -> bool:
    """Whether LangGraph stopped for human input; checked by name, because langgraph may not be installed."""
    return any(kind.__name__ == "GraphInterrupt" for kind in type(error).__mro__)


def _is_same(held: Any, inputs: Any) -> bool:
    try:
        return bool(held == inputs)
    except Exception:  # the boundary to values of the host's: arrays, frames
        return False
