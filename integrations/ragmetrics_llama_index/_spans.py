"""Hooks that collect the spans of each answered question.

A unit is an answer to score: the outermost watched query or chat engine, or a watched workflow. Its inner
spans are kept until its stream has been read; spans outside of units cost one table look-up.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from inspect import BoundArguments
from itertools import count
from types import FrameType
from typing import Any, cast

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.instrumentation.span import active_span_id
from llama_index.core.instrumentation.span_handlers import NullSpanHandler
from llama_index.core.workflow import Workflow
from pydantic import PrivateAttr

from ragmetrics_core.adapting import Call, Rules, as_now
from ragmetrics_core.live import (
    Capture,
    Collector,
    LiveScorer,
    Node,
    Notes,
    SkipReason,
    is_judging,
    notes_before,
    reason_of,
    take_notes,
)
from ragmetrics_llama_index._calls import OpenCall, begun, ended, note_instructions
from ragmetrics_llama_index._captured import ARGUMENTS, Extract, sample_of
from ragmetrics_llama_index._dialect import chunks_in
from ragmetrics_llama_index._memories import Remembered, remembered
from ragmetrics_llama_index._responses import nodes_in
from ragmetrics_llama_index._streams import READ, Stream, is_unread, tee

__all__ = ["ENGINES", "SpanHandler", "Spans"]

ENGINES = (BaseQueryEngine, BaseChatEngine)
_ENGINE_METHODS = frozenset({"query", "aquery", "chat", "achat", "stream_chat", "astream_chat"})
_EVALUATING = frozenset({"evaluate", "aevaluate", "evaluate_response", "aevaluate_response"})
_PREDICTING = frozenset({"predict", "apredict"})
_WRITING = frozenset({"write_response_to_history", "awrite_response_to_history"})
# "-" and a UUID end the id of every span.
_UUID = 37


@dataclass(slots=True, eq=False, kw_only=True)
class WorkUnit:
    """An open unit.

    Attributes:
        seen: the unit's call, which contains the inner calls.
        arguments, tags, notes, memory: from its start.
        condensed: the conversation as text, if a model was sent it to make a stand-alone question.
        clock: counts events in it.
        has_answered: whether it has ended, while its stream is still being read.
        writing: a chat's stream, after the unit has ended.
        written: the stream's tokens, or the reason for having none, once known.
    """

    seen: OpenCall
    arguments: dict[str, Any]
    tags: dict[str, Any]
    notes: Notes
    memory: Remembered | None = None
    condensed: str | None = None
    clock: Iterator[int] = field(default_factory=count)
    has_answered: bool = False
    writing: Stream | None = None
    written: list[str] | SkipReason | None = None

    def note_written(self, written: Any) -> None:
        """Note that a chat engine has written its answer, or has given up."""
        self.written = written
        self.settle()

    def settle(self) -> None:
        """End a chat's stream like its writing, once both are known."""
        if self.writing is None or self.written is None:
            return
        if isinstance(self.written, str):
            self.writing.give_up(self.written)
        else:
            self.writing.finish("".join(self.written).strip())


