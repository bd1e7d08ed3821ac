"""Which part of a run is the question, which the contexts and which the answer: rules, each with a name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, cast

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from ragmetrics_core import Sample
from ragmetrics_core.errors import SampleError
from ragmetrics_core.live import Skip
from ragmetrics_core.shapes import is_list, is_series
from ragmetrics_langchain._history import MESSAGES, said_before, without_reply
from ragmetrics_langchain._messages import (
    answered,
    asked,
    conversation,
    fields_of,
    history_of,
    text_of,
    texts_of,
)
from ragmetrics_langchain._seen import RetrievedDocuments, RootRun, SeenTurn, documents_in
from ragmetrics_langchain._showing import CutDocument, whole_text

__all__ = ["CONTEXT_KEYS", "Extracted", "Rules", "answer_in", "contexts_in", "question_in", "sample_of"]

QUESTION_KEYS = ("question", "input", "query", "user_input")
ANSWER_KEYS = ("answer", "output", "result", "response", "generation")
CONTEXT_KEYS = ("context", "contexts", "documents", "docs", "source_documents", "retrieved_documents")
# where `create_agent` puts what the model answered in a form that was asked for
STRUCTURED = "structured_response"
SYSTEM = "system message of the model, with its instructions"
DIRECT = "message of a tool that returns directly"


class Extracted(NamedTuple):
    """A value, the rule that found it, and the name of the output that it is, if it has one."""

    value: Any
    rule: str
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How a turn becomes a sample.

    Attributes:
        extract: looks first; returns fields of a sample by name, or None to leave it to the rules. What it
            leaves out is left to the rules too. It may raise `Skip`.
        input_key: the input that is the question.
        context_key: the output or input that holds the contexts.
        answer_key: the output that is the answer.
        context_tools: names of tools whose text is a context.
        system_message: take the model's system message as context where nothing else is found.
        called: takes the names of the tools that were called where nothing was found.
    """

    extract: Callable[[RootRun], Mapping[str, Any] | None] | None = None
    input_key: str | None = None
    context_key: str | None = None
    answer_key: str | None = None
    context_tools: tuple[str, ...] = ()
    system_message: bool = False
    called: set[str] = field(default_factory=set[str])

    def sample(self, turn: SeenTurn) -> Sample:
        """The sample of a turn; its labels `found_question`, `found_contexts` and `found_answer` name rules.

        Raises:
            Skip: "several_answers", "no_question" or "no_answer".
        """
        given = dict(self.extract(turn.root_run()) or {}) if self.extract is not None else {}
        chunks = _chunks_given(given)
        if chunks is not None:
            given["contexts"] = texts_of(chunks)
        named = Sample.from_mapping(_in_texts(given)) if given else Sample()
        question = _given(named.question) or self.question(turn)
        answer = _given(named.answer) or self.answer(turn)
        if question is None or not (text_of(question.value) or "").strip():
            raise Skip("no_question")  # nothing, or an image
        if answer is None or not (text_of(answer.value) or "").strip():
            raise Skip("several_answers" if _is_several(turn.run.outputs) else "no_answer")
        history = history_of(said_before(turn, text_of(question.value))) or None
        contexts = _given(named.contexts if chunks is None else chunks) or self.contexts(
            turn, text_of(answer.value)
        )
        sample = sample_of(question=question, contexts=contexts, answer=answer, history=history)
        return _with_more(sample, named) if given else sample

    def question(self, turn: SeenTurn) -> Extracted | None:
        """What was asked: in the inputs of the turn's first part, else in the outputs."""
        first = next(iter(turn.parts())).run
        return question_in(first.inputs, self.input_key) or question_in(
            without_reply(first), self.input_key, where="outputs"
        )

    def answer(self, turn: SeenTurn) -> Extracted | None:
        """What was answered in this turn."""
        run = turn.run
        found = answer_in(run.outputs, self.answer_key, inputs=run.inputs)
        key = None if found is None or found.key is None else found.key.partition(".")[0]
        if key is not None and not _is_written(key, turn.writes()):
            return None  # the state still holds the answer of an earlier turn
        return found

    def has_none(self, turn: SeenTurn) -> bool:
        """Whether a turn has no answer yet; what `extract` would say is not asked."""
        return self.extract is None and self.answer(turn) is None

    def contexts(self, turn: SeenTurn, answer: str | None = None) -> Extracted | None:
        """What was retrieved: each document once, in the order of the retrievals.

        Args:
            turn: the turn.
            answer: a step that gives this text was not shown to the model.
        """
        run = turn.run
        if self.context_key is not None:
            found = contexts_in(run.outputs, (self.context_key,)) or contexts_in(
                run.inputs, (self.context_key,), where="inputs"
            )
            return found and Extracted(found.value, f"context_key {self.context_key!r}")
        in_outputs = contexts_in(run.outputs, CONTEXT_KEYS)
        if retrievals := turn.retrievals():
            return _narrowed(retrievals, turn.shown(answer), in_outputs)
        if in_outputs is not None:
            in_outputs = _of_this_turn(in_outputs, turn)
        found = in_outputs or contexts_in(run.inputs, CONTEXT_KEYS, where="inputs")
        if found is None and (shown := turn.shown(answer)):
            found = Extracted(_each_once(shown), "documents that became text")
        if found is None and (texts := turn.tool_texts(self.context_tools)):
            found = Extracted([text_of(each) or "" for each in texts], "texts of tools")
        elif found is None:
            self.called.update(turn.tools_called())
        if found is None and self.system_message and (system := turn.node.root.payload.system):
            found = Extracted([system], SYSTEM)
        return found


