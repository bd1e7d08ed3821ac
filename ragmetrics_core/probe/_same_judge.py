"""Comparison of judges: the same model with the same settings, at any address."""

import re

from ragmetrics_core.models.identity import is_unnamed
from ragmetrics_core.models.wrapper import unwrapped
from ragmetrics_core.protocol import Judge

__all__ = ["is_same_judge", "model_of", "without_server"]


def model_of(judge: Judge) -> str | None:
    """The name of a judge's model as its server knows it; None for one that has no such name."""
    name: object = getattr(unwrapped(judge), "model", None)
    return name if isinstance(name, str) and name else None


def without_server(identity: str, model: str | None) -> str:
    """A judge's identity without the address of the server that has its model.

    >>> without_server("openai:http://127.0.0.1:8080/v1/org/tiny?temperature=0", "org/tiny")
    'openai:org/tiny?temperature=0'
    >>> without_server("embedded:support.2", None)
    'embedded:support.2'
    """
    if model is None:
        return identity
    return re.sub(rf"\bopenai:\S+/{re.escape(model)}(?=[?)]|$)", lambda _: f"openai:{model}", identity)


def is_same_judge(one: tuple[str, str | None], other: tuple[str, str | None]) -> bool:
    """Whether two judges, given by identity and model name, are the same.

    The address of a server does not count. The model's name and every setting that changes replies do.
    A judge without an identity equals only itself.
    """
    is_one = one[0] == other[0] or (one[1] == other[1] and without_server(*one) == without_server(*other))
    return is_one and not is_unnamed(one[0])
