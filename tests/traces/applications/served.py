"""An application whose trace is recorded, and what its model says."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.integrations.body_keeping import BodyKeeper, Reply

__all__ = ["Application", "replying"]


class Application(NamedTuple):
    """An application that is run once, against a model behind HTTP.

    Attributes:
        run: builds and asks it.
        replies: what the model says to the text of a request.
    """

    run: Callable[[BodyKeeper], object]
    replies: Callable[[str], Reply]


def replying(*rules: tuple[str, Reply], otherwise: Any) -> Callable[[str], Reply]:
    """The reply of the first rule whose words are in the request."""
    return lambda text: next((reply for words, reply in rules if words in text), otherwise)
