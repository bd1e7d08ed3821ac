"""Finish reasons of replies: a table of the providers' spellings."""

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Final, Literal

from ragmetrics_core.boundary.shapes import field_of, is_series

__all__ = ["Ending", "ending", "finish_reason", "is_cut"]

Ending = Literal["whole", "cut", "filtered", "refused", "tool call", "unknown"]
"""The ending of a reply.

"whole": the model stopped by itself. "cut": a limit or a fault ended it. "filtered": the provider held it
back. "refused": the model declined. "tool call": it called a tool instead of answering. "unknown": no reason
given.
"""

# The providers' own words, lower case with underscores, as far as `_LIKELY` would not read them. Sources: the
# references of OpenAI (Chat Completions, Responses), Azure, Anthropic, Gemini and Vertex, Bedrock, Cohere,
# Mistral, Ollama, llama.cpp, vLLM, SGLang, TGI, watsonx, DeepSeek, Zhipu, AI21 and the Vercel AI SDK.
_SPELLINGS: Final[dict[Ending, str]] = {
    "whole": "stopped endoftext completion done normal success word 1",
    "cut": """tokens limit limited not_finished context failed time_limit interrupted pause_turn
        insufficient_system_resource unload 2""",
    "filtered": "language error_toxic model_armor 3 4",
    "unknown": "finish_reason_unspecified error_other",
}
_BY_SPELLING: Final[dict[str, Ending]] = {
    word: meaning for meaning, words in _SPELLINGS.items() for word in words.split()
}
# All other spellings: in this order, since "max_tool_calls_length" was cut.
_LIKELY: Final[tuple[tuple[str, Ending], ...]] = (
    (r"max_|_max|length|token.*limit|truncat|incomplete|exceeded|time_?out|abort|cancel|error", "cut"),
    (r"filter|safety|block|sensitiv|prohibit|guardrail|moderat|toxic|recitation|policy|spii", "filtered"),
    (r"refus|declin", "refused"),
    (r"tool|function", "tool call"),
    (r"(?:^|_)(?:stop|eos|end|complete|completed|finish|finished)(?:_|$)", "whole"),
)  # fmt: skip
_NAMES = (
    "finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "doneReason",
    "completion_reason", "completionReason", "stop_type",
)  # fmt: skip
# A status says only for these that the reply has an end of its own; "in_progress" or "200" say nothing.
_STATUSES = frozenset({"completed", "incomplete", "failed", "cancelled"})
_INSIDE = (
    "choices", "candidates", "generations", "outputs", "results", "response_metadata", "generation_info",
    "raw", "message", "additional_kwargs",
)  # fmt: skip


@lru_cache(maxsize=256)
def _meaning(reason: str) -> Ending:
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", reason.strip()).casefold()  # maxTokens
    word = re.sub(r"[\s\-.:]+", "_", word)
    word = re.sub(r"^(finish|stop)_?reason_", "", word)
    for pattern, likely in _LIKELY:
        if word not in _BY_SPELLING and re.search(pattern, word):
            return likely
    return _BY_SPELLING.get(word, "unknown")


def ending(reason: object) -> Ending:
    """The meaning of a provider's reason: a text in any spelling, a number of Gemini's, an enumeration.

    >>> ending("MAX_TOKENS"), ending("end_turn"), ending("FinishReason.SAFETY"), ending(None)
    ('cut', 'whole', 'filtered', 'unknown')
    """
    word = _word(reason)
    return "unknown" if word is None else _meaning(word)


def is_cut(reason: object) -> bool:
    """Whether a reply with this finish reason is truncated."""
    return ending(reason) == "cut"


def finish_reason(*sources: object) -> str | None:
    """The finish reason from a framework's objects; None if none of them has one.

    Args:
        sources: mappings or objects, nearest to the reply first: a message's metadata, the provider's raw
            answer. Choices, candidates and the fields of OpenAI's Responses (`incomplete_details`, `status`)
            are searched.

    Returns:
        "length" for a truncated reply, otherwise the provider's own word.

    >>> finish_reason({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}})
    'length'
    >>> finish_reason({"candidates": [{"finishReason": "STOP"}]})
    'STOP'
    """
    reason = next((reason for source in sources for reason in _reasons(source, 0)), None)
    return "length" if is_cut(reason) else reason


def _reasons(source: object, depth: int) -> Iterator[str]:
    """The reasons in an object, the most reliable first."""
    if source is None or isinstance(source, (str, bytes, int, float)):
        return
    details = field_of(source, "incomplete_details")
    reason = details if isinstance(details, str) else field_of(details, "reason")
    if (word := _word(reason)) is not None:
        yield word
    for name in _NAMES:
        if (word := _word(field_of(source, name))) is not None:
            yield word
    if depth < 3:
        for name in _INSIDE:
            inner = field_of(source, name)
            yield from _reasons(inner[0] if is_series(inner) and inner else inner, depth + 1)
    status = _word(field_of(source, "status"))
    if status and status.casefold() in _STATUSES:
        yield status


def _word(value: object) -> str | None:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        return None
    return str(value)
