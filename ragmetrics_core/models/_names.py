"""Models by the names that the command line and `evaluate(judge="...")` take."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Final, Literal

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._judge_options import TIMEOUT
from ragmetrics_core.models._llama import LlamaJudge
from ragmetrics_core.models._openai_compatible import OpenAIEmbedder, OpenAIJudge
from ragmetrics_core.models._secrets import passwords_in, without_secrets
from ragmetrics_core.models._wordllama import WordLlamaEmbedder
from ragmetrics_core.protocol import Embedder, Judge, Scorer

if TYPE_CHECKING:
    from ragmetrics_core.models.grounded import Checker

__all__ = ["embedder_by_name", "judge_by_name", "judges_by_name", "scorer_by_name"]

_SERVER = '"openai:MODEL@BASE_URL" for any other OpenAI-compatible server'
_JUDGES = (
    '"embedded" (a small support model, no language model), "openai:MODEL", '
    f'{_SERVER}, "llama:PATH" for a GGUF file, "llama" for SmolLM2, '
    '"entailment:MODEL" for an NLI model beside the embedded rules, '
    '"grounded:MODEL" for MiniCheck, FactCG, LettuceDetect and the like beside them, '
    '"cascade:CHEAP,DEAR" for two judges, the cheap one first'
)
_EMBEDDERS = f'"embedded" (static word vectors), "openai:MODEL", {_SERVER}'
# A model's own name may hold an "@", so an address is only what begins like one.
_NO_SCHEME = re.compile(r".+@(?P<address>(localhost|[\w-]+(\.[\w-]+)*:\d{2,5})(/.*)?)")
_AT_SERVER = re.compile(r"(?P<model>.+?)@(?P<url>https?://.+)")


_MiniCheckKind = Literal["roberta", "deberta", "flan-t5"]
_MINICHECKS: Final[tuple[_MiniCheckKind, ...]] = ("roberta", "deberta", "flan-t5")
# What a command line may set of a judge; the key and the address stand elsewhere.
_OPENAI_OPTIONS = ("temperature", "max_tokens", "seed", "response_format", "extra_body")
_LLAMA_OPTIONS = ("temperature", "max_tokens", "seed", "context", "threads", "json_schema")


def judge_by_name(name: str, *, options: Mapping[str, Any] | None = None, asked: bool = True) -> Judge:
    """The judge of a name: "embedded", "openai:MODEL", "llama:PATH" and so on.

    Args:
        name: the judge's name.
        options: settings of the judge by name; None for a parameter that is not sent.
        asked: False where the judge is never asked, so that it needs no key, package or file.

    Raises:
        ConfigError: there is no such form or option, or the model's package, key or file is missing.
    """
    settings = {key: value for key, value in (options or {}).items() if key != TIMEOUT}
    kind, _, rest = name.partition(":")
    if name == "embedded":
        from ragmetrics_core.models._lexical import LexicalJudge

        _check_options(name, settings)
        return LexicalJudge()
    if kind == "openai" and rest:
        model, base_url = _at_server(rest)
        settings = _check_options(name, settings)
        return OpenAIJudge(model, base_url=base_url, asked=asked, **settings)
    if name == "llama" or (kind == "llama" and rest):
        settings = _check_options(name, settings)
        return LlamaJudge(rest or None, asked=asked, **settings)
    if kind == "entailment" and rest:
        from ragmetrics_core.models._encoders import CrossEncoderScorer
        from ragmetrics_core.models._entailment import EntailmentJudge
        from ragmetrics_core.models._lexical import LexicalJudge

        _check_options(name, settings)
        scorer = CrossEncoderScorer(model=rest, label="entailment", too_long="cut", asked=asked)
        return EntailmentJudge(scorer=scorer, others=LexicalJudge())
    if kind == "grounded" and rest:
        from ragmetrics_core.models._lexical import LexicalJudge
        from ragmetrics_core.models.grounded import GroundedJudge

        _check_options(name, settings)
        return GroundedJudge(checker=_checker(rest, asked=asked), others=LexicalJudge())
    if kind == "cascade" and all(names := rest.partition(",")):
        from ragmetrics_core.models._cascade import Cascade

        inner = [names[0].strip(), names[2].strip()]
        cheap, dear = judges_by_name(inner, options=options, asked=asked)
        return Cascade(cheap, dear)
    raise ConfigError(f"there is no judge {without_secrets(name)!r}; a judge is one of: {_JUDGES}")


def _checker(rest: str, *, asked: bool) -> "Checker":
    """The grounded model of a name, in the form of its makers, whom the name must tell."""
    from ragmetrics_core.models import grounded

    model, base_url = _at_server(rest)
    known = model.rstrip("/").rpartition("/")[2].casefold()
    if "bespoke-minicheck" in known or "granite-guardian" in known:
        kind = grounded.BespokeMiniCheck if "minicheck" in known else grounded.GraniteGuardian
        return kind(model=model, base_url=base_url)
    size: _MiniCheckKind | None = next((each for each in _MINICHECKS if each in known), None)
    if base_url is None and "minicheck" in known and size is not None:
        return grounded.MiniCheck(model=model, kind=size, asked=asked)
    if base_url is None and "factcg" in known:
        return grounded.FactCG(model=model, asked=asked)
    if base_url is None and "lettuce" in known:
        return grounded.LettuceDetect(model=model, asked=asked)
    raise ConfigError(
        f"the name {without_secrets(rest)!r} tells no grounded model: it must hold minicheck with roberta, "
        "deberta or flan-t5, factcg, or lettucedetect; or bespoke-minicheck or granite-guardian, at a server"
    )


def judges_by_name(
    names: Sequence[str], *, options: Mapping[str, Any] | None = None, asked: bool = True
) -> tuple[Judge, ...]:
    """The judges of a panel; each takes of the options those that it has.

    Raises:
        ConfigError: as for `judge_by_name`; and an option that none of them has.
    """
    given = dict(options or {})
    if len(names) == 1:
        return (judge_by_name(names[0], options=given, asked=asked),)
    taken = {TIMEOUT}.union(*map(_options_of, names))
    if unknown := sorted(set(given) - taken):
        raise ConfigError(
            f"no judge of the panel has an option {unknown[0]!r}; theirs are {', '.join(sorted(taken))}"
        )
    return tuple(
        judge_by_name(
            name,
            options={key: value for key, value in given.items() if key in _options_of(name)},
            asked=asked,
        )
        for name in names
    )


def _options_of(name: str) -> tuple[str, ...]:
    kind, _, rest = name.partition(":")
    if kind == "cascade":
        cheap, _, dear = rest.partition(",")
        return tuple(
            {**dict.fromkeys(_options_of(cheap.strip())), **dict.fromkeys(_options_of(dear.strip()))}
        )
    return {"openai": _OPENAI_OPTIONS, "llama": _LLAMA_OPTIONS}.get(kind, ())


def _check_options(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings as the judge's class takes them."""
    known = _options_of(name)
    if unknown := sorted(set(settings) - set(known)):
        names = ", ".join(sorted((*known, TIMEOUT)))
        raise ConfigError(
            f"the judge {without_secrets(name)!r} has no option {unknown[0]!r}; its options are {names}"
        )
    taken = dict(settings)
    if "response_format" in taken and taken["response_format"] is None:
        taken["response_format"] = "text"  # which sends none
    if "extra_body" in taken and taken["extra_body"] is None:
        del taken["extra_body"]
    if name.partition(":")[0] == "llama":
        needed = {each.name for each in fields(LlamaJudge) if each.default not in {None, MISSING}}
        if blank := sorted(key for key, value in taken.items() if value is None and key in needed):
            raise ConfigError(f"the judge {without_secrets(name)!r} needs a value for {blank[0]}, not none")
    return taken


