"""Attributes of spans by the conventions: OpenInference, and OpenTelemetry's for generative AI.

The names are written here with the version that they are from, because the registry's own constants are
deprecated.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ragmetrics_core.adapting import CapturedMessage, Chunk, Kind, documents_anywhere
from ragmetrics_core.boundary import is_dict, is_mapping, is_series
from ragmetrics_core.traces._spans import TraceSpan, merged
from ragmetrics_core.traces._values import DIALECT, decoded, requested

__all__ = ["GENAI", "OPENINFERENCE", "RawSpan", "pieces_of", "span_of"]

OPENINFERENCE: Final = "openinference-semantic-conventions 0.1.42"
GENAI: Final = "semantic-conventions-genai 0724e29c"

OPENINFERENCE_KINDS: Final[Mapping[str, Kind | str]] = {
    "LLM": "model", "RETRIEVER": "retriever", "RERANKER": "postprocessor", "TOOL": "tool", "PROMPT": "prompt",
    "CHAIN": "chain", "AGENT": "chain", "UNKNOWN": "chain",
    "EMBEDDING": "ignored", "GUARDRAIL": "ignored", "EVALUATOR": "ignored", "DECISION": "ignored",
}  # fmt: skip
GENAI_KINDS: Final[Mapping[str, Kind | str]] = {
    "chat": "model", "generate_content": "model", "text_completion": "model",
    "retrieval": "retriever", "execute_tool": "tool", "embeddings": "ignored", "evaluation": "ignored",
}  # fmt: skip

# OpenInference
KIND: Final = "openinference.span.kind"
INPUT, OUTPUT = "input", "output"  # with .value and .mime_type
RETRIEVED: Final = "retrieval.documents"
RERANKED, RERANKED_FROM, RERANK_QUERY = (
    "reranker.output_documents",
    "reranker.input_documents",
    "reranker.query",
)
INPUT_MESSAGES, OUTPUT_MESSAGES = "llm.input_messages", "llm.output_messages"
PROMPTS, CHOICES = "llm.prompts", "llm.choices"
TEMPLATE, VARIABLES = "llm.prompt_template.template", "llm.prompt_template.variables"
MODEL, TOOL, SESSION = "llm.model_name", "tool.name", "session.id"
# GenAI
OPERATION: Final = "gen_ai.operation.name"
ASKED, SAID = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS: Final = "gen_ai.system_instructions"
FOUND, SEARCHED = "gen_ai.retrieval.documents", "gen_ai.retrieval.query.text"
GENAI_TOOL, ARGUMENTS, RESULT = "gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
CONVERSATION: Final = "gen_ai.conversation.id"
# GenAI until its version 1.36: one event a message, or numbered attributes
MESSAGE_EVENT: Final = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
CHOICE_EVENT: Final = "gen_ai.choice"
EARLIER_ASKED, EARLIER_SAID = "gen_ai.prompt", "gen_ai.completion"

_OWN: Final = ("trace", "id", "parent", "name", "began", "ended", "failed", "extra")
# What instrumentors write instead of content that their user hides.
_HIDDEN: Final = "__REDACTED__"
_MOST: Final = 2**24
_NODE: Final = re.compile(r"<NodeWithScore\(node=\w+\(id_=(.+?)\), score=(?:None|(-?\d[\d.e+-]*))\)>")
# Where a variable stands in a template of Python or Jinja.
_VARIABLE: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\{[\w.\[\]!:]*\}", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class RawSpan:
    """A span before its attributes are read.

    Attributes:
        trace, id, parent, name, began, ended, failed, extra: see `TraceSpan`.
        attributes: the attributes by name; numbered ones of a list have its name and dots.
        events: name and attributes of each event.
        lost: how many attributes the application left out because of its limit.
    """

    trace: str
    id: str
    parent: str | None = None
    name: str = ""
    began: int = 0
    ended: int | None = None
    failed: bool = False
    attributes: Mapping[str, Any]
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()
    lost: int = 0
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


def span_of(raw: RawSpan) -> TraceSpan:
    """The span of these attributes, by all conventions that they follow."""
    problems: list[str] = []
    attributes = dict(_readable(raw.attributes, problems))
    if raw.lost:
        problems.append(f"{raw.lost} attributes were over the limit OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT")
        numbered = f"{INPUT_MESSAGES}."  # some are missing
        attributes = {name: value for name, value in attributes.items() if not name.startswith(numbered)}
    events = [(name, dict(_readable(named, problems))) for name, named in raw.events]
    read: list[Mapping[str, Any]] = []
    if any(
        name.startswith("gen_ai.") for named in (attributes, *(held for _, held in events)) for name in named
    ):
        read.append(_genai(attributes, events))
    if KIND in attributes or not read:
        read.insert(0, _openinference(attributes, raw.name, problems))
    spans: list[TraceSpan] = []
    for fields in read:
        given: dict[str, Any] = {name: getattr(raw, name) for name in _OWN}
        given |= {name: value for name, value in fields.items() if value is not None}
        given["problems"] = tuple(problems)
        spans.append(TraceSpan(**given))
    return merged(spans)


def _readable(attributes: Mapping[str, Any], problems: list[str]) -> Iterator[tuple[str, Any]]:
    """The attributes that are not hidden and not too long."""
    for name, value in attributes.items():
        if isinstance(value, str) and len(value) > _MOST:
            problems.append(f"{name} is longer than {_MOST:,} characters, so it was left out")
        elif value != _HIDDEN:
            yield name, value


# OpenInference


def _openinference(attributes: Mapping[str, Any], name: str, problems: list[str]) -> dict[str, Any]:
    kind = OPENINFERENCE_KINDS.get(_text(attributes.get(KIND)).upper())
    if kind == "chain" and name.endswith("postprocess_nodes"):
        kind = "postprocessor"  # LlamaIndex's
    if kind == "model" and TEMPLATE in attributes and MODEL not in attributes:
        kind = "prompt"  # a prompt builder of Haystack
    inputs, outputs = _value(attributes, INPUT, problems), _value(attributes, OUTPUT, problems)
    fields: dict[str, Any] = {
        "kind": kind or "",
        "convention": OPENINFERENCE if kind else "",
        "inputs": inputs,
        "outputs": outputs,
        "template": _text(attributes.get(TEMPLATE)) or None,
        "session": _text(attributes.get(SESSION)) or None,
    }
    listed = _listed(attributes, RETRIEVED)
    match kind:
        case "model":
            fields |= _model(attributes, inputs, outputs)
        case "retriever":
            fields["documents"] = _documents(listed, outputs)
        case "postprocessor":
            ranked, given = _listed(attributes, RERANKED), _listed(attributes, RERANKED_FROM)
            fields["query"] = _text(attributes.get(RERANK_QUERY)) or None
            fields["inputs"] = inputs if given is None else {"documents": given}
            ranked = listed if ranked is None else ranked
            fields["documents"] = _printed_nodes(outputs) or _documents(ranked, outputs)
        case "tool":
            fields["name"] = _text(attributes.get(TOOL)) or None
            fields["documents"] = None if listed is None else _documents(listed, outputs)
            if is_mapping(outputs) and "blocks" in outputs and not documents_anywhere(outputs, DIALECT):
                fields["outputs"] = {"role": "tool", **outputs}  # LlamaIndex's result of a tool
        case "prompt":
            fields["inputs"] = decoded(attributes.get(VARIABLES)) if inputs is None else inputs
        case _:
            pass
    return fields


def _model(attributes: Mapping[str, Any], inputs: Any, outputs: Any) -> dict[str, Any]:
    messages = requested(_listed(attributes, INPUT_MESSAGES))
    if not messages:
        prompts = [_text(_inner(each, "prompt.text")) for each in _listed(attributes, PROMPTS) or ()]
        messages = [CapturedMessage("user", text) for text in prompts if text]
    replies = requested(_listed(attributes, OUTPUT_MESSAGES))
    if not replies:
        choices = [_text(_inner(each, "completion.text")) for each in _listed(attributes, CHOICES) or ()]
        choices = [text for text in choices if text] or [outputs] * isinstance(outputs, str)
        told = requested(outputs)
        replies = [CapturedMessage("assistant", text) for text in choices]
        replies = replies or told * all(each.role == "assistant" for each in told)
    messages = messages or requested(inputs)
    # the messages say all that the inputs do
    return {"messages": messages or None, "inputs": None if messages else inputs, **_reply(replies)}


def _reply(replies: Sequence[CapturedMessage]) -> dict[str, Any]:
    """The reply that these messages are: the first with text, since others are further choices."""
    return {
        "reply": next((each.text for each in replies if each.text.strip()), None),
        "calls_tools": any(each.calls_tools for each in replies),
        "written": [each for reply in replies for each in reply.others],
    }


def _value(attributes: Mapping[str, Any], name: str, problems: list[str]) -> Any:
    """An input or output, decoded if its type is JSON; None if it is only the beginning of that."""
    value = attributes.get(f"{name}.value")
    if "json" not in _text(attributes.get(f"{name}.mime_type")).lower():
        return value
    found = decoded(value)
    if isinstance(found, str) and found.lstrip().startswith(("{", '["', "[{")):
        problems.append(f"{name}.value is not the JSON that its type says, so it was left out")
        return None
    return found


# OpenTelemetry's convention for generative AI


def _genai(attributes: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    events = list(events)
    for _, held in events:  # the span's own values come first
        attributes = {
            **{name: value for name, value in held.items() if name.startswith("gen_ai.")},
            **attributes,
        }
    kind = GENAI_KINDS.get(_text(attributes.get(OPERATION)), "chain" if OPERATION in attributes else "")
    asked, said = decoded(attributes.get(ASKED)), decoded(attributes.get(SAID))
    messages = [*_instructions(attributes), *requested(asked)]
    replies = requested(said)
    if not messages and not replies:
        messages, replies = _earlier_form(attributes, events)
        kind = kind or ("model" if replies else "")
    fields: dict[str, Any] = {
        "kind": kind,
        "convention": GENAI,
        "session": _text(attributes.get(CONVERSATION)) or None,
    }
    if kind == "model":
        return fields | {"messages": messages or None, **_reply(replies)}
    if kind == "retriever":
        documents = decoded(attributes.get(FOUND))
        return fields | {
            "query": _text(attributes.get(SEARCHED)) or None,
            "documents": _documents(documents if is_series(documents) else None, None),
        }
    if kind == "tool":
        return fields | {
            "name": _text(attributes.get(GENAI_TOOL)) or None,
            "inputs": decoded(attributes.get(ARGUMENTS)),
            "outputs": decoded(attributes.get(RESULT)),
        }
    fields |= {"inputs": asked, "outputs": said}
    # a record of a model call's content need not say what it belongs to
    return fields if kind else fields | {"messages": messages or None, **_reply(replies)}


def _instructions(attributes: Mapping[str, Any]) -> list[CapturedMessage]:
    parts = decoded(attributes.get(INSTRUCTIONS))
    return requested([{"role": "system", "parts": parts}]) if parts else []


def _earlier_form(
    attributes: Mapping[str, Any], events: Iterable[tuple[str, Mapping[str, Any]]]
) -> tuple[list[CapturedMessage], list[CapturedMessage]]:
    """Request and reply as events of single messages, or as numbered attributes."""
    messages: list[CapturedMessage] = []
    replies: list[CapturedMessage] = []
    for name, held in events:
        body = {key: decoded(value) for key, value in held.items()}
        if found := MESSAGE_EVENT.fullmatch(name):
            messages += requested([{"role": found[1], **body}])
        elif name == CHOICE_EVENT:
            inner = body.get("message")
            said = inner if is_mapping(inner) else {"content": inner, **body}
            replies += requested([{"role": "assistant", **said}])
    messages += _numbered(attributes, EARLIER_ASKED, "user")
    replies += _numbered(attributes, EARLIER_SAID, "assistant")
    return messages, replies


def _numbered(attributes: Mapping[str, Any], prefix: str, role: str) -> list[CapturedMessage]:
    whole = decoded(attributes.get(prefix))
    values = [whole] if isinstance(whole, str) or is_mapping(whole) else _listed(attributes, prefix) or ()
    said: list[Any] = [
        {"content": value.get("text"), **value} if is_mapping(value) else {"content": value}
        for value in values
    ]
    return [message for value in said for message in requested([{"role": role, **value}])]


# Values


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _inner(value: Any, path: str) -> Any:
    """A value, or what is in it at a path."""
    for name in path.split("."):
        value = value.get(name) if is_mapping(value) else value
    return value


def _listed(attributes: Mapping[str, Any], prefix: str) -> list[Any] | None:
    """A list in attributes: as one value, as JSON, or one attribute for each of its inner values."""
    if is_series(whole := decoded(attributes.get(prefix))):
        return list(whole)
    tree: dict[Any, Any] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            _plant(tree, name[len(prefix) + 1 :].split("."), value)
    return _grown(tree) if tree and all(key.isdecimal() for key in tree) else None


def _plant(tree: dict[Any, Any], path: Sequence[str], value: Any) -> None:
    for name in path[:-1]:
        inner = tree.setdefault(name, {})
        if not is_dict(inner):
            return
        tree = inner
    tree.setdefault(path[-1], value)


def _grown(tree: Any) -> Any:
    """A tree of numbered names as lists and mappings; a list that lacks numbers ends with None."""
    if not is_dict(tree):
        return tree
    if tree and all(key.isdecimal() for key in tree):
        names = sorted(tree, key=lambda name: (len(name.lstrip("0")), name))
        lacks_some = names[-1] != str(len(names) - 1)
        return [*(_grown(tree[name]) for name in names), *[None] * lacks_some]
    return {key: _grown(value) for key, value in tree.items()}


def _documents(listed: Iterable[Any] | None, outputs: Any) -> list[Chunk] | None:
    """Documents with text or id; ids that the list lacks are from the outputs.

    An instrumentor of LangChain lists texts without ids, and has the ids in the output.
    """
    if listed is None:
        found = documents_anywhere(outputs, DIALECT)
        return found or ([] if _has_none(outputs) else None)
    ids = {chunk.text: chunk.id for chunk in documents_anywhere(outputs, DIALECT)}
    chunks = [_chunk(each) for each in listed]
    return [
        chunk if chunk.id else chunk._replace(id=ids.get(chunk.text))
        for chunk in chunks
        if chunk.text.strip() or chunk.id
    ]


def _printed_nodes(outputs: Any) -> list[Chunk]:
    """The ids and scores of nodes that LlamaIndex printed."""
    printed: list[Any] = list(outputs) if is_series(outputs) else []
    found = [_NODE.fullmatch(each) for each in printed if isinstance(each, str)]
    return [Chunk("", each[1], float(each[2]) if each[2] else None) for each in found if each]


def _chunk(value: Any) -> Chunk:
    named: Any = value.get("document", value) if is_mapping(value) else {}
    if (chunk := DIALECT.document(value)) is not None and chunk.text.strip():
        metadata = decoded(_inner(named, "metadata"))
        texts = metadata.values() if is_mapping(metadata) else ()
        # a window around the document, which a prompt may show in its place
        around = tuple(text for text in texts if isinstance(text, str) and chunk.text in text != chunk.text)
        return chunk._replace(others=around or chunk.others)
    id, score = (named.get("id"), named.get("score")) if is_mapping(named) else (None, None)
    return Chunk("", None if id is None else str(id), score if isinstance(score, int | float) else None)


def _has_none(outputs: Any) -> bool:
    """Whether an output is an empty list of documents."""
    lists = outputs.values() if is_mapping(outputs) else [outputs]
    return any(is_series(each) and not each for each in lists)


def pieces_of(template: str) -> list[str]:
    """The text of a template between its variables."""
    return [piece for piece in _VARIABLE.split(template) if piece.strip()]
