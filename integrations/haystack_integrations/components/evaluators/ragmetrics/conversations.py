"""The conversation of a run: its id, and the messages before the question."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from haystack.dataclasses import ChatMessage
from ragmetrics_core.adapting import CapturedMessage, Fields
from ragmetrics_core.boundary import is_mapping, is_series

from haystack_integrations.components.evaluators.ragmetrics.dialect import HAYSTACK
from haystack_integrations.components.evaluators.ragmetrics.places import Places

__all__ = ["SESSION_NAMES", "history_before", "messages_at", "session_at", "session_in"]

SESSION_NAMES: Final = ("chat_history_id", "session_id", "thread_id", "conversation_id")
# How many mappings are searched for an id, so that a hook stays quick.
_MOST_MAPPINGS: Final = 100
# Messages with variables, in which nothing was said.
_TEMPLATE: Final = "template"


def session_at(places: Places, inputs: Fields) -> str | None:
    """
    The conversation's id at the user's place, or under a usual name.

    :param places: The user's places of fields.
    :param inputs: The pipeline's inputs by component.
    :returns: The id, or None.
    """
    if "session" not in places:
        return session_in(inputs)
    values = (HAYSTACK.fields(inputs.get(place.component)).get(place.socket) for place in places["session"])
    return next((str(value) for value in values if value is not None), None)


def session_in(inputs: Fields) -> str | None:
    """
    The conversation's id under a usual name: in inputs, in mappings in them, or in the meta of a message.

    :param inputs: Inputs by component, or of one component.
    :returns: The id, or None.
    """
    mappings: list[Fields] = [inputs]
    for mapping in mappings:  # it grows
        for value in mapping.values():
            if is_mapping(value) and len(mappings) < _MOST_MAPPINGS:
                mappings.append(value)
            elif is_series(value) and value and isinstance(value[-1], ChatMessage):
                mappings.append({name: value[-1].meta.get(name) for name in SESSION_NAMES})
    ids = (mapping.get(name) for name in SESSION_NAMES for mapping in mappings)
    return next((str(value) for value in ids if isinstance(value, str | int)), None)


def messages_at(inputs: Fields) -> list[Sequence[Any]]:
    """
    The lists of messages among inputs, without templates.

    :param inputs: Inputs by socket.
    :returns: The lists.
    """
    lists = [value for name, value in inputs.items() if name != _TEMPLATE and is_series(value)]
    return [value for value in lists if value and isinstance(value[0], ChatMessage)]


def history_before(question: str, conversations: Iterable[Sequence[Any]]) -> Sequence[CapturedMessage] | None:
    """
    The messages before a question in the longest of these conversations, which may have the question or not.

    :param question: The question.
    :param conversations: Lists of messages, as a store or a caller gave them.
    :returns: The messages; None if there is no conversation.
    """
    histories: list[Sequence[CapturedMessage]] = []
    for conversation in conversations:
        messages = HAYSTACK.messages(conversation)
        places = [n for n, each in enumerate(messages) if each.role == "user" and each.text == question]
        if places:
            histories.append(messages[: places[-1]])
        elif not messages or any(each.role == "assistant" for each in messages):
            histories.append(messages)
    return max(histories, key=len, default=None)
