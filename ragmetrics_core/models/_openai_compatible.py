"""Judge and embedder on any server with the OpenAI protocol: hosted, vLLM, Ollama, llama.cpp."""

import base64
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Literal, cast
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from ragmetrics_core.adapting import PERHAPS_THE_SCHEMA, ending, response_format, usage_of
from ragmetrics_core.errors import ConfigError, ModelError, TransientModelError
from ragmetrics_core.keywords import checked
from ragmetrics_core.models._openai_endpoint import Endpoint, encodable
from ragmetrics_core.models._redactor import same_error
from ragmetrics_core.models._secrets import secrets_in
from ragmetrics_core.models._ways import Form, Way, next_way, plain
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion, Generate, fixed_property
from ragmetrics_core.shapes import Json, are_dicts

__all__ = ["OpenAIEmbedder", "OpenAIJudge", "Served", "completions_in"]

ResponseFormat = Literal["text", "json_object", "json_schema"]
_LOGGER = logging.getLogger("ragmetrics.models")
_PLAINEST: Final = Way()

# Bytes. The longest texts that models write have less than a megabyte; with probabilities, some more.
_LARGEST_REPLY = 2**24
# 8,192 numbers in full digits.
_LARGEST_VECTOR = 2**18


@dataclass(frozen=True, repr=False)
class Served:
    """A model on an OpenAI-compatible server.

    Attributes:
        model: the model's name on the server.
        base_url: the server's address. Default: OPENAI_BASE_URL, or else OpenAI.
        api_key: the key, as text or as pydantic's `SecretStr`; stored as `SecretStr`. Default:
            OPENAI_API_KEY. Optional with `base_url`.
        asked: False to report a missing package or key only on first use.
    """

    model: str
    base_url: str | None = field(default=None, kw_only=True)
    api_key: str | SecretStr | None = field(default=None, kw_only=True)
    asked: bool = field(default=True, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        """Keep the key as a `SecretStr`, and check the settings without a call."""
        if isinstance(self.api_key, str):
            object.__setattr__(self, "api_key", SecretStr(self.api_key))
        _ = self.endpoint  # a missing key is an error here, not in the middle of a run

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self.endpoint.aclose()

    def __repr__(self) -> str:
        """The identity, which holds no key."""
        return f"{type(self).__name__}({cast('Any', self).identity!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """The settings for pickling. The key is not pickled but read from the environment later.

        Raises:
            ConfigError: the pickle would hold the key, or a password in the address.
        """
        settings = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        if self.api_key is not None or secrets_in(settings):
            raise ConfigError(
                f"this {type(self).__name__} cannot be pickled, because the pickle would hold its key: set "
                "OPENAI_API_KEY where it is used, in place of api_key, or send a function that makes it"
            )
        return partial(type(self), **settings), ()

    @property
    def largest(self) -> int:
        """Maximum size of an answer in bytes."""
        return _LARGEST_REPLY

    @cached_property
    def endpoint(self) -> Endpoint:
        """The endpoint that posts to the server."""
        return Endpoint(self)

    def named(self, settings: Mapping[str, object]) -> str:
        """Server, model and the settings that are set; never the key."""
        given = {name: value for name, value in settings.items() if value is not None}
        return f"openai:{self.endpoint.url}/{self.model}" + (f"?{urlencode(given)}" if given else "")


@checked
@dataclass(frozen=True, repr=False)
class OpenAIJudge(Served):
    """A chat model on an OpenAI-compatible server.

    Can be used from any number of event loops. Connections close when their loop ends, or with `aclose`.
    Retries and time limits are the caller's task. If the server's message refuses `temperature`,
    `max_tokens` or the system role, the call is repeated, and later calls are made, without temperature,
    with `max_completion_tokens`, or with the system text in the user message.

    Attributes:
        model: the model's name on the server.
        base_url: the server's address, such as "http://127.0.0.1:8080/v1". Default: OPENAI_BASE_URL, or else
            OpenAI.
        api_key: the key, as text or as pydantic's `SecretStr`; stored as `SecretStr`. Default:
            OPENAI_API_KEY. Optional with `base_url`.
        temperature: None omits it, which some models require.
        max_tokens: maximum length of a reply; None omits it.
        seed: seed for repeatable sampling, if the server supports it; the draw's number is added.
        response_format: constraint on replies to prompts that request JSON: the requested form
            ("json_schema"), any JSON ("json_object") or none ("text"). If the server refuses one, the next
            weaker one is used; if its message names the constraint, also for later calls with this prompt.
        extra_body: additional parameters of the request.
        asked: False to report a missing package or key only on first use.

    Raises:
        ConfigError: the aiohttp package or the key is missing, or a setting is invalid.
    """

    draws_at_once: ClassVar[bool] = True

    temperature: float | None = field(default=0.0, kw_only=True)
    max_tokens: int | None = field(default=None, kw_only=True)
    seed: int | None = field(default=None, kw_only=True)
    response_format: ResponseFormat = field(default="json_schema", kw_only=True)
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ConfigError(f"temperature must be between 0 and 2, or None, not {self.temperature}")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, or None, not {self.max_tokens}")
        if self.response_format not in {"text", "json_object", "json_schema"}:
            raise ConfigError(
                f"response_format must be text, json_object or json_schema, not {self.response_format!r}"
            )
        super().__post_init__()

    @fixed_property
    def identity(self) -> str:
        """Server, model and the settings that change its replies; never the key."""
        extra = json.dumps(dict(self.extra_body), sort_keys=True, default=repr)
        settings = {
            "temperature": None if self.temperature is None else f"{self.temperature:g}",
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "response_format": None if self.response_format == "json_schema" else self.response_format,
            "extra_body": digest_of(extra)[:12] if self.extra_body else None,
        }
        return self.named(settings)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Reply to the request; several draws take one call if the server supports it.

        Raises:
            ModelError: the server failed; the message says why and never holds the key.
        """
        way, reply = await self._taken(request)
        where, model = self.endpoint.url, self.model
        held_to = (
            None if way.form == "text" else "json_object" if way.form == "json_object" else "json_schema"
        )
        replies = completions_in(reply, where=where, model=model, held_to=held_to)[: request.draws]
        return [self._as_held(each, request) for each in replies] if held_to == "json_schema" else replies

    async def _taken(self, request: Generate[Any]) -> tuple[Way, Mapping[str, Any]]:
        """The first way to send the request that the server accepts, with its answer.

        A way that the server asks for is used from then on: a form for the prompt, other settings for all.

        Raises:
            ModelError: the server failed, or refuses all ways.
        """
        way = self._first_way(request)
        learned, key = self._learned, (request.digest, request.draw)
        first: ModelError | None = None
        named: frozenset[str] = frozenset()
        while True:
            body = self.body(request, way)
            try:
                reply = await self.endpoint.post("/chat/completions", body)
            except ModelError as error:
                sent = frozenset(body) | {message["role"] for message in cast("Any", body["messages"])}
                following = next_way(way, error, request, sent)
                last = error.with_traceback(
                    None
                )  # whose frames would hold the client until somebody collects
                first, named = first or last, named | error.names
            else:
                break
            if following is not None and following.form != way.form and last.status in PERHAPS_THE_SCHEMA:
                # once for each request: it may be asked again because the server fails for another reason
                if request.digest and key in learned.tried:
                    following = None
                learned.tried.add(key)
            if following is None:
                failure = last if isinstance(last, TransientModelError) or last.status is None else first
                is_without = key in learned.tried and failure.status in PERHAPS_THE_SCHEMA
                try:
                    raise _naming_the_form(failure) if is_without else failure
                finally:
                    del first, last, failure
            way = following
        if "response_format" in named:
            learned.forms[request.prompt.digest] = way.form
        learned.changed |= way.changed
        learned.tried.discard(key)
        if request.draws > 1 and not way.several:
            learned.many = False
        return way, reply

    def _first_way(self, request: Generate[Any]) -> Way:
        learned = self._learned
        form: Form = "text"
        if request.expected.as_json:
            form = learned.forms.get(request.prompt.digest, self.response_format)
        return Way(form, request.draws > 1 and learned.many, learned.changed)

    def _as_held(self, reply: Completion, request: Generate[Any]) -> Completion:
        """The reply; if it shows that the server ignored the schema, without the constraint."""
        if ending(reply.finish_reason) not in {"whole", "unknown"} or _has_fields(reply.text, request.schema):
            return reply
        if not self._learned.is_told:
            self._learned.is_told = True
            _LOGGER.warning(
                "%s ignores the schema of replies: pass response_format='text', on the command line "
                "--judge-option response_format=text, or use a server that holds replies to a schema",
                self.endpoint.url,
            )
        return replace(reply, held_to=None)

    def body(self, request: Generate[Any], way: Way = _PLAINEST) -> Mapping[str, object]:
        """The JSON body for the request's first draw, or for all draws at once."""
        messages = [
            {"role": message.role, "content": encodable(message.content)} for message in request.messages
        ]
        if "system" in way.changed:
            messages = _without_system(messages)
        optional: dict[str, object] = {
            "temperature": None if "temperature" in way.changed else self.temperature,
            "max_tokens": self.max_tokens,
            "seed": None if self.seed is None else self.seed + request.draw,
            "n": request.draws if way.several else None,
            "response_format": _form(way.form, request),
        }
        if "max_tokens" in way.changed:
            optional["max_completion_tokens"] = optional.pop("max_tokens")
        body = {name: value for name, value in optional.items() if value is not None}
        return {"model": self.model, "messages": messages, **body, **self.extra_body}

    @cached_property
    def _learned(self) -> "_Learned":
        return _Learned()


@checked
@dataclass(frozen=True, repr=False)
class OpenAIEmbedder(Served):
    """An embedding model on an OpenAI-compatible server; a blank text has the zero vector.

    Attributes:
        model: the model's name on the server.
        base_url: the server's address. Default: OPENAI_BASE_URL, or else OpenAI.
        api_key: the key, as text or as pydantic's `SecretStr`; stored as `SecretStr`. Default:
            OPENAI_API_KEY. Optional with `base_url`.
        dimensions: length of the vectors, for models that can shorten them.
        batch_size: maximum texts per request.
        asked: False to report a missing package or key only on first use.

    Raises:
        ConfigError: the aiohttp package or the key is missing, or a setting is invalid.
    """

    dimensions: int | None = field(default=None, kw_only=True)
    batch_size: int = field(default=128, kw_only=True)

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise ConfigError(f"batch_size must be at least 1, not {self.batch_size}")
        if self.dimensions is not None and self.dimensions < 1:
            raise ConfigError(f"dimensions must be at least 1, or None, not {self.dimensions}")
        super().__post_init__()

    @property
    def largest(self) -> int:
        """Bytes of an answer, at most."""
        return _LARGEST_REPLY + self.batch_size * _LARGEST_VECTOR

    @fixed_property
    def identity(self) -> str:
        """Server, model and vector length; never the key."""
        return self.named({"dimensions": self.dimensions})

    async def aembed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row per text.

        Raises:
            ModelError: the server failed, or did not return one vector per text.
        """
        asked = [position for position, text in enumerate(texts) if text.strip()]
        vectors: list[NDArray[np.float64]] = []
        for start in range(0, len(asked), self.batch_size):
            batch = [encodable(texts[position]) for position in asked[start : start + self.batch_size]]
            vectors += await self._embed(batch)
        if len({len(vector) for vector in vectors}) > 1:
            raise ModelError(f"{self.endpoint.url} gave vectors of different lengths")
        # No server is asked about blank texts (most refuse them), so their length comes from the others.
        rows = np.zeros((len(texts), len(vectors[0]) if vectors else self.dimensions or 1))
        if vectors:
            rows[asked] = vectors
        return rows

    async def _embed(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        # base64 is what the official client asks for by itself; servers without it send plain numbers.
        body: dict[str, object] = {"model": self.model, "input": texts, "encoding_format": "base64"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        reply = await self.endpoint.post("/embeddings", body)
        try:
            data = sorted(reply["data"], key=lambda entry: entry["index"])
            vectors = [_vector(entry["embedding"]) for entry in data]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{self.endpoint.url} answered without vectors: is it an embeddings server?"
            ) from None
        if len(vectors) != len(texts):
            raise ModelError(f"{self.endpoint.url} gave {len(vectors)} vectors for {len(texts)} texts")
        if not all(np.isfinite(vector).all() for vector in vectors):
            raise ModelError(f"{self.endpoint.url} gave a vector with numbers that are not finite")
        return vectors


@dataclass
class _Learned:
    """Observed abilities of a server.

    Attributes:
        forms: the form to request first, by digest of the prompt, if the server refused a stronger one.
        changed: settings that the server refused; see `Way`.
        many: whether it supports several draws at once.
        tried: digest and draw of failed requests that the server failed to answer without a form, too.
        is_told: whether the user was told that it ignores schemas.
    """

    forms: dict[str, Form] = field(default_factory=dict[str, Form])
    changed: frozenset[str] = frozenset()
    many: bool = True
    tried: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    is_told: bool = False


def _form(form: Form, request: Generate[Any]) -> Mapping[str, Any] | None:
    """The constraint on a reply as the protocol states it; None if unconstrained."""
    if form == "text":
        return None
    if form == "json_object":
        return {"type": "json_object"}
    stated = response_format(request)
    return plain(stated) if form == "plain_schema" else stated


def _without_system(messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The messages with the system text at the start of the first other message."""
    system = [message["content"] for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    if not others:
        return [{"role": "user", "content": "\n\n".join(system)}]
    others[0] = others[0] | {"content": "\n\n".join([*system, others[0]["content"]])}
    return others


def _has_fields(text: str, schema: Mapping[str, Any] | None) -> bool:
    """Whether a reply is a JSON object with the fields that its schema requires."""
    value = _parsed(text)
    return isinstance(value, dict) and value.keys() >= set((schema or {}).get("required", ()))


def _parsed(text: str) -> Json:
    """The value of a text in JSON; None for any other text."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _naming_the_form(error: ModelError) -> ModelError:
    """The failure of a request with a form that the server does not answer without one either."""
    return same_error(
        error,
        f"{error} (the same without response_format; to send none, pass response_format='text', "
        "on the command line --judge-option response_format=text)",
    )


def completions_in(
    reply: Mapping[str, Any], *, where: str, model: str, held_to: str | None = None
) -> list[Completion]:
    """The completions in the JSON reply of a chat completions server.

    Args:
        reply: the JSON reply.
        where: source of the reply, for messages.
        model: the model's name if the reply does not give it.
        held_to: the request's constraint on the reply.

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
        text, is_refusal = _text(choice.get("message"))
        reason = choice.get("finish_reason")
        completions.append(
            Completion(
                text=text,
                model=named if isinstance(named, str) and named else model,
                usage=None if completions else usage,
                finish_reason="refusal" if is_refusal else reason if isinstance(reason, str) else None,
                held_to=held_to,
            )
        )
    return completions


def _text(message: Json) -> tuple[str, bool]:
    """The text of a message, and whether it is the model's refusal.

    The text is the content or its parts, else the arguments of the tool call, else the refusal, else JSON in
    the reasoning: a server that separates reasoning may take a constrained reply for it.
    """
    if not isinstance(message, dict):
        return "", False
    content = message.get("content") or _arguments(message.get("tool_calls"))
    refusal = message.get("refusal")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        refusal = refusal or "".join(str(part.get("refusal") or "") for part in parts)
        content = "".join(str(part.get("text") or "") for part in parts)
    if content:
        return encodable(str(content)), False
    if refusal:
        return encodable(str(refusal)), True
    for name in ("reasoning_content", "reasoning"):
        reasoning = message.get(name)
        if isinstance(reasoning, str) and isinstance(_parsed(reasoning), dict):
            return encodable(reasoning), False
    return "", False


def _arguments(calls: Json) -> Json:
    """The arguments of the only tool call, as JSON; None for no or several calls."""
    call = calls[0] if isinstance(calls, list) and len(calls) == 1 else None
    function = call.get("function") if isinstance(call, dict) else None
    return function.get("arguments") if isinstance(function, dict) else None


def _vector(embedding: object) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
    vector = np.asarray(embedding, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError("not a vector")
    return vector
