"""Runs in the spans of a trace: which spans answer one question, and the sample that they make."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from ragmetrics_core.adapting import (
    Call,
    CalledTool,
    CapturedMessage,
    CapturedRun,
    Chunk,
    Kind,
    NamedValue,
    Rules,
    Skip,
    answer_in,
    documents_anywhere,
    question_in,
    sample_of,
)
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.errors import SampleError
from ragmetrics_core.samples import LEAST_RUN, Sample, tile, words_in
from ragmetrics_core.traces._conventions import pieces_of
from ragmetrics_core.traces._reprs import BUILT_ANSWER, printed_message
from ragmetrics_core.traces._spans import TraceSpan, merged
from ragmetrics_core.traces._values import DIALECT, decoded, requested

__all__ = ["SkippedTrace", "samples_of"]

# How deep spans may be nested.
_DEEPEST: Final = 200
# How much the beginning of a span differs in copies of it, in nanoseconds: formats round it.
_SAME_TIME: Final = 10_000_000
# How many model calls of one unit are compared to find the answer.
_MOST_MODELS: Final = 500
# How deep texts lie in the inputs of a pipeline, by component and argument.
_DEEP_INPUTS: Final = 5
_SEARCHES: Final = frozenset({"retriever", "postprocessor", "tool"})
_KINDS: Final[Mapping[str, Kind]] = {
    "retriever": "retriever", "postprocessor": "postprocessor", "tool": "tool", "prompt": "prompt",
    "answer": "answer",
}  # fmt: skip
# An object as Python prints it, or the beginning of that.
_PRINTED: Final = re.compile(
    r"\s*(?:<(?:[\w.]+ )*(?:object|generator)\b[^<>]*>|<?[A-Z]\w*\((?:\)|\*?\w+[=:].*(?:\)>?|\.\.\.)))\s*",
    re.DOTALL,
)


class SkippedTrace(NamedTuple):
    """A trace, or a part of a file, that gives no sample.

    Attributes:
        where: the trace, or the file and the line.
        reason: the reason, such as "no model call".
    """

    where: str
    reason: str

    def __str__(self) -> str:
        """Place and reason in one line."""
        return f"{self.where}: {self.reason}"


@dataclass(eq=False, slots=True)
class _Node:
    """A span in its tree.

    Attributes:
        span: the span.
        children: the spans inside, in order of their beginnings.
        call: the span as a call.
        has_model: whether it is, or has inside, a model call.
        lacks_texts: whether it names documents whose texts are unknown.
    """

    span: TraceSpan
    children: "list[_Node]" = field(default_factory=list["_Node"])
    call: Call = field(default_factory=lambda: Call(kind="chain", name=""))
    has_model: bool = False
    lacks_texts: bool = False

    def walk(self) -> "Iterator[_Node]":
        """The node and all nodes inside, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


class _UnclearTrace(Exception):
    """A trace cannot be read as a whole, for this reason."""


class _Unit(NamedTuple):
    """A node with the run in it, or with the reason why it has none."""

    node: _Node
    run: CapturedRun | None
    reason: str = ""


def samples_of(
    spans: Iterable[TraceSpan], rules: Rules, documents: Mapping[str, str]
) -> Iterator[Sample | SkippedTrace]:
    """The samples in all spans of one trace; the order of the spans does not matter.

    A run is the outermost span with a question and an answer and a model call inside. If no span of a tree
    has both, the run is the whole tree: its answer is the only reply that no later call used.

    Args:
        spans: the spans.
        rules: options for finding fields.
        documents: texts of documents by id.
    """
    spans = list(spans)
    trace = spans[0].trace if spans else ""
    try:
        documents = _texts_by_id(spans) | dict(documents)
        roots = _forest(spans)
        for root in roots:
            _make_calls(root, documents)
        units = [unit for root in roots if root.has_model for unit in _units(root)]
        if not units:
            yield SkippedTrace(f"trace {trace}", "no model call")
        made = [_sample(unit, rules) for unit in units]
    except (RecursionError, _UnclearTrace) as error:
        reason = str(error) if isinstance(error, _UnclearTrace) else "values nested too deep"
        yield SkippedTrace(f"trace {trace}", reason)
        return
    several = sum(isinstance(each, Sample) for each in made) > 1
    for unit, each in zip(units, made, strict=True):
        if isinstance(each, Sample):
            id = f"{trace}:{unit.node.span.id}" if several else trace
            yield each.model_copy(update={"id": id})
        else:
            yield SkippedTrace(f"trace {trace}, span {unit.node.span.id}", each)


