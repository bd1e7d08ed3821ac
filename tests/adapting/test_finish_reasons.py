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
    ("meaning", "spellings"),
    [
        (
            "cut",
            ["length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS",
             "FINISH_REASON_MAX_TOKENS", "ERROR", "max_output_tokens", "incomplete", "model_length",
             "max-tokens", "LENGTH", "token_limit", "abort", "model_context_window_exceeded",
             "max_new_tokens", "not_finished", "maxTokens", "some_new_length_limit",
             "insufficient_system_resource", "StopReason.max_tokens", 2, GeminiReason.MAX_TOKENS],
        ),
        (
            "whole",
            ["stop", "STOP", "end_turn", "stop_sequence", "COMPLETE", "completed", "eos_token",
             "endoftext", "FINISH", "FinishReason.STOP", 1, GeminiReason.STOP],
        ),
        (
            "filtered",
            ["content_filter", "content-filter", "SAFETY", "RECITATION", "PROHIBITED_CONTENT",
             "ERROR_TOXIC", "guardrail_intervened"],
        ),
        ("refused", ["refusal"]),
        ("tool call", ["tool_calls", "tool_use", "MALFORMED_FUNCTION_CALL"]),
        ("unknown", [None, "", "null", "OTHER", "hello", "error_other", True]),
    ],
)  # fmt: skip
def test_every_spelling_of_every_ending_is_known(meaning, spellings):
    assert [ending(spelling) for spelling in spellings] == [meaning] * len(spellings)
    assert {is_cut(spelling) for spelling in spellings} == {meaning == "cut"}


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
