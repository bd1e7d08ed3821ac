"""Shapes that the conventions' own examples have: messages with parts, tools, instructions and documents."""

import json
from typing import Any

import pytest

from ragmetrics_core.adapting import Chunk
from ragmetrics_core.traces._conventions import RawSpan, span_of
from ragmetrics_core.traces._spans import TraceSpan
from ragmetrics_core.traces._values import DIALECT

ASKED = {"role": "user", "parts": [{"type": "text", "content": "Is it wet in Bergen?"}]}
CALL = {"type": "tool_call", "id": "1", "name": "sky", "arguments": {"town": "Bergen"}}
CALLED = {"role": "assistant", "parts": [{"type": "text", "content": "I look."}, CALL]}
TOLD = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "drizzle, 8 °C"}]}
REPLY = {
    "role": "assistant",
    "parts": [{"type": "text", "content": "Yes, it drizzles."}],
    "finish_reason": "stop",
}
OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.0.message_content.type": "text",
    "llm.input_messages.0.message.contents.0.message_content.text": "Is it wet in Bergen?",
    "llm.input_messages.1.message.role": "assistant",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "I look.",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": '{"town": "Bergen"}',
    "llm.input_messages.2.message.role": "tool",
    "llm.input_messages.2.message.content": "drizzle, 8 °C",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.contents.0.message_content.type": "text",
    "llm.output_messages.0.message.contents.0.message_content.text": "Yes, it drizzles.",
}
CONVERSATION = [ASKED, CALLED, TOLD]
NUMBERED = {
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "Is it wet in Bergen?",
    "gen_ai.prompt.1.role": "assistant",
    "gen_ai.prompt.1.content": "I look.",
    "gen_ai.prompt.1.tool_calls.0.arguments": '{"town": "Bergen"}',
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.content": "drizzle, 8 °C",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Yes, it drizzles.",
}
SHAPES: dict[str, dict[str, Any]] = {
    "OpenInference": OPENINFERENCE,
    "GenAI": {"gen_ai.input.messages": CONVERSATION, "gen_ai.output.messages": [REPLY]},
    "GenAI, earlier": {
        "gen_ai.prompt": CONVERSATION,
        "gen_ai.completion": {"text": "Yes, it drizzles.", "finish_reason": "stop"},
    },
    "GenAI, numbered": NUMBERED,
}


def read(**attributes: Any) -> TraceSpan:
    """The span of attributes; lists and mappings in them are JSON."""
    texts = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in attributes.items()
    }
    return span_of(RawSpan(trace="1" * 32, id="1" * 16, attributes=texts))


def chat(**attributes: Any) -> TraceSpan:
    return read(**{"gen_ai.operation.name": "chat"}, **attributes)


def asked(*parts: Any) -> list[Any]:
    return [{"role": "user", "parts": list(parts)}]


@pytest.mark.parametrize("name", SHAPES)
def test_a_round_trip_to_a_tool_is_the_same_by_each_convention(name: str):
    attributes = SHAPES[name]
    span = read(**attributes) if name == "OpenInference" else chat(**attributes)
    assert [(each.role, each.text, each.calls_tools) for each in span.messages or ()] == [
        ("user", "Is it wet in Bergen?", False),
        ("assistant", "I look.", True),
        ("tool", "drizzle, 8 °C", False),
    ]
    assert [list(each.others) for each in span.messages or ()] == [[], [{"town": "Bergen"}], []]
    assert (span.kind, span.reply, span.calls_tools) == ("model", "Yes, it drizzles.", False)


def test_a_block_of_a_provider_is_read_with_the_texts_that_it_holds():
    block = {"type": "text", "text": "Rain falls on 240 days."}
    result = {"type": "generic", "generic_type": "search_result", "title": "Bergen", "content": [block]}
    text = {"type": "text", "content": "Use the result."}
    (message,) = chat(**{"gen_ai.input.messages": asked(text, result)}).messages or ()
    assert message.text == "Use the result.\nRain falls on 240 days."


def test_reasoning_is_written_and_not_said():
    parts = [{"type": "reasoning", "content": "Be short."}, {"type": "redacted_thinking", "data": "Emw"}]
    span = chat(**{"gen_ai.output.messages": [{"role": "assistant", "parts": parts}]})
    assert (span.reply, list(span.written)) == (None, [["Be short."]])


