"""Names of models, a judge's options on the command line, and embedders and scorers by name."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, cast

from pydantic import FiniteFloat, Json, PositiveFloat, TypeAdapter

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._secrets import passwords_in, secrets_in, without_secrets
from ragmetrics_core.protocol import Embedder, Scorer

__all__ = [
    "BUILT_IN",
    "SERVER_FORM",
    "SETTINGS",
    "TIMEOUT",
    "advice_on",
    "at_server",
    "embedder_by_name",
    "read_options",
    "scorer_by_name",
]

BUILT_IN: Final = frozenset({"openai", "entailment", "grounded", "decisions", "calibrated", "cascade"})

TIMEOUT: Final = "timeout"
"""The only option that is not a setting of the judge but of its caller; it does not change replies."""

# What a command line may set of a judge; the key and the address stand elsewhere.
_OPTIONS: Final[Mapping[str, tuple[str, Any]]] = {
    "extra_body": ("a JSON object", Json[dict[str, Any]]),
    "logprobs": ("true or false", bool),
    "max_tokens": ("a whole number", int),
    "response_format": ("text, json_object, json_schema", str),
    "seed": ("a whole number", int),
    "temperature": ("a number", FiniteFloat),
    TIMEOUT: ("seconds above 0", Annotated[PositiveFloat, FiniteFloat]),
}
SETTINGS: Final = frozenset(_OPTIONS) - {TIMEOUT}

SERVER_FORM = '"openai:MODEL@BASE_URL" for any other OpenAI-compatible server'
_EMBEDDERS = f'"embedded" (static word vectors), "openai:MODEL", {SERVER_FORM}'
_A: Final[Mapping[str, str]] = {"judge": "a judge", "embedder": "an embedder", "scorer": "a scorer"}
_SCORERS = '"cross-encoder:MODEL", "token-match:MODEL"'
# Where makers of models serve them in OpenAI's form; CAPITALS are for the user to fill in.
_SERVERS: Final[Mapping[str, str]] = {
    "anthropic": "https://api.anthropic.com/v1",
    "azure": "https://RESOURCE.openai.azure.com/openai/v1",
    "azure_openai": "https://RESOURCE.openai.azure.com/openai/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google_genai": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
    "litellm": "http://localhost:4000/v1",
    "lmstudio": "http://localhost:1234/v1",
    "lm_studio": "http://localhost:1234/v1",
    "mistral": "https://api.mistral.ai/v1",
    "mistralai": "https://api.mistral.ai/v1",
    "ollama": "http://localhost:11434/v1",
    "ollama_chat": "http://localhost:11434/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "together_ai": "https://api.together.xyz/v1",
    "vllm": "http://localhost:8000/v1",
    "hosted_vllm": "http://localhost:8000/v1",
    "xai": "https://api.x.ai/v1",
}
_OF_OPENAI = re.compile(r"(gpt|chatgpt|o\d|text-embedding)[-\d].*|o\d", re.IGNORECASE)
# the first word of a model's name says whose it is, where only its maker serves it
_MAKERS: Final[Mapping[str, str]] = {"claude": "anthropic", "gemini": "gemini", "grok": "xai"}
_PROVIDER = re.compile(r"(?P<provider>[A-Za-z_-]+)[:/](?P<model>.+)")
_MODEL_LIKE = re.compile(r"[\w.:/-]*[\d/-][\w.:/-]*")
# A model's own name may hold an "@", so an address is only what begins like one.
_NO_SCHEME = re.compile(r".+@(?P<address>(localhost|[\w-]+(\.[\w-]+)*:\d{2,5})(/.*)?)")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_AT_SERVER = re.compile(r"(?P<model>.+?)@(?P<url>https?://.+)")


def read_options(texts: Sequence[str]) -> dict[str, Any]:
    """A judge's settings from the command line (`temperature=none`, `seed=7`), converted to their types.

    `none` means None: the parameter is not sent.

    Raises:
        ConfigError: an option is not NAME=VALUE, is unknown, is given twice, has a value of the wrong type,
            or holds a key.
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise ConfigError(f"--judge-option takes NAME=VALUE, such as temperature=none, not {text!r}")
        if name not in _OPTIONS:
            raise ConfigError(f"no judge has an option {name!r}; the options are {', '.join(_OPTIONS)}")
        if name in options:
            raise ConfigError(f"the judge's option {name} is given twice")
        kind, type_of = _OPTIONS[name]
        try:
            is_none = value.casefold() == "none"
            options[name] = None if is_none else TypeAdapter(cast("Any", type_of)).validate_python(value)
        except ValueError:
            raise ConfigError(f"the judge's option {name} takes {kind} or none, not {value!r}") from None
        if secrets_in({name: options[name]}):
            raise ConfigError(
                f"the judge's option {name} holds a key, and other users of the machine can see "
                "command lines: set OPENAI_API_KEY, or make the judge in Python"
            )
    return options


