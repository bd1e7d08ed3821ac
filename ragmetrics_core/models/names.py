"""Models by the names that the command line and `evaluate(judge="...")` take."""

import re

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.llama import LlamaJudge
from ragmetrics_core.models.openai_compatible import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.models.wordllama import WordLlamaEmbedder
from ragmetrics_core.protocol import Embedder, Judge

__all__ = ["embedder_by_name", "judge_by_name"]

_SERVER = '"openai:MODEL@BASE_URL" for any other OpenAI-compatible server'
_JUDGES = (
    '"embedded" (word rules, no model), "openai:MODEL", '
    f'{_SERVER}, "llama:PATH" for a GGUF file, "llama" for SmolLM2'
)
_EMBEDDERS = f'"embedded" (static word vectors), "openai:MODEL", {_SERVER}'
# A model's own name may hold an "@", so an address is only what begins like one.
_AT_SERVER = re.compile(r"(?P<model>.+?)@(?P<url>https?://.+)")


def judge_by_name(name: str) -> Judge:
    """The judge of a name: "embedded", "openai:MODEL", "openai:MODEL@BASE_URL", "llama:PATH" or "llama".

    Raises:
        ConfigError: there is no such form, or the model's package, key or file is missing.
    """
    kind, _, rest = name.partition(":")
    if name == "embedded":
        from ragmetrics_core.models.lexical import LexicalJudge

        return LexicalJudge()
    if kind == "openai" and rest:
        model, base_url = _at_server(rest)
        return OpenAIJudge(model, base_url=base_url)
    if name == "llama":
        return LlamaJudge()
    if kind == "llama" and rest:
        return LlamaJudge(rest)
    raise ConfigError(f"there is no judge {name!r}; a judge is one of: {_JUDGES}")


def embedder_by_name(name: str) -> Embedder:
    """The embedder of a name: "embedded", "openai:MODEL" or "openai:MODEL@BASE_URL".

    Raises:
        ConfigError: there is no such form, or the model's package or key is missing.
    """
    kind, _, rest = name.partition(":")
    if name == "embedded":
        return WordLlamaEmbedder()
    if kind == "openai" and rest:
        model, base_url = _at_server(rest)
        return OpenAIEmbedder(model, base_url=base_url)
    raise ConfigError(f"there is no embedder {name!r}; an embedder is one of: {_EMBEDDERS}")


def _at_server(rest: str) -> tuple[str, str | None]:
    found = _AT_SERVER.fullmatch(rest)
    return (found["model"], found["url"]) if found else (rest, None)
