"""
Question, contexts and answer in what the components of a run took and put out.

Runs in the background. Each finding names its rule, which goes into the sample's labels.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast

from haystack.dataclasses import ChatMessage, Document, GeneratedAnswer
from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, Skip
from ragmetrics_core.sample import Turn
from ragmetrics_core.shapes import is_list, is_mapping

from haystack_integrations.components.evaluators.ragmetrics.places import Places, Socket
from haystack_integrations.components.evaluators.ragmetrics.texts import (
    Passages,
    answer_text,
    history_of,
    is_documents,
    joined,
    passages_of,
)
from haystack_integrations.components.evaluators.ragmetrics.tool_texts import (
    documents_in,
    found_by_tools,
    is_written,
)
from haystack_integrations.components.evaluators.ragmetrics.watching import Event, WatchedRun

__all__ = ["conversation_sample", "run_sample"]

T = TypeVar("T")

# The names under which pipelines take a question; "text" is what an embedder takes.
_QUESTION_NAMES = ("query", "question", "user_query", "user_question", "text")


class NamedField(NamedTuple):
    """A value and the rule that found it."""

    value: Any
    rule: str


def run_sample(capture: Capture) -> Sample:
    """
    Translate a capture of a run.

    :param capture: Has the run and the places of fields in its `data`.
    :returns: The sample.
    :raises Skip: The run has no answer or no question.
    """
    run: WatchedRun = capture.data["run"]
    places: Places = capture.data.get("places") or {}
    answer = _placed(run, places["answer"], answer_text) if "answer" in places else _answer(run)
    if answer is None:
        reason = "no_answer"
        raise Skip(reason)
    contexts = _placed_contexts(run, places["contexts"]) if "contexts" in places else _contexts(run)
    question = _placed_question(run, places["question"]) if "question" in places else _question(run)
    if question is None:
        reason = "no_question"
        raise Skip(reason)
    _note(capture, question=question, contexts=contexts, answer=answer)
    passages: Passages | None = contexts.value if contexts else None
    return Sample(
        question=question.value,
        answer=answer.value,
        contexts=passages.texts if passages else None,
        context_ids=passages.ids if passages else None,
        history=_history(run),
    )


def conversation_sample(capture: Capture) -> Sample:
    """
    Translate a capture of an agent's state: `history` are its messages, `contexts` its other data.

    :param capture: The capture.
    :returns: The sample.
    :raises Skip: The agent has not answered, or was asked nothing.
    """
    messages = [each for each in capture.history or () if isinstance(each, ChatMessage)]
    answer = _last_words(messages)
    if answer is None:
        reason = "no_answer"
        raise Skip(reason)
    asked = _last_question(messages)
    if asked is None:
        reason = "no_question"
        raise Skip(reason)
    tools: list[Event] = capture.data["tools"]
    writers: frozenset[str] = capture.data["writers"] | _writers(tools)
    contexts = _state_documents(capture.contexts or {}) or _of_turn(messages[asked:], _known(tools), writers)
    _note(
        capture,
        question=NamedField(None, "last_user_message"),
        contexts=contexts,
        answer=NamedField(None, "last_message"),
    )
    passages: Passages | None = contexts.value if contexts else None
    return Sample(
        question=messages[asked].text,
        answer=answer,
        contexts=passages.texts if passages else None,
        context_ids=passages.ids if passages else None,
        history=history_of(messages[:asked]),
    )


def _note(capture: Capture, **found: NamedField | None) -> None:
    capture.labels |= {f"found_{name}": each.rule for name, each in found.items() if each is not None}


# Where the user names places, these alone count: what another branch of the pipeline left is not what is meant.


def _placed(run: WatchedRun, places: Sequence[Socket], read: Callable[[object], T | None]) -> NamedField | None:
    """The value at the place that was filled last."""
    return _placed_in(reversed(run.events), places, read)


def _placed_question(run: WatchedRun, places: Sequence[Socket]) -> NamedField | None:
    """The question at the place that was filled first: a loop sends something else through it later."""
    return _placed_in(run.events, places, answer_text)


def _placed_in(
    events: Iterable[Event], places: Sequence[Socket], read: Callable[[object], T | None]
) -> NamedField | None:
    for event in events:
        for place in places:
            value = _at(place, event, read)
            if value is not None:
                return NamedField(value, f"extract:{place}")
    return None


def _placed_contexts(run: WatchedRun, places: Sequence[Socket]) -> NamedField | None:
    """What is at all the places, in the order in which the user names them, each passage once."""
    found: dict[Socket, Passages] = {}
    for place in places:
        last = _first(_at(place, event, passages_of) for event in reversed(run.events))
        if last is not None:
            found[place] = last
    return NamedField(joined(found.values()), f"extract:{', '.join(map(str, found))}") if found else None


def _at(place: Socket, event: Event, read: Callable[[object], T | None]) -> T | None:
    if event.name != place.component:
        return None
    sides = [side for side in (event.outputs, event.inputs) if is_mapping(side)]
    return _first(read(side[place.socket]) for side in sides if side.get(place.socket) is not None)


# The answer: the last one that the run came to, so that a loop's earlier attempts do not count.


def _answer(run: WatchedRun) -> NamedField | None:
    readings = ((("generated_answer", _of_answers),), (("replies", _of_replies), ("messages", _of_agent)))
    for rules in readings:
        for event in reversed(run.events):
            if event.kind == "tool" or not is_mapping(event.outputs):
                continue
            for rule, read in rules:
                text = read(event.outputs)
                if text is not None:
                    return NamedField(text, rule)
    return None


def _of_answers(outputs: Mapping[str, Any]) -> str | None:
    return _first(answer_text(value) for value in outputs.values() if _has(value, GeneratedAnswer))


def _of_replies(outputs: Mapping[str, Any]) -> str | None:
    replies: Any = outputs.get("replies")
    if _has(replies, ChatMessage):
        return replies[0].text if replies[0].role.value == "assistant" else None
    return answer_text(replies) if _has(replies, str) else None


def _of_agent(outputs: Mapping[str, Any]) -> str | None:
    return _first(_last_words(value) for value in outputs.values() if _has(value, ChatMessage))


# The contexts: what the model was shown, or else what was retrieved last.


def _contexts(run: WatchedRun) -> NamedField | None:
    for event in reversed(run.events):
        if is_mapping(event.outputs):
            shown = _of_agent_run(run, event) if event.kind == "agent" else _shown(event)
            if shown is not None:
                return shown
    for rule, read in (("retrieved_documents", _retrieved), ("answer_documents", _with_answer)):
        for event in reversed(run.events):
            if event.kind == "component" and is_mapping(event.outputs):
                passages = read(event)
                if passages is not None:
                    return NamedField(passages, rule)
    return None


def _shown(event: Event) -> NamedField | None:
    passages = _documents(event.inputs) if event.kind == "component" and "prompt" in event.outputs else None
    return None if passages is None else NamedField(passages, "prompt_documents")


def _of_agent_run(run: WatchedRun, event: Event) -> NamedField | None:
    """What an agent had in its state, or its tools found since the last question."""
    outputs = event.outputs
    messages = [each for each in outputs.get("messages") or () if isinstance(each, ChatMessage)]
    asked = _last_question(messages)
    state = {name: value for name, value in outputs.items() if name not in ("messages", "last_message")}
    tools = [each for each in run.events if each.kind == "tool"]
    return _state_documents(state) or _of_turn(messages[asked or 0 :], _known(tools), _writers(tools))


def _known(tools: Iterable[Event]) -> dict[str, list[Document]]:
    """The documents that tools returned, by the tool's name."""
    known: dict[str, list[Document]] = {}
    for tool in tools:
        known.setdefault(tool.name, []).extend(documents_in(tool.outputs))
    return known


