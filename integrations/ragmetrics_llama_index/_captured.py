"""Translation of a capture into a sample, in the background."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ragmetrics_core import Sample
from ragmetrics_core.adapting import Call, CapturedRun, Fields, Rules, named_value, question_in
from ragmetrics_core.adapting import sample_of as translated
from ragmetrics_core.boundary import is_list
from ragmetrics_core.live import Capture
from ragmetrics_llama_index._dialect import DIALECT
from ragmetrics_llama_index._memories import Remembered, history_before

__all__ = ["ARGUMENTS", "Extract", "Retrieval", "RootSpan", "sample_of"]

# The arguments of a call that hold a question or what was said before.
ARGUMENTS = frozenset(
    {
        "str_or_query_bundle",
        "query",
        "question",
        "message",
        "user_msg",
        "input",
        "start_event",
        "chat_history",
    }
)


class Retrieval(NamedTuple):
    """The query and the result of an outermost retriever."""

    query: Any
    nodes: Sequence[Any]


class RootSpan(NamedTuple):
    """A whole answer, passed to `extract=`.

    Attributes:
        name: the class of the engine, chat engine or workflow.
        tags: tags set with `instrument_tags`.
        arguments: its arguments by name: the question, a chat's history, a workflow's start event.
        result: the returned value; for a stream, the text.
        nodes: the result's source nodes, or None if it has no such field.
        retrievals: the query and result of each branch's outermost retriever.
    """

    name: str
    tags: Fields
    arguments: Fields
    result: Any
    nodes: Sequence[Any] | None
    retrievals: Sequence[Retrieval]


Extract = Callable[[RootSpan], Fields | None]


def sample_of(
    capture: Capture,
    *,
    calls: Sequence[Call],
    tags: Fields,
    extract: Extract | None,
    rules: Rules,
) -> Sample:
    """The sample of a capture; fields from `extract` take precedence over the rules.

    Args:
        capture: the capture.
        calls: the outermost calls inside it.
        tags: its tags.
        extract: the user's function; it gets the whole answer.
        rules: the options for finding fields.

    Raises:
        Skip: there is no question or no answer.
        SampleError: `extract` returned a field that samples do not have, or contexts without text.
    """
    # a list holds the tokens of a stream
    answer = "".join(map(str, capture.answer)) if is_list(capture.answer) else capture.answer
    text = DIALECT.text(answer)
    given = None
    if extract is not None:
        searches = _outermost(calls, lambda call: call.kind == "retriever" and call.ended is not None)
        retrievals = [Retrieval(call.query, call.outputs) for call in searches]
        whole = RootSpan(capture.name or "", tags, capture.question, answer, capture.contexts, retrievals)
        given = extract(whole)
    run = CapturedRun(
        calls=calls,
        inputs={**capture.question, **DIALECT.fields(capture.question.get("start_event"))},
        outputs=answer,
        answer=named_value(text, capture.data["rule"]),
        answered_by=None if text is None else _makers(calls, text),
        sources=capture.contexts,
        given=given,
        session=capture.session,
    )
    memory: Remembered | None = capture.data["memory"]
    question = question_in(run.inputs, DIALECT)
    if memory is not None and question is not None and run.inputs.get("chat_history") is None:
        run.history = history_before(question.value, memory, run.walk(), capture.data["condensed"])
    return translated(run, DIALECT, rules)


def _makers(calls: Sequence[Call], answer: str) -> list[Call] | None:
    """The model calls that made the answer: those of the last synthesizer that returned it, or the last call.

    None if no observed call returned it unchanged: an agent extracts it from a reply.
    """
    wanted = answer.split()

    def gave(call: Call) -> bool:
        text = DIALECT.text(call.outputs) if call.kind in ("chain", "model") else None
        return text is not None and text.split() == wanted

    givers = list(_outermost(calls, gave))
    if not givers:
        return None
    last = max(givers, key=lambda call: call.began)
    return [call for call in last.walk() if call.kind == "model" and call.ended is not None]


def _outermost(calls: Iterable[Call], wanted: Callable[[Call], bool]) -> Iterator[Call]:
    for call in calls:
        if wanted(call):
            yield call
        else:
            yield from _outermost(call.children, wanted)
