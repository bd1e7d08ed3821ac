"""The hooks: which spans of LlamaIndex belong to one answered question, and what is taken from them.

A unit is an answer to score: the outermost query or chat engine that is watched, or a watched workflow. The
spans below a unit are kept while it is open; what lies outside of units costs one look into a table.
"""

import inspect
from collections.abc import Collection
from types import FrameType
from typing import Any, NamedTuple, cast

from llama_index.core.agent.workflow import ToolCallResult
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatResponse, CompletionResponse
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine.types import BaseChatEngine, StreamingAgentChatResponse
from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.instrumentation.span import active_span_id
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.workflow import Workflow
from pydantic import PrivateAttr

from ragmetrics_core.adapting import as_now
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
from ragmetrics_llama_index._captured import ARGUMENTS, Extract, first_query, sample_of
from ragmetrics_llama_index._contexts import (
    EngineAnswered,
    Given,
    RetrieverEnded,
    Used,
    Written,
    contexts_under,
    retrieved_under,
)
from ragmetrics_llama_index._streams import Stream, noted, noted_async

__all__ = ["SpanHandler", "Spans", "Watch"]

Arguments = inspect.BoundArguments

_ENGINES = (BaseQueryEngine, BaseChatEngine)
_ENGINE_METHODS = frozenset({"query", "aquery", "chat", "achat", "stream_chat", "astream_chat"})
_RETRIEVING = frozenset({"retrieve", "aretrieve"})
_SYNTHESIZING = frozenset({"synthesize", "asynthesize"})
_EVALUATING = frozenset({"evaluate", "aevaluate", "evaluate_response", "aevaluate_response"})
_WRITING = frozenset({"write_response_to_history", "awrite_response_to_history"})
# "-" and a UUID end the id of every span.
_UUID = 37


class WorkUnit(NamedTuple):
    """What is kept of a unit from its beginning."""

    name: str
    arguments: dict[str, Any]
    tags: dict[str, Any]
    notes: Notes


class Watch(NamedTuple):
    """Which engines and workflows are scored.

    Attributes:
        kinds: all instances of these classes.
        instances: these objects.
    """

    kinds: tuple[type, ...] = _ENGINES
    instances: Collection[int] = ()

    def takes(self, instance: object, method: str) -> bool:
        """Whether this call is one to score, if it is the outermost."""
        is_call = (method in _ENGINE_METHODS and isinstance(instance, _ENGINES)) or (
            method == "run" and isinstance(instance, Workflow)
        )
        if not is_call:
            return False
        if id(instance) in self.instances:
            return True
        # An evaluator of LlamaIndex asks its questions through a query engine of its own.
        return isinstance(instance, self.kinds) and not _is_in_an_evaluator(inspect.currentframe())


