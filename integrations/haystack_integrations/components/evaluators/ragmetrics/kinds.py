"""What can be a judge and an embedder, told when a component is made and not when it first runs."""

import inspect
import re
from typing import Any

from ragmetrics_core.errors import ConfigError

__all__ = ["check_model"]

# The input by which Haystack tells what a component is, the names that ragmetrics has, and how both are called.
_JUDGES = re.compile(r"embedded|llama|(openai|llama|entailment):.+", re.DOTALL)
_EMBEDDERS = re.compile(r"embedded|openai:.+", re.DOTALL)
_NAMED = "'embedded', 'openai:MODEL', 'openai:MODEL@URL' and 'entailment:MODEL'"
_KINDS = {
    "chat_generator": ("messages", _JUDGES, "a chat generator, whose run takes messages", _NAMED),
    "text_embedder": ("text", _EMBEDDERS, "a text embedder, whose run takes a text", "'embedded' and 'openai:MODEL'"),
}


def check_model(name: str, value: object) -> None:
    """
    See that a parameter is a component of the right kind, or has the form of a name; nothing is loaded.

    :param name: "chat_generator" or "text_embedder".
    :param value: What was passed for it; None is for the default.
    :raises ConfigError: It is something else: a class, a function, a number, a generator of another kind.
    """
    if value is None:
        return
    taken, names, kind, known = _KINDS[name]
    if isinstance(value, str):
        if names.fullmatch(value) is None:
            msg = f"{name} is no name of a model that ragmetrics has, which are {known}: {value!r}"
            raise ConfigError(msg)
        return
    if isinstance(value, type):
        msg = f"{name} is the class {value.__name__}: pass a component, {value.__name__}(...)"
        raise ConfigError(msg)
    run = getattr(value, "run", None)
    if not callable(run) or not _takes(run, taken):
        msg = f"{name} must be {kind}, or a name such as 'embedded', not {type(value).__name__}"
        raise ConfigError(msg)


def _takes(run: Any, name: str) -> bool:
    try:
        parameters = inspect.signature(run).parameters
    except (TypeError, ValueError):  # no signature to read: it is seen when it is called
        return True
    return name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