def _texts_by_id(spans: Iterable[TraceSpan]) -> dict[str, str]:
    """The texts of the documents that some spans of a trace have, for those that name only their ids."""
    texts: dict[str, set[str]] = {}
    for span in spans:
        for chunk in span.documents or ():
            if chunk.id and chunk.text.strip():
                texts.setdefault(chunk.id, set()).add(chunk.text)
    return {id: text for id, found in texts.items() if len(found) == 1 for text in found}


# Trees


def _forest(spans: Iterable[TraceSpan]) -> list[_Node]:
    """The trees of a trace, in order of time.

    Spans whose parent is missing are inside of the tool that returned what a model said in them, or of the
    only root, or else, by parent, in trees of their own.

    Raises:
        _UnclearTrace: different spans have one id.
    """
    copies: dict[str, list[TraceSpan]] = {}
    for span in spans:
        copies.setdefault(span.id, []).append(span)
    for id, each in copies.items():
        began = [span.began for span in each if span.began]
        if began and max(began) - min(began) > _SAME_TIME:
            raise _UnclearTrace(f"several spans with the id {id}")
    nodes = {id: _Node(merged(each)) for id, each in sorted(copies.items())}
    roots: list[_Node] = []
    missing: dict[str, _Node] = {}
    alone: list[_Node] = []
    for node in nodes.values():
        parent = node.span.parent
        if parent is None:
            roots.append(node)
        elif parent in nodes:
            nodes[parent].children.append(node)
        else:
            lost = missing.setdefault(parent, _Node(TraceSpan(trace=node.span.trace, id=parent)))
            lost.children.append(node)
    for lost in missing.values():
        tool = _asking_tool(lost, nodes.values())
        if tool is not None or len(roots) == 1:
            (tool or roots[0]).children.append(lost)
        else:
            alone.append(lost)
    roots += alone
    reached = {node.span.id for node in _reached(roots)}
    for id, node in nodes.items():  # parents in a circle: the first of them is taken as the outermost
        if id not in reached:
            nodes[node.span.parent or ""].children.remove(node)
            roots.append(node)
            reached |= {inner.span.id for inner in _reached([node])}
    roots = [root for root in roots if root.span.kind != "ignored"]
    return sorted(roots, key=_place)


def _asking_tool(lost: _Node, nodes: Iterable[_Node]) -> _Node | None:
    """The tool that returned a reply of a model in a tree whose parent is missing."""
    inside = set(lost.walk())
    models = [node.span for node in inside if node.span.reply and node.span.ended]
    for node in nodes:
        if node.span.kind == "tool" and node not in inside and models:
            returned = _plain(DIALECT.text(node.span.outputs) or "")
            for model in models:
                is_during = node.span.began <= model.began and (model.ended or 0) <= (node.span.ended or 0)
                if is_during and returned and _plain(model.reply or "") in returned:
                    return node
    return None


def _reached(roots: Sequence[_Node]) -> list[_Node]:
    """All nodes of trees, without those inside of ignored ones; too deep ones raise `_UnclearTrace`."""
    reached, level = list(roots), list(roots)
    for _ in range(_DEEPEST):
        inner = [child for node in level for child in node.children]
        for node in level:
            node.children = sorted((c for c in node.children if c.span.kind != "ignored"), key=_place)
        if not inner:
            return reached
        reached += inner
        level = inner
    raise _UnclearTrace("values nested too deep")


