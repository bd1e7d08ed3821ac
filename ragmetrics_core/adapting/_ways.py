"""Ways to send a request to a server, and what is learned of them from its refusals."""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

from ragmetrics_core.adapting._finish_reasons import ending
from ragmetrics_core.boundary.shapes import Json, is_dict, is_list
from ragmetrics_core.errors import AccessRefused, ModelError, ModelRefused, TransientModelError
from ragmetrics_core.prompts import Message
from ragmetrics_core.protocol import Completion, Generate

__all__ = ["Form", "ReplyHeldBack", "Way", "Ways", "json_object", "named_in", "sampling_of"]

_LOGGER = logging.getLogger("ragmetrics.models")

Form = Literal["json_schema", "plain_schema", "json_object", "text"]
"""The constraint on a reply, from the strongest to none.

The plain schema has no sizes and no lists of allowed numbers, and is not strict.
"""

_FORMS: Final[tuple[Form, ...]] = ("json_schema", "plain_schema", "json_object", "text")

# Words of a refusal that name a setting: OpenAI, Azure, vLLM, llama.cpp, Ollama, Gemini, Mistral, LiteLLM,
# Bedrock, and the chat templates of Gemma and Mistral.
_WORDS: Final[Mapping[str, str]] = {
    "response_format": r"response_?(?:format|schema|mime)|json_?(?:schema|object|mode)|json (?:schema|mode)"
    r"|\bschema\b|grammar|guided|structured|output_?(?:format|config)",
    "temperature": r"temperature",
    "max_tokens": r"max_(?:completion_)?tokens|maxtokens",
    "seed": r"\bseed\b",
    "system": r"\bsystem\b\W{0,3}(?:roles?|messages?|prompts?|instructions?)\b"
    r"|\broles?\b.{0,60}(?:\bsystem\b|not support|unsupported|alternate|\bonly\b)"
    r"|only user and assistant|developer instruction",
}
_SETTINGS: Final = {name: re.compile(words, re.IGNORECASE) for name, words in _WORDS.items()}

# The two names of the limit on a reply.
_LIMITS: Final[Mapping[str, str]] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
# What a way that changes a setting has instead.
_INSTEAD: Final[Mapping[str, str]] = {
    "max_tokens": "the other name of the limit",
    "seed": "no seed",
    "system": "the system text in the user message",
    "temperature": "the model's own temperature",
}
# A server that fails with one of these may not know schemas. With 200 it reports an error in the answer.
_PERHAPS_THE_FORM = frozenset({200, 404, 500, 501})
# What a plain schema lacks.
_SIZES = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "prefixItems"})


class ReplyHeldBack(ModelError):
    """A client raised an error for a truncated or filtered reply; the error held the reply.

    Args:
        message: description of the failure.
        reply: the reply with its finish reason.
    """

    def __init__(self, message: str, reply: Completion) -> None:
        super().__init__(message)
        self.reply = reply


class Way(NamedTuple):
    """A way to send a request.

    Attributes:
        form: constraint on the reply.
        several: whether all draws are requested at once.
        changed: settings that the server refused: "temperature" and "seed" are left out, "max_tokens"
            stands for the limit, which gets its other name, and the text of "system" moves into the user
            message.
    """

    form: Form = "text"
    several: bool = False
    changed: frozenset[str] = frozenset()

    def settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings without those that the server refused, and a refused limit under its other name."""
        names = _LIMITS if "max_tokens" in self.changed else {}
        left_out = self.changed - _LIMITS.keys()
        return {names.get(name, name): value for name, value in settings.items() if name not in left_out}

    def messages(self, request: Generate[Any]) -> Sequence[Message]:
        """The request's messages; without a system role, its text is at the start of the first other one."""
        system = [message.content for message in request.messages if message.role == "system"]
        if not system or "system" not in self.changed:
            return request.messages
        others = [message for message in request.messages if message.role != "system"]
        if not others:
            return [Message("user", "\n\n".join(system))]
        text = "\n\n".join([*system, others[0].content])
        return [others[0]._replace(content=text), *others[1:]]

    def schema(self, request: Generate[Any]) -> dict[str, Any] | None:
        """The schema to send, if any."""
        if self.form == "json_schema":
            return request.schema
        return _plain(request.schema) if self.form == "plain_schema" else None

    def response_format(self, request: Generate[Any]) -> dict[str, Any] | None:
        """The constraint on the reply as the OpenAI protocol states it; None if unconstrained."""
        if self.form == "text":
            return None
        if self.form == "json_object":
            return {"type": "json_object"}
        stated: dict[str, Any] = {"name": request.prompt.answer.__name__, "schema": self.schema(request)}
        if self.form == "json_schema":
            stated["strict"] = True
        return {"type": "json_schema", "json_schema": stated}


