"""Texts whose origin is known when a model is called: what was retrieved, asked, instructed and written."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ragmetrics_core.adapting._captured import Call, CapturedMessage, CapturedRun, Dialect, Rules
from ragmetrics_core.adapting._documents import Chunk, chunks_of
from ragmetrics_core.adapting._fields import CONTEXT_KEYS
from ragmetrics_core.adapting._stages import chunks_of_tool, documents_anywhere, once, says_nothing
from ragmetrics_core.adapting._wiring import messages_in, reply_of
from ragmetrics_core.boundary.shapes import is_mapping, is_series
from ragmetrics_core.samples import LEAST_RUN, LEAST_STRETCH, Sample, tile, words_in

__all__ = [
    "KnownText",
    "TextKind",
    "is_excluded",
    "is_written_by",
    "known_texts",
    "named_chunks",
    "texts_of",
]

TextKind = Literal["retrieved", "tool", "question", "history", "prompt", "code", "other", "model"]
"""Origin of a text. "code": a function or a node returned it. "other": the application excludes it, or it is
a tool's error."""

_EVIDENCE: frozenset[TextKind] = frozenset({"retrieved", "tool"})
# A document was made from replies if it shares more words; a search by a model's guess finds some of them.
_MOST_OF_MODELS = 0.9
# A shorter piece of a text that quotes others only joins them.
_LEAST_PIECE = 3
# How deep texts lie in the variables of a prompt.
_DEEPEST = 4
# The name of a field of JSON or of a mapping in Python, with its value unless that is a text.
_FIELD = re.compile(
    r"""(?:^|\\*["'])\w+(?:$|\\*["']\s*:\s*(?:null|None|true|True|false|False|-?\d[\d.eE+-]*)?)"""
)


class KnownText(NamedTuple):
    """A text and its origin.

    Attributes:
        kind: origin of the text.
        text: the text.
        since: when it was there, in the order of the run's events; 0 if it was there before the run.
        chunk: the chunk, for evidence.
        call: the call that wrote it, for the reply of a model.
        component: name of the component that returned it, for text of code.
    """

    kind: TextKind
    text: str
    since: int = 0
    chunk: Chunk | None = None
    call: Call | None = None
    component: str = ""

    @property
    def is_evidence(self) -> bool:
        """Whether the answer may rest on it."""
        return self.kind in _EVIDENCE


def known_texts(
    run: CapturedRun,
    before: Sequence[Call],
    messages: Sequence[CapturedMessage],
    sample: Sample,
    dialect: Dialect,
    rules: Rules,
) -> list[KnownText]:
    """The known texts when a model is called, the earliest first.

    Args:
        run: the run.
        before: the calls upstream of the model call, in order of their ends.
        messages: the messages of the model call.
        sample: the sample so far, with question, history and stages.
        dialect: reads the framework's objects.
        rules: the user's options.
    """
    replies = [
        KnownText("model", text, call.ended or 0, call=call)
        for call in before
        if call.kind == "model"
        for text in texts_of(call, dialect)
    ]
    written = [reply.text for reply in replies]
    texts = [*_said(sample), *_brought((run.inputs,), dialect)]
    around: dict[
        Call, list[Call]
    ] = {}  # tools and retrievers find texts; what is said around them they do not get
    for call in before:
        if call.kind in ("retriever", "tool"):
            inner = list(call.walk())
            around = dict.fromkeys(inner, inner) | around
    for call in before:
        heard = [reply for reply in replies if call not in around or reply.call in around[call]]
        earlier = [reply.text for reply in heard if reply.since < call.began]
        writers = [reply.text for reply in heard if reply.since < (call.ended or 0)]
        taken = documents_anywhere(call.inputs, dialect)
        given = [KnownText("retrieved", chunk.text, call.began, chunk) for chunk in taken]
        texts += _beside(earlier, given, texts)
        texts += _beside(writers, _made(call, dialect, rules), texts)
    texts += _beside(written, _brought((run.sources, run.outputs), dialect), texts)
    documents = [known.text for known in texts if known.is_evidence]
    for known, sources in _texts(run, before, messages, written, dialect, rules):
        pieces = [known.text] if sources is None else _pieces(known.text, sources, documents, _LEAST_PIECE)
        if known.kind == "retrieved" and pieces != [known.text]:
            continue
        for piece in pieces:
            texts.append(known if piece == known.text else known._replace(text=piece, chunk=Chunk(piece)))
            documents += [piece] if known.is_evidence else []
    code = _returned_by_code(before, dialect, rules)
    for call in before:
        if call.kind == "prompt":
            others = [*documents, *written, *(known.text for known in code if known.since < call.began)]
            pieces = _template(call, others, dialect)
            texts += [KnownText("prompt", text, call.ended or 0) for text in pieces]
    sources = list(dict.fromkeys([*(known.text for known in texts), *written]))
    for known in code:
        if known.text not in sources:
            pieces = _pieces(known.text, sources, documents, LEAST_STRETCH)
            texts += [known._replace(text=piece) for piece in pieces]
    excluded = {
        text for call in before if call.name in rules.not_evidence for text in _leaves(call.outputs, dialect)
    }
    texts = [
        known._replace(kind="other")
        if known.text in excluded or known.component in rules.not_evidence
        else known
        for known in texts
    ]
    unique: dict[tuple[str, bool, Call | None], KnownText] = {}
    for known in sorted([*texts, *replies], key=lambda known: known.since):
        if known.text.strip():
            unique.setdefault((known.text, known.is_evidence, known.call), known)
    return list(unique.values())