def sample_of(
    *, question: Extracted | None, contexts: Extracted | None, answer: Extracted | None, **more: Any
) -> Sample:
    """A sample of what was found; its labels say by which rules."""
    found = {"question": question, "contexts": contexts, "answer": answer}
    return Sample(
        question=None if question is None else text_of(question.value),
        answer=None if answer is None else text_of(answer.value),
        **_chunks(contexts),
        **more,
        labels={f"found_{name}": each.rule for name, each in found.items() if each is not None},
    )


def question_in(inputs: Any, key: str | None = None, *, where: str = "inputs") -> Extracted | None:
    """The question in what went into a run: a given key, known keys, the last human message."""
    named = fields_of(inputs)
    if key is not None:
        value = _wording(named.get(key))
        return None if value is None else Extracted(value, f"input_key {key!r}")
    for each in QUESTION_KEYS:
        if (value := _wording(named.get(each))) is not None:
            return Extracted(value, f"{where}[{each!r}]")
    said = named.get(MESSAGES, None if named else inputs)
    if (message := asked(conversation(said))) is not None:
        return Extracted(message, f"last human message of the {where}")
    if where != "inputs":
        return None  # a lone text there is the answer
    if isinstance(said, str) and said:
        return Extracted(said, "the inputs" if said is inputs else f"inputs[{MESSAGES!r}]")
    texts = [(name, value) for name, value in named.items() if isinstance(value, str) and value]
    if len(texts) == 1:
        return Extracted(texts[0][1], f"the only text of the inputs, {texts[0][0]!r}")
    return None


def answer_in(outputs: Any, key: str | None = None, *, inputs: Any = None) -> Extracted | None:
    """The answer in what came out: a given key, known keys, the model's last message, the text."""
    named = fields_of(outputs)
    if key is not None:
        value = _answer_value(_at(named, key))
        return None if value is None else Extracted(value, f"answer_key {key!r}", key)
    if (structured := named.get(STRUCTURED)) is not None:
        # the last message is its raw JSON, or a tool's
        return _structured(structured)
    for each in ANSWER_KEYS:
        if (value := _answer_value(named.get(each))) is not None:
            return Extracted(value, f"outputs[{each!r}]", each)
    said = named.get(MESSAGES, None if named else outputs)
    if (message := answered(conversation(said))) is not None:
        is_tool = message.type == "tool"
        return Extracted(
            message, "message of a tool that returns directly" if is_tool else "last message of the model"
        )
    if isinstance(outputs, str):
        return Extracted(outputs, "the output")
    known = fields_of(inputs)
    texts = [
        (name, value)
        for name, value in named.items()
        if isinstance(value, str) and name not in known and name not in QUESTION_KEYS + CONTEXT_KEYS
    ]
    if len(texts) == 1 and MESSAGES not in named:
        return Extracted(texts[0][1], f"the only new text of the outputs, {texts[0][0]!r}", texts[0][0])
    return None


def _structured(response: Any) -> Extracted | None:
    """The answer in a structured response: under a known key, else its only text."""
    named = fields_of(response)
    texts = {name: value for name, value in named.items() if isinstance(value, str) and value}
    known = next((key for key in ANSWER_KEYS if key in texts), None)
    key = known or (next(iter(texts)) if len(texts) == 1 else None)
    if key is None:
        return None
    path = f"{STRUCTURED}.{key}"
    return Extracted(texts[key], f"outputs[{STRUCTURED!r}].{key}", path)


def _at(named: Mapping[str, Any], key: str) -> Any:
    """A value under a key; where there is none of that name, under keys with dots between them."""
    if key in named:
        return named[key]
    value: Any = named
    for part in key.split("."):
        value = fields_of(value).get(part)
    return value


def contexts_in(value: Any, keys: Sequence[str], *, where: str = "outputs") -> Extracted | None:
    """The contexts in what went in or came out: under a key, else (of the known keys) the first documents."""
    named = fields_of(value)
    for key in keys:
        chunks = named.get(key)
        if chunks is not None and (isinstance(chunks, str) or texts_of(chunks) is not None):
            return Extracted(
                [chunks] if isinstance(chunks, str | Document) else list(chunks), f"{where}[{key!r}]"
            )
    if keys is CONTEXT_KEYS and (documents := documents_in(dict(named))):
        return Extracted(documents, f"documents in the {where}")
    return None


def _wording(value: Any) -> str | BaseMessage | None:
    """What a person said, as it is; rules only look, texts are made when a sample is."""
    if isinstance(value, str):
        return value or None
    return value if isinstance(value, BaseMessage) else asked(conversation(value))


