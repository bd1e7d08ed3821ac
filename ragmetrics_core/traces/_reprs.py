"""Messages and answers as Python prints them: instrumentors of Haystack and LlamaIndex write them so."""

import re
from ast import literal_eval
from collections.abc import Iterator
from typing import Any

__all__ = ["BUILT_ANSWER", "printed_message"]

BUILT_ANSWER = "generated_answer"

_TEXT = r"""'(?:[^'\\]|\\[\\'nrtxuU])*'|"(?:[^"\\]|\\[\\'nrtxuU])*\""""
# Documents in it are printed without quotes around their texts, so only its beginning can be read.
_IS_ANSWER = re.compile(rf"GeneratedAnswer\(data=({_TEXT})", re.DOTALL)
_IS_MESSAGE = re.compile(r"\w*Message\(")
# a text, the beginning of an object, the name of a field, a member of an enumeration, a number, a bracket
_TOKEN = re.compile(rf"\s*({_TEXT}|\w+\(|\w+=|<[\w.]+:|[\w.+-]+|[][(){{}},:>])", re.DOTALL)
_KIND_OF_PART = re.compile(r"(Content|Block)$")
_CONSTANTS = {"None": None, "True": True, "False": False}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_DEEPEST = 50


def printed_message(text: str) -> dict[str, Any] | None:
    """The fields of a message that Python printed; None for any other text, and for a part of a message.

    Objects inside are their fields too, with their class as their type, and members of an enumeration are
    their values. Of a `GeneratedAnswer`, only the answer is read.

    >>> printed_message("ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='Why?')])")
    {'type': 'chat_message', 'role': 'user', 'content': [{'type': 'text', 'text': 'Why?'}]}
    >>> printed_message("ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='Wh...")
    """
    try:
        if answer := _IS_ANSWER.match(text):
            return {"type": BUILT_ANSWER, "answer": literal_eval(answer[1])}
        return _Printed(text).read() if _IS_MESSAGE.match(text) else None
    except (ValueError, SyntaxError):
        return None


class _Printed:
    """Reads one printed object; a `ValueError` says that the text is not one."""

    def __init__(self, text: str) -> None:
        self._words = _words_of(text)
        self._next = next(self._words)

    def read(self) -> dict[str, Any]:
        value: dict[str, Any] = self._value(_DEEPEST)
        self._take("")
        return value

    def _take(self, *wanted: str) -> str:
        word = self._next
        if wanted and word not in wanted:
            raise ValueError(word)
        self._next = next(self._words, "")
        return word

    def _value(self, depth: int) -> Any:
        word = self._take()
        if not depth or not word:
            raise ValueError(word)
        if word[0] in "'\"":
            return literal_eval(word)
        if word[0] == "<":
            value = self._value(depth - 1)
            self._take(">")
            return value
        if word[-1] in _CLOSING:
            named, values = self._parts(_CLOSING[word[-1]], depth - 1)
            if len(word) > 1:
                return {"type": _type_of(word[:-1]), **named}
            return named if word == "{" else values
        return _CONSTANTS[word] if word in _CONSTANTS else float(word)

    def _parts(self, closing: str, depth: int) -> tuple[dict[Any, Any], list[Any]]:
        """Everything up to a bracket: values with a name or a key, and the others."""
        named: dict[Any, Any] = {}
        values: list[Any] = []
        while self._next != closing:
            if self._next.endswith("="):
                name = self._take()[:-1].strip("_")
                named[name] = self._value(depth)
            else:
                value = self._value(depth)
                if self._next == ":":
                    self._take()
                    named[str(value)] = self._value(depth)
                else:
                    values.append(value)
            if self._next != closing:
                self._take(",")
        self._take(closing)
        return named, values


def _type_of(name: str) -> str:
    """The type of a message's part by its class: `ToolCallBlock` is a "tool_call"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _KIND_OF_PART.sub("", name)).lower()


def _words_of(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        word = _TOKEN.match(text, place)
        if word is None:
            raise ValueError(text[place])
        yield word[1]
        place = word.end()
