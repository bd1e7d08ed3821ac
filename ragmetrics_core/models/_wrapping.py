"""Callables as judges, embedders and scorers from users, and advice if a model is missing."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, cast

from ragmetrics_core.adapting import in_thread
from ragmetrics_core.errors import ConfigError, ModelError
from ragmetrics_core.models._foreign_lines import line_for
from ragmetrics_core.models.identity import function_identity, is_unnamed
from ragmetrics_core.models.names import embedder_by_name, scorer_by_name
from ragmetrics_core.models.wrapper import PromptChecker, Wrapper, unwrapped
from ragmetrics_core.protocol import Completion, Embedder, Generate, Scorer

__all__ = ["CallableJudge", "PromptChecker", "as_embedder", "as_scorer", "kind_of", "missing_model"]

_WAYS = {
    "judge": (
        "Use 'embedded', which comes with the package and needs no key and no network; "
        "'openai:MODEL', or 'openai:MODEL@URL' for any OpenAI-compatible server. "
        "In Python any function from prompt to reply is a judge"
    ),
    "embedder": (
        "Use 'embedded', word vectors on this machine, from the extra `embedded`; or 'openai:MODEL' or "
        "'openai:MODEL@URL', a model on a server"
    ),
    "scorer": (
        "Use 'cross-encoder:MODEL', which reads both texts together, or 'token-match:MODEL', any "
        "encoder; MODEL is a folder or a name on the hub"
    ),
}


@dataclass(frozen=True, kw_only=True)
class CallableJudge:
    """A function from a prompt's text to a reply as a judge; a synchronous function runs in a thread.

    The function gets the system and user messages as one text, separated by an empty line.

    Attributes:
        function: takes the prompt; returns the reply or an awaitable of it.
        identity: the function's name in records; functions with the same identity count as the same judge.
            Default: its name with a digest of its code and state.
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
        """Whether replies may be kept for later runs: not those of a function without a digest."""
        return not is_unnamed(self.identity)

    @property
    def is_asynchronous(self) -> bool:
        """Whether the function, or the object's `__call__`, is a coroutine function."""
        call = getattr(self.function, "__call__", None)  # noqa: B004
        return inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(call)

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """Call the function once."""
        text = "\n\n".join(message.content for message in request.messages)
        function = self.function
        if self.is_asynchronous:
            reply = function(text)
        else:  # in a thread that does not delay the exit if the function hangs
            reply = await in_thread(copy_context().run, function, text)
        if inspect.isawaitable(reply):
            reply = await reply
        if not isinstance(cast("object", reply), str):
            raise ModelError(f"the judge {self.identity} returned {type(reply).__name__}, not text")
        return [Completion(text=reply)]


def as_embedder(embedder: Embedder | str, *, asked: bool = True) -> Embedder:
    """An embedder from an embedder or from a name: "embedded", "openai:MODEL".

    Args:
        embedder: an embedder or a name.
        asked: False to report a missing key or package only on first use.

    Raises:
        ConfigError: `embedder` is invalid.
    """
    if isinstance(embedder, str):
        return embedder_by_name(embedder, asked=asked)
    if isinstance(unwrapped(embedder), Embedder):
        return embedder
    if (line := line_for("embedder", embedder)) is not None:
        raise ConfigError(line)
    raise ConfigError(f"an embedder is an object with `identity` and `aembed`, not {kind_of(embedder)}")


def as_scorer(scorer: Scorer | str, *, asked: bool = True) -> Scorer:
    """A scorer from a scorer or from a name: "cross-encoder:MODEL", "token-match:MODEL".

    Args:
        scorer: a scorer or a name.
        asked: False to report a missing package only on first use.

    Raises:
        ConfigError: `scorer` is invalid.
    """
    if isinstance(scorer, str):
        return scorer_by_name(scorer, asked=asked)
    if isinstance(unwrapped(scorer), Scorer):
        return scorer
    if (line := line_for("scorer", scorer)) is not None:
        raise ConfigError(line)
    raise ConfigError(f"a scorer is an object with `identity` and `arate`, not {kind_of(scorer)}")


def missing_model(kind: str, asking: str, option: str) -> ConfigError:
    """The message for a missing model; no model is chosen by default.

    Args:
        kind: the missing model: "judge", "embedder" or "scorer".
        asking: the part that needs it: a metric's name, "a probe".
        option: the option that sets it: "judge=...", "--judge NAME".
    """
    article = "an" if kind == "embedder" else "a"
    return ConfigError(
        f"{asking} needs {article} {kind}, and none was given: {option} takes one. {_WAYS[kind]}"
    )


def kind_of(given: object) -> str:
    """The class of an object, or its own name, for messages."""
    if isinstance(given, Wrapper):
        return f"{type(given).__name__} around {kind_of(given.inner)}"
    return str(getattr(given, "__name__", type(given).__name__))