def _answer_value(value: Any) -> str | BaseMessage | None:
    """An answer, as it is; that of a structured answer is under a known key in it."""
    if isinstance(value, str | BaseMessage):
        return value
    if (message := answered(conversation(value))) is not None:
        return message
    named = fields_of(value)
    return next((named[key] for key in ANSWER_KEYS if isinstance(named.get(key), str)), None)


def _narrowed(
    retrievals: Sequence[RetrievedDocuments], shown: Sequence[Document], in_outputs: Extracted | None
) -> Extracted:
    """The retrieved documents; where a later step filtered them or ordered them anew, what was left."""
    used, rule = shown, "documents that became text"
    if not used and in_outputs is not None:
        used, rule = documents_in(in_outputs.value), in_outputs.rule
    left = {whole_text(each): each for each in reversed(used)}
    retrieved = {
        each.page_content: each for each in _each_once(chain(*(each.documents for each in retrievals)))
    }
    everything = list(retrieved)
    # where nothing is left of anything, a step rewrote the documents in place
    found = {text: left[text] for text in retrieved if text in left} or retrieved
    in_use_order = [text for each in _each_once(used) if (text := whole_text(each)) in found]
    texts = in_use_order if len(in_use_order) == len(found) else list(found)
    is_whole = texts == everything and not any(isinstance(each, CutDocument) for each in found.values())
    rule = "retrievers" if is_whole else f"retrievers, then {rule}"
    return Extracted([found[text] for text in texts], rule)


def _of_this_turn(found: Extracted, turn: SeenTurn) -> Extracted | None:
    """Without what the state of a graph still holds from earlier turns."""
    writes = turn.writes()
    if not writes or (turn.run.is_resumed and turn.earlier is None):
        return found  # what another handler saw the beginning of is only in the state
    new = {
        text
        for write in writes
        for name, value in _written(write).items()
        if name in CONTEXT_KEYS or documents_in(value)
        for text in texts_of(value) or ()
    }
    kept = [each for each in found.value if text_of(each) in new]
    return Extracted(kept, found.rule) if kept else None


def _is_written(key: str, writes: Sequence[Any]) -> bool:
    """Whether a node of this turn wrote the key; true where that cannot be told."""
    return not writes or any(write is not None and key in _written(write) for write in writes)


def _written(write: Any) -> Mapping[str, Any]:
    """What a node wrote, also inside a `Command` or several."""
    if is_series(write):
        return {name: value for each in write for name, value in _written(each).items()}
    update = getattr(write, "update", None)
    if type(write).__name__ == "Command" and not callable(update):
        is_pairs = isinstance(update, list)
        return dict(cast("list[tuple[str, Any]]", update)) if is_pairs else fields_of(update)
    return fields_of(write)


def _is_several(outputs: Any) -> bool:
    return is_list(outputs) and len(outputs) > 0 and not documents_in(outputs)


def _chunks(contexts: Extracted | None) -> dict[str, Any]:
    """The columns of the contexts: texts, and ids where every document has one."""
    if contexts is None:
        return {}
    chunks = _each_once(contexts.value)
    ids = [each.id if isinstance(each, Document) else None for each in chunks]
    columns: dict[str, Any] = {"contexts": texts_of(chunks)}
    if ids and all(ids):
        columns["context_ids"] = ids
    return columns


def _each_once(chunks: Iterable[Any]) -> list[Any]:
    """Chunks of different text, in order: several retrievals often find the same one."""
    unique: dict[Any, Any] = {}
    for chunk in chunks:
        unique.setdefault(texts_of([chunk]), chunk)
    return list(unique.values())


def _with_more(sample: Sample, more: Sample) -> Sample:
    """The sample with further fields."""
    known = {"id", "labels", "question", "answer", "contexts"}
    fields = {name: getattr(more, name) for name in more.model_fields_set - known}
    return sample.model_copy(update=fields | {"labels": sample.labels | more.labels})


def _given(value: Any) -> Extracted | None:
    return None if value is None else Extracted(value, "extract")


def _chunks_given(given: Mapping[str, Any]) -> list[Any] | None:
    """The contexts that `extract` gave under our own name, as they are: documents have ids."""
    value = given.get("contexts")
    if value is None:
        return None
    chunks = [value] if isinstance(value, str | Document) else list(value)
    if texts_of(chunks) is None:
        raise SampleError("extract returned contexts that are neither texts nor documents")
    return chunks


def _in_texts(given: Mapping[str, Any]) -> dict[str, Any]:
    """What `extract` gave, with texts and roles in place of LangChain's objects, as a row has them."""
    texts = {name: text_of(given.get(name)) for name in ("question", "answer")}
    known = {name: text for name, text in texts.items() if text is not None}
    return {name: _in_text(value) for name, value in given.items()} | known


def _in_text(value: Any) -> Any:
    if isinstance(value, BaseMessage | Document):
        return text_of(value)
    if not is_series(value) or not value:
        return value
    messages = [each for each in value if isinstance(each, BaseMessage)]
    if len(messages) == len(value):
        return [{"role": turn.role, "content": turn.content} for turn in history_of(messages)]
    return [text_of(each) if isinstance(each, Document) else each for each in value]
