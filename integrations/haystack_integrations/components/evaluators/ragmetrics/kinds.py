"""Checks on judges and embedders when a component is made, before it first runs."""

import inspect
import re
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import holds_secret

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
    Check that a parameter is a component of the right kind or a valid name; nothing is loaded.

    :param name: "chat_generator" or "text_embedder".
    :param value: Its value; None for the default.
    :raises ConfigError: The value is something else: a class, a function, a number, a generator of a
        different kind, a name with a password.
    """
    if value is None:
        return
    taken, names, kind, known = _KINDS[name]
    if isinstance(value, str):
        if names.fullmatch(value) is None:
            msg = f"{name} is not the name of a ragmetrics model, such as {known}: {value!r}"
            raise ConfigError(msg)
        if holds_secret(value, ()):
            msg = (
                "the name of a model holds a password, which would be saved with the pipeline: set "
                "OPENAI_BASE_URL, or pass a component with a Secret"
            )
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
