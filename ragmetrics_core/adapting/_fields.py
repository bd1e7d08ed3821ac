"""Search for question, answer and history in the inputs and outputs of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragmetrics_core.adapting._captured import CapturedMessage, Dialect, Fields, NamedValue, named_value

__all__ = ["CONTEXT_KEYS", "answer_in", "at", "history_in", "question_in"]

# The names that the frameworks and their tutorials use, the most telling first.
QUESTION_KEYS = (
    "question", "query", "user_query", "user_question", "user_msg", "input", "user_input", "message",
    "str_or_query_bundle", "text",
)  # fmt: skip
ANSWER_KEYS = ("answer", "output", "result", "response", "generation", "output_text", "text")
CONTEXT_KEYS = (
    "context", "contexts", "documents", "docs", "source_documents", "retrieved_documents", "source_nodes",
)  # fmt: skip
HISTORY_KEYS = ("chat_history", "history")
MESSAGES = "messages"
STRUCTURED = "structured_response"


def question_in(inputs: Any, dialect: Dialect, key: str | None = None) -> NamedValue | None:
    """The question: under a given or known key, in the last human message, or the only text."""
    named = dialect.fields(inputs)
    if key is not None:
        return named_value(_wording(at(named, key, dialect), dialect), f"input_key {key!r}")
    for name in QUESTION_KEYS:
        if (text := _wording(named.get(name), dialect)) is not None:
            return NamedValue(text, f"inputs[{name!r}]")
    said = named.get(MESSAGES) if named else inputs
    if (number := _last_question(messages := dialect.messages(said))) is not None:
        return NamedValue(messages[number].text, "last human message of the inputs")
    if text := dialect.text(said):
        return NamedValue(text, "the inputs" if said is inputs else f"inputs[{MESSAGES!r}]")
    texts = {name: value for name, value in named.items() if isinstance(value, str) and value}
    return _only(texts, "the only text of the inputs")


def answer_in(
    outputs: Any, dialect: Dialect, key: str | None = None, inputs: Any = None
) -> NamedValue | None:
    """The answer: under a given or known key, in the model's last message, or the only new text."""
    named = dialect.fields(outputs)
    if key is not None:
        return named_value(_reply(at(named, key, dialect), dialect), f"answer_key {key!r}")
    if (structured := named.get(STRUCTURED)) is not None:  # the last message is its raw JSON, or a tool's
        return _structured(structured, dialect)
    if (text := dialect.text(outputs)) is not None:
        return NamedValue(text, "the output")
    for name in ANSWER_KEYS:
        if (text := _reply(named.get(name), dialect)) is not None:
            return NamedValue(text, f"outputs[{name!r}]")
    if messages := dialect.conversation(outputs):
        return named_value(_last_reply(messages), "last message of the model")
    if MESSAGES in named:
        return None
    others = {*dialect.fields(inputs), *QUESTION_KEYS, *CONTEXT_KEYS}
    texts = {name: value for name, value in named.items() if isinstance(value, str) and name not in others}
    return _only(texts, "the only new text of the outputs")


def history_in(
    inputs: Any, outputs: Any, question: str, dialect: Dialect
) -> Sequence[CapturedMessage] | None:
    """The messages before the question, or the history under a known name of the inputs.

    None if the run has no place for a history.
    """
    has_place = False
    for value in (outputs, inputs):
        messages = dialect.conversation(value)
        has_place = has_place or any(each.role == "user" for each in messages)
        same = [n for n, each in enumerate(messages) if each.role == "user" and each.text == question]
        number = same[-1] if same else _last_question(messages)
        if number:
            return messages[:number]
    named = dialect.fields(inputs)
    held = [dialect.messages(named[name]) for name in HISTORY_KEYS if named.get(name) is not None]
    return next(filter(None, held), () if held or has_place else None)


def at(named: Fields, key: str, dialect: Dialect) -> Any:
    """A value under a key, or under a path of keys separated by dots."""
    if key in named:
        return named[key]
    value: Any = named
    for part in key.split("."):
        value = dialect.fields(value).get(part)
    return value


def _only(texts: Mapping[str, str], what: str) -> NamedValue | None:
    """The only one of these texts."""
    if len(texts) != 1:
        return None
    ((name, text),) = texts.items()
    return NamedValue(text, f"{what}, {name!r}")


def _wording(value: Any, dialect: Dialect) -> str | None:
    messages = () if value is None else dialect.messages(value)
    if (number := _last_question(messages)) is not None:
        return messages[number].text
    return dialect.text(value) or None


def _reply(value: Any, dialect: Dialect) -> str | None:
    if value is None:
        return None
    if (text := dialect.text(value)) is not None:
        return text
    if (text := _last_reply(dialect.messages(value))) is not None:
        return text
    named = dialect.fields(value)
    return next((text for name in ANSWER_KEYS if (text := dialect.text(named.get(name))) is not None), None)


def _structured(response: Any, dialect: Dialect) -> NamedValue | None:
    texts = {
        name: value for name, value in dialect.fields(response).items() if isinstance(value, str) and value
    }
    known = [name for name in ANSWER_KEYS if name in texts] or (list(texts) if len(texts) == 1 else [])
    return NamedValue(texts[known[0]], f"outputs[{STRUCTURED!r}].{known[0]}") if known else None


def _last_question(messages: Sequence[CapturedMessage]) -> int | None:
    numbers = reversed(range(len(messages)))
    return next((n for n in numbers if messages[n].role == "user" and messages[n].text.strip()), None)


def _last_reply(messages: Sequence[CapturedMessage]) -> str | None:
    """The last message, if it is the model's or that of a tool that returns directly."""
    last = messages[-1] if messages else None
    if last is None or last.calls_tools or last.has_failed or last.role not in ("assistant", "tool"):
        return None
    return last.text