def embedder_by_name(name: str, *, asked: bool = True) -> Embedder:
    """The embedder of a name: "embedded", "openai:MODEL" or "openai:MODEL@BASE_URL".

    Args:
        name: the embedder's name.
        asked: False where a missing key or package is an error only when it is asked.

    Raises:
        ConfigError: there is no such form, or the model's package or key is missing.
    """
    kind, _, rest = name.partition(":")
    if name == "embedded":
        return WordLlamaEmbedder(asked=asked)
    if kind == "openai" and rest:
        model, base_url = _at_server(rest)
        return OpenAIEmbedder(model, base_url=base_url, asked=asked)
    raise ConfigError(f"there is no embedder {without_secrets(name)!r}; an embedder is one of: {_EMBEDDERS}")


def scorer_by_name(name: str, *, asked: bool = True) -> Scorer:
    """The scorer of a name: "cross-encoder:MODEL" or "token-match:MODEL", a folder or a name on the hub.

    Args:
        name: the scorer's name.
        asked: False where a missing package is an error only when it is asked.

    Raises:
        ConfigError: there is no such form, or a package is missing.
    """
    kind, _, rest = name.partition(":")
    if kind in {"cross-encoder", "token-match"} and rest:
        from ragmetrics_core.models._encoders import CrossEncoderScorer, TokenMatchScorer

        made = CrossEncoderScorer if kind == "cross-encoder" else TokenMatchScorer
        return made(model=rest, asked=asked)
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
