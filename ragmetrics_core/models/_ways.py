"""Ways to send a request to a server, and the next one after a refusal."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from ragmetrics_core.adapting import PERHAPS_THE_SCHEMA
from ragmetrics_core.errors import AccessRefused, ModelError, ModelRefused
from ragmetrics_core.protocol import Generate
from ragmetrics_core.shapes import is_dict, is_list

__all__ = ["Form", "Way", "named_in", "next_way", "plain"]

Form = Literal["json_schema", "plain_schema", "json_object", "text"]
"""The constraint on a reply, from the strongest to none; the plain schema has no sizes and no numbers."""

_FORMS: Final[tuple[Form, ...]] = ("json_schema", "plain_schema", "json_object", "text")

# Words of a refusal that name a setting: OpenAI, Azure, vLLM, llama.cpp, Ollama, Gemini, Mistral, LiteLLM,
# Bedrock, and the chat templates of Gemma and Mistral.
_WORDS: Final[Mapping[str, str]] = {
    "response_format": r"response_?(?:format|schema|mime)|json_?(?:schema|object|mode)|json (?:schema|mode)"
    r"|\bschema\b|grammar|guided|structured|output_?(?:format|config)",
    "temperature": r"temperature",
    "max_tokens": r"max_(?:completion_)?tokens|maxtokens",
    "system": r"\bsystem\b.{0,40}\b(?:roles?|messages?|prompts?|instructions?)\b"
    r"|\broles?\b.{0,60}(?:\bsystem\b|not support|unsupported|alternate|\bonly\b)"
    r"|only user and assistant|developer instruction",
}
_SETTINGS: Final = {name: re.compile(words, re.IGNORECASE) for name, words in _WORDS.items()}

# What a plain schema lacks.
_SIZES = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "prefixItems"})


class Way(NamedTuple):
    """A way to send a request.

    Attributes:
        form: constraint on the reply.
        several: whether all draws are requested at once.
        changed: settings that the server refused: "temperature" is left out, "max_tokens" becomes
            "max_completion_tokens", and the text of "system" moves into the user message.
    """

    form: Form = "text"
    several: bool = False
    changed: frozenset[str] = frozenset()


def named_in(words: str) -> frozenset[str]:
    """The settings that a server's words name.

    >>> sorted(named_in("Unsupported value: 'temperature' does not support 0.0 with this model"))
    ['temperature']
    >>> sorted(named_in("Only user and assistant roles are supported!"))
    ['system']
    """
    return frozenset(name for name, pattern in _SETTINGS.items() if pattern.search(words))


def next_way(way: Way, error: ModelError, request: Generate[Any], sent: frozenset[str]) -> Way | None:
    """The way to try after a failure; None if none is left, or if the failure is not about the request.

    A setting that the server names is changed. Any other refusal may be about several draws at once or about
    the form of the reply, so the next weaker one is tried. After a failure of the server, the request is
    sent once without a form.

    Args:
        way: the way that failed.
        error: the failure.
        request: the request.
        sent: names of the settings that the request has.
    """
    is_refused = isinstance(error, ModelRefused) and not isinstance(error, AccessRefused)
    if error.status is None or not (is_refused or error.status in PERHAPS_THE_SCHEMA):
        return None
    for name in ("temperature", "max_tokens", "system"):
        if name in error.names & sent and name not in way.changed:
            return way._replace(changed=way.changed | {name})
    if not is_refused:
        return None if way.form == "text" else way._replace(form="text")
    if way.several and "response_format" not in error.names:
        return way._replace(several=False)
    if way.form == "text":
        return way._replace(several=False) if way.several else None
    weaker = _FORMS[_FORMS.index(way.form) + 1 :]
    if weaker[0] == "plain_schema" and plain(request.schema) == request.schema:
        weaker = weaker[1:]
    return way._replace(form=weaker[0])


def plain(schema: Any) -> Any:
    """A schema without sizes and without lists of allowed numbers, which not all servers support.

    >>> plain({"type": "array", "items": {"type": "integer", "enum": [1, 2]}, "minItems": 2})
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    if is_list(schema):
        return [plain(each) for each in schema]
    if not is_dict(schema):
        return schema
    left_out = _SIZES
    if schema.get("type") in {"integer", "number"}:
        left_out = _SIZES | {"enum", "const"}
    return {name: plain(value) for name, value in schema.items() if name not in left_out}