def advice_on(name: str, kind: str, forms: str) -> str:
    """Advice on an unknown name: the name of that model here, or else the forms of a name."""
    if without_secrets(name) != name:
        return f"{_A[kind]} is one of: {forms}"
    text = name.strip()
    written = _PROVIDER.fullmatch(text)
    provider = written["provider"].casefold().replace("-", "_") if written else ""
    model = written["model"] if written else text
    if kind == "scorer":
        is_model = "/" in text and ":" not in text
        return f'did you mean "cross-encoder:{text}"?' if is_model else f"{_A[kind]} is one of: {forms}"
    if text.casefold() == "embedded":
        return 'did you mean "embedded"?'
    own_kinds = BUILT_IN if kind == "judge" else {"openai"}
    if provider in own_kinds:
        return f'did you mean "{provider}:{model}"?'
    maker = next((server for word, server in _MAKERS.items() if text.casefold().startswith(word)), provider)
    if maker in _SERVERS:
        return f'did you mean "openai:{model}@{_SERVERS[maker]}", with its key in OPENAI_API_KEY?'
    if not written and _OF_OPENAI.fullmatch(text):
        return f'did you mean "openai:{text}"?'
    if _MODEL_LIKE.fullmatch(text):
        return f'name the server of the model, such as "openai:{text}@{_SERVERS["ollama"]}" for Ollama'
    return f"{_A[kind]} is one of: {forms}"


def embedder_by_name(name: str, *, asked: bool = True) -> Embedder:
    """The embedder with a name: "embedded", "openai:MODEL" or "openai:MODEL@BASE_URL".

    Args:
        name: the embedder's name.
        asked: False to report a missing key or package only on first use.

    Raises:
        ConfigError: the name is unknown, or the model's package or key is missing.
    """
    kind, _, rest = name.partition(":")
    if name == "embedded":
        from ragmetrics_core.models._wordllama import WordLlamaEmbedder

        return WordLlamaEmbedder(asked=asked)
    if kind == "openai" and rest:
        model, base_url = at_server(rest)
        from ragmetrics_core.models._openai_compatible import OpenAIEmbedder

        return OpenAIEmbedder(model, base_url=base_url, asked=asked)
    raise ConfigError(
        f"there is no embedder {without_secrets(name)!r}; {advice_on(name, 'embedder', _EMBEDDERS)}"
    )


def scorer_by_name(name: str, *, asked: bool = True) -> Scorer:
    """The scorer with a name: "cross-encoder:MODEL" or "token-match:MODEL", a folder or a name on the hub.

    Args:
        name: the scorer's name.
        asked: False to report a missing package only on first use.

    Raises:
        ConfigError: the name is unknown, or a package is missing.
    """
    kind, _, rest = name.partition(":")
    if kind in {"cross-encoder", "token-match"} and rest:
        from ragmetrics_core.models._encoders import CrossEncoderScorer, TokenMatchScorer

        made = CrossEncoderScorer if kind == "cross-encoder" else TokenMatchScorer
        return made(model=rest, asked=asked)
    raise ConfigError(f"there is no scorer {name!r}; {advice_on(name, 'scorer', _SCORERS)}")


def at_server(rest: str) -> tuple[str, str | None]:
    """The model and the address in `MODEL@URL`; None if there is no address."""
    found = _AT_SERVER.fullmatch(rest)
    if found and any(passwords_in(found["url"])):
        raise ConfigError(
            "the model's name holds a password, and names are stored in records: set OPENAI_BASE_URL, or "
            "pass OpenAIJudge(model, base_url=...)"
        )
    if not found and (bare := _NO_SCHEME.fullmatch(rest)):
        address = without_secrets(bare["address"])
        raise ConfigError(f"the address {address!r} of a server begins with http:// or https://")
    if not found and _ADDRESS.match(rest):
        raise ConfigError("write the model before the address of its server, as in MODEL@http://HOST/v1")
    return (found["model"], found["url"]) if found else (rest, None)