def _writers(tools: Iterable[Event]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools if is_written(tool.outputs))


def _of_turn(
    messages: Sequence[ChatMessage], known: Mapping[str, Sequence[Document]], writers: frozenset[str]
) -> NamedField | None:
    found = found_by_tools(messages, known, writers)
    return None if found is None else NamedField(*found)


def _retrieved(event: Event) -> Passages | None:
    return _documents(event.outputs)


def _with_answer(event: Event) -> Passages | None:
    answers = (value for value in event.outputs.values() if _has(value, GeneratedAnswer))
    return _first(passages_of(value[:1]) for value in answers)


def _state_documents(state: Mapping[str, Any]) -> NamedField | None:
    documents = [each for value in state.values() if _has(value, Document) for each in value]
    return NamedField(passages_of(documents), "state_documents") if documents else None


def _documents(sockets: Mapping[str, Any]) -> Passages | None:
    """The documents of a component; those under a telling name rather than an empty list of anything."""
    values = [sockets["documents"]] if "documents" in sockets else []
    values += [value for name, value in sockets.items() if name != "documents" and _has(value, Document)]
    return _first(passages_of(value) for value in values if is_documents(value))


# The question: what the pipeline was asked, and not what a component made of it.


def _question(run: WatchedRun) -> NamedField | None:
    for event in reversed(run.events):
        for value in event.outputs.values() if is_mapping(event.outputs) else ():
            if _has(value, GeneratedAnswer) and value[0].query:
                return NamedField(value[0].query, "generated_answer")
    messages = _asked(run)
    number = _last_question(messages)
    return (
        _named(run.inputs.values(), "pipeline_input")
        or (NamedField(messages[number].text, "last_user_message") if number is not None else None)
        or _named((each.inputs for each in run.events if each.kind == "component"), "component_input")
    )


def _named(sides: Iterable[Any], rule: str) -> NamedField | None:
    """A text under one of the names of a question, the most telling name first."""
    mappings = [side for side in sides if is_mapping(side)]
    texts = (side.get(name) for name in _QUESTION_NAMES for side in mappings)
    return next((NamedField(text, rule) for text in texts if isinstance(text, str) and text), None)


def _history(run: WatchedRun) -> tuple[Turn, ...] | None:
    """The conversation that the run was called with, before its last question."""
    messages = _asked(run)
    number = _last_question(messages)
    return None if number is None else history_of(messages[:number])


def _asked(run: WatchedRun) -> list[ChatMessage]:
    """The messages that the pipeline or the agent was called with, unless they are a prompt's template."""
    sides = [*run.inputs.values(), *(event.inputs for event in run.events if event.kind == "agent")]
    for side in sides:
        messages = side.get("messages") if is_mapping(side) else None
        if _has(messages, ChatMessage):
            return [each for each in cast("list[object]", messages) if isinstance(each, ChatMessage)]
    return []


def _last_question(messages: Sequence[ChatMessage]) -> int | None:
    numbers = range(len(messages) - 1, -1, -1)
    return next((n for n in numbers if messages[n].role.value == "user" and messages[n].text), None)


def _last_words(messages: Sequence[Any]) -> str | None:
    last = messages[-1] if messages else None
    if not isinstance(last, ChatMessage) or last.role.value != "assistant":
        return None
    return last.text or None


def _has(value: object, kind: type[T]) -> TypeGuard[list[T]]:
    """Whether it is a list that begins with one of a kind, and so is taken for a list of that kind."""
    return is_list(value) and bool(value) and isinstance(value[0], kind)


def _first(values: Iterator[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)