def _texts(
    run: CapturedRun,
    before: Iterable[Call],
    messages: Sequence[CapturedMessage],
    written: Sequence[str],
    dialect: Dialect,
    rules: Rules,
) -> Iterator[tuple[KnownText, Sequence[str] | None]]:
    """Texts that may quote documents and replies, each with the texts it was made from; None if it may.

    They are the texts of tools, of components that the application names, and under a telling name of the
    run's inputs or outputs; and the messages of a request that report a tool's result or are the assistant's.
    """
    for chunk in named_chunks(run, dialect) or ():
        yield (
            KnownText("retrieved", chunk.text, chunk=chunk),
            [*(each.text for each in _documents(run.walk(), dialect)), *written],
        )
    excluded = {
        chunk.text
        for call in run.walk()
        if call.kind == "tool" and (call.ended is None or is_excluded(call.name, rules))
        for chunk in chunks_of_tool(call.outputs, dialect)
    }
    reported: set[str] = set()
    for call in before:
        if call.name in rules.evidence:
            for text in _leaves(call.outputs, dialect):
                yield KnownText("retrieved", text, call.ended or 0, Chunk(text)), None
        elif call.kind == "tool":
            sources = [each.text for each in _documents(call.walk(), dialect)]
            sources += [
                text for inner in call.walk() if inner.kind == "model" for text in texts_of(inner, dialect)
            ]
            arguments = list(_leaves(call.inputs, dialect))  # which a model wrote
            reported.add(dialect.text(call.outputs) or "")
            for chunk in chunks_of_tool(call.outputs, dialect):
                kind: TextKind = "other" if chunk.text in excluded or says_nothing(chunk.text) else "tool"
                echoed = tile([chunk.text], arguments)
                is_echo = any(map(echoed.holds, range(len(arguments))))
                known = KnownText(kind, chunk.text, call.ended or 0, chunk)
                yield known, [*sources, *arguments] if is_echo else sources
    for message in messages:
        text = message.text
        if message.role == "tool" and text not in reported:
            is_told = message.has_failed or says_nothing(text) or text in excluded
            yield (
                KnownText("other" if is_told else "tool", text, chunk=Chunk(text)),
                written if is_written_by(text, written) else (),
            )
        elif message.role == "assistant":
            yield KnownText("history", text), None


def _documents(calls: Iterable[Call], dialect: Dialect) -> list[Chunk]:
    return [chunk for call in calls for chunk in documents_anywhere(call.outputs, dialect)]


def _returned_by_code(before: Iterable[Call], dialect: Dialect, rules: Rules) -> list[KnownText]:
    """Texts that functions and nodes returned, each once, with the component that returned it first."""
    texts: dict[str, KnownText] = {}
    for call in before:
        if call.kind == "chain" and call.name not in rules.evidence:
            for text in filter(str.strip, _leaves(call.outputs, dialect)):
                texts.setdefault(text, KnownText("code", text, call.ended or 0, component=call.name))
    return list(texts.values())


def is_excluded(tool: str, rules: Rules) -> bool:
    """Whether the options say that a tool's text is not evidence."""
    return tool in rules.not_evidence or (bool(rules.context_tools) and tool not in rules.context_tools)


def _said(sample: Sample) -> Iterator[KnownText]:
    for text in (sample.question, *(stage.query for stage in sample.stages or ())):
        if text:
            yield KnownText("question", text)
    for turn in sample.history or ():
        if turn.role != "tool":
            yield KnownText("history", turn.content)


def _brought(values: Iterable[Any], dialect: Dialect) -> Iterator[KnownText]:
    """Documents in the inputs and outputs of a run."""
    for value in values:
        for chunk in documents_anywhere(value, dialect):
            yield KnownText("retrieved", chunk.text, chunk=chunk)