@dataclass
class Ways:
    """The ways to send requests to one server, with what its refusals and replies have shown.

    Attributes:
        server: the server's name in messages.
        advice: how to send no constraint, for messages.
        forms: the form to send first, by digest of the prompt, if the server refused a stronger one.
        changed: settings that the server refused; see `Way`.
        several: whether it supports several draws at once.
        answered: digests of prompts to which it replied under a constraint.
        tried: digest and draw of failed requests that the server failed to answer without a form, too.
        ignores_schemas: whether a reply showed that.
    """

    server: str
    advice: str
    forms: dict[str, Form] = field(default_factory=dict[str, Form])
    changed: frozenset[str] = frozenset()
    several: bool = True
    answered: set[str] = field(default_factory=set[str])
    tried: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    ignores_schemas: bool = False

    async def replies(
        self,
        request: Generate[Any],
        ask: Callable[[Way], Awaitable[Sequence[Completion]]],
        *,
        form: Form,
        settings: frozenset[str] = frozenset(),
        several: bool = False,
    ) -> Sequence[Completion]:
        """The replies by the first way that the server accepts.

        A form that the server refuses is learned for the prompt if its message names the form; other
        settings are learned for all prompts.

        Args:
            request: the request.
            ask: sends it in one way.
            form: the strongest constraint to send.
            settings: names of the settings that are sent.
            several: whether to request all draws at once.

        Raises:
            ModelError: the server failed, or refuses all ways.
        """
        prompt, key = request.prompt.digest, (request.digest, request.draw)
        form = self.forms.get(prompt, form) if request.expected.as_json else "text"
        first_way = way = Way(form, several and self.several, self.changed)
        sent = settings | {message.role for message in request.messages}
        if not sent.isdisjoint(_LIMITS):
            sent |= {"max_tokens"}
        failures: list[ModelError] = []
        while True:
            try:
                replies = await ask(way)
            except ReplyHeldBack as error:
                replies = [error.reply]
            except ModelError as error:
                # without the frames, which would hold the client until somebody collects
                failures.append(error.with_traceback(None))
                following = self._next(way, error, request, sent)
                if following is None:
                    break
                way = following
                continue
            self._learn(first_way, way, failures, request)
            return [self._held(reply, way, request) for reply in replies]
        try:
            is_tried = key in self.tried or way.form != first_way.form
            raise self._failure(failures, is_tried=is_tried)
        finally:
            failures.clear()

    def _next(self, way: Way, error: ModelError, request: Generate[Any], sent: frozenset[str]) -> Way | None:
        """The way to try after a failure; None if none is left, or if the failure is not about the request.

        A setting that the server names is changed. Any other refusal may be about several draws at once or
        about the form of the reply, so the next weaker one is tried. After a failure of the server, or of a
        client that cannot read its answer, the request is sent once without a form, unless the server has
        replied to this prompt in a form.
        """
        is_refused = isinstance(error, ModelRefused) and not isinstance(error, AccessRefused)
        is_refused = is_refused and (error.status is not None or bool(error.names))
        is_form_named = "response_format" in error.names
        if not is_refused and not _may_be_the_form(error):
            return None
        named = error.names & sent & _INSTEAD.keys()
        for name in sorted(named - way.changed):
            return way._replace(changed=way.changed | {name})
        if is_refused and named and not is_form_named:
            return None
        if is_refused and way.several and not is_form_named:
            return way._replace(several=False)
        if way.form == "text":
            return way._replace(several=False) if way.several and is_refused else None
        if is_refused:
            return way._replace(form=_FORMS[_FORMS.index(way.form) + 1])
        key = (request.digest, request.draw)
        # once for each request, which may be asked again because the server fails for another reason
        if key in self.tried or (request.prompt.digest in self.answered and not is_form_named):
            return None
        if request.digest:
            self.tried.add(key)
        return way._replace(form="text")

    def _learn(self, first: Way, way: Way, failures: Sequence[ModelError], request: Generate[Any]) -> None:
        """Keep what a request that was answered has shown."""
        prompt = request.prompt.digest
        if any("response_format" in failure.names for failure in failures):
            self.forms[prompt] = way.form
        if way.form != "text":
            self.answered.add(prompt)
        if new := sorted(way.changed - self.changed):
            _LOGGER.warning(
                "%s refuses %s: calls go on with %s",
                self.server,
                ", ".join(new),
                ", ".join(_INSTEAD[name] for name in new),
            )
        self.changed |= way.changed
        self.tried.discard((request.digest, request.draw))
        if first.several and not way.several:
            self.several = False

    def _failure(self, failures: Sequence[ModelError], *, is_tried: bool) -> ModelError:
        """The failure to report: the first one, which names what the caller set, or the last one."""
        first, last = failures[0], failures[-1]
        # a refusal by the client, without a status, says nothing of the server
        is_last = isinstance(last, TransientModelError) or first.status is None
        failure = last if is_last else first
        if is_tried and _may_be_the_form(failure):
            failure = failure.saying(
                f"{failure} (the same without response_format; to send none, {self.advice})"
            )
        if isinstance(failure, TransientModelError):
            failure.requests = sum(isinstance(each, TransientModelError) for each in failures)
        return failure

    def _held(self, reply: Completion, way: Way, request: Generate[Any]) -> Completion:
        """The reply with its constraint; without one, if it shows that the server ignored the schema."""
        if way.form in ("text", "json_object"):
            return replace(reply, held_to=None if way.form == "text" else way.form)
        value = json_object(reply.text)
        is_whole = ending(reply.finish_reason) in {"whole", "unknown"}
        required = set((request.schema or {}).get("required", ()))
        if not reply.text or not is_whole or (value is not None and value.keys() >= required):
            return replace(reply, held_to=reply.held_to or "json_schema")
        if not self.ignores_schemas:
            self.ignores_schemas = True
            _LOGGER.warning(
                "%s ignores the schema of replies: %s, or use a server that holds replies to a schema",
                self.server,
                self.advice,
            )
        return replace(reply, held_to=None)


