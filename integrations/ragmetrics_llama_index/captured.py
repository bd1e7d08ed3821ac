"""From what the hooks saw to a sample; this runs in the background."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, Node, Skip
from ragmetrics_core.shapes import is_list
from ragmetrics_llama_index.responses import answer_in, nodes_in, question_in, text_of_node

__all__ = [
    "ARGUMENTS",
    "Answered",
    "Found",
    "Given",
    "Retrieved",
    "contexts_under",
    "first_query",
    "sample_of",
]

# What workflows call the question, in the order in which it is looked for.
_QUESTIONS = ("query", "question", "user_msg", "input", "message", "str_or_query_bundle")
# The arguments of a call that hold a question or what was said before.
ARGUMENTS = frozenset(_QUESTIONS) | {"start_event", "chat_history"}


class Retrieved(NamedTuple):
    """A retriever's span has ended: what it was asked, and its nodes."""

    query: Any
    nodes: Sequence[Any]


class Given(NamedTuple):
    """A synthesizer was given these nodes: what the model was shown."""

    nodes: Sequence[Any]


class Answered(NamedTuple):
    """An engine inside of the one that is scored has answered."""

    query: Any
    result: Any


class Found(NamedTuple):
    """Nodes, and the rule that found them."""

    nodes: list[Any] | None
    rule: str


def contexts_under(root: Node, result: Any) -> Found:
    """The nodes that an answer rests on.

    Those that the answer names itself; else those of engines inside and those that a synthesizer was given;
    else those that were retrieved, by the outermost retriever of each branch. None where nothing was
    retrieved at all.
    """
    named = nodes_in(result)
    if named:
        return Found(named, "response")
    seen = list(_outermost(root.children))
    inner = [node for each in seen if isinstance(each, Answered) for node in nodes_in(each.result) or ()]
    given = [each for each in seen if isinstance(each, Given)]
    retrieved = [each for each in seen if isinstance(each, Retrieved)]
    if inner or given:
        shown = given or retrieved
        return Found(_once([*inner, *(node for each in shown for node in each.nodes)]), "synthesis")
    if retrieved:
        return Found(_once(node for each in retrieved for node in each.nodes), "retrieval")
    return Found(None, "none")


def sample_of(capture: Capture) -> Sample:
    """The sample of a capture.

    Raises:
        Skip: there is no question or no answer.
    """
    question, rule = _question(capture.question)
    if question is None:
        raise Skip("no_question")
    answer = _answer(capture.answer)
    if answer is None:
        raise Skip("no_answer")
    labels: dict[str, Any] = {"found_question": rule}
    standalone = question_in(capture.data.get("standalone"))
    if standalone is not None and standalone != question:
        labels["standalone_question"] = standalone
    nodes = capture.contexts
    ids = [_id_of(node) for node in nodes or ()]
    return Sample(
        question=question,
        answer=answer,
        contexts=None if nodes is None else tuple(text_of_node(node) for node in nodes),
        context_ids=tuple(filter(None, ids)) if nodes and all(ids) else None,
        history=_history(capture.history),
        labels=labels,
    )


def first_query(root: Node) -> Any:
    """What the first retriever or engine inside was asked: a chat engine's question in full."""
    asked = (node.payload.query for node in root.walk() if isinstance(node.payload, Retrieved | Answered))
    return next(asked, None)


def _outermost(nodes: Iterable[Node]) -> Iterator[Retrieved | Given | Answered]:
    """What was seen, without what lies inside of it."""
    for node in nodes:
        if isinstance(node.payload, Retrieved | Given | Answered):
            yield node.payload
        else:
            yield from _outermost(node.children)


def _once(nodes: Iterable[Any]) -> list[Any]:
    """Each node at its first place; two branches may have found the same."""
    found: dict[object, Any] = {}
    for node in nodes:
        found.setdefault(_id_of(node) or id(node), node)
    return list(found.values())


def _id_of(node: Any) -> str | None:
    found = getattr(node, "node_id", None)
    return found if isinstance(found, str) and found else None


def _question(given: Mapping[str, Any]) -> tuple[str | None, str]:
    """The question among a call's arguments, or in a workflow's start event, with the name it has there."""
    event = given.get("start_event")
    for name in _QUESTIONS:
        value = given.get(name)
        if value is None and event is not None:
            value = getattr(event, name, None)
        text = question_in(value)
        if text is not None:
            return text, name
    return None, "none"


def _answer(given: Any) -> str | None:
    """A list holds the tokens of a stream."""
    if is_list(given):
        return "".join(each if isinstance(each, str) else str(each) for each in given)
    return answer_in(given)


def _history(messages: Sequence[Any] | None) -> Any:
    if not messages:
        return None
    turns = ((getattr(each, "role", None), getattr(each, "content", None)) for each in messages)
    return tuple(
        {"role": str(getattr(role, "value", role)), "content": content} for role, content in turns if content
    )
