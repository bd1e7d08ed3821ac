"""Why a reply ended, in the words of every provider."""

from enum import Enum
from types import SimpleNamespace

import pytest

from ragmetrics_core.adapting import ending, finish_reason, is_cut


class GeminiReason(Enum):
    STOP = 1
    MAX_TOKENS = 2
    SAFETY = 3


@pytest.mark.parametrize(
    "spelling",
    [
        *("length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "FINISH_REASON_MAX_TOKENS"),
        *("max_output_tokens", "incomplete", "model_length", "max-tokens", "LENGTH", "token_limit", "ERROR"),
        *("model_context_window_exceeded", "max_new_tokens", "not_finished", "abort", "maxTokens"),
        *("some_new_length_limit", "insufficient_system_resource"),
        *("StopReason.max_tokens", 2, GeminiReason.MAX_TOKENS),
    ],
)  # fmt: skip
def test_every_spelling_of_a_cut_reply_is_known(spelling):
    assert is_cut(spelling)


@pytest.mark.parametrize(
    "spelling",
    ["stop", "STOP", "end_turn", "stop_sequence", "COMPLETE", "completed", "eos_token", "endoftext", "FINISH",
     "FinishReason.STOP", 1, GeminiReason.STOP],
)  # fmt: skip
def test_every_spelling_of_a_stop_means_whole(spelling):
    assert ending(spelling) == "whole"


@pytest.mark.parametrize(
    ("spelling", "meaning"),
    [
        ("content_filter", "filtered"),
        ("content-filter", "filtered"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("PROHIBITED_CONTENT", "filtered"),
        ("guardrail_intervened", "filtered"),
        ("ERROR_TOXIC", "filtered"),
        ("refusal", "refused"),
        ("tool_calls", "tool call"),
        ("tool_use", "tool call"),
        ("MALFORMED_FUNCTION_CALL", "tool call"),
        (None, "unknown"),
        ("", "unknown"),
        ("null", "unknown"),
        ("OTHER", "unknown"),
        ("hello", "unknown"),
    ],
)
def test_a_filter_a_refusal_and_a_tool_call_are_told_apart(spelling, meaning):
    assert ending(spelling) == meaning


@pytest.mark.parametrize(
    "told",
    [
        {"finish_reason": "MAX_TOKENS"},
        {"finishReason": "MAX_TOKENS"},
        {"stop_reason": "max_tokens"},
        {"stopReason": "max_tokens"},
        {"done_reason": "length"},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"status": "incomplete", "incomplete_details": None},
        {"incomplete_details": {"reason": "max_output_tokens"}, "finish_reason": "stop"},
        {"choices": [{"finish_reason": "length"}]},
        {"candidates": [{"finishReason": "MAX_TOKENS"}]},
        SimpleNamespace(choices=[SimpleNamespace(finish_reason="length")]),
        SimpleNamespace(candidates=[SimpleNamespace(finish_reason=GeminiReason.MAX_TOKENS)]),
        SimpleNamespace(incomplete_details=SimpleNamespace(reason="max_output_tokens"), status="incomplete"),
        {"message": {"content": "..."}, "done_reason": "length"},
        {"output": {"message": {}}, "stopReason": "max_tokens", "usage": {}},
    ],
)
def test_a_cut_reply_is_found_where_the_provider_says_so(told):
    assert finish_reason(told) == "length"


def test_what_says_nothing_of_the_end_gives_no_reason():
    told = [
        {},
        None,
        "text",
        {"status": "200"},
        {"choices": []},
        {"finish_reason": None},
        {"status": "in_progress"},
    ]
    assert [finish_reason(each) for each in told] == [None] * len(told)


def test_the_source_nearest_to_the_reply_counts():
    assert finish_reason({}, {"finish_reason": "end_turn"}, {"finish_reason": "length"}) == "end_turn"