def _place(node: _Node) -> tuple[int, str]:
    return node.span.began, node.span.id


# Calls


def _make_calls(root: _Node, documents: Mapping[str, str]) -> None:
    """Make the calls of a tree, in order of time as far as clocks agree."""
    _note_models(root)
    events: list[tuple[tuple[float, int, Any], _Node, bool]] = []
    _note_events(root, 0, (), events)
    events.sort(key=lambda event: event[0])
    for number, (_, node, is_end) in enumerate(events, start=1):
        if is_end:
            node.call.ended = None if node.span.ended is None or node.span.failed else 2 * number
        else:
            node.call.began = 2 * number
    for node in root.walk():
        _fill_call(node, documents)
    for node in root.walk():
        for before, child in pairwise(node.children):
            if child.call.kind == "postprocessor" and child.call.inputs is None:
                child.call.inputs = before.call.outputs


def _note_models(node: _Node) -> bool:
    """Decide which spans are model calls; return whether there is one with its request.

    A span around another model call is a wrapper of it, unless only the outer one has the request.
    """
    span = node.span
    seen = [_note_models(child) for child in node.children]
    node.has_model = any(child.has_model for child in node.children)
    is_wrapper = node.has_model and (any(seen) or not span.messages)
    node.call.kind = "chain"
    if span.kind == "model" and not is_wrapper:
        for inner in node.walk():
            inner.call.kind = "chain" if inner.call.kind == "model" else inner.call.kind
        node.call.kind = "model"
        node.has_model = True
    return any(seen) or (node.call.kind == "model" and bool(span.messages))


def _note_events(
    node: _Node, shift: int, path: tuple[Any, ...], events: list[tuple[tuple[float, int, Any], _Node, bool]]
) -> tuple[int, int]:
    """Note beginning and end of a span and of all inside of it; return them.

    Whatever begins when another span ends is after it. Spans that began outside of their parent's time were
    measured by another clock, so they are moved together to the parent's middle.
    """
    began = _began(node) + shift
    ended = max(began, (node.span.ended or 0) + shift)
    is_timed = bool(node.span.began and node.span.ended)
    path = (*path, (node.span.began, node.span.id))
    inside: list[tuple[int, int]] = []
    for others, moved in _by_clock(node.children, shift, began, ended if is_timed else None):
        inside += [_note_events(child, moved, path, events) for child in others]
    ended = max([ended, began, *(last for _, last in inside)])
    depth = len(path)
    if ended > began:
        events.append(((began, 2, (depth, path)), node, False))
        events.append(((ended, 0, (-depth, path)), node, True))
    else:
        events.append(((began, 1, path), node, False))
        events.append(((began, 1, (*path, (inf, ""))), node, True))
    return began, ended