class Spans:
    """Makes captures of spans.

    Args:
        live: takes the captures.
        watch: which engines and workflows are scored.
        max_open: units and streams that may be open at a time.
        ttl: seconds without a new span after which an open one is given up.
        needs_contexts: leave out answers without contexts.
        context_tools: names of tools whose text is a context.
        extract: looks first; see `instrument`.
    """

    def __init__(
        self,
        live: LiveScorer,
        watch: Watch,
        *,
        max_open: int,
        ttl: float,
        needs_contexts: bool,
        context_tools: Collection[str] = (),
        extract: Extract | None = None,
    ) -> None:
        self._live = live
        self._watch = watch
        self._needs_contexts = needs_contexts
        self._context_tools = frozenset(context_tools)
        self._extract = extract
        self._open = Collector(max_open=max_open, ttl=ttl, on_evicted=self._evicted)
        take_notes(self)

    def notes_here(self) -> Notes | None:
        """What the application has noted in the answer that the current code is part of."""
        node = self._open.get(active_span_id.get())
        return (
            node.root.payload.notes if node is not None and isinstance(node.root.payload, WorkUnit) else None
        )

    def __len__(self) -> int:
        """How many spans are open."""
        return len(self._open)

    def clear(self) -> None:
        """Forget what is open."""
        self._open.clear()

    def enter(
        self,
        span: str,
        arguments: Arguments,
        instance: object,
        parent: str | None,
        tags: dict[str, Any] | None,
    ) -> None:
        """A span has begun."""
        if parent is not None and self._open.get(parent) is not None:
            self._open.start(span, parent)
        elif not is_judging() and self._watch.takes(instance, _method(span)):
            kept = {name: value for name, value in arguments.arguments.items() if name in ARGUMENTS}
            self._open.start(
                span, None, WorkUnit(type(instance).__name__, kept, dict(tags or ()), notes_before(self))
            )

    def leave(self, span: str, arguments: Arguments, instance: object, result: Any) -> None:
        """A span has ended well."""
        method = _method(span)
        node = self._open.get(span)
        if method in _WRITING and isinstance(instance, StreamingAgentChatResponse):
            self._written(instance)
        if node is None:
            return
        if not node.is_root:
            node.payload = _seen(instance, method, arguments, result)
            return
        root = self._open.end(span)
        if root is not None and isinstance(root.payload, WorkUnit):
            self._answered(root, root.payload, result)

    def drop(self, span: str, instance: object, error: BaseException | None) -> None:
        """A span has ended with an error, or was cancelled or abandoned."""
        reason = reason_of(error)
        if _method(span) in _WRITING and isinstance(instance, StreamingAgentChatResponse):
            self._give_up(instance, reason)
        root = self._open.end(span)
        if root is not None and isinstance(root.payload, WorkUnit):
            self._live.skip(reason)

    def _answered(self, root: Node, unit: WorkUnit, result: Any) -> None:
        if isinstance(root.id, str) and _method(root.id) == "run":  # a workflow's stop event holds the result
            if result is None:
                self._live.skip("cancelled")
                return
            result = getattr(result, "result", None) or result
        found = contexts_under(root, result, self._context_tools)
        session = unit.tags.get("session_id")
        history = unit.arguments.get("chat_history")
        data: dict[str, Any] = {"standalone": first_query(root)} if "message" in unit.arguments else {}
        if self._extract is not None:
            seen = [RetrieverEnded(each.query, as_now(each.nodes)) for each in retrieved_under(root)]
            data |= {"extract": self._extract, "tags": unit.tags, "retrievals": seen}
        capture = Capture(
            translate=sample_of,
            needs_contexts=self._needs_contexts,
            name=unit.name,
            question=unit.arguments,
            contexts=found.nodes,
            answer=result,
            history=list(history) if history else None,
            noted=unit.notes.contexts,
            data=data,
            labels={name: value for name, value in unit.tags.items() if not name.startswith("llamaindex.")}
            | {"found_contexts": found.rule},
            session=session if isinstance(session, str) else None,
            parent=root.id,
        )
        self._submit(capture, result)

    def _submit(self, capture: Capture, result: Any) -> None:
        """Hand the capture over, once its answer is there."""
        if isinstance(result, StreamingResponse) and _is_unread(result):
            stream = self._stream(capture, "stream")
            result.response_gen = noted(result.response_gen, stream, _itself)
        elif isinstance(result, AsyncStreamingResponse) and _is_unread(result):
            stream = self._stream(capture, "stream")
            result.response_gen = noted_async(result.response_gen, stream, _itself)
        elif isinstance(result, StreamingAgentChatResponse):
            self._chatting(capture, result)
        else:
            capture.labels["found_answer"] = "result"
            self._live.submit(capture)

    def _chatting(self, capture: Capture, response: StreamingAgentChatResponse) -> None:
        """A chat engine writes its stream into its memory, in a thread or task that ends at any time."""
        stream = self._stream(capture, "chat_stream")
        if not response.is_writing_to_memory:
            if response.chat_stream is not None:
                response.chat_stream = noted(response.chat_stream, stream, _delta)
            if response.achat_stream is not None:
                response.achat_stream = noted_async(response.achat_stream, stream, _delta)
            return
        # noted first and looked at second: it may end in between, and then one of the two sees it
        self._open.start(_chat_id(response), None, (response, stream))
        if response.exception is not None:
            self._give_up(response, reason_of(response.exception))
        elif response.is_done:
            self._written(response)

    def _written(self, response: StreamingAgentChatResponse) -> None:
        node = self._open.end(_chat_id(response))
        if node is not None:
            node.payload[1].finish(response.response)

    def _give_up(self, response: StreamingAgentChatResponse, reason: SkipReason) -> None:
        node = self._open.end(_chat_id(response))
        if node is not None:
            node.payload[1].give_up(reason)

    def _stream(self, capture: Capture, rule: str) -> Stream:
        capture.labels["found_answer"] = rule
        capture.answer = None
        return Stream(capture, self._live.submit, self._live.skip)

    def _evicted(self, node: Node) -> None:
        if isinstance(node.payload, WorkUnit):
            self._live.skip("never_ended")
        else:
            node.payload[1].give_up("never_ended")