def sampling_of(model: object) -> dict[str, Any]:
    """The settings of a model that a way can change, as far as they are set."""
    own = {name: getattr(model, name, None) for name in ("temperature", "max_tokens", "seed")}
    return {name: value for name, value in own.items() if value is not None}


def _may_be_the_form(error: ModelError) -> bool:
    """Whether a failure, though not a refusal, may be about the form of the reply."""
    return error.status in _PERHAPS_THE_FORM or (error.status is None and type(error) is ModelError)


def named_in(words: str) -> frozenset[str]:
    """The settings that a server's words name.

    >>> sorted(named_in("Unsupported value: 'temperature' does not support 0.0 with this model"))
    ['temperature']
    >>> sorted(named_in("Only user and assistant roles are supported!"))
    ['system']
    """
    return frozenset(name for name, pattern in _SETTINGS.items() if pattern.search(words))


def json_object(text: str) -> dict[str, Json] | None:
    """The JSON object that a text is; None for any other text."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _plain(schema: Any) -> Any:
    """A schema without sizes and without lists of allowed numbers, which not all servers support.

    >>> _plain({"type": "array", "items": {"type": "integer", "enum": [1, 2]}, "minItems": 2})
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    if is_list(schema):
        return [_plain(each) for each in schema]
    if not is_dict(schema):
        return schema
    left_out = _SIZES
    if schema.get("type") in {"integer", "number"}:
        left_out = _SIZES | {"enum", "const"}
    return {name: _plain(value) for name, value in schema.items() if name not in left_out}
