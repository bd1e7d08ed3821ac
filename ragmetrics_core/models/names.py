"""Models by the names that the command line and `evaluate(judge="...")` take."""

import re

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models.llama import LlamaJudge
from ragmetrics_core.models.openai_compatible import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.models.secrets import passwords_in, without_secrets
from ragmetrics_core.models.wordllama import WordLlamaEmbedder
from ragmetrics_core.protocol import Embedder, Judge, Scorer

__all__ = ["embedder_by_name", "judge_by_name", "scorer_by_name"]

_SERVER = '"openai:MODEL@BASE_URL" for any other OpenAI-compatible server'
_JUDGES = (
    '"embedded" (word rules, no model), "openai:MODEL", '
    f'{_SERVER}, "llama:PATH" for a GGUF file, "llama" for SmolLM2, '
    '"entailment:MODEL" for an NLI model beside the embedded rules'
)
_EMBEDDERS = f'"embedded" (static word vectors), "openai:MODEL", {_SERVER}'
# A model's own name may hold an "@", so an address is only what begins like one.
_NO_SCHEME = re.compile(r".+@(?P<address>(localhost|[\w-]+(\.[\w-]+)*:\d{2,5})(/.*)?)")
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
    if kind == "entailment" and rest:
        from ragmetrics_core.models.encoders import CrossEncoderScorer
        from ragmetrics_core.models.entailment import EntailmentJudge
        from ragmetrics_core.models.lexical import LexicalJudge

        scorer = CrossEncoderScorer(model=rest, label="entailment", too_long="cut")
        return EntailmentJudge(scorer=scorer, others=LexicalJudge())
    raise ConfigError(f"there is no judge {without_secrets(name)!r}; a judge is one of: {_JUDGES}")


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
    raise ConfigError(f"there is no embedder {without_secrets(name)!r}; an embedder is one of: {_EMBEDDERS}")


def scorer_by_name(name: str) -> Scorer:
    """The scorer of a name: "cross-encoder:MODEL" or "token-match:MODEL", a folder or a name on the hub.

    Raises:
        ConfigError: there is no such form, or a package is missing.
    """
    kind, _, rest = name.partition(":")
    if kind in {"cross-encoder", "token-match"} and rest:
        from ragmetrics_core.models.encoders import CrossEncoderScorer, TokenMatchScorer

        return CrossEncoderScorer(model=rest) if kind == "cross-encoder" else TokenMatchScorer(model=rest)
    raise ConfigError(
        f'there is no scorer {name!r}; a scorer is one of: "cross-encoder:MODEL", "token-match:MODEL"'
    )


def _at_server(rest: str) -> tuple[str, str | None]:
    found = _AT_SERVER.fullmatch(rest)
    if found and any(passwords_in(found["url"])):
        raise ConfigError(
            "the name of a model holds a password, and names are shown and stored: set OPENAI_BASE_URL, or "
            "pass OpenAIJudge(model, base_url=...)"
        )
    if not found and (bare := _NO_SCHEME.fullmatch(rest)):
        address = without_secrets(bare["address"])
        raise ConfigError(f"the address {address!r} of a server begins with http:// or https://")
    return (found["model"], found["url"]) if found else (rest, None)