class SpanHandler(BaseSpanHandler[Any]):
    """What LlamaIndex's dispatcher calls; keeps no span objects, and never raises.

    The dispatcher would swallow an error without a word.
    """

    _spans: Spans = PrivateAttr()
    _live: LiveScorer = PrivateAttr()

    def __init__(self, spans: Spans, live: LiveScorer) -> None:
        super().__init__()
        self._spans = spans
        self._live = live

    @classmethod
    def class_name(cls) -> str:
        """Names the handler among others."""
        return "RagMetricsSpanHandler"

    def span_enter(
        self,
        id_: str,
        bound_args: Arguments,
        instance: Any | None = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A span begins."""
        try:
            self._spans.enter(id_, bound_args, instance, parent_id, tags)
        except Exception as error:  # the boundary to the host: nothing of ours may reach it
            self._live.hook_failed(error)

    def span_exit(
        self,
        id_: str,
        bound_args: Arguments,
        instance: Any | None = None,
        result: Any | None = None,
        **kwargs: Any,
    ) -> None:
        """A span ends."""
        try:
            self._spans.leave(id_, bound_args, instance, result)
        except Exception as error:  # the boundary to the host: nothing of ours may reach it
            self._live.hook_failed(error)

    def span_drop(
        self,
        id_: str,
        bound_args: Arguments,
        instance: Any | None = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        """A span ends with an error."""
        try:
            self._spans.drop(id_, instance, err)
        except Exception as error:  # the boundary to the host: nothing of ours may reach it
            self._live.hook_failed(error)

    def close(self) -> None:
        """The dispatcher shuts down: finish what was captured."""
        self._live.flush()

    def new_span(self, *args: Any, **kwargs: Any) -> None:
        """No span objects are kept."""

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        """No span objects are kept."""

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        """No span objects are kept."""


def _method(span: str) -> str:
    return span[:-_UUID].rpartition(".")[2]


def _seen(instance: object, method: str, arguments: Arguments, result: Any) -> Any:
    """What a span below a unit tells; None for most."""
    given = arguments.arguments
    if isinstance(instance, BaseRetriever) and method in _RETRIEVING:
        return RetrieverEnded(next(iter(given.values()), None), list(result or ()))
    if isinstance(instance, BaseSynthesizer) and method in _SYNTHESIZING:
        return Given(list(given.get("nodes") or ()))
    if isinstance(instance, _ENGINES) and method in _ENGINE_METHODS:
        return EngineAnswered(next(iter(given.values()), None), result)
    if isinstance(instance, BaseLLM) and isinstance(result, ChatResponse | CompletionResponse):
        return Written(result)
    if isinstance(result, ToolCallResult):
        return Used(result.tool_name, result.tool_output)
    return None


def _is_in_an_evaluator(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name in _EVALUATING and isinstance(frame.f_locals.get("self"), BaseEvaluator):
            return True
        frame = frame.f_back
    return False


def _chat_id(response: StreamingAgentChatResponse) -> tuple[str, int]:
    return "chat", id(response)  # it has no identity of its own; while it is open, we hold it


def _is_unread(response: StreamingResponse | AsyncStreamingResponse) -> bool:
    return response.response_txt is None and cast("object", response.response_gen) is not None


def _itself(token: Any) -> Any:
    return token


def _delta(message: Any) -> str:
    return message.delta or ""