def _by_clock(
    children: Sequence[_Node], shift: int, began: int, ended: int | None
) -> Iterator[tuple[list[_Node], int]]:
    """The children that began before, in and after their parent's time, or never, each with its shift."""
    early, inside, late, never = list[_Node](), list[_Node](), list[_Node](), list[_Node]()
    for child in children:
        start = _began(child)
        if ended is None or began <= start + shift <= ended:
            inside.append(child)
        else:
            (never if not start else early if start + shift < began else late).append(child)
    yield inside, shift
    for group in (early, late, never):
        if group and ended is not None:
            first = min(map(_began, group))
            last = max(first, *(child.span.ended or 0 for child in group))
            yield group, began + max(0, (ended - began - (last - first)) // 2) - first


def _began(node: _Node) -> int:
    """When a span began, or else the first that is known of it and of the spans inside; 0 if nothing is."""
    inside = [began for child in node.children if (began := _began(child))] if not node.span.began else []
    return node.span.began or min(inside, default=node.span.ended or 0)


def _fill_call(node: _Node, documents: Mapping[str, str]) -> None:
    """Fill the call of a span with what went in and came out."""
    span, call = node.span, node.call
    call.name, call.query = span.name, span.query
    call.inputs, call.outputs = _unprinted(span.inputs), _unprinted(span.outputs)
    if call.kind == "model":
        calls = [CalledTool("")] if span.calls_tools else []
        said = CapturedMessage("assistant", span.reply or "", calls, others=span.written)
        has_replied = span.reply is not None or span.written
        call.inputs, call.outputs = list(span.messages or ()), [said] if has_replied else None
    elif (kind := _KINDS.get(span.kind)) is not None:
        call.kind = kind
    if span.documents is not None and call.kind != "model":
        known = [_with_text(chunk, documents) for chunk in span.documents]
        call.outputs = [chunk for chunk in known if chunk.text.strip()]
        node.lacks_texts = len(call.outputs) < len(known)
    if call.kind in ("retriever", "postprocessor") and (span.documents is None or node.lacks_texts):
        call.kind = "chain"  # a stage would say that these are all its documents
    call.children = [child.call for child in node.children]
    if span.template and (pieces := pieces_of(span.template)):
        prompt = [CapturedMessage("system", piece) for piece in pieces]
        template = Call(kind="prompt", name=span.name, inputs={}, outputs=prompt)
        template.began = template.ended = call.began - 1
        call.children.insert(0, template)


def _with_text(chunk: Chunk, documents: Mapping[str, str]) -> Chunk:
    return chunk if chunk.text.strip() else chunk._replace(text=documents.get(chunk.id or "", ""))


# Runs


def _units(root: _Node) -> list[_Unit]:
    """The runs of a tree with a model call, or the reasons why there are none."""
    units = _without_steps(_named_runs(root), root) or [_whole_run(root)]
    if len(units) == 1 and units[0].run is not None and units[0].node is not root:
        units[0].run.calls = [root.call]  # it may have got its documents from a step before
    return units


def _without_steps(units: Sequence[_Unit], root: _Node) -> list[_Unit]:
    """The runs without those that are steps to answer the same question, such as a rewriting.

    Runs of one name that ask the same are repetitions. Runs of several names are steps of an application: the
    run is the one whose answer no later call used.
    """
    same: dict[str, list[_Unit]] = {}
    for unit in units:
        same.setdefault(_plain(_said(unit)[0]), []).append(unit)
    texts = _texts_taken(root)
    runs: list[_Unit] = []
    for group in same.values():
        last = [
            unit
            for unit in group
            if len(group) == 1 < len(same)  # a turn of a conversation, say, which later ones take up
            or not _is_taken(_said(unit)[1], texts, unit.node.call.ended or inf, LEAST_RUN)
        ]
        if len({unit.node.span.name for unit in last}) > 1:
            last = [_Unit(root, None, "several answers")]
        runs += last
    return sorted(runs, key=lambda unit: _place(unit.node))


def _said(unit: _Unit) -> tuple[str, str]:
    """Question and answer of a run."""
    run = unit.run
    return (run.question.value, run.answer.value) if run and run.question and run.answer else ("", "")


def _named_runs(node: _Node) -> list[_Unit]:
    """The outermost spans that have a question and an answer; those inside of a tool answer its caller."""
    if node.call.kind == "chain" and node.span.kind != "model" and (run := _named_run(node)) is not None:
        return [_Unit(node, run)]
    inner = [child for child in node.children if child.has_model and child.call.kind != "tool"]
    return [unit for child in inner for unit in _named_runs(child)]


def _named_run(node: _Node) -> CapturedRun | None:
    inputs, outputs = node.call.inputs, node.call.outputs
    question = question_in(inputs, DIALECT) or _only_question(inputs)
    if question is not None and is_mapping(arguments := decoded(question.value)):
        question = question_in(arguments, DIALECT)  # an instrumentor printed the inputs
    if question is None or not question.value.strip():
        return None
    run = CapturedRun(calls=node.call.children, inputs=inputs, outputs=outputs, question=question)
    answer = answer_in(outputs, DIALECT, inputs=inputs)
    if answer is None:
        answer = _only_answer(outputs)
    run.answer = answer
    if answer is None or not answer.value.strip():
        finals = _final_models(node)
        if len(finals) != 1:
            return None
        run.answer, run.answered_by = _replied(finals[0]), [finals[0].call]
    return run


def _replied(maker: _Node) -> NamedValue:
    return NamedValue(maker.span.reply, "reply that no later call used")


def _only_question(inputs: Any) -> NamedValue | None:
    """The question in the inputs of a pipeline by component, if all that name one name the same."""
    named = dict(_questions(inputs, "inputs", _DEEP_INPUTS))
    return NamedValue(*next(iter(named.items()))) if len(named) == 1 else None


def _questions(value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    if not is_mapping(value) or not depth:
        return
    for key, inner in value.items():
        found = question_in(inner, DIALECT) if is_mapping(inner) else None
        if found is not None and "only text" not in found.rule:
            yield found.value, f"{place}[{key!r}]"
        yield from _questions(inner, f"{place}[{key!r}]", depth - 1)


def _only_answer(outputs: Any) -> NamedValue | None:
    """The only answer in the outputs of a pipeline by component; an answer builder's comes first."""
    found = list(_answers(outputs, "outputs", _DEEP_INPUTS))
    built = {text: place for text, place, is_built in found if is_built}
    named = built or {text: place for text, place, _ in found}
    return NamedValue(*next(iter(named.items()))) if len(named) == 1 else None


def _answers(value: Any, place: str, depth: int) -> Iterator[tuple[str, str, bool]]:
    """Texts that may be the answer, with their places, and whether an answer builder made them."""
    messages = DIALECT.messages(value)
    built: Any = value.get("answer") if is_mapping(value) and value.get("type") == BUILT_ANSWER else None
    if isinstance(built, str):
        yield built, place, True
    elif messages:
        if messages[-1].role == "assistant" and not messages[-1].calls_tools:
            yield messages[-1].text, place, False
    elif is_mapping(value) and depth:
        for key, inner in value.items():
            found = answer_in(inner, DIALECT) if is_mapping(inner) else None
            if found is not None and "only new text" not in found.rule:
                yield found.value, f"{place}[{key!r}]", False
            else:
                yield from _answers(inner, f"{place}[{key!r}]", depth - 1)
    elif is_series(value) and len(value) == 1 and depth:
        yield from _answers(value[0], place, depth - 1)


def _whole_run(root: _Node) -> _Unit:
    """The run of a tree in which no span has both question and answer, such as one of bare calls."""
    finals = _final_models(root)
    if not finals:
        calls = [node.span for node in root.walk() if node.call.kind == "model"]
        is_open = any(span.ended is None for span in calls)
        has_failed = any(span.failed for span in calls)
        return _Unit(root, None, "unfinished" if is_open else "failed" if has_failed else "no answer")
    if len(finals) > 1:
        return _Unit(root, None, "several answers")
    maker = finals[0]
    models = [node for node in root.walk() if node.call.kind == "model" and node.span.messages]
    # an instrumentor may have lost the request of the call that made the answer
    messages = list(maker.span.messages or (models[0].span.messages if models else None) or ())
    replies = {_plain(node.span.reply or "") for node in root.walk() if node.call.kind == "model"}
    asked = [
        n for n, each in enumerate(messages) if each.role == "assistant" and _plain(each.text) in replies
    ]
    messages = messages[: asked[0]] if asked else messages  # what follows is this run's own work
    number = max((n for n, each in enumerate(messages) if each.role == "user"), default=None)
    looked_up = any(each.role == "tool" for each in (maker.span.messages or ())[(number or 0) + 1 :])
    question = None if number is None else _question_of(root, messages[number].text, looked_up)
    if question is None:
        is_search = any(node.span.kind in _SEARCHES for node in root.walk())
        return _Unit(root, None, "no question" if is_search else "no retrieval")
    run = CapturedRun(
        calls=[root.call],
        answered_by=[maker.call],
        question=question,
        answer=_replied(maker),
        history=[each for each in messages[:number] if each.role in ("user", "assistant")],
    )
    return _Unit(root, run)


def _question_of(root: _Node, message: str, looked_up: bool) -> NamedValue | None:
    """The question in the last message of a user, which may be a prompt with documents in it.

    It is the message if the inputs of the tree have it, or if there are searches, or results of tools in the
    request, and it has no text that they found. It is a query if the message has that, unless a model wrote
    it for a tool.
    """
    if tile(["\n".join(_texts(root.span.inputs, _DEEP_INPUTS))], [message]).share(0) == 1:
        return NamedValue(message, "last human message of the request, which is in the inputs")
    nodes = [node for node in root.walk() if node.span.kind in _SEARCHES]
    by_tools = {inner for node in nodes if node.span.kind == "tool" for inner in node.walk()}
    queries = [(_query(node), node.span.name) for node in nodes if node not in by_tools]
    for query, name in sorted(queries, key=lambda each: -len(each[0])):
        if query.strip() and f" {_plain(query)} " in f" {_plain(message)} ":
            return NamedValue(query, f"query of {name}, in the request")
    found = [chunk.text for node in nodes for chunk in documents_anywhere(node.call.outputs, DIALECT)]
    found += [text for node in nodes if (text := DIALECT.text(node.call.outputs))]
    is_unsure = not found and any(node.span.kind == "retriever" for node in nodes)
    if not (nodes or looked_up) or is_unsure or tile([message], found).accounted:
        return None
    return NamedValue(message, "last human message of the request")


def _query(node: _Node) -> str:
    found = question_in(node.call.inputs, DIALECT)
    return node.span.query or (found.value if found else "")


def _final_models(node: _Node) -> list[_Node]:
    """The model calls whose replies are not used by a later call; several with one reply count once."""
    nodes = list(node.walk())
    models = [each for each in nodes if each.call.kind == "model"]
    models = [each for each in models if each.call.ended is not None and not each.span.calls_tools]
    models = [each for each in models if (each.span.reply or "").strip()]
    finals: dict[str, _Node] = {}
    texts = _texts_taken(node) if models else {}
    for model in models[:_MOST_MODELS]:
        reply = _plain(model.span.reply or "")
        if not reply or not _is_taken(reply, texts, model.call.ended or inf):
            finals[reply or model.span.reply or ""] = model
    return list(finals.values())


def _texts_taken(node: _Node) -> dict[_Node, str]:
    return {each: _plain("\n".join(_taken(each))) for each in node.walk()}


def _is_taken(said: str, texts: Mapping[_Node, str], since: float, least: int = 1) -> bool:
    """Whether later calls took what a model said: as it is, or most of it in queries."""
    words = rest = _plain(said)
    if len(words.split()) < least:
        return False
    for node, text in texts.items():
        if text and node.call.began > since:
            if words in text:
                return True
            if node.call.kind != "model" and " " in text:
                rest = rest.replace(text, "")
    return 2 * len(rest.split()) < len(words.split())


def _taken(node: _Node) -> Iterator[str]:
    """The texts that went into a call."""
    if node.call.kind == "model":
        yield from (message.text for message in node.span.messages or ())
    elif node.span.kind in _SEARCHES:
        yield node.span.query or ""
        yield from _texts(node.span.inputs, _DEEP_INPUTS)


def _texts(value: Any, depth: int) -> Iterator[str]:
    """The texts of messages, documents and others in a value."""
    if (text := DIALECT.text(value)) is not None:
        yield text
    elif (chunk := DIALECT.document(value)) is not None:
        yield chunk.text
    elif depth and (is_series(value) or is_mapping(value)):
        for part in value.values() if is_mapping(value) else value:
            yield from _texts(part, depth - 1)


def _unprinted(value: Any, depth: int = _DEEP_INPUTS) -> Any:
    """A value without the texts that an instrumentor printed of objects that it could not write."""
    if isinstance(value, str):
        return printed_message(value) or (None if _PRINTED.fullmatch(value) else value)
    if not depth or isinstance(value, Chunk | CapturedMessage):
        return value
    if is_series(value):
        parts = [_unprinted(part, depth - 1) for part in value]
        return [part for part in parts if part is not None]
    return {key: _unprinted(part, depth - 1) for key, part in value.items()} if is_mapping(value) else value


def _plain(text: str) -> str:
    return " ".join(words_in(text))


# Samples


def _retriever(sample: Sample, spans: Sequence[TraceSpan]) -> dict[str, str]:
    """The label that names the only search, if its documents are the chunks of the only such stage.

    Verdicts on contexts are sent to the documents of that span.
    """
    searches = [span for span in spans if span.kind == "retriever" and span.documents is not None]
    stages = [stage for stage in sample.stages or () if stage.name == "retrieved"]
    if len(searches) != 1 or len(stages) != 1:
        return {}
    texts = [document.text for document in searches[0].documents or ()]
    return {"retriever": searches[0].id} if texts == [chunk.text for chunk in stages[0].chunks] else {}


def _sample(unit: _Unit, rules: Rules) -> Sample | str:
    """The sample of a unit, without its id, or the reason why there is none."""
    if unit.run is None:
        return unit.reason
    try:
        sample = sample_of(unit.run, DIALECT, rules)
        if sample.contexts == () and _has_documents(sample.question or "", unit.run):
            return "no question"  # but a prompt
        if _asks_with_media(sample.question or "", unit.run):
            return "media in question"
        return _labelled(unit.node, sample)
    except Skip as skip:
        return skip.reason.replace("_", " ")
    except SampleError as error:
        return f"not a sample: {error}"
    except ValidationError as error:  # whose own text has the values
        return f"not a sample: {error.errors()[0]['msg']}"


def _has_documents(question: str, run: CapturedRun) -> bool:
    """Whether a whole document of a run is in its question."""
    found = (chunk.text for call in run.walk() for chunk in documents_anywhere(call.outputs, DIALECT))
    asked = _plain(question)
    return any(text.strip() and _plain(text) in asked for text in found)


def _asks_with_media(question: str, run: CapturedRun) -> bool:
    """Whether a message of the user with the question has more than text, which no metric sees."""
    calls = [call.inputs for call in run.walk() if call.kind == "model"]
    messages = [message for inputs in (run.inputs, *calls) for message in requested(inputs)]
    asked = _plain(question)
    return any(
        message.has_media and message.role == "user" and asked in _plain(message.text) for message in messages
    )


def _labelled(node: _Node, sample: Sample) -> Sample | str:
    """The sample with labels by which its span is found again, or the reason why it lacks texts."""
    nodes = list(node.walk())
    shown = (sample.stages or ())[-1:]
    is_open = sample.contexts is None or any(stage.unaccounted for stage in shown)
    if is_open and any(node.lacks_texts for node in nodes):
        return "contexts: ids without text; name the texts with --documents"
    span = node.span
    problems = dict.fromkeys(problem for node in nodes for problem in node.span.problems)
    conventions = dict.fromkeys(node.span.convention for node in nodes if node.span.convention)
    sessions = dict.fromkeys(node.span.session for node in nodes if node.span.session)
    labels = {
        "trace": span.trace,
        "span": span.id,
        **_retriever(sample, [node.span for node in nodes]),
        "convention": ", ".join(conventions),
        **({"problems": "; ".join(problems)} if problems else {}),
        **span.extra,
        **sample.labels,
    }
    session = span.session or (next(iter(sessions)) if len(sessions) == 1 else None)
    return sample.model_copy(update={"labels": labels, "session": session})
