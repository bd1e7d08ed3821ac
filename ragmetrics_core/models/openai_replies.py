"""Completions in the JSON replies of servers with the OpenAI protocol."""

from collections.abc import Mapping
from typing import Any

from ragmetrics_core.adapting import said_in, usage_of
from ragmetrics_core.boundary.shapes import Json, are_dicts
from ragmetrics_core.errors import ModelError, TransientModelError
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.protocol import Completion

__all__ = ["completions_in"]


def completions_in(reply: Mapping[str, Any], *, where: str, model: str) -> list[Completion]:
    """The completions in the JSON reply of a chat completions server.

    Args:
        reply: the JSON reply.
        where: source of the reply, for messages.
        model: the model's name if the reply does not give it.

    Raises:
        ModelError: the reply has no completions.
    """
    choices: Json = reply.get("choices")
    if not isinstance(choices, list) or not are_dicts(choices):
        raise ModelError(f"{where} answered without choices: is it a chat completions server?")
    if not choices:
        raise TransientModelError(f"{where} answered with an empty list of choices")
    usage = usage_of(reply.get("usage"))
    named = reply.get("model")
    completions: list[Completion] = []
    for choice in choices:
        reason = choice.get("finish_reason")
        text, reason = said_in(
            choice.get("message"), finish_reason=reason if isinstance(reason, str) else None
        )
        completions.append(
            Completion(
                text=encodable(text),
                model=named if isinstance(named, str) and named else model,
                usage=None if completions else usage,
                finish_reason=reason,
            )
        )
    return completions
