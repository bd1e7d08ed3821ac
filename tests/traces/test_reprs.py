"""Messages as Python prints them are read as their fields, and nothing else is."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.traces._reprs import printed_message


class Role(Enum):
    USER = "user"
    TOOL = "tool"


@dataclass
class TextContent:
    text: str
    others: Any = None


@dataclass
class ChatMessage:
    _role: Role
    parts: list[TextContent] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-5, 5) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(text=st.text(), role=st.sampled_from(Role), value=VALUES, meta=st.dictionaries(st.text(), VALUES))
def test_a_printed_message_has_its_fields_back(text, role, value, meta):
    message = ChatMessage(role, [TextContent(text, value)], meta)
    part = {"type": "text", "text": text, "others": value}
    fields = {"type": "chat_message", "role": role.value, "parts": [part], "meta": meta}
    assert printed_message(repr(message)) == fields


@given(text=st.text(), cut=st.integers(0, 200))
def test_a_part_of_a_printed_message_is_only_a_text(text, cut):
    whole = repr(ChatMessage(Role.TOOL, [TextContent(text)]))
    part = whole[: min(cut, len(whole) - 1)]
    assert printed_message(part) is None
    assert printed_message(f"{part}...") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Message(",
        "Why does print(x=1) work?",
        "ChatMessage(role='user') and more",
        "ChatMessage(role=<function answer at 0x7f>)",
        f"ChatMessage(role={'[' * 10_000}{']' * 10_000})",
        "Document(content='It rains.')",
    ],
)
def test_other_texts_are_not_messages(text):
    assert printed_message(text) is None


@given(st.text(alphabet="Message(=<>[]{}'\",: a1\\."))
def test_no_text_is_too_strange(text):
    printed_message(f"Message({text}")


def test_the_answer_of_an_answer_builder_is_read_although_its_documents_cannot_be():
    printed = (
        "GeneratedAnswer(data=\"It's wet.\", query='Why?', documents=[Document(id=1, content: 'It's rain')])"
    )
    assert printed_message(printed) == {"type": "generated_answer", "answer": "It's wet."}
    assert printed_message("GeneratedAnswer(data='It is w...") is None
