"""Requests, replies and documents as exports record them, in the forms of providers and stores."""

import pytest

from ragmetrics_core.traces._calls import documents_in, reply_in, request_in

SYSTEM, ASKED = ("system", "Use the text."), ("user", "How?")
OPENAI = [{"role": "system", "content": "Use the text."}, {"role": "user", "content": "How?"}]


@pytest.mark.parametrize(
    "inputs",
    [
        {"model": "m", "messages": OPENAI},
        {
            "system": "Use the text.",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "How?"}]}],
        },
        {
            "system": [{"text": "Use the text."}],
            "messages": [{"role": "user", "content": [{"text": "How?"}]}],
        },
        {"instructions": "Use the text.", "input": "How?"},
        {
            "instructions": "Use the text.",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "How?"}]}],
        },
        {
            "systemInstruction": {"parts": [{"text": "Use the text."}]},
            "contents": [{"role": "user", "parts": [{"text": "How?"}]}],
        },
        {"args": [], "kwargs": {"messages": OPENAI}},
        {"input": {"messages": OPENAI}},
        {"messages": [["system", "Use the text."], ["human", "How?"]]},
        {
            "messages": [
                [{"type": "system", "content": "Use the text."}, {"type": "human", "content": "How?"}]
            ]
        },
        {
            "messages": [
                {"role": "system", "blocks": [{"block_type": "text", "text": "Use the text."}]},
                OPENAI[1],
            ]
        },
    ],
    ids=[
        "OpenAI",
        "Anthropic",
        "Bedrock",
        "responses",
        "items",
        "Gemini",
        "arguments",
        "wrapped",
        "pairs",
        "LangChain",
        "LlamaIndex",
    ],
)
def test_a_request_is_read_in_the_form_of_each_provider(inputs):
    assert [(message.role, message.text) for message in request_in(inputs) or ()] == [SYSTEM, ASKED]


def test_a_conversation_of_one_pair_is_read():
    assert [(each.role, each.text) for each in request_in({"messages": [["user", "How?"]]}) or ()] == [ASKED]


SAID = {"role": "assistant", "content": "So."}


@pytest.mark.parametrize(
    "outputs",
    [
        "So.",
        SAID,
        [SAID],
        {"choices": [{"message": SAID}, {"message": {**SAID, "content": "Other."}}]},
        {"choices": [{"text": "So."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "So."}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": "So."}]}}},
        {"output": [{"type": "reasoning", "summary": []}, {"type": "message", **SAID}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "So."}]}}]},
        {"generations": [[{"text": "So.", "type": "Generation"}]]},
        {"message": {"role": "assistant", "blocks": [{"block_type": "text", "text": "So."}]}, "raw": {}},
        {"replies": [{"role": "assistant", "content": [{"text": "So."}]}], "meta": []},
        {"messages": [*OPENAI, SAID]},
    ],
    ids=[
        "text",
        "message",
        "list",
        "OpenAI",
        "completion",
        "Anthropic",
        "Bedrock",
        "responses",
        "Gemini",
        "LangChain",
        "LlamaIndex",
        "Haystack",
        "conversation",
    ],
)
def test_a_reply_is_read_in_the_form_of_each_provider(outputs):
    reply = reply_in(outputs)
    assert reply is not None
    assert (reply.text, reply.calls_tools) == ("So.", False)


@pytest.mark.parametrize(
    "outputs",
    [
        {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "1",
                                "type": "function",
                                "function": {"name": "search", "arguments": '{"query": "tea"}'},
                            }
                        ],
                    }
                }
            ]
        },
        {"role": "assistant", "content": [{"type": "tool_use", "name": "search", "input": {"query": "tea"}}]},
        {"output": {"message": {"role": "assistant", "content": [{"toolUse": {"input": {"query": "tea"}}}]}}},
        {"output": [{"type": "function_call", "name": "search", "arguments": '{"query": "tea"}'}]},
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"functionCall": {"args": {"query": "tea"}}}]}}
            ]
        },
    ],
    ids=["OpenAI", "Anthropic", "Bedrock", "responses", "Gemini"],
)
def test_a_reply_that_calls_a_tool_is_no_answer_and_has_the_arguments(outputs):
    reply = reply_in(outputs)
    assert reply is not None
    assert (reply.text, reply.calls_tools, list(reply.others)) == ("", True, [{"query": "tea"}])


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "content": "Tea."},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "Tea."}]}]},
        {"role": "user", "content": [{"toolResult": {"content": [{"text": "Tea."}]}}]},
        {"type": "function_call_output", "call_id": "1", "output": "Tea."},
        {"role": "tool", "parts": [{"type": "tool_call_response", "response": "Tea."}]},
    ],
    ids=["OpenAI", "Anthropic", "Bedrock", "responses", "OpenTelemetry"],
)
def test_the_result_of_a_tool_is_not_what_the_user_said(message):
    assert [(each.role, each.text) for each in request_in([message]) or ()] == [("tool", "Tea.")]


@pytest.mark.parametrize(
    ("outputs", "documents"),
    [
        ([{"page_content": "Tea.", "metadata": {"id": "a"}}], [("a", "Tea.", None)]),
        ([[{"page_content": "Tea."}, 0.5]], [(None, "Tea.", 0.5)]),
        ({"documents": ["Tea.", "Milk."]}, [(None, "Tea.", None), (None, "Milk.", None)]),
        ([{"node": {"id_": "a", "text": "Tea."}, "score": 0.5}], [("a", "Tea.", 0.5)]),
        ({"matches": [{"id": "a", "score": 0.5, "metadata": {"text": "Tea."}}]}, [("a", "Tea.", 0.5)]),
        ({"hits": {"hits": [{"id": "a", "_source": {"content": "Tea."}}]}}, [("a", "Tea.", None)]),
        ([{"id": "a", "score": 0.5, "payload": {"text": "Tea."}}], [("a", "Tea.", 0.5)]),
        ([], []),
    ],
    ids=["LangChain", "pairs", "texts", "LlamaIndex", "Pinecone", "Elasticsearch", "Qdrant", "nothing"],
)
def test_documents_are_read_in_the_form_of_each_store(outputs, documents):
    chunks, unknown = documents_in(outputs)
    assert [(chunk.id, chunk.text, chunk.score) for chunk in chunks] == documents
    assert unknown == []
