"""A run of an application as an adapter hands it over: calls in calls, in the host's own objects.

A hook fills it with references. Everything that must be read of them is read later, in the background, by the
functions of the adapter's `Dialect`, and by one translation: `ragmetrics_core.adapting.sample_of`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ragmetrics_core.adapting._documents import Chunk

__all__ = ["Call", "CapturedMessage", "CapturedRun", "Dialect", "Kind", "NamedValue", "Rules"]

Kind = Literal["chain", "retriever", "postprocessor", "tool", "prompt", "model", "answer"]
"""What a call is.

"retriever": searches. "postprocessor": takes documents and gives documents (a ranker, a filter, a joiner).
"prompt": makes the messages of a model call. "model": a language model. "answer": makes the answer of a reply
(an answer builder). "tool": what a model called. "chain": anything else.
"""


class CapturedMessage(NamedTuple):
    """One message of a conversation or of a request.

    Attributes:
        role: "user", "assistant", "system" or "tool"; another word where the host has one.
        text: what it says, as the model gets it.
        calls_tools: whether it calls tools, and so is no answer.
        has_failed: whether it reports the error of a tool.
    """

    role: str
    text: str
    calls_tools: bool = False
    has_failed: bool = False


class NamedValue(NamedTuple):
    """A value and by which rule, or in which component, it was found."""

    value: Any
    rule: str


@dataclass(slots=True, eq=False, kw_only=True)
class Call:
    """One call in a run.

    Attributes:
        kind: what it is.
        name: the component's name in the application.
        inputs: what it took, as the host holds it: of a model call the request.
        outputs: what it gave: of a model call the reply; None where it gave nothing.
        query: what a search or a tool looked for; None: what `inputs` says.
        sources: the calls whose outputs it took, where the host knows its wiring; None: it does not, and all
            that ended before this began may be one.
        began, ended: places in the order of the run's events; `ended` is None for what did not end well.
        children: the calls inside, in the order in which they began.
    """

    kind: Kind
    name: str
    inputs: Any = None
    outputs: Any = None
    query: Any = None
    sources: "Sequence[Call] | None" = None
    began: int = 0
    ended: int | None = None
    children: "list[Call]" = field(default_factory=list["Call"])

    def walk(self) -> "Iterator[Call]":
        """The call and all inside, each before its children."""
        yield self
        for child in tuple(self.children):
            yield from child.walk()

    def behind(self, *, past_models: bool = True) -> "list[Call]":
        """All calls that it was made of, each once: its sources, theirs and so on, past models or not."""
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
    """One question and everything that was done to answer it.

    Attributes:
        calls: the outermost calls inside the run, with all inside of them.
        inputs, outputs: of the run: where question, history and answer are looked for.
        answered_by: the model calls that made the answer, by the host's wiring: one, or those that one
            synthesizer made together. None: it does not say, and then it is the call whose reply the answer
            is. Empty: none was seen.
        rivals: names of the components that may each have made the answer, where nothing says which.
        line: the line to write then.
        question, answer, history: where the host's wiring knows them; else they are looked for.
        contexts: what the application itself says are the contexts (a `context_key`, a place of `extract`);
            its value is whatever holds texts or documents.
        sources: the documents that the response names as its sources, [] where it names none; None where it
            does not say.
        given: fields of a sample by name, as `extract` gave them; they go before everything.
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
    contexts: NamedValue | None = None
    sources: Any = None
    given: Mapping[str, Any] | None = None

    def walk(self) -> Iterator[Call]:
        """All calls, each before those inside of it."""
        for call in self.calls:
            yield from call.walk()


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a framework's objects are read; each function takes any object and raises nothing.

    Attributes:
        document: a typed document as a chunk: LangChain's `Document`, Haystack's, LlamaIndex's nodes; None
            for everything else, texts included.
        text: the text of a text, a message, a response or an answer; None for anything else.
        messages: the messages of a conversation, a prompt or a request, in whatever form the host takes them;
            empty when it is none.
        fields: the fields of a mapping, a state, a model; empty for anything else.
    """

    document: Callable[[object], Chunk | None]
    text: Callable[[object], str | None]
    messages: Callable[[object], Sequence[CapturedMessage]]
    fields: Callable[[object], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a user of an adapter may say about where things are.

    Attributes:
        input_key, answer_key, context_key: entries of the run's inputs and outputs.
        context_tools: names of tools whose text is a context.
        system_message: where no contexts are known, the request's system message is the context.
        called: takes the names of tools that gave texts which are no contexts.
    """

    input_key: str | None = None
    answer_key: str | None = None
    context_key: str | None = None
    context_tools: Sequence[str] = ()
    system_message: bool = False
    called: set[str] = field(default_factory=set[str])