@dataclass(eq=False)
class Spans:
    """Make captures from spans.

    Attributes:
        live: the live scorer.
        watch: the engines and workflows to score, as objects or classes.
        max_open: maximum number of open units.
        ttl: seconds without a new span after which an open unit is dropped.
        needs_contexts: skip answers without contexts.
        rules: the options for finding fields.
        extract: takes precedence over rules; see `instrument`.
        open: the open spans.
    """

    live: LiveScorer
    watch: Sequence[object]
    _: KW_ONLY
    max_open: int
    ttl: float
    needs_contexts: bool
    rules: Rules
    extract: Extract | None

    def __post_init__(self) -> None:
        # Their texts are enough; `extract` gets the nodes.
        self._hold: Callable[[Any], Any] = chunks_in if self.extract is None else as_now
        self.open = Collector(max_open=self.max_open, ttl=self.ttl, on_evicted=self._evicted)
        take_notes(self)

    def notes_here(self) -> Notes | None:
        """The application's notes in the current answer."""
        node = self.open.get(active_span_id.get())
        return None if node is None else _unit(node).notes

    def enter(
        self,
        span: str,
        bound_args: BoundArguments,
        instance: Any = None,
        parent_id: Any = None,
        tags: Any = (),
    ) -> None:
        """Note the start of a span."""
        if is_judging():
            return
        method = _method(span)
        above = self._above(parent_id)
        if above is not None:
            node = self.open.start(span, above.id)
            unit = _unit(node)
            if method in _PREDICTING and unit.memory is not None and unit.condensed is None:
                unit.condensed = bound_args.kwargs.get("chat_history")
            node.payload = begun(instance, method, bound_args, _around(above), self._hold, unit.clock)
            if isinstance(instance, StreamingAgentChatResponse) and method in _WRITING:
                # to its memory, in a thread or task that ends at any time
                tee(instance, Stream(unit.note_written, unit.note_written), span)
        elif self._takes(instance, method):
            given = bound_args.arguments
            unit = WorkUnit(
                seen=OpenCall(Call(kind="chain", name=type(instance).__name__), None),
                arguments={name: value for name, value in given.items() if name in ARGUMENTS},
                tags=dict(tags or ()),
                notes=notes_before(self),
                memory=remembered(instance, given),
            )
            note_instructions(instance, method, {}, unit.seen.call, unit.clock)
            self.open.start(span, None, unit)

    def leave(self, span: str, bound_args: BoundArguments, instance: Any = None, result: Any = None) -> None:
        """Note a span's successful end."""
        node = self.open.get(span)
        if node is None:
            return
        unit = _unit(node)
        if node.is_root:
            unit.has_answered = True
            self._answered(span, unit, result)
        elif isinstance(seen := node.payload, OpenCall):
            ended(seen, span, result, self._hold, unit.clock)

    def drop(self, span: str, bound_args: BoundArguments, instance: Any = None, err: Any = None) -> None:
        """Note that a span failed, was cancelled or abandoned."""
        node = self.open.get(span)
        if node is None:
            return
        if node.is_root:
            self._give_up(span, reason_of(err))
        elif isinstance(seen := node.payload, OpenCall) and seen.call.kind == "tool":
            seen.call.outputs = str(err)  # the model gets it as the tool's result

    def _takes(self, instance: object, method: str) -> bool:
        """Whether to score this call if it is the outermost."""
        is_query = method in _ENGINE_METHODS and isinstance(instance, ENGINES)
        if not is_query and not (method == "run" and isinstance(instance, Workflow)):
            return False
        if any(instance is watched for watched in self.watch):
            return True
        # An evaluator of LlamaIndex asks its questions through a query engine of its own.
        kinds = tuple(watched for watched in self.watch if isinstance(watched, type))
        return isinstance(instance, kinds) and not _is_in_an_evaluator(inspect.currentframe())

    def _above(self, parent: str | None) -> Node | None:
        """The enclosing node of a span: its parent, or the source of the stream being read."""
        node = None if parent is None else self.open.get(parent)
        read = READ.get()
        reading = None if read is None else self.open.get(read)
        return node if reading is None or reading in _up(node) else reading

    def _answered(self, span: str, unit: WorkUnit, result: Any) -> None:
        if _method(span) == "run":  # a workflow's stop event holds the result
            if result is None:
                self._give_up(span, "cancelled")
                return
            result = getattr(result, "result", None) or result
        session = unit.tags.get("session_id") or (unit.memory and unit.memory.session)
        capture = Capture(
            translate=partial(
                sample_of,
                calls=unit.seen.call.children,
                tags=unit.tags,
                extract=self.extract,
                rules=self.rules,
            ),
            needs_contexts=self.needs_contexts,
            name=unit.seen.call.name,
            question=unit.arguments,
            contexts=nodes_in(result),
            answer=result,
            noted=unit.notes.contexts,
            data={"rule": "result", "memory": unit.memory, "condensed": unit.condensed},
            labels={
                name: value
                for name, value in unit.tags.items()
                if name != "session_id" and not name.startswith("llamaindex.")
            },
            session=session if isinstance(session, str) else None,
            parent=span,
        )
        if is_unread(result):
            tee(result, self._stream(capture, span, "stream"), span)
        elif isinstance(result, StreamingAgentChatResponse):
            # it may have been written by now, in a thread or task of its own
            unit.writing = self._stream(capture, span, "chat_stream")
            unit.settle()
            if not result.is_writing_to_memory:
                tee(result, unit.writing, span)
        else:
            self.open.end(span)
            self.live.submit(capture)

    def _stream(self, capture: Capture, span: str, rule: str) -> Stream:
        capture.data["rule"] = rule
        capture.answer = None

        def finish(answer: Any) -> None:
            capture.answer = answer
            self.live.submit(capture)
            self.open.end(span)

        return Stream(finish, lambda reason: self._give_up(span, reason))

    def _give_up(self, span: str, reason: SkipReason) -> None:
        self.open.end(span)
        self.live.skip(reason)

    def _evicted(self, root: Node) -> None:
        unit = _unit(root)
        if unit.writing is not None:
            unit.writing.give_up("never_ended")
        elif not unit.has_answered:  # a stream that is still read ends by itself
            self.live.skip("never_ended")


class SpanHandler(NullSpanHandler):
    """Span handler for LlamaIndex's dispatcher; keeps no span objects and never raises.

    The dispatcher would ignore errors silently.
    """

    _spans: Spans = PrivateAttr()

    def __init__(self, spans: Spans) -> None:
        super().__init__()
        self._spans = spans

    @classmethod
    def class_name(cls) -> str:
        """The name of the handler."""
        return "RagMetricsSpanHandler"

    def span_enter(self, id_: str, *args: Any, **kwargs: Any) -> None:
        """Note the start of a span."""
        self._noted(self._spans.enter, id_, *args, **kwargs)

    def span_exit(self, id_: str, *args: Any, **kwargs: Any) -> None:
        """Note the end of a span."""
        self._noted(self._spans.leave, id_, *args, **kwargs)

    def span_drop(self, id_: str, *args: Any, **kwargs: Any) -> None:
        """Note the failure of a span."""
        self._noted(self._spans.drop, id_, *args, **kwargs)

    def _noted(self, note: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        try:
            note(*args, **kwargs)
        except Exception as error:  # the boundary to the host: nothing of ours may reach it
            self._spans.live.hook_failed(error)

    def close(self) -> None:
        """Finish pending captures when the dispatcher shuts down."""
        self._spans.live.flush()


def _method(span: str) -> str:
    return span[:-_UUID].rpartition(".")[2]


def _up(node: Node | None) -> Iterator[Node]:
    """A node and all enclosing ones."""
    while node is not None:
        yield node
        node = node.parent


def _around(node: Node) -> OpenCall:
    """The innermost enclosing call of a node."""
    payload = next(around.payload for around in _up(node) if around.payload is not None)
    return payload.seen if isinstance(payload, WorkUnit) else payload


def _unit(node: Node) -> WorkUnit:
    return cast("WorkUnit", node.root.payload)


def _is_in_an_evaluator(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name in _EVALUATING and isinstance(frame.f_locals.get("self"), BaseEvaluator):
            return True
        frame = frame.f_back
    return False
