"""Judge and embedder on any server with the OpenAI protocol: hosted, vLLM, Ollama, llama.cpp."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Literal, cast
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from ragmetrics_core.adapting import Way, Ways, sampling_of
from ragmetrics_core.boundary.keywords import checked
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.models._openai_endpoint import Endpoint, encodable
from ragmetrics_core.models._secrets import secrets_in
from ragmetrics_core.models.openai_replies import completions_in, with_log_probabilities
from ragmetrics_core.parsers import VerdictList
from ragmetrics_core.prompts import digest_of
from ragmetrics_core.protocol import Completion, Generate, fixed_property

__all__ = ["OpenAIEmbedder", "OpenAIJudge", "Served"]

ResponseFormat = Literal["text", "json_object", "json_schema"]
_PLAINEST: Final = Way()
# The most that OpenAI's servers give for one token.
_ALTERNATIVES: Final = 20

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
    Retries and time limits are the caller's task. If the server's message refuses `temperature`, `seed`,
    `max_tokens` or the system role, the call is repeated, and later calls are made, without temperature or
    seed, with `max_completion_tokens`, or with the system text in the user message; one warning says so.

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
            weaker one is used (after the schema a plainer one); if its message names the constraint, also for
            later calls with this prompt.
        extra_body: additional parameters of the request.
        logprobs: whether verdicts of yes and no get a probability, P(yes) / (P(yes) + P(no)) of the token at
            their place, from the 20 likeliest tokens that the server reports. A verdict whose token cannot
            be found has none.
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
    logprobs: bool = field(default=False, kw_only=True)

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

    @property
    def by_file(self) -> bool:
        """Whether replies may come from a file, which has no log-probabilities."""
        return not self.logprobs

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
            "logprobs": _ALTERNATIVES if self.logprobs else None,
        }
        return self.named(settings)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Reply to the request; several draws take one call if the server supports it.

        Raises:
            ModelError: the server failed; the message says why and never holds the key.
        """
        choices: list[object] = []
        replies = await self._ways.replies(
            request,
            partial(self._ask, request, choices),
            form=self.response_format,
            settings=frozenset(sampling_of(self)),
            several=request.draws > 1,
        )
        if not self._has_probabilities(request):
            return replies
        return [with_log_probabilities(*pair) for pair in zip(replies, choices, strict=False)]

    async def _ask(self, request: Generate[Any], choices: list[object], way: Way) -> list[Completion]:
        reply = await self.endpoint.post("/chat/completions", self.body(request, way))
        completions = completions_in(reply, where=self.endpoint.url, model=self.model)[: request.draws]
        choices[:] = reply["choices"]
        return completions

    def _has_probabilities(self, request: Generate[Any]) -> bool:
        answer = request.prompt.answer
        return self.logprobs and issubclass(answer, VerdictList) and "yes" in answer.words

    def body(self, request: Generate[Any], way: Way = _PLAINEST) -> Mapping[str, object]:
        """The JSON body for the request's first draw, or for all draws at once."""
        messages = [
            {"role": message.role, "content": encodable(message.content)} for message in way.messages(request)
        ]
        body = way.settings(sampling_of(self))
        if "seed" in body:
            body["seed"] += request.draw
        if way.several:
            body["n"] = request.draws
        if (form := way.response_format(request)) is not None:
            body["response_format"] = form
        if self._has_probabilities(request):
            body |= {"logprobs": True, "top_logprobs": _ALTERNATIVES}
        return {"model": self.model, "messages": messages, **body, **self.extra_body}

    @cached_property
    def _ways(self) -> Ways:
        advice = "pass response_format='text', on the command line --judge-option response_format=text"
        return Ways(self.endpoint.url, advice)


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


def _vector(embedding: object) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)
    vector = np.asarray(embedding, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError("not a vector")
    return vector
