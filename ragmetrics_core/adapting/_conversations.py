"""Conversations: the turns before a question, the number of the answer, the question as it was rewritten."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ragmetrics_core.adapting._captured import Call, CapturedMessage, Dialect, NamedValue, Rules
from ragmetrics_core.adapting._fields import question_in
from ragmetrics_core.adapting._known_texts import is_excluded, texts_of
from ragmetrics_core.adapting._stages import query_of, says_nothing
from ragmetrics_core.adapting._wiring import messages_in
from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.samples import ToolCall, Turn
from ragmetrics_core.texts.comparing import spaced_form

__all__ = ["number_after", "standalone_in", "turns_in"]

_SPEAKERS = ("user", "assistant", "system")
# A reply in which code looked something up is longer than a question in JSON or behind a word.
_LEAST_SHARE = 0.5


def turns_in(messages: Sequence[CapturedMessage], rules: Rules) -> tuple[Turn, ...]:
    """The messages as turns, without results of tools that are not evidence: errors and excluded tools."""
    turns: list[Turn] = []
    names: dict[str | None, str] = {}
    for message in messages:
        names |= {call.id: call.name for call in message.tool_calls}
        if message.role == "tool":
            tool = names.get(message.tool, message.tool)
            is_unknown = not tool and bool(rules.not_evidence)
            is_refused = message.has_failed or is_unknown or is_excluded(tool, rules)
            if not is_refused and not says_nothing(message.text):
                turns.append(Turn(role="tool", content=message.text))
        elif message.role in _SPEAKERS and (message.text or message.tool_calls):
            calls = tuple(
                ToolCall(name=call.name, arguments=_written(call.arguments), id=call.id)
                for call in message.tool_calls
            )
            turns.append(Turn(role=message.role, content=message.text, tool_calls=calls or None))
    return tuple(turns)


def _written(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False, default=str)


def number_after(turns: Sequence[Turn]) -> int:
    """The number of the next answer; messages without one of the user between them are one answer."""
    number, is_answered = 1, True
    for turn in turns:
        if turn.role == "user":
            is_answered = False
        elif turn.role == "assistant" and turn.content.strip() and not turn.tool_calls and not is_answered:
            number, is_answered = number + 1, True
    return number


def standalone_in(
    before: Sequence[Call], question: str, turns: Sequence[Turn], dialect: Dialect
) -> NamedValue | None:
    """The question as a model of the application rewrote it for the search, with the two calls as the rule.

    The model was sent the question and something of the conversation, and its reply was the query of every
    search. None if there are several queries, if an agent searched, or if the query is a passage.
    """
    spoken = [spaced_form(turn.content) for turn in turns if turn.role in ("user", "assistant")]
    if not any(spoken) or any(call.kind == "tool" for call in before):
        return None
    within = {
        inner
        for call in before
        if call.kind == "retriever"
        for child in call.children
        for inner in child.walk()
    }
    searches = [call for call in before if call.kind == "retriever" and call not in within]
    queries = {spaced_form(_searched(search, dialect) or "") for search in searches}
    query = queries.pop() if len(queries) == 1 else ""
    asked = spaced_form(question)
    if not query or query == asked or _is_passage(query, asked):
        return None
    for writer in reversed(before):
        is_upstream = all(
            writer in search.behind() if search.sources is not None else (writer.ended or 0) < search.began
            for search in searches
        )
        if writer.kind != "model" or not is_upstream:
            continue
        is_reply = any(_is_reply(spaced_form(text), query) for text in texts_of(writer, dialect))
        request = spaced_form(" ".join(each.text for each in messages_in(writer.inputs, dialect)))
        if is_reply and asked in request and any(text and text in request for text in spoken):
            return NamedValue(query, f"reply of {writer.name}, query of {searches[-1].name}")
    return None


def _searched(search: Call, dialect: Dialect) -> str | None:
    """The query of a search; of one by an embedding, the text that was embedded."""
    texts: Iterator[str | None] = (
        found.value
        for source in search.behind(past_models=False)
        if source.kind == "chain" and (found := question_in(source.inputs, dialect)) is not None
    )
    return query_of(search, dialect) or next(texts, None)


def _is_passage(query: str, question: str) -> bool:
    """Whether a query has the form of an answer, which is searched for in place of the question."""
    is_stated = query.endswith(".") and not question.endswith(".")
    return is_stated or len(split_sentences(query)) > 1


def _is_reply(reply: str, query: str) -> bool:
    return query in reply and len(query) >= _LEAST_SHARE * len(reply)
