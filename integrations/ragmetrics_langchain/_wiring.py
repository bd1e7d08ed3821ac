"""The answer of a run, and the model call that made it."""

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage

from ragmetrics_core import Sample
from ragmetrics_core.adapting import (
    Call,
    CapturedRun,
    NamedValue,
    Rules,
    Skip,
    answer_in,
    makers_of,
    sample_of,
)
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_langchain._dialect import DIALECT, MESSAGES, asks_with_media, fields_of

__all__ = ["translated"]


def translated(run: CapturedRun, rules: Rules) -> Sample:
    """The sample of a turn.

    Args:
        run: the turn, without its answer and the calls that made it.
        rules: the options for finding fields.

    Raises:
        Skip: as `sample_of`; "media_in_question".
    """
    given = run.given or {}
    if given.get("question") is None and asks_with_media(run.inputs):
        raise Skip("media_in_question")
    run.answer, calls = _made(run, rules)
    if given.get("answer") is None:
        run.answered_by = calls
    return sample_of(run, DIALECT, rules)


def _made(run: CapturedRun, rules: Rules) -> tuple[NamedValue | None, Sequence[Call] | None]:
    """The answer among the outputs, and the model call with the answer as its reply; None if unknown.

    If no rule names the answer, it is the only output text that is a model's reply. If several calls replied
    with this text, the call is the one inside the call that returned this very object.
    """
    ended = sorted((call for call in run.walk() if call.ended is not None), key=lambda call: call.ended or 0)
    replies = [(call, list(_replies(call.outputs))) for call in ended if call.kind == "model"]
    reply = answer_in(run.outputs, DIALECT, rules.answer_key, run.inputs)
    if reply is None and rules.answer_key is None:
        said = {text for _, texts in replies for text in texts if text}
        named = [
            (name, text)
            for name, value in fields_of(run.outputs).items()
            for text in _texts(value)
            if name != MESSAGES and text in said
        ]
        if len(named) != 1:
            run.rivals = [name for name, _ in named]
            if named:
                run.line = f"answer_key={run.rivals[0]!r}, or extract=, in the handler's arguments"
            return None, None
        ((name, text),) = named
        reply = NamedValue(text, f"outputs[{name!r}], the only reply of a model")
    if reply is None:
        return None, None
    written = [said for said in _said(run.outputs) if any(said in texts for _, texts in replies)]
    if written and not makers_of(CapturedRun(calls=[call for call, _ in replies]), reply.value, DIALECT):
        reply = NamedValue(written[-1], "last message that a model wrote")  # code added one behind it
    equal = [call for call, texts in replies if reply.value in texts]
    if not equal and any(call.kind == "tool" and DIALECT.text(call.outputs) == reply.value for call in ended):
        return reply, ()  # it returned directly
    if len(equal) > 1:
        holders = [call for call in ended if any(text is reply.value for text in _texts(call.outputs))]
        inside = [[call for call in holder.walk() if call in equal] for holder in holders]
        equal = list({id(only[0]): only[0] for only in inside if len(only) == 1}.values())
    return reply, equal if len(equal) == 1 else None


def _said(outputs: Any) -> list[str]:
    """The assistant's messages since the last question, if the last one is the answer."""
    messages = DIALECT.conversation(outputs)
    asked = max((n for n, message in enumerate(messages) if message.role == "user"), default=0)
    return [each.text for each in messages[asked:] if each.role == "assistant" and not each.calls_tools]


def _replies(reply: Any) -> Iterator[str]:
    """The texts of a reply: its content and its structured output."""
    yield DIALECT.text(reply) or ""
    if isinstance(reply, AIMessage):
        yield from _texts([call["args"] for call in reply.tool_calls])


def _texts(value: Any) -> Iterator[str]:
    if (text := DIALECT.text(value)) is not None:
        yield text
    elif is_mapping(value) or is_series(value):
        for part in value.values() if is_mapping(value) else value:
            yield from _texts(part)
