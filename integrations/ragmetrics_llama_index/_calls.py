"""Translation of spans into the calls of a captured run."""

import inspect
from collections.abc import Callable, Iterator
from inspect import BoundArguments
from typing import Any, NamedTuple

from llama_index.core.agent.workflow import AgentOutput
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.tools import BaseTool

from ragmetrics_core.adapting import Call, Fields, Kind, as_now
from ragmetrics_core.samples import cited_text
from ragmetrics_llama_index._dialect import DIALECT, documents_by_field, request_of
from ragmetrics_llama_index._instructions import WRITERS, Instructions
from ragmetrics_llama_index._streams import Stream, is_unread, tee

__all__ = ["OpenCall", "begun", "ended", "note_instructions"]

Hold = Callable[[Any], Any]

# Which methods belong to the run, by their names without what makes them asynchronous.
_KINDS: tuple[tuple[type, frozenset[str], Kind], ...] = (
    (BaseRetriever, frozenset({"retrieve"}), "retriever"),
    (BaseNodePostprocessor, frozenset({"_postprocess_nodes", "_apostprocess_nodes"}), "postprocessor"),
    (BaseSynthesizer, frozenset({"synthesize", "get_response"}), "chain"),
    (BaseLLM, frozenset({"chat", "complete", "stream_chat", "stream_complete"}), "model"),
    (BaseTool, frozenset({"call", "__call__"}), "tool"),
)

_ENTRIES = frozenset({"run", "chat", "achat", "stream_chat", "astream_chat"})


class OpenCall(NamedTuple):
    """A call of the captured run, and its object."""

    call: Call
    instance: object


def begun(
    instance: object,
    method: str,
    arguments: BoundArguments,
    around: OpenCall,
    hold: Hold,
    clock: Iterator[int],
) -> OpenCall | None:
    """The call of a span inside another; None if it does not belong to the run.

    A method that calls another method of the same object, or a model that calls a model, is one call.
    """
    named = arguments.arguments
    note_instructions(instance, method, named, around.call, clock)
    kind = _kind(instance, method)
    is_inner = instance is not None and around.instance is instance
    if kind is None or is_inner or kind == around.call.kind == "model":
        return None
    call = Call(kind=kind, name=type(instance).__name__)
    first = next(iter((*arguments.args, *arguments.kwargs.values())), None)
    match kind:
        case "retriever":
            call.query = first
        case "postprocessor":
            call.query, call.inputs = named.get("query_bundle"), hold(first)
        case "model":
            call.inputs = request_of(first)
        case _ if isinstance(instance, BaseTool):
            call.name = str(instance.metadata.name)
            given = named.get("kwargs") or named
            call.inputs = {name: value for name, value in given.items() if isinstance(value, str)}
        case _ if isinstance(instance, BaseSynthesizer):
            if "nodes" in named:
                call.inputs = {"nodes": hold(named["nodes"])}
                _hand_over(call, around.call, next(clock))
        case _:
            call.name = method
            call.inputs = documents_by_field([*named.values(), None][-1])
    call.began = next(clock)
    around.call.children.append(call)
    return OpenCall(call, instance)


def note_instructions(
    instance: object, method: str, named: Fields, outer: Call, clock: Iterator[int]
) -> None:
    """Note the texts that an agent, a chat engine or the template of a prompt puts into requests."""
    prompt = named.get("prompt")
    if isinstance(prompt, BasePromptTemplate):
        source = Instructions(prompt, instance)
    elif isinstance(instance, WRITERS) and method in _ENTRIES:
        source = Instructions(instance)
    else:
        return
    now = next(clock)
    outer.children.append(
        Call(kind="prompt", name=type(source.source).__name__, outputs=source, began=now, ended=now)
    )


def _hand_over(synthesizer: Call, outer: Call, now: int) -> None:
    """Note changes to retrieved nodes before a synthesizer got them, such as numbering the sources."""
    steps = [call.outputs for call in outer.children if call.kind in ("retriever", "postprocessor")]
    inputs, outputs = {"nodes": steps}, synthesizer.inputs
    if outputs["nodes"] or any(steps[-1:]):
        outer.children.append(
            Call(kind="chain", name=synthesizer.name, inputs=inputs, outputs=outputs, began=now, ended=now)
        )


def ended(seen: OpenCall, span: str, result: Any, hold: Hold, clock: Iterator[int]) -> None:
    """Store a call's output; a failed tool has none, and a stream ends when it has been read.

    Args:
        seen: the call.
        span: its span.
        result: its output.
        hold: copies a list of nodes.
        clock: counts events.
    """
    call = seen.call
    match call.kind:
        case "retriever" | "postprocessor":
            call.outputs = hold(list(result or ()))
        case "tool":
            call.outputs = as_now(result)
            if getattr(result, "is_error", False):
                return
        case "model":
            if not inspect.isgenerator(result):
                call.outputs, call.cited = DIALECT.text(result), cited_text(result)
        case _ if not isinstance(seen.instance, BaseSynthesizer):
            call.outputs = documents_by_field(result)
            _tell_streamed(call, result)
        case _ if is_unread(result):

            def finish(tokens: Any) -> None:
                call.outputs, call.ended = "".join(map(str, tokens)), next(clock)

            tee(result, Stream(finish, lambda reason: None), span)
            return
        case _:
            call.outputs = DIALECT.text(result)
    call.ended = next(clock)


def _kind(instance: object, method: str) -> Kind | None:
    """The kind of a method; a function is a step of a workflow."""
    if instance is None:
        return "chain"
    for kind, methods, word in _KINDS:
        if isinstance(instance, kind):
            return word if method in methods or method.removeprefix("a") in methods else None
    return None


def _tell_streamed(step: Call, result: Any) -> None:
    """Set the output of an agent's step, which is the model's reply from the stream that it read."""
    if isinstance(result, AgentOutput):
        for call in step.children[-1:]:
            if call.kind == "model" and call.outputs is None:
                call.outputs = DIALECT.text(result.response)
                call.cited = cited_text(result.response)
