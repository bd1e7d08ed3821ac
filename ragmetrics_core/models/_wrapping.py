"""Any callable as a judge, models by their command line names, and what is said where one is missing."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.models._foreign_lines import line_for
from ragmetrics_core.models._identity import function_identity, is_unnamed
from ragmetrics_core.models._wrapper import PromptChecker, Wrapper, unwrapped
from ragmetrics_core.protocol import Completion, Embedder, Generate, Judge, Scorer, TextFunction

__all__ = ["CallableJudge", "PromptChecker", "as_embedder", "as_judge", "as_scorer", "missing_model"]

_WAYS = {
    "judge": (
        "Three ways on: 'embedded', which comes with the package and needs no key and no network; "
        "'openai:MODEL', or 'openai:MODEL@URL' for any server that speaks as OpenAI's. "
        "In Python any function from prompt to reply is a judge"
    ),
    "embedder": (
        "Two ways on: 'embedded', word vectors on this machine, from the extra `embedded`; 'openai:MODEL' or "
        "'openai:MODEL@URL', a model on a server"
    ),
    "scorer": (
        "Two ways on: 'cross-encoder:MODEL', which reads both texts together, or 'token-match:MODEL', any "
        "encoder; MODEL is a folder or a name on the hub"
    ),
}


@dataclass(frozen=True, kw_only=True)
class CallableJudge:
    """A function from a prompt's text to a reply as a judge; a synchronous one runs in a thread.

    The function gets system and user message as one text, with an empty line between them.

    Attributes:
        function: takes the prompt, returns the reply or an awaitable of it.
        identity: names the function in records; functions with one identity are taken for one another.
            Without one it is the function's name with a digest of its code and of all that it holds.
    """

    # not shown: the arguments of a partial function may be a key
    function: Callable[[str], str | Awaitable[str]] = field(repr=False)
    identity: str = ""
    is_chosen: bool = field(init=False, repr=False, compare=False, default=True)

    def __post_init__(self) -> None:
        if not self.identity:
            object.__setattr__(self, "identity", function_identity(self.function))
            object.__setattr__(self, "is_chosen", False)

    @property
    def cacheable(self) -> bool:
        """Whether replies may be kept for later runs: not those of a function that no digest tells apart."""
        return not is_unnamed(self.identity)

    @property
    def is_asynchronous(self) -> bool:
        """Whether the function, or the `__call__` of the object that it is, is a coroutine function."""
        call = getattr(self.function, "__call__", None)  # noqa: B004
        return inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(call)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Call the function once."""
        text = "\n\n".join(message.content for message in request.messages)
        function = self.function
        reply = function(text) if self.is_asynchronous else await asyncio.to_thread(function, text)
        if inspect.isawaitable(reply):
            reply = await reply
        if not isinstance(cast("object", reply), str):
            raise ModelError(f"the judge {self.identity} returned {type(reply).__name__}, not text")
        return [Completion(text=reply)]


def as_judge(judge: Judge | TextFunction | str, *, identity: str | None = None, asked: bool = True) -> Judge:
    """A judge from a judge, from any callable `str -> str` (synchronous or not), or from a name.

    Names are those of the command line: "embedded", "openai:MODEL", "openai:MODEL@URL", "entailment:MODEL",
    "grounded:MODEL", "cascade:CHEAP,DEAR".

    A function is told from others by a digest of its bytecode, its defaults and all that it holds: closures,
    bound arguments and objects, the globals that it names. What it reads while it runs is not in it. Where it
    holds what has no such digest, a client for example, it needs an `identity`: without one its run cannot go
    on, and can be neither merged nor compared.

    Args:
        judge: one of these.
        identity: names a function in records, in place of the digest. Change it when the replies change.
        asked: False for a judge of a name that is never asked, so that it needs no key, package or file.

    Raises:
        ConfigError: none of these, or an identity for what has one, or that is empty.
    """
    if not isinstance(judge, Judge) and (line := line_for("judge", judge)) is not None:
        raise ConfigError(line)
    if isinstance(judge, type):
        raise ConfigError(f"a judge is an object, not the class {judge.__name__}: call it first")
    # A wrapper has the methods of every kind; what it goes around says what it is.
    is_judge = isinstance(judge, Judge) and isinstance(unwrapped(judge), Judge)
    if identity is not None and (is_judge or not callable(judge) or not identity.strip()):
        raise ConfigError(
            "identity= is a text that names a function; other judges have an identity of their own"
        )
    if isinstance(judge, str):
        from ragmetrics_core.models._names import judge_by_name

        return judge_by_name(judge, asked=asked)
    if isinstance(judge, CallableJudge) and not judge.is_chosen:
        judge = judge.function  # which may be another one by now
    elif is_judge:
        return cast("Judge", judge)
    if callable(judge):
        return CallableJudge(function=judge, identity=identity or "")
    raise ConfigError(
        "a judge is an object with `identity` and `agenerate`, or a function from text to text, "
        f"not {_told(judge)}"
    )


def as_embedder(embedder: Embedder | str, *, asked: bool = True) -> Embedder:
    """An embedder from an embedder or from a name: "embedded", "openai:MODEL".

    Args:
        embedder: one of these.
        asked: False for one of a name whose missing key or package is an error only when it is asked.

    Raises:
        ConfigError: neither.
    """
    if isinstance(embedder, str):
        from ragmetrics_core.models._names import embedder_by_name

        return embedder_by_name(embedder, asked=asked)
    if isinstance(unwrapped(embedder), Embedder):
        return embedder
    if (line := line_for("embedder", embedder)) is not None:
        raise ConfigError(line)
    raise ConfigError(f"an embedder is an object with `identity` and `aembed`, not {_told(embedder)}")


def as_scorer(scorer: Scorer | str, *, asked: bool = True) -> Scorer:
    """A scorer from a scorer or from a name: "cross-encoder:MODEL", "token-match:MODEL".

    Args:
        scorer: one of these.
        asked: False for one of a name whose missing package is an error only when it is asked.

    Raises:
        ConfigError: neither.
    """
    if isinstance(scorer, str):
        from ragmetrics_core.models._names import scorer_by_name

        return scorer_by_name(scorer, asked=asked)
    if isinstance(unwrapped(scorer), Scorer):
        return scorer
    if (line := line_for("scorer", scorer)) is not None:
        raise ConfigError(line)
    raise ConfigError(f"a scorer is an object with `identity` and `arate`, not {_told(scorer)}")


def missing_model(kind: str, asking: str, option: str) -> ConfigError:
    """What every door says that was not given a model: none is chosen for anybody, and ways lead on.

    Args:
        kind: what is missing: "judge", "embedder" or "scorer".
        asking: what needs it: a metric's name, "a probe".
        option: how one is given there: "judge=...", "--judge NAME".
    """
    article = "an" if kind == "embedder" else "a"
    return ConfigError(
        f"{asking} needs {article} {kind}, and none was given: {option} takes one. {_WAYS[kind]}"
    )


def _told(given: object) -> str:
    if isinstance(given, Wrapper):
        return f"{type(given).__name__} around {_told(given.inner)}"
    return str(getattr(given, "__name__", type(given).__name__))
