"""Translation of a capture into a sample, in the background."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragmetrics_core import Sample
from ragmetrics_core.adapting import Call, CapturedRun, NamedValue
from ragmetrics_core.adapting import sample_of as translated
from ragmetrics_core.live import Capture
from ragmetrics_core.shapes import is_list
from ragmetrics_llama_index._dialect import DIALECT

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
    tags: Mapping[str, Any]
    arguments: Mapping[str, Any]
    result: Any
    nodes: Sequence[Any] | None
    retrievals: Sequence[Retrieval]


Extract = Callable[[RootSpan], Mapping[str, Any] | None]


def sample_of(capture: Capture) -> Sample:
    """The sample of a capture; fields from `extract` take precedence over the rules.

    Raises:
        Skip: there is no question or no answer.
        SampleError: `extract` returned a field that samples do not have, or contexts without text.
    """
    calls: Sequence[Call] = capture.data["calls"]
    # a list holds the tokens of a stream
    answer = "".join(map(str, capture.answer)) if is_list(capture.answer) else capture.answer
    text = DIALECT.text(answer)
    run = CapturedRun(
        calls=calls,
        inputs={**capture.question, **DIALECT.fields(capture.question.get("start_event"))},
        outputs=answer,
        answer=None if text is None else NamedValue(text, capture.data["rule"]),
        answered_by=None if text is None else _makers(calls, text),
        sources=capture.contexts,
        given=_extracted(capture, calls, answer),
    )
    sample = translated(run, DIALECT, capture.data["rules"])
    asked = next((call.query for call in run.walk() if call.kind == "retriever"), None)
    standalone = DIALECT.text(asked)
    if "message" not in capture.question or standalone in (None, sample.question):
        return sample
    return sample.model_copy(update={"labels": sample.labels | {"standalone_question": standalone}})


def _extracted(capture: Capture, calls: Sequence[Call], answer: Any) -> Mapping[str, Any] | None:
    extract: Extract | None = capture.data["extract"]
    if extract is None:
        return None
    searches = _outermost(calls, lambda call: call.kind == "retriever" and call.ended is not None)
    retrievals = [Retrieval(call.query, call.outputs) for call in searches]
    tags, nodes = capture.data["tags"], capture.contexts
    return extract(RootSpan(capture.name or "", tags, capture.question, answer, nodes, retrievals))


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
