"""A run of an application as an adapter submits it: nested calls with the host's objects.

A hook stores references. They are read later in the background, by the adapter's `Dialect` and by one
translation: `ragmetrics_core.adapting.sample_of`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ragmetrics_core.adapting._documents import Chunk
from ragmetrics_core.adapting._earlier_requests import EarlierRequests
from ragmetrics_core.samples import CitedText

__all__ = [
    "Call",
    "CalledTool",
    "CapturedMessage",
    "CapturedRun",
    "Dialect",
    "Fields",
    "Kind",
    "NamedValue",
    "Rules",
    "named_value",
    "names_of",
]

Fields = Mapping[str, Any]
"""Values by name: of a framework's object, of a run, of a sample."""

Kind = Literal["chain", "retriever", "postprocessor", "tool", "prompt", "model", "answer"]
"""The kind of a call.

"retriever": searches. "postprocessor": takes documents and gives documents (a ranker, a filter, a joiner).
"prompt": makes the messages of a model call. "model": a language model. "answer": makes the answer of a reply
(an answer builder). "tool": what a model called. "chain": anything else.
"""


class CalledTool(NamedTuple):
    """A tool call in a message: the tool's name, its arguments as the host has them, and the call's id."""

    name: str
    arguments: Any = None
    id: str | None = None


class CapturedMessage(NamedTuple):
    """A message of a conversation or of a request.

    Attributes:
        role: "user", "assistant", "system" or "tool", or the host's own word.
        text: the text that the model gets.
        tool_calls: the tools that it calls.
        has_failed: whether it reports a tool's error.
        others: anything else that a model wrote in it: arguments of tools, its reasoning.
        tool: for a tool's result, name of the tool or id of the call; empty if unknown.
        has_media: whether it has an image, a recording or a file beside its text.
    """

    role: str
    text: str
    tool_calls: Sequence[CalledTool] = ()
    has_failed: bool = False
    others: Sequence[Any] = ()
    tool: str = ""
    has_media: bool = False

    @property
    def calls_tools(self) -> bool:
        """Whether it calls tools, and so is not an answer."""
        return bool(self.tool_calls)


class NamedValue(NamedTuple):
    """A value, and the rule or component that found it."""

    value: Any
    rule: str


def named_value(value: Any, rule: str) -> NamedValue | None:
    """The value with its rule, or None if there is no value."""
    return None if value is None else NamedValue(value, rule)


@dataclass(slots=True, eq=False, kw_only=True)
class Call:
    """A call in a run.

    Attributes:
        kind: kind of the call.
        name: the component's name in the application.
        inputs: the host's inputs; for a model call, the request.
        outputs: the host's outputs; for a model call, the reply; None if there is no output.
        query: the query of a search or a tool; None to read it from `inputs`.
        cited: the reply with its citations, if `outputs` is only its text.
        sources: the calls that produced its inputs, if the host knows its wiring; None if any call that ended
            before may be one.
        began, ended: positions in the order of the run's events; `ended` is None for a failed call.
        children: the calls inside, in starting order.
    """

    kind: Kind
    name: str
    inputs: Any = None
    outputs: Any = None
    query: Any = None
    cited: CitedText | None = None
    sources: "Sequence[Call] | None" = None
    began: int = 0
    ended: int | None = None
    children: "list[Call]" = field(default_factory=list["Call"])

    def walk(self) -> "Iterator[Call]":
        """The call and all calls inside, parents first."""
        yield self
        for child in tuple(self.children):
            yield from child.walk()

    def behind(self, *, past_models: bool = True) -> "list[Call]":
        """All calls upstream of this one, each once, through models too."""
        reached: dict[Call, None] = {}
        waiting = list(self.sources or ())
        while waiting:
            call = waiting.pop()
            if call not in reached:
                reached[call] = None
                if past_models or call.kind != "model":
                    waiting += call.sources or ()
        return list(reached)


@dataclass(slots=True, eq=False, kw_only=True)
class CapturedRun:
    """A question and everything done to answer it.

    Attributes:
        calls: the outermost calls inside the run.
        inputs, outputs: the run's inputs and outputs, searched for question, history and answer.
        answered_by: the model calls that made the answer, by the host's wiring: one, or several of one
            synthesizer. None if unknown; then it is the call with the answer as its reply. Empty if none was
            observed.
        rivals: names of the components that may have made the answer, if that is ambiguous.
        line: the line of code that resolves it.
        question, answer, history: values from the host's wiring; None to search for them. An empty history
            means that this is the first turn.
        session: id of the conversation.
        contexts: contexts that the application designates (a `context_key`, a place of `extract`), as any
            object with texts or documents.
        sources: the response's source documents, [] if it names none; None if it has no such field.
        given: a sample's fields by name, from `extract`; they take precedence.
    """

    calls: Sequence[Call] = ()
    inputs: Any = None
    outputs: Any = None
    answered_by: Sequence[Call] | None = None
    rivals: Sequence[str] = ()
    line: str = ""
    question: NamedValue | None = None
    answer: NamedValue | None = None
    history: Sequence[CapturedMessage] | None = None
    session: str | None = None
    contexts: NamedValue | None = None
    sources: Any = None
    given: Fields | None = None

    def walk(self) -> Iterator[Call]:
        """All calls, parents first."""
        for call in self.calls:
            yield from call.walk()


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Functions that read a framework's objects; each takes any object and never raises.

    Attributes:
        document: a typed document as a chunk: LangChain's `Document`, Haystack's, LlamaIndex's nodes; None
            for anything else, including texts.
        text: the text of a text, a message, a response or an answer; None for anything else.
        messages: the messages of a conversation, a prompt or a request, in any form of the host; empty for
            anything else.
        fields: the fields of a mapping, a state, a model; empty for anything else.
    """

    document: Callable[[object], Chunk | None]
    text: Callable[[object], str | None]
    messages: Callable[[object], Sequence[CapturedMessage]]
    fields: Callable[[object], Fields]

    def conversation(self, value: object) -> Sequence[CapturedMessage]:
        """The messages of a run's inputs or outputs: a conversation, or a mapping with "messages"."""
        named = self.fields(value)
        return self.messages(named.get("messages") if named else value)


def names_of(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names of components, from one or several."""
    return (names,) if isinstance(names, str) else tuple(names)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A user's options for finding fields.

    Attributes:
        input_key, answer_key, context_key: entries of the run's inputs and outputs.
        context_tools: names of the tools whose text is evidence; empty for all.
        evidence: names of other components whose text is evidence.
        not_evidence: names of components and tools whose text is not.
        system_message: where no contexts are known, the request's system message is the context.
        earlier: the earlier requests of the application, to tell its prompts.
        advice: how to name contexts that no rule finds.
    """

    input_key: str | None = None
    answer_key: str | None = None
    context_key: str | None = None
    context_tools: Sequence[str] = ()
    evidence: Sequence[str] = ()
    not_evidence: Sequence[str] = ()
    system_message: bool = False
    earlier: EarlierRequests = field(default_factory=EarlierRequests, repr=False, compare=False)
    advice: str = "write note_contexts(documents)"
