"""Completions in the JSON replies of servers with the OpenAI protocol."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragmetrics_core.adapting import said_in, usage_of
from ragmetrics_core.boundary.shapes import Json, are_dicts, is_list, is_mapping
from ragmetrics_core.errors import ModelError, TransientModelError
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.parsers import AlternativeTokens, yes_or_no_in
from ragmetrics_core.protocol import Completion

__all__ = ["completions_in", "with_log_probabilities"]


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


def with_log_probabilities(completion: Completion, choice: object) -> Completion:
    """The completion with the log-probabilities of its yes and no tokens; unchanged without any.

    The tokens must be the text of the reply, in which each has its place; otherwise none is kept.

    Args:
        completion: the completion.
        choice: the choice in the JSON reply that it is of.
    """
    logprobs = choice.get("logprobs") if is_mapping(choice) else None
    content = logprobs.get("content") if is_mapping(logprobs) else None
    entries = [entry for entry in content if is_mapping(entry)] if is_list(content) else []
    whole = "".join([str(entry.get("token")) for entry in entries])
    if not completion.text or whole.count(completion.text) != 1:
        return completion
    place = -whole.index(completion.text)
    kept: list[AlternativeTokens] = []
    for entry in entries:
        token = str(entry.get("token"))
        if place >= 0 and yes_or_no_in(token) is not None:
            alternatives = tuple(_alternatives(entry.get("top_logprobs")))
            kept.append(AlternativeTokens(place=place, token=token, alternatives=alternatives))
        place += len(token)
    if not kept:
        return completion
    held = {"logprobs": [each.model_dump(mode="json") for each in kept], "reply": completion.text}
    return replace(completion, text=json.dumps(held, ensure_ascii=False), held_to="graded")


def _alternatives(entries: object) -> Iterator[tuple[str, float]]:
    """The alternatives that are yes or no, with their log-probabilities."""
    for entry in entries if is_list(entries) else ():
        token, logarithm = (entry.get(name) if is_mapping(entry) else None for name in ("token", "logprob"))
        if not isinstance(token, str) or yes_or_no_in(token) is None:
            continue
        if isinstance(logarithm, int | float) and not isinstance(logarithm, bool) and -1e4 < logarithm <= 0:
            yield token, float(logarithm)