def _beside(
    replies: Sequence[str], documents: Iterable[KnownText], found: Sequence[KnownText]
) -> Iterator[KnownText]:
    """The documents that are not found yet, without what models wrote in them by these replies."""
    texts = {known.text for known in found if known.is_evidence}
    for known in documents:
        if known.text not in texts:
            for piece in _pieces(known.text, replies, (), LEAST_STRETCH, _MOST_OF_MODELS):
                chunk = known.chunk and known.chunk._replace(text=piece)
                yield known if piece == known.text else known._replace(text=piece, chunk=chunk)


def named_chunks(run: CapturedRun, dialect: Dialect) -> list[Chunk] | None:
    """Documents and texts under a telling name of the run's outputs or inputs."""
    for value in (run.outputs, run.inputs):
        named: Mapping[str, Any] = dialect.fields(value)
        for key in CONTEXT_KEYS:
            held = named.get(key)
            if held is None:
                continue
            chunks, unknown = chunks_of(held)
            if not unknown:
                return chunks
    return None


def texts_of(call: Call, dialect: Dialect) -> list[str]:
    """The texts that a model wrote in a call: the reply, arguments of tools, its reasoning."""
    texts = [reply_of(call, dialect)]
    for message in dialect.messages(call.outputs):
        texts += [message.text, *_leaves(message.others, dialect)]
    return [text for text in dict.fromkeys(texts) if text.strip()]


def _made(call: Call, dialect: Dialect, rules: Rules) -> list[KnownText]:
    """The documents that a call returned."""
    kind: TextKind = "other" if call.name in rules.not_evidence else "retrieved"
    return [
        KnownText(kind, text, call.ended or 0, chunk)
        for chunk in once(documents_anywhere(call.outputs, dialect))
        for text in (chunk.text, *chunk.others)
    ]


def is_written_by(text: str, replies: Sequence[str]) -> bool:
    """Whether models wrote a text, or some of it, by these replies."""
    return _pieces(text, replies, (), LEAST_STRETCH, _MOST_OF_MODELS) != [text]


def _pieces(
    text: str, sources: Sequence[str], documents: Sequence[str], least: int, most: float = 0.5
) -> list[str]:
    """A text, or its pieces beside what it was made from: its sources and whole documents.

    It was made from sources if it has one of them by itself, or more than this share of its words.
    """
    whole = tile([text], documents)
    held = [each for number, each in enumerate(documents) if words_in(each) and whole.share(number) == 1]
    quoted = list(dict.fromkeys([*sources, *held]))
    tiling = tile([text], quoted)
    is_whole = any(tiling.holds(number) for number, each in enumerate(quoted) if _is_long(each))
    if not (held or is_whole or tiling.accounted > most * tiling.words):
        return [text]
    pieces = [text[place.start : place.end] for place in tiling.unaccounted(least)]
    least = LEAST_STRETCH if _FIELD.search(text) else least
    return [piece for piece in pieces if len(words_in(_FIELD.sub(" ", piece))) >= least]


def _is_long(text: str) -> bool:
    """Whether a text is too long to be part of another by chance."""
    return len(words_in(text)) >= LEAST_RUN


def _template(call: Call, others: Sequence[str], dialect: Dialect) -> list[str]:
    """The text of a prompt without its variables, and without other texts that were put into the template."""
    outputs: Sequence[Any] = [call.outputs, *dialect.fields(call.outputs).values()]
    messages = [message.text for value in outputs for message in messages_in(value, dialect)]
    values = list(dialect.fields(call.inputs).values()) or [call.inputs]
    variables = [text for value in values for text in (*_leaves(value, dialect), *_printed(value))]
    rest = tile(messages, ["\n\n".join(variables)]).rest()
    return tile(rest, ["\n\n".join(others)]).rest()


def _printed(value: Any) -> Iterator[str]:
    """A value as a template prints it."""
    if not isinstance(value, str) and value is not None:
        yield str(value)


def _leaves(value: Any, dialect: Dialect, depth: int = _DEEPEST) -> Iterator[str]:
    """All texts in a value: of messages, documents, lists and mappings."""
    if (text := dialect.text(value)) is not None:
        yield text
        return
    if (chunk := dialect.document(value)) is not None:
        yield from (chunk.text, *chunk.others)
        return
    messages = dialect.messages(value)
    if messages:
        yield from (message.text for message in messages)
    elif depth:
        parts = (
            value if is_series(value) else (value if is_mapping(value) else dialect.fields(value)).values()
        )
        for part in parts:
            yield from _leaves(part, dialect, depth - 1)