@pytest.mark.parametrize(
    "parts", [{"type": "text", "content": "Hm?"}, [{"type": "text", "content": "Hm?"}, {"type": "blob"}]]
)
def test_parts_that_break_the_convention_cost_only_themselves(parts: Any):
    (message,) = chat(**{"gen_ai.input.messages": [{"role": "user", "parts": parts}]}).messages or ()
    assert message.text == "Hm?"


def test_instructions_are_the_first_message():
    parts = [
        {"type": "text", "content": "You help."},
        {"type": "generic", "cache_control": {"type": "short"}},
    ]
    span = chat(**{"gen_ai.system_instructions": parts, "gen_ai.input.messages": [ASKED]})
    assert [(each.role, each.text) for each in span.messages or ()] == [
        ("system", "You help."),
        ("user", "Is it wet in Bergen?"),
    ]


def test_retrieved_documents_have_an_id_or_are_left_out():
    documents = [{"id": "a", "score": 0.9, "title": "Rain"}, {"id": "b"}, {}]
    span = read(**{"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents})
    assert span.documents == [Chunk("", "a", 0.9), Chunk("", "b")]


@pytest.mark.parametrize("result", ["drizzle", [{"sky": "grey"}], {"sky": "grey"}])
def test_the_result_of_a_tool_is_its_output(result: Any):
    span = read(**{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": result})
    assert (span.kind, span.outputs) == ("tool", result)


def test_the_blocks_of_a_tool_of_llama_index_are_its_text():
    raw = {"raw_input": {"args": [], "kwargs": {"topic": "rain"}}, "raw_output": "drizzle"}
    output = {"blocks": [{"text": "drizzle"}], "tool_name": "sky", "is_error": False, **raw}
    kind = {"openinference.span.kind": "TOOL", "output.mime_type": "application/json"}
    span = read(**kind, **{"output.value": output})
    assert DIALECT.text(span.outputs) == "drizzle"


def test_the_nodes_that_a_postprocessor_kept_are_known_by_their_ids():
    kept = [
        "<NodeWithScore(node=TextNode(id_=n-1), score=0.5)>",
        "<NodeWithScore(node=TextNode(id_=n-2), score=None)>",
    ]
    kind = {"openinference.span.kind": "CHAIN", "output.mime_type": "application/json"}
    texts = {**kind, "output.value": json.dumps(kept)}
    span = span_of(RawSpan(trace="1", id="1", name="Rerank._postprocess_nodes", attributes=texts))
    assert (span.kind, span.documents) == ("postprocessor", [Chunk("", "n-1", 0.5), Chunk("", "n-2")])


# -- requests of which something is lost


@pytest.mark.parametrize("lost", ["0.message", "1.message.role", "2.message.content"])
def test_a_request_of_which_something_is_lost_is_unknown(lost: str):
    lost = f"llm.input_messages.{lost}"
    rest = {name: value for name, value in OPENINFERENCE.items() if not name.startswith(lost)}
    assert read(**OPENINFERENCE).messages
    assert read(**rest).messages is None


def test_a_content_that_is_not_a_text_is_lost():
    changed = OPENINFERENCE | {"llm.input_messages.2.message.content": float("nan")}
    assert span_of(RawSpan(trace="1", id="2", attributes=changed)).messages is None


def test_numbered_messages_are_not_read_if_attributes_were_over_the_limit():
    span = span_of(RawSpan(trace="1", id="2", attributes=OPENINFERENCE, lost=3))
    assert (span.messages, span.reply) == (None, "Yes, it drizzles.")
    assert span.problems == ("3 attributes were over the limit OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",)


def test_the_beginning_of_json_is_not_a_text():
    whole = {"openinference.span.kind": "CHAIN", "input.mime_type": "application/json"}
    span = read(**whole, **{"input.value": '{"question": "Is it we'})
    assert span.inputs is None
    assert span.problems == ("input.value is not the JSON that its type says, so it was left out",)


def test_a_document_in_a_part_of_an_unknown_form_is_text_of_the_request():
    source = {"type": "text", "media_type": "text/plain", "data": "It drizzles in Bergen."}
    parts = [{"type": "text", "text": "Is it wet?"}, {"type": "document", "source": source}]
    span = read(
        **{
            "openinference.span.kind": "LLM",
            "llm.input_messages": json.dumps([{"role": "user", "content": parts}]),
        }
    )
    assert [each.text for each in span.messages or ()] == ["Is it wet?\nIt drizzles in Bergen."]
